// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/plane_impact.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "contact/impact_parameters.hpp"
#include "contact/pair_kernels.hpp"
#include "contact/placed_plane.hpp"
#include "contact/surface_groups.hpp"
#include "contact/vertex_impact.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/impl/point_kernels_impl.hpp"
#include "mesh/affine_body.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {
namespace contact {

/// Change of the position or of the velocity of a vertex by an impact on a plane, with the interface of the forces of a
/// PointTerm. The place `damping` in the array `PointValues::p` contains the coefficient of restitution.
template <bool thick>
struct PlaneImpact {
  using Plane = PlaneForce<thick>;
  static constexpr int acceleration = Plane::num_values;  // place of the acceleration in the array `PointValues::p`
  static constexpr int num_values = Plane::num_values + 3;
  static constexpr bool uses_velocities = true;
  template <class T>
  using At = PointValues<T, num_values>;

  Plane plane;
  double h = 0.0;             // length of the substep, s
  bool of_velocities = true;  // true: the function `force` returns Δv, m/s; false: Δx, m

  template <class T>
  static KOKKOS_INLINE_FUNCTION PointValues<T, Plane::num_values> of_plane(const At<T>& at) {
    PointValues<T, Plane::num_values> values;
    values.x = at.x;
    values.v = at.v;
    for (int k = 0; k < Plane::num_values; ++k) values.p[k] = at.p[k];
    values.weight = at.weight;
    values.time = at.time;
    return values;
  }
  KOKKOS_INLINE_FUNCTION bool active(const At<double>& at) const {
    const auto values = of_plane(at);
    return plane.gap(values) < 0.0 && dot(plane.normal_at(values), plane.relative_velocity(values)) < 0.0;
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION Vec3<T> force(const At<T>& at) const {
    using std::sqrt;
    const auto values = of_plane(at);
    const T& e = at.p[Plane::damping];
    const VertexAtPlane<T> vertex{plane.height(values) - plane.offset(values), plane.relative_velocity(values),
                                  at.vector(acceleration), plane.normal_at(values)};
    const VertexImpact<T> impact = vertex_impact(vertex, e, h);
    const Vec3<T>&n = vertex.n, &slip = impact.slip;
    const T limit = at.p[Plane::mu] * impact.push;
    const T squared_slip = dot(slip, slip);
    const bool slides = value_of(squared_slip) > value_of(limit) * value_of(limit);
    const T stopped = slides ? T(limit / sqrt(squared_slip)) : T(1.0);
    // Distances over which the vertex is moved along the normal.
    const T& since = impact.since;
    const T out =
        impact.rests ? T(-vertex.g) : T(since * (e * impact.speed + 0.5 * since * dot(n, vertex.a)) - vertex.g);
    Vec3<T> change;
    for (int c = 0; c < 3; ++c)
      change[c] = of_velocities ? T(impact.push * n[c] - stopped * slip[c]) : T(out * n[c] - since * stopped * slip[c]);
    return change;
  }
};

}  // namespace contact

namespace {

/// Parameters of an impact, followed by the accelerations.
std::vector<PointParameter> parameters_of(const std::string& label, const ContactLawNames& law) {
  std::vector<PointParameter> all = contact::impact_parameters(label, law, law.has_thickness());
  all.insert(all.end(), 3, PointParameter::unused());
  return all;
}

/// Returns the owned vertices of the surface to which `law` applies, without the corners of affine and rigid bodies.
std::vector<int> vertices_of(const TetrahedralMesh& mesh, const PlaneLaw& law) {
  std::vector<int> vertices = contact::surface_vertices(mesh, law.regions, law.groups, law.dimension);
  if (has_affine_bodies(mesh.bodies()))
    std::erase_if(vertices, [&](int v) {
      const std::int64_t number = mesh.vertex_order().file_index()[static_cast<std::size_t>(v)];
      return mesh.bodies()[static_cast<std::size_t>(body_of_vertex(mesh.bodies(), number))].affine != nullptr;
    });
  return vertices;
}

/// Functor that returns 1 for each vertex with an impact.
struct One {
  template <class F>
  KOKKOS_INLINE_FUNCTION double operator()(const F&, const point::Values<F>&) const {
    return 1.0;
  }
};

/// Functor that finds the vertex with the smallest gap.
template <class Law>
struct LowestGap {
  point::Sweep<Law> sweep;
  KOKKOS_INLINE_FUNCTION void operator()(int i, Kokkos::MinLoc<double, int>::value_type& lowest) const {
    const double gap = sweep.force.plane.gap(Law::of_plane(point::read(sweep, i)));
    if (gap < lowest.val) lowest = {gap, i};
  }
};

template <bool thick>
class PlaneImpacts final : public Impact {
  using Law = contact::PlaneImpact<thick>;

 public:
  PlaneImpacts(std::shared_ptr<const TetrahedralMesh> mesh, const std::string& label,
               const contact::PlaneForce<thick>& plane, const ContactLawNames& law, const std::vector<int>& vertices)
      : mesh_(std::move(mesh)),
        label_(label),
        takes_("impact on plane " + label, parameters_of(label, law)),
        plane_(plane),
        count_(static_cast<int>(vertices.size())),
        vertices_(to_device("diffsim::contact::impact_vertices", vertices)) {}

