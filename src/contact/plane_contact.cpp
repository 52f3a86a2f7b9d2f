// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/plane_contact.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "diffsim/contact/parameters.hpp"
#include "diffsim/contact/surface_point_term_impl.hpp"
#include "diffsim/mesh/bodies.hpp"
#include "obstacle_motion.hpp"
#include "pair_kernels.hpp"
#include "plane_force.hpp"

namespace diffsim {
namespace {

using contact::PlaneForce;
using PlaneSweep = point::Sweep<PlaneForce>;

std::vector<double> on_host(const DeviceArray<double>& values) {
  const auto host = host_view(values);
  return {host.data(), host.data() + host.size()};
}

/// Heights φ of all vertices, m.
std::vector<double> heights_of(const PlaneSweep& sweep) {
  const auto heights = make_device_array<double>("diffsim::contact::heights", static_cast<std::size_t>(sweep.count));
  Kokkos::parallel_for(
      "diffsim::contact::plane_heights", sweep.all(),
      KOKKOS_LAMBDA(int i) { heights(i) = sweep.force.height(point::read(sweep, i)); });
  return on_host(heights);
}

/// Bounds of |φ''| as the surface goes straight from one configuration to the other while the plane
/// turns, both in one unit of time: θ² |y| + 2 |θ| |y'|, y a vertex's way from the axis, θ the angle.
std::vector<double> bends_of(const PlaneSweep& from, const PlaneSweep& to) {
  if (!from.force.turn.turns) return std::vector<double>(static_cast<std::size_t>(from.count), 0.0);
  const auto bends = make_device_array<double>("diffsim::contact::bends", static_cast<std::size_t>(from.count));
  Kokkos::parallel_for(
      "diffsim::contact::plane_bends", from.all(), KOKKOS_LAMBDA(int i) {
        const point::Values<PlaneForce> before = point::read(from, i), after = point::read(to, i);
        const Vec3<double> begin = from.force.way(before), end = to.force.way(after);
        const double angle = std::abs(after.p[PlaneForce::angular_velocity] * (to.time - from.time));
        const double reach = std::sqrt(std::fmax(dot(begin, begin), dot(end, end)));
        bends(i) = angle * angle * reach + 2.0 * angle * std::sqrt(dot(end - begin, end - begin));
      });
  return on_host(bends);
}

/// Power -f·u of friction, W. The force of friction is the difference that velocities make.
struct FrictionPower {
  KOKKOS_INLINE_FUNCTION double operator()(const PlaneForce& force, const point::Values<PlaneForce>& at) const {
    return dot(force.projected().force(at) - force.force(at), force.relative_velocity(at));
  }
};

PlaneForce force_of(const PlaneShape& plane, bool with_friction) {
  const double length = std::hypot(plane.normal[0], plane.normal[1], plane.normal[2]);
  if (!(length > 0.0 && std::isfinite(length)))
    throw Error("the normal of plane '" + plane.label + "' has no direction; give one that points to the body",
                ErrorKind::input);
  return {{{plane.normal[0] / length, plane.normal[1] / length, plane.normal[2] / length}},
          contact::Turn::about(plane.axis, plane.origin),
          with_friction};
}

/// Parameters of PlaneForce, in the order of PlaneForce::Number.
std::vector<PointParameter> parameters_of(const std::string& label, const ContactLawNames& law) {
  using Spec = ContactParameters;
  PointParameter turn = PointParameter::of(Spec::obstacle_angular_velocity, label);
  turn.is_optional = true;
  return {PointParameter::of(Spec::obstacle_position, label),
          PointParameter::of(Spec::obstacle_velocity, label),
          {law[0]},
          {law[1]},
          {law[2]},
          {law[3]},
          turn};
}

/// The surface's vertices of some bodies, of all where none are named.
std::vector<int> vertices_of(const TetrahedralMesh& mesh, const std::vector<std::size_t>& bodies) {
  std::vector<int> vertices = contact::surface_areas(mesh).vertices;
  if (!bodies.empty())
    std::erase_if(vertices, [&](int v) {
      const std::int64_t number = mesh.vertex_order().file_index()[static_cast<std::size_t>(v)];
      const auto body = static_cast<std::size_t>(body_of_vertex(mesh.bodies(), number));
      return std::find(bodies.begin(), bodies.end(), body) == bodies.end();
    });
  return vertices;
}

class PlaneContact final : public SurfacePointTerm<PlaneForce, ContactTerm> {
 public:
  PlaneContact(std::shared_ptr<const TetrahedralMesh> mesh, const PlaneShape& plane, bool with_friction,
               const PlaneLaw& law)
      : SurfacePointTerm("contact with plane " + plane.label, force_of(plane, with_friction),
                         parameters_of(plane.label, law.parameters), mesh, vertices_of(*mesh, law.bodies)),
        label_(plane.label),
        range_(law.parameters[1]) {}

  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override {
    require_derivatives(direction);
    SurfacePointTerm::prepare_tangent(parameters, direction);
  }
  void begin_adjoint(const ParameterSet& gradient) override {
    require_derivatives(gradient);
    SurfacePointTerm::begin_adjoint(gradient);
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
    const std::int64_t number = mesh().vertex_order().file_index()[static_cast<std::size_t>(surface()[i])];
    return "vertex " + vertex_name(mesh().bodies(), number) + " and plane " + label_;
  }
  /// Place of vertex i, as " near (0.1, 0, 2)".
  std::string place_of(std::size_t i, const Field& positions) const {
    const std::vector<double> x = positions.to_host();
    const std::size_t first = 3 * static_cast<std::size_t>(surface()[i]);
    return " near " + contact::text_of({x[first], x[first + 1], x[first + 2]});
  }

