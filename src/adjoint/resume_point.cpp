// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/resume_point.hpp"

namespace diffsim {

void copy_values(const ParameterSet& from, ParameterSet& to) {
  for (const Parameter& parameter : from) to.at(parameter.name()).field.copy_from(parameter.field);
}

void ResumePoint::allocate(const State& shape, const ParameterSet& parameters) {
  step = -1;
  adjoint = shape.zero_like();
  gradient = parameters.zero_like(parameters.names());
}

void ResumePoint::set(int n, const State& from_adjoint, const ParameterSet& from_gradient) {
  adjoint.copy_from(from_adjoint);
  copy_values(from_gradient, gradient);
  step = n;
}

void ResumePoint::get(State& to_adjoint, ParameterSet& to_gradient) const {
  to_adjoint.copy_from(adjoint);
  copy_values(gradient, to_gradient);
}

}  // namespace diffsim
