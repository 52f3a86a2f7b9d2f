// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/body_impact.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "contact/body_impact_map.hpp"
#include "contact/impact_parameters.hpp"
#include "contact/locate_points.hpp"
#include "contact/pair_kernels.hpp"
#include "contact/placed_plane.hpp"
#include "core/add_to_entries.hpp"
#include "core/file_order.hpp"
#include "core/to_index.hpp"
#include "diffsim/core/impl/dual.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {
namespace {

using contact::BodyImpact;
using contact::BodyOfImpact;
using contact::ChangeByImpact;
using contact::StateOfImpact;

constexpr int num_values = contact::PlaneForce<true>::num_values;
constexpr int num_inputs = StateOfImpact<double>::size;

using Along = Dual<double, 1>;
/// Scalar with its derivatives with respect to all inputs of an impact. The type T of the value is double or `Along`.
template <class T>
using ByInputs = Dual<T, num_inputs>;

/// Values at the corners of bodies, [bodies, 4, 3], of positions, velocities and accelerations.
struct CornerValues {
  std::vector<double> x, v, a;
};

/// Values of the parameters of an impact: those of the plane and the scales of surfaces.
struct ImpactValues {
  std::array<double, num_values> plane{};
  std::vector<double> scales;
};

/// Copies values between the corners of bodies and fields on vertices.
class CornerAccess {
 public:
  explicit CornerAccess(const std::vector<int>& corners)
      : corners_(to_device("diffsim::contact::impact_corners", corners)),
        buffer_("diffsim::contact::corner_values", 3 * corners.size()) {}

  std::vector<double> read(const Field& field) const {
    const double* const from = field.data();
    const DeviceArray<int> corners = corners_;
    const DeviceArray<double> to = buffer_;
    Kokkos::parallel_for(
        "diffsim::contact::read_corners", Range(0, static_cast<int>(to.size())), KOKKOS_LAMBDA(int i) {
          to(static_cast<std::size_t>(i)) = from[3 * corners(static_cast<std::size_t>(i / 3)) + i % 3];
        });
    std::vector<double> values(buffer_.size());
    Kokkos::deep_copy(HostSpan<double>(values.data(), values.size()), buffer_);
    return values;
  }
  void add(const std::vector<double>& values, Field& field) const {
    Kokkos::deep_copy(buffer_, HostSpan<const double>(values.data(), values.size()));
    double* const to = field.data();
    const DeviceArray<int> corners = corners_;
    const DeviceArray<double> from = buffer_;
    Kokkos::parallel_for(
        "diffsim::contact::add_to_corners", Range(0, static_cast<int>(from.size())), KOKKOS_LAMBDA(int i) {
          to[3 * corners(static_cast<std::size_t>(i / 3)) + i % 3] += from(static_cast<std::size_t>(i));
        });
    Kokkos::fence();
  }

 private:
  DeviceArray<int> corners_;
  DeviceArray<double> buffer_;
};

double* entry(std::vector<double>& values, std::size_t body, int i) { return &values[12 * body + to_index(i)]; }
double entry(const std::vector<double>& values, std::size_t body, int i) { return values[12 * body + to_index(i)]; }

class BodyImpacts final : public Impact {
 public:
  BodyImpacts(std::shared_ptr<const TetrahedralMesh> mesh, const std::string& label,
              const contact::PlaneForce<true>& plane, const ContactLawNames& law, std::vector<BodyOfImpact> bodies,
              std::vector<std::string> scales, std::set<std::string> names)
      : mesh_(std::move(mesh)),
        label_(label),
        takes_("impact of bodies on plane " + label, contact::impact_parameters(label, law, true)),
        plane_(plane),
        bodies_(std::move(bodies)),
        scales_(std::move(scales)),
        names_(std::move(names)),
        corners_(corners_of(bodies_)) {}

