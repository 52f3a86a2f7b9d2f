// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/contact/plane_contact.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "diffsim/contact/parameters.hpp"
#include "diffsim/contact/surface_groups.hpp"
#include "diffsim/contact/surface_point_term_impl.hpp"
#include "diffsim/mesh/bodies.hpp"
#include "obstacle_motion.hpp"
#include "pair_kernels.hpp"
#include "plane_force.hpp"

namespace diffsim {
namespace {

/// Heights φ of all vertices less thickness ξ, m.
template <class Force>
std::vector<double> gaps_of(const point::Sweep<Force>& sweep) {
  const auto gaps = make_device_array<double>("diffsim::contact::gaps", static_cast<std::size_t>(sweep.count));
  Kokkos::parallel_for(
      "diffsim::contact::plane_gaps", sweep.all(),
      KOKKOS_LAMBDA(int i) { gaps(i) = sweep.force.gap(point::read(sweep, i)); });
  const auto host = host_view(gaps);
  return {host.data(), host.data() + host.size()};
}

/// Safe part of the way of vertex i, which goes straight from one configuration to the other while the plane turns,
/// both in one unit of time; φ its height less the thickness: φ(s) ≥ φ(0) + s (φ(1) - φ(0)) - B s (1 - s)/2, B = θ² |y|
/// + 2 |θ| |y'| ≥ |φ''|, y the vertex's way from the axis, θ the angle.
template <class Force>
KOKKOS_INLINE_FUNCTION double safe_part(const point::Sweep<Force>& from, const point::Sweep<Force>& to, int i) {
  const point::Values<Force> before = point::read(from, i), after = point::read(to, i);
  const double begin = from.force.gap(before), end = to.force.gap(after);
  double bend = 0.0;
  if (from.force.turn.turns) {
    const Vec3<double> here = from.force.way(before), there = to.force.way(after);
    const double angle = std::abs(after.p[Force::angular_velocity] * (to.time - from.time));
    const double reach = std::sqrt(std::fmax(dot(here, here), dot(there, there)));
    bend = angle * angle * reach + 2.0 * angle * std::sqrt(dot(there - here, there - here));
  }
  const double a = 0.5 * bend, b = end - begin - a;  // of φ(0) + b s + a s²
  const double least = b < 0.0 && -b < 2.0 * a ? begin - 0.25 * b * b / a : end;
  if (least > 0.0 && begin > 0.0) return 1.0;
  // Nine tenths of the way to the plane.
  const double c = 0.9 * begin, rest = b * b - 4.0 * a * c;
  if (begin > 0.0 && rest < 0.0) return 1.0;
  return begin > 0.0 && b < 0.0 ? 2.0 * c / (-b + std::sqrt(rest)) : 0.0;
}

using SafePart = Kokkos::MinLoc<double, int>;
template <class Force>
SafePart::value_type least_safe_part(const point::Sweep<Force>& from, const point::Sweep<Force>& to) {
  SafePart::value_type found{1.0, -1};
  Kokkos::parallel_reduce(
      "diffsim::contact::plane_safe_part", from.all(),
      KOKKOS_LAMBDA(int i, SafePart::value_type& least) {
        const double part = safe_part(from, to, i);
        if (part < least.val) least = {part, i};
      },
      SafePart(found));
  return found;
}

/// Power -f·u of friction, W. The force of friction is the difference that velocities make.
struct FrictionPower {
  template <class Force>
  KOKKOS_INLINE_FUNCTION double operator()(const Force& force, const point::Values<Force>& at) const {
    return dot(force.projected().force(at) - force.force(at), force.relative_velocity(at));
  }
};

struct PlaneDissipation {
  template <class Force>
  KOKKOS_INLINE_FUNCTION double operator()(const Force& force, const point::Values<Force>& at) const {
    return force.dissipation(at);
  }
};

template <class Force>
Force force_of(const PlaneShape& plane, ContactForces forces, int codimension) {
  const double length = std::hypot(plane.normal[0], plane.normal[1], plane.normal[2]);
  if (!(length > 0.0 && std::isfinite(length)))
    throw Error("the normal of plane '" + plane.label + "' has no direction; give one that points to the body",
                ErrorKind::input);
  Force force;
  force.normal = {{plane.normal[0] / length, plane.normal[1] / length, plane.normal[2] / length}};
  force.turn = contact::Turn::about(plane.axis, plane.origin);
  force.uses_velocities = forces == ContactForces::barrier_and_friction || forces == ContactForces::friction_part;
  force.pushes = forces != ContactForces::friction_part;
  force.codimension = codimension;
  return force;
}

/// Parameters of the force, in the order of its numbers.
inline std::vector<PointParameter> parameters_of(const std::string& label, const ContactLawNames& law, bool thick) {
  using Spec = ContactParameters;
  std::vector<PointParameter> all{PointParameter::of(Spec::obstacle_position, label),
                                  PointParameter::of(Spec::obstacle_velocity, label)};
  for (const std::string& name : law.numbers) all.push_back({name});
  const auto add_optional = [&](PointParameter parameter) {
    parameter.is_optional = true;
    all.push_back(std::move(parameter));
  };
  add_optional(PointParameter::of(Spec::obstacle_angular_velocity, label));
  if (thick)
    for (const std::string& name : law.thickness) add_optional({name});
  return all;
}

template <bool thick>
class PlaneContact final
    : public SurfacePointTerm<std::conditional_t<thick, contact::ThickPlaneForce, contact::PlaneForce>, ContactTerm> {
  using Force = std::conditional_t<thick, contact::ThickPlaneForce, contact::PlaneForce>;
  using Term = SurfacePointTerm<Force, ContactTerm>;

 public:
  PlaneContact(std::shared_ptr<const TetrahedralMesh> mesh, const PlaneShape& plane, ContactForces forces,
               const PlaneLaw& law)
      : Term("contact with plane " + plane.label, force_of<Force>(plane, forces, 2 - law.dimension),
             parameters_of(plane.label, law.parameters, thick), mesh,
             contact::surface_vertices(*mesh, law.regions, law.groups, law.dimension)),
        label_(plane.label),
        range_(law.parameters.range()),
        friction_(law.parameters.friction()) {
    this->set_forces(forces);
  }

  bool has_energy() const override { return ContactTerm::has_energy(); }
  bool has_symmetric_jacobian() const override { return ContactTerm::has_symmetric_jacobian(); }
  void prepare(const ParameterSet& parameters) override {
    Term::prepare(parameters);
    this->note_friction(parameters, {friction_});
  }

  double dissipation(const Configuration& at, const ParameterSet& parameters) override {
    if (!this->has_dissipation()) return 0.0;
    return point::sum_over("diffsim::contact::plane_dissipation", this->sweep(at, parameters), PlaneDissipation());
  }
  bool moves(int n, const ParameterSet& parameters) const override {
    return contact::goes(parameters, {"obstacle_velocity:" + label_, "obstacle_angular_velocity:" + label_}, n);
  }
  double max_step(const Configuration& from, const Configuration& to, const ParameterSet& parameters) override;
  std::string limiting() const override { return limiting_; }
  ContactState state(const Configuration& at, const ParameterSet& parameters) override;
  std::string intersecting() const override { return intersecting_; }

 private:
  /// Name of the pair of vertex i and the plane, for messages.
  std::string name_of(std::size_t i) const {
    const std::int64_t number = this->mesh().vertex_order().file_index()[static_cast<std::size_t>(this->surface()[i])];
    return "vertex " + vertex_name(this->mesh().bodies(), number) + " and plane " + label_;
  }
  /// Place of vertex i, as " near (0.1, 0, 2)".
  std::string place_of(std::size_t i, const Field& positions) const {
    const std::vector<double> x = positions.to_host();
    const std::size_t first = 3 * static_cast<std::size_t>(this->surface()[i]);
    return " near " + contact::text_of({x[first], x[first + 1], x[first + 2]});
  }

  std::string label_, range_, friction_, limiting_, intersecting_;
};

template <bool thick>
double PlaneContact<thick>::max_step(const Configuration& from, const Configuration& to,
                                     const ParameterSet& parameters) {
  limiting_.clear();
  const SafePart::value_type safe = least_safe_part(this->sweep(from, parameters), this->sweep(to, parameters));
  if (!(safe.val < 1.0)) return 1.0;
  limiting_ = name_of(static_cast<std::size_t>(safe.loc));
  return safe.val;
}

template <bool thick>
ContactState PlaneContact<thick>::state(const Configuration& at, const ParameterSet& parameters) {
  const double range = parameters.at(range_).field.to_host().at(0);
  ContactState result;
  intersecting_.clear();
  std::vector<double> gaps;
  if (this->limits_steps()) gaps = gaps_of(this->sweep(at, parameters));
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    result.min_distance = std::min(result.min_distance, gaps[i]);
    result.active_pairs += gaps[i] < range;
    if (gaps[i] > 0.0) continue;
    if (result.intersections < 3)
      intersecting_ += (intersecting_.empty() ? "" : ", ") + name_of(i) + place_of(i, at.positions);
    ++result.intersections;
  }
  if (this->uses_velocities() && at.velocities)
    result.friction_power =
        point::sum_over("diffsim::contact::plane_friction_power", this->sweep(at, parameters), FrictionPower());
  result.share(this->mesh().comm());
  return result;
}

}  // namespace

/// Makes the term of a plane that has a thickness, or touches what has.
std::unique_ptr<ContactTerm> make_thick_plane_contact(std::shared_ptr<const TetrahedralMesh> mesh,
                                                      const PlaneShape& plane, ContactForces forces,
                                                      const PlaneLaw& law);

}  // namespace diffsim
