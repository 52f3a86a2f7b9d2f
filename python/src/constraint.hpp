// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/inverse/optimise.hpp"
#include "problem.hpp"

namespace diffsim::python {

/// Options of the Python class Constraint.
struct ConstraintOptions {
  nanobind::object function;  // name of an unknown, or a loss
  double lower, upper;
  std::string quantity;        // of the unknown
  double power;                // of the distortion
  std::size_t experiment = 0;  // number of the experiment in which a loss is evaluated
};

/// Constraints of an optimisation, with the objects to which they refer.
struct Constraints {
  std::vector<std::shared_ptr<Loss>> losses;
  std::vector<std::unique_ptr<InverseProblem>> problems;
  std::vector<Constraint> all;
};

/// Makes the constraints of a problem from the objects of the Python class Constraint.
Constraints constraints_of(const ProblemHandle& handle, const std::vector<const ConstraintOptions*>& given);

/// Binds the Python class Constraint.
void bind_constraint(nanobind::module_& module);

}  // namespace diffsim::python
