// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contact/obstacle_motion.hpp"
#include "contact/pair_kernels.hpp"
#include "contact/parameters.hpp"
#include "core/file_order.hpp"
#include "diffsim/contact/surface_point_term_impl.hpp"
#include "mesh/bodies.hpp"

namespace diffsim::contact {

/// Gaps (m) between an obstacle and all vertices on which the obstacle's contact term acts. The gap of a vertex is its
/// distance from the obstacle minus the contact thickness.
template <class Force>
std::vector<double> gaps_of(const point::Sweep<Force>& sweep) {
  const auto gaps = make_device_array<double>("diffsim::contact::gaps", static_cast<std::size_t>(sweep.count));
  Kokkos::parallel_for(
      "diffsim::contact::obstacle_gaps", sweep.all(),
      KOKKOS_LAMBDA(int i) { gaps(i) = sweep.force.gap(point::read(sweep, i)); });
  const auto host = host_view(gaps);
  return {host.data(), host.data() + host.size()};
}

using SafePart = Kokkos::MinLoc<double, int>;

/// Smallest safe fraction of all vertices, and the index of a vertex with this fraction. The safe fraction of a vertex
/// is the part of the straight displacement from `from` to `to` over which the gap (distance from the obstacle minus
/// thickness) stays positive. Returns the fraction 1 and the index -1 if the gaps of all vertices stay positive during
/// the whole displacements.
template <class Force>
SafePart::value_type least_safe_part(const point::Sweep<Force>& from, const point::Sweep<Force>& to) {
  SafePart::value_type found{1.0, -1};
  Kokkos::parallel_reduce(
      "diffsim::contact::obstacle_safe_part", from.all(),
      KOKKOS_LAMBDA(int i, SafePart::value_type& least) {
        const double part = from.force.safe_part(point::read(from, i), point::read(to, i));
        if (part < least.val) least = {part, i};
      },
      SafePart(found));
  return found;
}

/// Power -f·u that friction and damping dissipate at a vertex, in W. u is the velocity of the vertex relative to the
/// obstacle, and f is the force of friction and damping: the whole force minus the force that does not depend on the
/// velocity.
struct FrictionPower {
  template <class Force>
  KOKKOS_INLINE_FUNCTION double operator()(const Force& force, const point::Values<Force>& at) const {
    return dot(force.projected().force(at) - force.force(at), force.relative_velocity(at));
  }
};

/// Dissipation potential of friction and damping at a vertex, in W.
struct ObstacleDissipation {
  template <class Force>
  KOKKOS_INLINE_FUNCTION double operator()(const Force& force, const point::Values<Force>& at) const {
    return force.dissipation(at);
  }
};

/// Contact of a surface's vertices with an obstacle whose force on a vertex depends on that vertex alone. In addition
/// to the functions that `PointTerm` requires, the type `Force` has the following functions of the values `at` of a
/// vertex:
///
///     double gap(at)                       distance minus thickness, m
///     double safe_part(before, after)      fraction in [0, 1] of the straight displacement over which the gap stays
///                                          positive
///     double dissipation(at)               dissipation potential of friction and damping, W
///     Vec3<double> relative_velocity(at)   velocity of the vertex relative to the obstacle, m/s
///     Force projected()                    the force without friction and damping
template <class Force>
class PointObstacle final : public SurfacePointTerm<Force, ContactTerm> {
  using Term = SurfacePointTerm<Force, ContactTerm>;

 public:
  /// `kind` and `label`: kind and name of the obstacle, for error messages and names of parameters. `vertices`:
  /// vertices of the surface that may touch the obstacle. `law`: names of the parameters of the contact law.
  /// `parameters`: parameters of `force`. `forces`: contact forces that the term computes.
  /// Collective.
  PointObstacle(const std::string& kind, std::string label, const Force& force, std::vector<PointParameter> parameters,
                std::shared_ptr<const TetrahedralMesh> mesh, std::vector<int> vertices, const ContactLawNames& law,
                ContactForces forces)
      : Term("contact with " + kind + " " + label, force, std::move(parameters), std::move(mesh), std::move(vertices)),
        kind_(kind),
        label_(std::move(label)),
        law_(law) {
    this->set_forces(forces);
  }

