// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/plane_contact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "diffsim/contact/surface_areas.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/small_tensor.hpp"
#include "obstacle_motion.hpp"
#include "pair_kernels.hpp"
#include "plane_kernels.hpp"

namespace diffsim {
struct PlaneContact::Data {
  explicit Data(const TetrahedralMesh& mesh) : rest_areas(mesh) {}
  contact::RestAreas rest_areas;
  std::vector<int> surface;  // vertices, on the host
  DeviceArray<int> vertices;
  DeviceArray<double> areas, area_tangent;  // [vertices]; the tangent is empty where it is not asked for
  Field area_gradient;                      // [local vertices, 3], in the first component; likewise
  Vec3<double> normal;
  contact::Turn turn;
  std::string names[contact::PlaneGlobals::count];
  std::uint64_t pattern = 0;  // of the matrix that `blocks` is for
  DeviceArray<int> blocks;    // the diagonal block of each vertex

  /// Of the surface's vertices, from those of all owned ones.
  DeviceArray<double> on_surface(const std::vector<double>& all) const {
    std::vector<double> some;
    for (const int v : surface) some.push_back(all[static_cast<std::size_t>(v)]);
    return to_device("diffsim::contact::plane_areas", some);
  }
  /// Finds the diagonal blocks in a matrix of another pattern.
  void fit(const BlockMatrix& matrix) {
    if (blocks.size() == vertices.size() && pattern == matrix.pattern()) return;
    const auto host = host_view(vertices);
    std::vector<int> found(host.size());
    for (std::size_t i = 0; i < found.size(); ++i) found[i] = matrix.find(host(i), host(i));
    blocks = to_device("diffsim::contact::plane_blocks", found);
    pattern = matrix.pattern();
  }
  contact::PlaneGlobals globals(const ParameterSet& set, int n) const {
    contact::PlaneGlobals result{};
    for (int k = 0; k < contact::PlaneGlobals::count; ++k) result.of[k] = contact::address_of(set, names[k], n);
    return result;
  }
  contact::PlaneSweep sweep(const Configuration& at, const ParameterSet& set, bool friction) const {
    const Field* v = at.velocities;
    return {vertices,
            areas,
            normal,
            turn,
            at.time,
            friction,
            at.positions.data(),
            v ? v->data() : nullptr,
            globals(set, at.step)};
  }
  /// " near (0.1, 0, 2)"
  std::string place_of(std::size_t i, const Field& positions) const {
    const auto host = host_view(vertices);
    const std::vector<double> x = positions.to_host();
    const std::size_t first = 3 * static_cast<std::size_t>(host(i));
    return " near " + contact::text_of({x[first], x[first + 1], x[first + 2]});
  }
  // Of all vertices, on the host: heights above the plane, and how much they may bend on the way (0 without a turn).
  std::vector<double> heights(const Configuration& at, const ParameterSet& set) const;
  std::vector<double> bends(const Configuration& from, const Configuration& to, const ParameterSet& set) const;
};

namespace {

std::vector<double> on_host(const DeviceArray<double>& values) {
  const auto host = host_view(values);
  return {host.data(), host.data() + host.size()};
}

}  // namespace

std::vector<double> PlaneContact::Data::heights(const Configuration& at, const ParameterSet& set) const {
  const auto device = make_device_array<double>("diffsim::contact::heights", vertices.size());
  contact::plane_heights(sweep(at, set, false), device);
  return on_host(device);
}

std::vector<double> PlaneContact::Data::bends(const Configuration& from, const Configuration& to,
                                              const ParameterSet& set) const {
  if (!turn.turns) return std::vector<double>(vertices.size(), 0.0);
  const auto device = make_device_array<double>("diffsim::contact::bends", vertices.size());
  contact::plane_bends(sweep(from, set, false), sweep(to, set, false), device);
  return on_host(device);
}

PlaneContact::PlaneContact(std::shared_ptr<const TetrahedralMesh> mesh, const PlaneShape& plane, bool with_friction)
    : mesh_(std::move(mesh)),
      label_(plane.label),
      with_friction_(with_friction),
      data_(std::make_unique<Data>(*mesh_)) {
  const double length = std::hypot(plane.normal[0], plane.normal[1], plane.normal[2]);
  if (!(length > 0.0 && std::isfinite(length)))
    throw Error("the normal of plane '" + label_ + "' has no direction; give one that points to the body",
                ErrorKind::input);
  data_->normal = {{plane.normal[0] / length, plane.normal[1] / length, plane.normal[2] / length}};
  data_->turn = contact::Turn::about(plane.axis, plane.origin);
  const contact::SurfaceAreas areas = contact::surface_areas(*mesh_);
  data_->surface = areas.vertices;
  data_->vertices = to_device("diffsim::contact::plane_vertices", areas.vertices);
  data_->areas = to_device("diffsim::contact::plane_areas", areas.areas);
  const char* const names[] = {"obstacle_position:",        "obstacle_velocity:", "barrier_stiffness",
                               "barrier_distance",          "friction",           "friction_velocity",
                               "obstacle_angular_velocity:"};
  for (int k = 0; k < contact::PlaneGlobals::count; ++k)
    data_->names[k] = names[k] + (k < 2 || k == 6 ? label_ : std::string());
}

PlaneContact::~PlaneContact() = default;

void PlaneContact::prepare(const ParameterSet& parameters) {
  parameters_ = &parameters;
  data_->areas = data_->on_surface(data_->rest_areas.areas(parameters.at("rest_positions").field));
}

void PlaneContact::prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) {
  require_derivatives(direction);
  const Parameter* const rest = direction.find("rest_positions");
  data_->area_tangent = {};
  if (rest)
    data_->area_tangent =
        data_->on_surface(data_->rest_areas.tangent(parameters.at("rest_positions").field, rest->field));
}