  std::string name() const override { return takes_.term(); }
  bool acts_on(const std::string& body) const override { return names_.contains(body); }
  void prepare(const ParameterSet& parameters) override {
    takes_.check(
        parameters, [](const Entities&) { return false; }, "each body");
  }
  std::string inside(const PlaceOfImpact& at, const ParameterSet& parameters) override {
    const CornerValues from = read(at.fields);
    const ImpactValues values = values_of(at, parameters);
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      const StateOfImpact<double> state = state_of(from, values, b);
      const auto [gap, vertex] = BodyImpact::lowest_gap(plane_, bodies_[b], {at.substep, at.time}, state);
      const Vec3<double> x = BodyImpact::position(bodies_[b], state, vertex);
      const double extent = std::max({std::abs(x[0]), std::abs(x[1]), std::abs(x[2])});
      // Rounding errors of a body that rests on the plane do not count.
      if (!(gap < -1e-10 * extent)) continue;
      const std::int64_t number = mesh_->vertex_order().file_index()[to_index(bodies_[b].corners[0])];
      return "body '" + mesh_->bodies()[to_index(body_of_vertex(mesh_->bodies(), number))].name + "' and plane " +
             label_ + " near " + contact::text_of({x[0], x[1], x[2]});
    }
    return {};
  }
  bool add_changes(const PlaceOfImpact& at, const ParameterSet& parameters, Field& dx, Field& dv) override {
    const CornerValues from = read(at.fields);
    const ImpactValues values = values_of(at, parameters);
    CornerValues changes = zeros();
    bool any = false;
    for_impacts(at, from, values, [&](std::size_t b, const BodyImpact& impact, const StateOfImpact<double>& state) {
      any = true;
      const ChangeByImpact<double> change = impact.change(state);
      for (int i = 0; i < 12; ++i) {
        *entry(changes.x, b, i) = change.x[to_index(i / 3)][i % 3];
        *entry(changes.v, b, i) = change.v[to_index(i / 3)][i % 3];
      }
    });
    if (any) add(changes, dx, dv);
    return any;
  }
  void add_tangents(const PlaceOfImpact& at, const FieldsOfImpact<const Field>& along, const ParameterSet& parameters,
                    const ParameterSet& direction, Field& dx, Field& dv) override {
    const CornerValues from = read(at.fields), tangent = read(along);
    const ImpactValues values = values_of(at, parameters), change_of_values = values_of(at, direction);
    CornerValues changes = zeros();
    for_impacts(at, from, values, [&](std::size_t b, const BodyImpact& impact, StateOfImpact<double>& state) {
      StateOfImpact<double> change = state_of(tangent, change_of_values, b);
      const ChangeByImpact<Along> result = impact.change(along_direction(state, change));
      for (int i = 0; i < 12; ++i) {
        *entry(changes.x, b, i) = result.x[to_index(i / 3)][i % 3].derivative[0];
        *entry(changes.v, b, i) = result.v[to_index(i / 3)][i % 3].derivative[0];
      }
    });
    add(changes, dx, dv);
  }
  void add_adjoints(const PlaceOfImpact& at, const WeightsOfImpact& w, const ParameterSet& parameters,
                    const FieldsOfImpact<Field>& adjoint, ParameterSet& gradient) override {
    const CornerValues from = read(at.fields);
    const ImpactValues values = values_of(at, parameters);
    const std::vector<double> wx = corners_.read(w.positions), wv = corners_.read(w.velocities);
    Adjoints sums(*this);
    for_impacts(at, from, values, [&](std::size_t b, const BodyImpact& impact, StateOfImpact<double>& state) {
      StateOfImpact<ByInputs<double>> variables;
      for (int j = 0; j < num_inputs; ++j) variables.at(j) = ByInputs<double>::variable(state.at(j), j);
      const ChangeByImpact<ByInputs<double>> change = impact.change(variables);
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < num_inputs; ++j)
          sums.add(b, j,
                   entry(wx, b, i) * change.x[to_index(i / 3)][i % 3].derivative[j] +
                       entry(wv, b, i) * change.v[to_index(i / 3)][i % 3].derivative[j]);
    });
    sums.hand_back(at, adjoint, gradient);
  }
  void add_adjoint_tangents(const PlaceOfImpact& at, const FieldsOfImpact<const Field>& along, const WeightsOfImpact& w,
                            const WeightsOfImpact& dw, const ParameterSet& parameters, const ParameterSet& direction,
                            const FieldsOfImpact<Field>& adjoint_tangent, ParameterSet& gradient_tangent) override {
    const CornerValues from = read(at.fields), tangent = read(along);
    const ImpactValues values = values_of(at, parameters), change_of_values = values_of(at, direction);
    const std::vector<double> wx = corners_.read(w.positions), wv = corners_.read(w.velocities),
                              dwx = corners_.read(dw.positions), dwv = corners_.read(dw.velocities);
    Adjoints sums(*this);
    for_impacts(at, from, values, [&](std::size_t b, const BodyImpact& impact, StateOfImpact<double>& state) {
      StateOfImpact<double> change = state_of(tangent, change_of_values, b);
      StateOfImpact<Along> moved = along_direction(state, change);
      StateOfImpact<ByInputs<Along>> variables;
      for (int j = 0; j < num_inputs; ++j) variables.at(j) = ByInputs<Along>::variable(moved.at(j), j);
      const ChangeByImpact<ByInputs<Along>> result = impact.change(variables);
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < num_inputs; ++j) {
          const Along &x = result.x[to_index(i / 3)][i % 3].derivative[j],
                      &v = result.v[to_index(i / 3)][i % 3].derivative[j];
          sums.add(b, j,
                   entry(dwx, b, i) * x.value + entry(wx, b, i) * x.derivative[0] + entry(dwv, b, i) * v.value +
                       entry(wv, b, i) * v.derivative[0]);
        }
    });
    sums.hand_back(at, adjoint_tangent, gradient_tangent);
  }

 private:
  /// Derivatives of a scalar with respect to the inputs of the impacts of all bodies.
  class Adjoints {
   public:
    explicit Adjoints(const BodyImpacts& impacts)
        : impacts_(impacts), values_(impacts.zeros()), scales_(impacts.scales_.size(), 0.0) {}
    /// Adds `derivative` to the derivative with respect to input j (StateOfImpact::at) of body b.
    void add(std::size_t b, int j, double derivative) {
      if (j < 36)
        *entry(j < 12 ? values_.x : j < 24 ? values_.v : values_.a, b, j % 12) += derivative;
      else if (j < 36 + num_values)
        plane_.of[j - 36] += derivative;
      else if (impacts_.bodies_[b].scale >= 0)
        scales_[to_index(impacts_.bodies_[b].scale)] += derivative;
    }
    void hand_back(const PlaceOfImpact& at, const FieldsOfImpact<Field>& adjoint, ParameterSet& gradient) const {
      impacts_.add(values_, adjoint.positions, adjoint.velocities);
      impacts_.corners_.add(values_.a, adjoint.accelerations);
      impacts_.takes_.add_sums(plane_, at.configuration(), gradient);
      for (std::size_t k = 0; k < scales_.size(); ++k)
        if (Parameter* const scale = gradient.find(impacts_.scales_[k])) add_to_entries(scale->field, 0, {scales_[k]});
    }

   private:
    const BodyImpacts& impacts_;
    CornerValues values_;
    point::Sums<num_values> plane_;
    std::vector<double> scales_;
  };

  static std::vector<int> corners_of(const std::vector<BodyOfImpact>& bodies) {
    std::vector<int> corners;
    for (const BodyOfImpact& body : bodies) corners.insert(corners.end(), body.corners.begin(), body.corners.end());
    return corners;
  }
  CornerValues zeros() const {
    const std::vector<double> zero(12 * bodies_.size(), 0.0);
    return {zero, zero, zero};
  }
  CornerValues read(const FieldsOfImpact<const Field>& fields) const {
    return {corners_.read(fields.positions), corners_.read(fields.velocities), corners_.read(fields.accelerations)};
  }
  void add(const CornerValues& values, Field& x, Field& v) const {
    corners_.add(values.x, x);
    corners_.add(values.v, v);
  }
  /// Returns the values in `set`; 0 for a parameter that `set` does not contain.
  ImpactValues values_of(const PlaceOfImpact& at, const ParameterSet& set) const {
    ImpactValues values;
    const auto numbers = takes_.template numbers<const double>(set, at.configuration());
    for (std::size_t k = 0; k < num_values; ++k)
      if (const double* const device = numbers.of[k]) {
        Kokkos::deep_copy(HostSpan<double>(&values.plane[k], 1), DeviceSpan<const double>(device, 1));
        values.plane[k] *= numbers.factor[k];
      }
    for (const std::string& name : scales_) {
      const Parameter* const scale = set.find(name);
      values.scales.push_back(scale ? scale->field.to_host().front() : 0.0);
    }
    return values;
  }
  StateOfImpact<double> state_of(const CornerValues& corners, const ImpactValues& values, std::size_t b) const {
    StateOfImpact<double> state;
    for (int i = 0; i < 12; ++i) {
      state.at(i) = entry(corners.x, b, i);
      state.at(12 + i) = entry(corners.v, b, i);
      state.at(24 + i) = entry(corners.a, b, i);
    }
    std::copy(values.plane.begin(), values.plane.end(), state.p);
    state.scale = bodies_[b].scale < 0 ? 1.0 : values.scales[to_index(bodies_[b].scale)];
    return state;
  }
  static StateOfImpact<Along> along_direction(StateOfImpact<double>& state, StateOfImpact<double>& change) {
    StateOfImpact<Along> result;
    for (int j = 0; j < num_inputs; ++j) {
      result.at(j) = Along(state.at(j));
      result.at(j).derivative[0] = change.at(j);
    }
    return result;
  }
  /// Calls `f(b, impact, state)` for each body b with an impact.
  template <class Function>
  void for_impacts(const PlaceOfImpact& at, const CornerValues& from, const ImpactValues& values,
                   const Function& f) const {
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      StateOfImpact<double> state = state_of(from, values, b);
      const BodyImpact impact(plane_, bodies_[b], {at.substep, at.time}, state);
      if (impact.acts()) f(b, impact, state);
    }
  }

  std::shared_ptr<const TetrahedralMesh> mesh_;
  std::string label_;
  point::Parameters<num_values> takes_;
  contact::PlaneForce<true> plane_;
  std::vector<BodyOfImpact> bodies_;
  std::vector<std::string> scales_;  // names of the scales
  std::set<std::string> names_;      // names of the bodies of all ranks
  CornerAccess corners_;
};

