// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Initial coordinates of joints, and initial rates of these coordinates, as unknowns.

#include "body/joint_start.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "body/parameters.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/unknown.hpp"
#include "inverse/parametrisation.hpp"

namespace diffsim {
namespace {

/// Map from coordinates of joints to positions.
class CoordinateMap final : public EntryMap {
 public:
  CoordinateMap(std::unique_ptr<body::JointStart> start, std::vector<std::string> units)
      : start_(std::move(start)), units_(std::move(units)) {}
  void set(const std::vector<double>& q, std::vector<double>& p) const override { start_->set(q, p); }
  void tangent(const std::vector<double>& q, const std::vector<double>& dq, std::vector<double>& dp) const override {
    start_->tangent(q, dq, dp);
  }
  std::vector<double> adjoint(const std::vector<double>& q, const std::vector<double>& w) const override {
    return adjoint_tangent(q, std::vector<double>(q.size(), 0.0), std::vector<double>(w.size(), 0.0), w);
  }
  std::vector<double> adjoint_tangent(const std::vector<double>& q, const std::vector<double>& dq,
                                      const std::vector<double>& w, const std::vector<double>& dw) const override {
    return start_->adjoint_tangent(q, dq, w, dw);
  }
  std::vector<std::string> units() const override { return units_; }

 private:
  std::unique_ptr<body::JointStart> start_;
  std::vector<std::string> units_;
};

std::vector<double> velocities_of(const State& state) {
  if (!state.has("velocities"))
    throw Error("initial coordinates and rates of joints need an integrator with velocities", ErrorKind::input);
  return state["velocities"].to_host();
}

/// Returns the units of the parameter `spec` for the joints with the given names.
std::vector<std::string> units_of(const ParameterSpec& spec, const std::vector<Joint>& joints,
                                  const std::vector<std::string>& names) {
  std::vector<std::string> units;
  for (const std::string& name : names)
    for (const Joint& joint : joints)
      if (joint.name == name) units.emplace_back(JointParameters::of_kind(spec, joint.kind).unit);
  return units;
}

Unknown unknown_of(const std::string& parameter, const std::vector<std::string>& names) {
  Unknown unknown;
  unknown.parameter = parameter;
  unknown.map_numbers = static_cast<int>(names.size());
  unknown.group_names = names;
  return unknown;
}

}  // namespace

Unknown initial_coordinates(const TetrahedralMesh& mesh, const std::vector<Joint>& joints,
                            const std::vector<std::string>& names, const State& initial) {
  const std::vector<double> velocities = velocities_of(initial);
  auto start = std::make_unique<body::JointStart>(mesh, joints, names, initial["positions"].to_host(), velocities);
  double speed = 0.0;
  for (const double v : velocities) speed = std::max(speed, std::abs(v));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &speed, 1, MPI_DOUBLE, MPI_MAX, mesh.comm()));
  if (speed > 0.0)
    throw Error("initial coordinates of joints need zero initial velocities, which would not turn with the bodies",
                ErrorKind::input);
  Unknown unknown = unknown_of("initial_positions", names);
  unknown.start = start->coordinates();
  unknown.entry_map =
      std::make_shared<CoordinateMap>(std::move(start), units_of(JointParameters::initial_coordinates, joints, names));
  return unknown;
}

Unknown initial_rates(const TetrahedralMesh& mesh, const std::vector<Joint>& joints,
                      const std::vector<std::string>& names, const State& initial) {
  std::vector<double> base = velocities_of(initial);
  const body::JointStart start(mesh, joints, names, initial["positions"].to_host(), base);
  Unknown unknown = unknown_of("initial_velocities", names);
  unknown.start = start.rates();
  const std::size_t columns = names.size();
  std::vector<double> matrix = start.velocity_matrix();
  matrix.resize(base.size() * columns);  // velocities are those of owned vertices
  for (std::size_t i = 0; i < base.size(); ++i)
    for (std::size_t k = 0; k < columns; ++k) base[i] -= matrix[i * columns + k] * unknown.start[k];
  unknown.entry_map = make_linear_map(std::move(matrix), columns, std::move(base),
                                      units_of(JointParameters::initial_rates, joints, names));
  return unknown;
}

}  // namespace diffsim