  std::string name() const override { return takes_.term(); }
  void prepare(const ParameterSet& parameters) override {
    takes_.check(
        parameters, [](const Entities&) { return false; }, "each vertex");
  }
  std::string inside(const PlaceOfImpact& at, const ParameterSet& parameters) override {
    const point::Sweep<Law> of = sweep(at, parameters, true);
    Kokkos::MinLoc<double, int>::value_type lowest{0.0, -1};
    Kokkos::parallel_reduce("diffsim::contact::lowest_gap", of.all(), LowestGap<Law>{of},
                            Kokkos::MinLoc<double, int>(lowest));
    // Rounding errors of a vertex that rests on the plane do not count.
    const std::vector<double> x = at.fields.positions.to_host();
    double extent = 0.0;
    for (const double value : x) extent = std::max(extent, std::abs(value));
    if (!(lowest.val < -1e-10 * extent)) return {};
    const auto vertex = static_cast<std::size_t>(host_view(vertices_)(static_cast<std::size_t>(lowest.loc)));
    return "vertex " + vertex_name(mesh_->bodies(), mesh_->vertex_order().file_index()[vertex]) + " and plane " +
           label_ + " near " + contact::text_of({x[3 * vertex], x[3 * vertex + 1], x[3 * vertex + 2]});
  }
  bool add_changes(const PlaceOfImpact& at, const ParameterSet& parameters, Field& dx, Field& dv) override {
    const point::Sweep<Law> of_velocities = sweep(at, parameters, true);
    if (point::sum_over("diffsim::contact::impacts", of_velocities, One()) == 0.0) return false;
    point::add_forces(of_velocities, dv.data());
    point::add_forces(sweep(at, parameters, false), dx.data());
    return true;
  }
  void add_tangents(const PlaceOfImpact& at, const FieldsOfImpact<const Field>& along, const ParameterSet& parameters,
                    const ParameterSet& direction, Field& dx, Field& dv) override {
    const point::Direction<Law> change = direction_of(at, along, direction);
    point::add_tangents(sweep(at, parameters, true), change, dv.data());
    point::add_tangents(sweep(at, parameters, false), change, dx.data());
  }
  void add_adjoints(const PlaceOfImpact& at, const WeightsOfImpact& w, const ParameterSet& parameters,
                    const FieldsOfImpact<Field>& adjoint, ParameterSet& gradient) override {
    const auto to = targets(at, adjoint, gradient);
    for (const bool of_velocities : {true, false})
      takes_.add_sums(point::add_adjoints(sweep(at, parameters, of_velocities), w.of(of_velocities).data(), to),
                      at.configuration(), gradient);
  }
  void add_adjoint_tangents(const PlaceOfImpact& at, const FieldsOfImpact<const Field>& along, const WeightsOfImpact& w,
                            const WeightsOfImpact& dw, const ParameterSet& parameters, const ParameterSet& direction,
                            const FieldsOfImpact<Field>& adjoint_tangent, ParameterSet& gradient_tangent) override {
    const auto to = targets(at, adjoint_tangent, gradient_tangent);
    const point::Direction<Law> change = direction_of(at, along, direction);
    for (const bool of_velocities : {true, false})
      takes_.add_sums(point::add_adjoint_tangents(sweep(at, parameters, of_velocities), change,
                                                  w.of(of_velocities).data(), dw.of(of_velocities).data(), to),
                      at.configuration(), gradient_tangent);
  }

 private:
  static constexpr int P = Law::num_values;

  /// Returns the addresses of the parameters in `set` and of the accelerations.
  template <class Number, class Set>
  point::ParameterNumbers<P, Number> numbers(const PlaceOfImpact& at, Set& set, Number* accelerations) const {
    auto result = takes_.template numbers<Number>(set, at.configuration());
    for (int c = 0; c < 3; ++c) {
      result.of[Law::acceleration + c] = accelerations + c;
      result.stride[Law::acceleration + c] = 3;
      result.factor[Law::acceleration + c] = 1.0;
    }
    return result;
  }
  point::Sweep<Law> sweep(const PlaceOfImpact& at, const ParameterSet& set, bool of_velocities) const {
    const FieldsOfImpact<const Field>& from = at.fields;
    return {{plane_, at.substep, of_velocities},
            count_,
            vertices_,
            {from.positions.data(), from.velocities.data(), nullptr, 1, numbers(at, set, from.accelerations.data())},
            at.time};
  }
  point::Direction<Law> direction_of(const PlaceOfImpact& at, const FieldsOfImpact<const Field>& along,
                                     const ParameterSet& direction) const {
    return {{along.positions.data(), along.velocities.data(), nullptr, 1,
             numbers(at, direction, along.accelerations.data())},
            0.0};
  }
  point::Addresses<P, double> targets(const PlaceOfImpact& at, const FieldsOfImpact<Field>& adjoint,
                                      ParameterSet& gradient) const {
    return {adjoint.positions.data(), adjoint.velocities.data(), nullptr, 1,
            numbers(at, gradient, adjoint.accelerations.data())};
  }

  std::shared_ptr<const TetrahedralMesh> mesh_;
  std::string label_;
  point::Parameters<P> takes_;
  contact::PlaneForce<thick> plane_;
  int count_;
  DeviceArray<int> vertices_;
};

template <bool thick>
std::unique_ptr<Impact> make(const std::shared_ptr<const TetrahedralMesh>& mesh, const PlaneShape& plane,
                             const PlaneLaw& law) {
  return std::make_unique<PlaneImpacts<thick>>(mesh, plane.label, contact::placed_plane<thick>(plane), law.parameters,
                                               vertices_of(*mesh, law));
}

}  // namespace

std::unique_ptr<Impact> make_plane_impact(const std::shared_ptr<const TetrahedralMesh>& mesh, const PlaneShape& plane,
                                          const PlaneLaw& law) {
  return law.parameters.has_thickness() ? make<true>(mesh, plane, law) : make<false>(mesh, plane, law);
}

}  // namespace diffsim
