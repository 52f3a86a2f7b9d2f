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

constexpr int num_values = contact::num_plane_values;
/// Number of inputs of an impact with respect to which derivatives are computed together: those of the body and the
/// values of one plane.
constexpr int num_inputs = StateOfImpact<double>::own_size + num_values;

using Along = Dual<double, 1>;
/// Scalar with its derivatives with respect to `num_inputs` inputs of an impact. The type T of the value is double or
/// `Along`.
template <class T>
using ByInputs = Dual<T, num_inputs>;

/// Values at the corners of bodies, [bodies, 4, 3], of positions, velocities and accelerations.
struct CornerValues {
  std::vector<double> x, v, a;
};

/// Values of the parameters of impacts: those of all planes and the scales of surfaces.
struct ImpactValues {
  std::vector<std::array<double, num_values>> planes;
  std::vector<double> scales;
};

/// Plane with its contact law.
struct Plane {
  std::string label;
  contact::PlaneForce<true> force;
  point::Parameters<num_values> takes;
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
  BodyImpacts(std::shared_ptr<const TetrahedralMesh> mesh, std::vector<Plane> planes, std::vector<BodyOfImpact> bodies,
              std::vector<std::string> scales, std::set<std::string> names)
      : mesh_(std::move(mesh)),
        planes_(std::move(planes)),
        bodies_(std::move(bodies)),
        scales_(std::move(scales)),
        names_(std::move(names)),
        corners_(corners_of(bodies_)) {
    for (const BodyOfImpact& body : bodies_) {
      planes_of_.emplace_back();
      for (const std::size_t k : body.planes) planes_of_.back().push_back(&planes_[k].force);
    }
  }