  std::string label_, range_, limiting_, intersecting_;
};

double PlaneContact::max_step(const Configuration& from, const Configuration& to, const ParameterSet& parameters) {
  // Along the motion φ(s) ≥ φ(0) + s (φ(1) - φ(0)) - B s (1 - s)/2, with B ≥ |φ''|: linear without a turn.
  limiting_.clear();
  const PlaneSweep here = sweep(from, parameters), there = sweep(to, parameters);
  const std::vector<double> begin = heights_of(here), end = heights_of(there), bends = bends_of(here, there);
  double step = 1.0;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    const double a = 0.5 * bends[i], b = end[i] - begin[i] - a;  // of φ(0) + b s + a s²
    const double least = b < 0.0 && -b < 2.0 * a ? begin[i] - 0.25 * b * b / a : end[i];
    if (least > 0.0 && begin[i] > 0.0) continue;
    // Nine tenths of the way to the plane.
    const double c = 0.9 * begin[i], rest = b * b - 4.0 * a * c;
    if (begin[i] > 0.0 && rest < 0.0) continue;
    const double limit = begin[i] > 0.0 && b < 0.0 ? 2.0 * c / (-b + std::sqrt(rest)) : 0.0;
    if (limit >= step) continue;
    step = limit;
    limiting_ = name_of(i);
  }
  return step;
}

ContactState PlaneContact::state(const Configuration& at, const ParameterSet& parameters) {
  const double range = parameters.at(range_).field.to_host().at(0);
  ContactState result;
  intersecting_.clear();
  const std::vector<double> heights = heights_of(sweep(at, parameters));
  for (std::size_t i = 0; i < heights.size(); ++i) {
    result.min_distance = std::min(result.min_distance, heights[i]);
    result.active_pairs += heights[i] < range;
    if (heights[i] > 0.0) continue;
    if (result.intersections < 3)
      intersecting_ += (intersecting_.empty() ? "" : ", ") + name_of(i) + place_of(i, at.positions);
    ++result.intersections;
  }
  if (uses_velocities() && at.velocities)
    result.friction_power =
        point::sum_over("diffsim::contact::plane_friction_power", sweep(at, parameters), FrictionPower());
  std::int64_t counts[2] = {result.active_pairs, result.intersections};
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &result.min_distance, 1, MPI_DOUBLE, MPI_MIN, mesh().comm()));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM, mesh().comm()));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &result.friction_power, 1, MPI_DOUBLE, MPI_SUM, mesh().comm()));
  result.active_pairs = counts[0];
  result.intersections = counts[1];
  return result;
}

}  // namespace

std::unique_ptr<ContactTerm> make_plane_contact(std::shared_ptr<const TetrahedralMesh> mesh, const PlaneShape& plane,
                                                bool with_friction, const PlaneLaw& law) {
  return std::make_unique<PlaneContact>(std::move(mesh), plane, with_friction, law);
}

}  // namespace diffsim