void PlaneContact::begin_adjoint(const ParameterSet& gradient) {
  require_derivatives(gradient);
  data_->area_gradient = {};
  if (gradient.find("rest_positions")) data_->area_gradient = Field("area_gradient", mesh_->vertex_entities(), 3);
}

void PlaneContact::prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) {
  if (!gradient.find("rest_positions")) return;
  data_->rest_areas.add_gradient(parameters.at("rest_positions").field, data_->area_gradient,
                                 gradient.at("rest_positions").field);
}

double PlaneContact::energy(const Configuration& at, const ParameterSet& parameters) {
  return contact::plane_energy(data_->sweep(at, parameters, false));
}

void PlaneContact::add_force(const Configuration& at, const ParameterSet& parameters, Field& force) {
  contact::add_plane_forces(data_->sweep(at, parameters, with_friction_), force.data());
}

void PlaneContact::add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                     const ParameterSet& direction, Field& force_tangent) {
  contact::add_plane_tangents(data_->sweep(at, *parameters_, with_friction_),
                              {tangent.positions.data(), tangent.velocities ? tangent.velocities->data() : nullptr,
                               data_->globals(direction, at.step), tangent.time,
                               direction.find("rest_positions") ? data_->area_tangent : DeviceArray<double>()},
                              force_tangent.data());
}

void PlaneContact::add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                                     ParameterSet& gradient) {
  const contact::PlaneSums sums =
      contact::add_plane_adjoints(data_->sweep(at, *parameters_, with_friction_), w.data(), adjoint.positions.data(),
                                  adjoint.velocities ? adjoint.velocities->data() : nullptr,
                                  data_->area_gradient.size() > 0 ? data_->area_gradient.data() : nullptr);
  add_sums(sums, at.step, gradient);
}

void PlaneContact::add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                             const ParameterSet& direction, const Field* w, const Field* dw,
                                             const ConfigurationAdjoint& adjoint_tangent,
                                             ParameterSet& gradient_tangent) {
  const contact::PlaneSums sums = contact::add_plane_adjoint_tangents(
      data_->sweep(at, *parameters_, with_friction_),
      {tangent.positions.data(), tangent.velocities ? tangent.velocities->data() : nullptr,
       data_->globals(direction, at.step), tangent.time, DeviceArray<double>()},
      w ? w->data() : nullptr, dw ? dw->data() : nullptr, adjoint_tangent.positions.data(),
      adjoint_tangent.velocities ? adjoint_tangent.velocities->data() : nullptr);
  add_sums(sums, at.step, gradient_tangent);
}

void PlaneContact::add_sums(const contact::PlaneSums& sums, int n, ParameterSet& gradient) const {
  for (int k = 0; k < contact::PlaneGlobals::count; ++k)
    contact::add_to(gradient, data_->names[k], n, sums.of + contact::PlaneGlobals::first(k));
}

void PlaneContact::add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                                BlockMatrix& matrix) {
  data_->fit(matrix);
  contact::add_plane_blocks(data_->sweep(at, parameters, with_friction_), weights, data_->blocks, matrix.values());
}

bool PlaneContact::moves(int n, const ParameterSet& parameters) const {
  return contact::goes(parameters, {data_->names[1], data_->names[6]}, n);
}

std::string PlaneContact::name_of(std::size_t i) const {
  const auto host = host_view(data_->vertices);
  return "vertex " + std::to_string(mesh_->vertex_order().file_index()[static_cast<std::size_t>(host(i))]) +
         " and plane " + label_;
}

double PlaneContact::max_step(const Configuration& from, const Configuration& to, const ParameterSet& parameters) {
  // Along the motion φ(s) ≥ φ(0) + s (φ(1) - φ(0)) - B s (1 - s)/2, with B ≥ |φ''|: linear without a turn.
  limiting_.clear();
  const std::vector<double> begin = data_->heights(from, parameters), end = data_->heights(to, parameters),
                            bends = data_->bends(from, to, parameters);
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
  const double range = parameters.at("barrier_distance").field.to_host().at(0);
  ContactState result;
  intersecting_.clear();
  const std::vector<double> heights = data_->heights(at, parameters);
  for (std::size_t i = 0; i < heights.size(); ++i) {
    result.min_distance = std::min(result.min_distance, heights[i]);
    result.active_pairs += heights[i] < range;
    if (heights[i] > 0.0) continue;
    if (result.intersections < 3)
      intersecting_ += (intersecting_.empty() ? "" : ", ") + name_of(i) + data_->place_of(i, at.positions);
    ++result.intersections;
  }
  if (with_friction_ && at.velocities)
    result.friction_power = contact::plane_friction_power(data_->sweep(at, parameters, true));
  std::int64_t counts[2] = {result.active_pairs, result.intersections};
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &result.min_distance, 1, MPI_DOUBLE, MPI_MIN, mesh_->comm()));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM, mesh_->comm()));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &result.friction_power, 1, MPI_DOUBLE, MPI_SUM, mesh_->comm()));
  result.active_pairs = counts[0];
  result.intersections = counts[1];
  return result;
}

}  // namespace diffsim