  std::string name() const override { return "impacts of bodies on planes"; }
  bool acts_on(const std::string& body) const override { return names_.contains(body); }
  void prepare(const ParameterSet& parameters) override {
    for (const Plane& plane : planes_)
      plane.takes.check(
          parameters, [](const Entities&) { return false; }, "each body");
  }
  std::string inside(const PlaceOfImpact& at, const ParameterSet& parameters) override {
    const CornerValues from = read(at.fields);
    const ImpactValues values = values_of(at, parameters);
    for (std::size_t b = 0; b < bodies_.size(); ++b) {
      const StateOfImpact<double> state = state_of(from, values, b);
      const BodyImpact::Lowest lowest = BodyImpact::lowest_gap(planes_of_[b], bodies_[b], {at.substep, at.time}, state);
      double extent = 0.0;
      for (const Vec3<double>& x : state.x)
        for (int c = 0; c < 3; ++c) extent = std::max({extent, std::abs(x[c]), std::abs(x[c] - state.x[0][c])});
      // Rounding errors of a body that rests on the plane do not count.
      if (!(lowest.gap < -1e-10 * extent)) continue;
      const Vec3<double> x = BodyImpact::position(bodies_[b], state, lowest.vertex);
      const std::int64_t number = mesh_->vertex_order().file_index()[to_index(bodies_[b].corners[0])];
      return "body '" + mesh_->bodies()[to_index(body_of_vertex(mesh_->bodies(), number))].name + "' and plane " +
             planes_[bodies_[b].planes[lowest.plane]].label + " near " + contact::text_of({x[0], x[1], x[2]});
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
      for (std::size_t k = 0; k < state.planes.size(); ++k) {
        const auto change = impact.change(variables_of<double>(state, k));
        for (int i = 0; i < 12; ++i)
          for (int j = 0; j < num_inputs; ++j)
            sums.add(b, k, j,
                     entry(wx, b, i) * change.x[to_index(i / 3)][i % 3].derivative[j] +
                         entry(wv, b, i) * change.v[to_index(i / 3)][i % 3].derivative[j]);
      }
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
      for (std::size_t k = 0; k < state.planes.size(); ++k) {
        const auto result = impact.change(variables_of<Along>(moved, k));
        for (int i = 0; i < 12; ++i)
          for (int j = 0; j < num_inputs; ++j) {
            const Along &x = result.x[to_index(i / 3)][i % 3].derivative[j],
                        &v = result.v[to_index(i / 3)][i % 3].derivative[j];
            sums.add(b, k, j,
                     entry(dwx, b, i) * x.value + entry(wx, b, i) * x.derivative[0] + entry(dwv, b, i) * v.value +
                         entry(wv, b, i) * v.derivative[0]);
          }
      }
    });
    sums.hand_back(at, adjoint_tangent, gradient_tangent);
  }

 private:
  /// Derivatives of a scalar with respect to the inputs of the impacts of all bodies.
  class Adjoints {
   public:
    explicit Adjoints(const BodyImpacts& impacts)
        : impacts_(impacts),
          values_(impacts.zeros()),
          planes_(impacts.planes_.size()),
          scales_(impacts.scales_.size(), 0.0) {}
    /// Adds `derivative` to the derivative with respect to input j of `variables_of(…, k)` of body b. The inputs of the
    /// body itself are the same for each plane k.
    void add(std::size_t b, std::size_t k, int j, double derivative) {
      const BodyOfImpact& body = impacts_.bodies_[b];
      const int own = j - StateOfImpact<double>::own_size;
      if (own >= 0)
        planes_[body.planes[k]].of[own] += derivative;
      else if (k > 0)
        return;
      else if (j < 36)
        *entry(j < 12 ? values_.x : j < 24 ? values_.v : values_.a, b, j % 12) += derivative;
      else if (body.scale >= 0)
        scales_[to_index(body.scale)] += derivative;
    }
    void hand_back(const PlaceOfImpact& at, const FieldsOfImpact<Field>& adjoint, ParameterSet& gradient) const {
      impacts_.add(values_, adjoint.positions, adjoint.velocities);
      impacts_.corners_.add(values_.a, adjoint.accelerations);
      for (std::size_t k = 0; k < planes_.size(); ++k)
        impacts_.planes_[k].takes.add_sums(planes_[k], at.configuration(), gradient);
      for (std::size_t k = 0; k < scales_.size(); ++k)
        if (Parameter* const scale = gradient.find(impacts_.scales_[k])) add_to_entries(scale->field, 0, {scales_[k]});
    }

   private:
    const BodyImpacts& impacts_;
    CornerValues values_;
    std::vector<point::Sums<num_values>> planes_;
    std::vector<double> scales_;
  };

  /// Returns `state`, in which the inputs of the body and the values of plane k are independent variables.
  template <class T>
  static StateOfImpact<ByInputs<T>> variables_of(StateOfImpact<T>& state, std::size_t k) {
    StateOfImpact<ByInputs<T>> variables;
    variables.planes.resize(state.planes.size());
    const int own = StateOfImpact<T>::own_size, first = own + num_values * static_cast<int>(k);
    for (int i = 0; i < state.size(); ++i) {
      const int j = i < own ? i : i - first + own;
      const bool varies = i < own || (i >= first && i < first + num_values);
      variables.at(i) = varies ? ByInputs<T>::variable(state.at(i), j) : ByInputs<T>::constant(state.at(i));
    }
    return variables;
  }
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
    for (const Plane& plane : planes_) {
      const auto numbers = plane.takes.template numbers<const double>(set, at.configuration());
      values.planes.emplace_back();
      for (std::size_t k = 0; k < num_values; ++k)
        if (const double* const device = numbers.of[k]) {
          Kokkos::deep_copy(HostSpan<double>(&values.planes.back()[k], 1), DeviceSpan<const double>(device, 1));
          values.planes.back()[k] *= numbers.factor[k];
        }
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
    for (const std::size_t k : bodies_[b].planes) state.planes.push_back(values.planes[k]);
    state.scale = bodies_[b].scale < 0 ? 1.0 : values.scales[to_index(bodies_[b].scale)];
    return state;
  }
  static StateOfImpact<Along> along_direction(StateOfImpact<double>& state, StateOfImpact<double>& change) {
    StateOfImpact<Along> result;
    result.planes.resize(state.planes.size());
    for (int j = 0; j < state.size(); ++j) {
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
      const BodyImpact impact(planes_of_[b], bodies_[b], {at.substep, at.time}, state);
      if (impact.acts()) f(b, impact, state);
    }
  }

  std::shared_ptr<const TetrahedralMesh> mesh_;
  std::vector<Plane> planes_;
  std::vector<BodyOfImpact> bodies_;
  std::vector<std::vector<const contact::PlaneForce<true>*>> planes_of_;  // of each body
  std::vector<std::string> scales_;                                       // names of the scales
  std::set<std::string> names_;                                           // names of the bodies of all ranks
  CornerAccess corners_;
};