std::array<double, 4> weights_of(const PointStencil& stencil) {
  return {stencil.weights[0], stencil.weights[1], stencil.weights[2], stencil.weights[3]};
}

/// Appends this rank's part of body `b` to `bodies`: the body, if its cell is on this rank. `scale`: the scale of the
/// body's surface, or nullptr. Collective.
void append_body(const TetrahedralMesh& mesh, std::size_t b, const SurfaceScale* scale, int scale_number,
                 std::vector<BodyOfImpact>& bodies) {
  const TriangleMesh& surface = mesh.bodies()[b].affine->surface;
  std::set<int> used;
  for (const auto& triangle : surface.triangles) used.insert(triangle.begin(), triangle.end());
  std::vector<std::array<double, 3>> points;
  for (const int v : used) points.push_back(surface.vertices[to_index(v)]);
  const bool has_centre = scale && scale->centre;
  if (has_centre) points.push_back(*scale->centre);
  const auto located = contact::locate_points(
      mesh, b, points, [&](std::size_t) { return "surface of body '" + mesh.bodies()[b].name + "'"; }, true);
  if (located.empty()) return;
  BodyOfImpact body;
  for (std::size_t k = 0; k < 4; ++k) body.corners[k] = located.front().stencil.nodes[k].index;
  body.centre.fill(0.25);
  body.scale = scale_number;
  for (const contact::LocatedPoint& point : located) {
    if (has_centre && point.point + 1 == points.size())
      body.centre = weights_of(point.stencil);
    else
      body.weights.push_back(weights_of(point.stencil));
  }
  bodies.push_back(std::move(body));
}

}  // namespace

