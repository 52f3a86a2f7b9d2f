// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/contact_term.hpp"

#include <algorithm>
#include <string_view>

#include "contact/parameters.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {

void ContactState::share(MPI_Comm comm) {
  std::int64_t counts[2] = {active_pairs, intersections};
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &min_distance, 1, MPI_DOUBLE, MPI_MIN, comm));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM, comm));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &friction_power, 1, MPI_DOUBLE, MPI_SUM, comm));
  active_pairs = counts[0];
  intersections = counts[1];
}

void ContactTerm::record_dissipation(const ParameterSet& parameters, const std::vector<ContactLawNames>& laws) {
  const auto is_zero = [&](const std::string& name) {
    const std::vector<double> values = name.empty() ? std::vector<double>() : parameters.at(name).field.to_host();
    return std::all_of(values.begin(), values.end(), [](double value) { return value == 0.0; });
  };
  conserves_energy_ = std::all_of(laws.begin(), laws.end(), [&](const ContactLawNames& law) {
    return is_zero(law.friction()) && is_zero(law.damping());
  });
}

void ContactTerm::prepare_tangent(const ParameterSet&, const ParameterSet& direction) {
  require_derivatives(direction);
}

void ContactTerm::begin_adjoint(const ParameterSet& gradient) { require_derivatives(gradient); }

void ContactTerm::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  for (const ParameterSet* set : {&gradient, &direction}) {
    require_derivatives(*set);
    if (set->find("rest_positions"))
      throw Error("no second derivative of the " + name() + " with respect to rest_positions", ErrorKind::input);
  }
}

void ContactTerm::require_derivatives(const ParameterSet& set) const {
  const auto is_of_dissipation = [](const Parameter& parameter) {
    const std::string_view without_label = std::string_view(parameter.name()).substr(0, parameter.name().find(':'));
    return without_label == ContactParameters::friction.name ||
           without_label == ContactParameters::friction_velocity.name ||
           without_label == ContactParameters::contact_damping.name;
  };
  if (forces_ == ContactForces::barrier && std::any_of(set.begin(), set.end(), is_of_dissipation))
    throw Error(
        "this contact term has no friction, so it has no derivative with respect to friction parameters; enable "
        "friction",
        ErrorKind::input);
}

}  // namespace diffsim