std::array<double, 4> weights_of(const PointStencil& stencil) {
  return {stencil.weights[0], stencil.weights[1], stencil.weights[2], stencil.weights[3]};
}

/// Appends this rank's part of body `b` to `bodies`: the body, if its cell is on this rank. `scale`: the scale of the
/// body's surface, or nullptr. `planes`: indices of the planes that the body can touch. Collective.
void append_body(const TetrahedralMesh& mesh, std::size_t b, const SurfaceScale* scale, int scale_number,
                 const std::vector<std::size_t>& planes, std::vector<BodyOfImpact>& bodies) {
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
  body.planes = planes;
  for (const contact::LocatedPoint& point : located) {
    if (has_centre && point.point + 1 == points.size())
      body.centre = weights_of(point.stencil);
    else
      body.weights.push_back(weights_of(point.stencil));
  }
  bodies.push_back(std::move(body));
}

}  // namespace

std::unique_ptr<Impact> make_body_impacts(const std::shared_ptr<const TetrahedralMesh>& mesh,
                                          const std::vector<int>& rigid_cells, const std::vector<PlaneOfImpact>& given,
                                          const std::vector<SurfaceScale>& scales) {
  std::vector<BodyOfImpact> bodies;
  std::vector<std::string> names_of_scales;
  std::set<std::string> names;
  for (std::size_t b = 0; b < mesh->bodies().size(); ++b) {
    const MeshBody& body = mesh->bodies()[b];
    if (!body.affine || body.affine->surface.triangles.empty()) continue;
    std::vector<std::size_t> planes;
    for (std::size_t k = 0; k < given.size(); ++k) {
      const std::vector<std::size_t>& groups = given[k].law.groups;
      const std::size_t group = given[k].law.regions.size() + b;
      if (groups.empty() || std::find(groups.begin(), groups.end(), group) != groups.end()) planes.push_back(k);
    }
    if (planes.empty()) continue;
    names.insert(body.name);
    const auto scale =
        std::find_if(scales.begin(), scales.end(), [&](const SurfaceScale& one) { return one.body == body.name; });
    const bool has_scale = scale != scales.end();
    append_body(*mesh, b, has_scale ? &*scale : nullptr, has_scale ? static_cast<int>(names_of_scales.size()) : -1,
                planes, bodies);
    if (has_scale) names_of_scales.push_back(std::string(ContactParameters::surface_scale.name) + ':' + body.name);
  }
  if (names.empty()) return nullptr;
  std::set<int> rigid_corners;
  for (const int cell : rigid_cells) rigid_corners.insert(mesh->cells()[4 * to_index(cell)]);
  for (BodyOfImpact& body : bodies) body.is_rigid = rigid_corners.contains(body.corners[0]);
  std::vector<Plane> planes;
  for (const PlaneOfImpact& plane : given)
    planes.push_back({plane.shape.label,
                      contact::placed_plane<true>(plane.shape),
                      {"impact of bodies on plane " + plane.shape.label,
                       contact::impact_parameters(plane.shape.label, plane.law.parameters, true)}});
  return std::make_unique<BodyImpacts>(mesh, std::move(planes), std::move(bodies), std::move(names_of_scales),
                                       std::move(names));
}

}  // namespace diffsim