  bool has_energy() const override { return ContactTerm::has_energy(); }
  bool has_symmetric_jacobian() const override { return ContactTerm::has_symmetric_jacobian(); }
  void prepare(const ParameterSet& parameters) override {
    Term::prepare(parameters);
    this->record_dissipation(parameters, {law_});
  }
  double dissipation(const Configuration& at, const ParameterSet& parameters) override {
    if (!this->has_dissipation()) return 0.0;
    return point::sum_over("diffsim::contact::dissipation", this->sweep(at, parameters), ObstacleDissipation());
  }
  bool moves(int n, const ParameterSet& parameters) const override {
    return goes(parameters, {"obstacle_velocity:" + label_, "obstacle_angular_velocity:" + label_}, n);
  }
  double max_step(const Configuration& from, const Configuration& to, const ParameterSet& parameters) override {
    limiting_.clear();
    if (law_.is_penalty()) return 1.0;  // vertices may enter the obstacle
    const SafePart::value_type safe = least_safe_part(this->sweep(from, parameters), this->sweep(to, parameters));
    if (!(safe.val < 1.0)) return 1.0;
    limiting_ = name_of(static_cast<std::size_t>(safe.loc));
    return safe.val;
  }
  std::string limiting() const override { return limiting_; }
  ContactState state(const Configuration& at, const ParameterSet& parameters) override;
  std::string intersecting() const override { return intersecting_; }
  void add_forces_between(const Configuration& at, const ParameterSet& parameters, ForcesBetween& sums) override;

 private:
  /// Text, for error messages, that names the obstacle and the i-th vertex of the contact term.
  std::string name_of(std::size_t i) const {
    const std::int64_t number = this->mesh().vertex_order().file_index()[static_cast<std::size_t>(this->surface()[i])];
    return "vertex " + vertex_name(this->mesh().bodies(), number) + " and " + kind_ + " " + label_;
  }
  /// Text, for error messages, with the position of the contact term's i-th vertex, for example " near (0.1, 0, 2)".
  std::string position_text(std::size_t i, const Field& positions) const {
    const std::vector<double> x = positions.to_host();
    const std::size_t first = 3 * static_cast<std::size_t>(this->surface()[i]);
    return " near " + text_of({x[first], x[first + 1], x[first + 2]});
  }

  std::string kind_, label_;
  ContactLawNames law_;
  std::string limiting_, intersecting_;
};

template <class Force>
ContactState PointObstacle<Force>::state(const Configuration& at, const ParameterSet& parameters) {
  const double range = parameters.at(law_.range()).field.to_host().at(0);
  ContactState result;
  intersecting_.clear();
  std::vector<double> gaps;
  if (this->limits_steps()) gaps = gaps_of(this->sweep(at, parameters));
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    result.min_distance = std::min(result.min_distance, gaps[i]);
    result.active_pairs += gaps[i] < range;
    if (gaps[i] > 0.0 || law_.is_penalty()) continue;
    if (result.intersections < 3)
      intersecting_ += (intersecting_.empty() ? "" : ", ") + name_of(i) + position_text(i, at.positions);
    ++result.intersections;
  }
  if (this->uses_velocities() && at.velocities)
    result.friction_power =
        point::sum_over("diffsim::contact::friction_power", this->sweep(at, parameters), FrictionPower());
  result.share(this->mesh().comm());
  return result;
}

template <class Force>
void PointObstacle<Force>::add_forces_between(const Configuration& at, const ParameterSet& parameters,
                                              ForcesBetween& sums) {
  const TetrahedralMesh& mesh = this->mesh();
  Field forces("forces_between", mesh.vertex_entities(), 3);
  this->add_force(at, parameters, forces);
  const std::vector<double> f = forces.to_host();
  const std::vector<std::string> names = body_names(mesh.bodies());
  for (const int v : this->surface()) {
    const std::int64_t number = mesh.vertex_order().file_index()[static_cast<std::size_t>(v)];
    const auto body = static_cast<std::size_t>(body_of_vertex(mesh.bodies(), number));
    std::array<double, 3>& sum = sums[{names[body], label_}];
    for (std::size_t c = 0; c < 3; ++c) sum[c] += f[3 * static_cast<std::size_t>(v) + c];
  }
}

}  // namespace diffsim::contact