std::unique_ptr<Impact> make_body_impact(const std::shared_ptr<const TetrahedralMesh>& mesh,
                                         const std::vector<int>& rigid_cells, const PlaneShape& plane,
                                         const PlaneLaw& law, const std::vector<SurfaceScale>& scales) {
  std::vector<BodyOfImpact> bodies;
  std::vector<std::string> names_of_scales;
  std::set<std::string> names;
  for (std::size_t b = 0; b < mesh->bodies().size(); ++b) {
    const MeshBody& body = mesh->bodies()[b];
    const std::size_t group = law.regions.size() + b;
    if (!body.affine || body.affine->surface.triangles.empty()) continue;
    if (!law.groups.empty() && std::find(law.groups.begin(), law.groups.end(), group) == law.groups.end()) continue;
    names.insert(body.name);
    const auto scale =
        std::find_if(scales.begin(), scales.end(), [&](const SurfaceScale& one) { return one.body == body.name; });
    const bool has_scale = scale != scales.end();
    append_body(*mesh, b, has_scale ? &*scale : nullptr, has_scale ? static_cast<int>(names_of_scales.size()) : -1,
                bodies);
    if (has_scale) names_of_scales.push_back(std::string(ContactParameters::surface_scale.name) + ':' + body.name);
  }
  if (names.empty()) return nullptr;
  std::set<int> rigid_corners;
  for (const int cell : rigid_cells) rigid_corners.insert(mesh->cells()[4 * to_index(cell)]);
  for (BodyOfImpact& body : bodies) body.is_rigid = rigid_corners.contains(body.corners[0]);
  return std::make_unique<BodyImpacts>(mesh, plane.label, contact::placed_plane<true>(plane), law.parameters,
                                       std::move(bodies), std::move(names_of_scales), std::move(names));
}

}  // namespace diffsim
