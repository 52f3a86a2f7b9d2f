// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/surface_contact.hpp"

#include <cmath>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"
#include "slot_sum.hpp"
#include "surface_contact_data.hpp"

namespace diffsim {
namespace {

using contact::add_to;
using contact::address_of;
using contact::LawAddresses;
using contact::Vectors;

constexpr const char* law_names[4] = {"barrier_stiffness", "barrier_distance", "friction", "friction_velocity"};

std::vector<contact::Surface> surfaces_of(const TetrahedralMesh& mesh, const std::vector<TriangleObstacle>& obstacles) {
  std::vector<contact::Surface> surfaces;
  std::int64_t number = mesh.num_global_vertices();
  for (const TriangleObstacle& obstacle : obstacles) {
    surfaces.push_back(contact::triangle_surface(obstacle.mesh, number));
    number += static_cast<std::int64_t>(obstacle.mesh.vertices.size());
  }
  return surfaces;
}

}  // namespace

SurfaceContact::Data::Data(std::shared_ptr<const TetrahedralMesh> the_mesh, SurfaceContactOptions the_options)
    : mesh(std::move(the_mesh)),
      options(std::move(the_options)),
      candidates(*mesh, options.self, surfaces_of(*mesh, options.obstacles), options.max_pairs),
      rest_areas(*mesh) {
  std::vector<double> places;
  for (const TriangleObstacle& obstacle : options.obstacles) {
    contact::ObstacleMotion motion;
    motion.label = obstacle.label;
    motion.turn = contact::Turn::about(obstacle.axis, obstacle.origin);
    motion.first = static_cast<int>(places.size() / 3);
    for (const auto& vertex : obstacle.mesh.vertices) places.insert(places.end(), vertex.begin(), vertex.end());
    motion.last = static_cast<int>(places.size() / 3);
    motions.push_back(motion);
  }
  reference = to_device("diffsim::contact::reference", places);
}

LawAddresses SurfaceContact::Data::law_of(const ParameterSet& set, int n) const {
  LawAddresses law{};
  for (int k = 0; k < 4; ++k) law.of[k] = address_of(set, law_names[k], n);
  return law;
}

void SurfaceContact::Data::add_law(const contact::LawSums& sums, int n, ParameterSet& gradient) const {
  for (int k = 0; k < 4; ++k) add_to(gradient, law_names[k], n, &sums.of[k]);
}

Vectors SurfaceContact::Data::obstacles_at(const ParameterSet& set, int n, double time) const {
  const auto result = make_device_array<double>("diffsim::contact::obstacles", reference.size());
  for (const auto& motion : motions) place_obstacle(motion, reference.data(), set, n, time, result);
  return result;
}

SurfaceContact::Data::Here SurfaceContact::Data::look(const Configuration& at, const ParameterSet& set,
                                                      bool with_velocities) {
  const Vectors obstacles = obstacles_at(set, at.step, at.time);
  cover(at, obstacles, set);
  Here here;
  here.x = candidates.gather(at.positions, obstacles);
  if (with_velocities && at.velocities) {
    const auto rates = make_device_array<double>("diffsim::contact::obstacle_velocities", reference.size());
    for (const auto& motion : motions) obstacle_velocities(motion, reference.data(), set, at.step, at.time, rates);
    here.v = candidates.gather(*at.velocities, rates);
  }
  here.law = law_of(set, at.step);
  here.active = contact::active_pairs(candidates.pairs(), here.x, here.law);
  here.targets = contact::targets_of(candidates.pairs(), here.active);
  return here;
}

void SurfaceContact::Data::hand_over(const Here& here, const Vectors& values, Field& local) const {
  Field shares = candidates.shares();
  contact::SlotSum(here.targets, candidates.num_mesh_vertices()).add(values, shares.data());
  Kokkos::fence();
  candidates.scatter(shares, local);
}

SurfaceContact::SurfaceContact(std::shared_ptr<const TetrahedralMesh> mesh, SurfaceContactOptions options)
    : data_(std::make_unique<Data>(std::move(mesh), std::move(options))) {}

SurfaceContact::~SurfaceContact() = default;

bool SurfaceContact::uses_velocities() const { return data_->options.with_friction; }
int SurfaceContact::rebuilds() const { return data_->candidates.rebuilds(); }
std::string SurfaceContact::limiting() const { return data_->limiting; }
std::string SurfaceContact::intersecting() const { return data_->intersecting; }

void SurfaceContact::prepare(const ParameterSet& parameters) {
  const ProfilingRegion region("diffsim::contact::prepare");
  data_->parameters = &parameters;
  const Field& rest = parameters.at("rest_positions").field;
  data_->candidates.set_rest(data_->rest_areas.areas(rest), rest, data_->reference);
}

void SurfaceContact::prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) {
  require_derivatives(direction);
  const Parameter* const rest = direction.find("rest_positions");
  data_->has_tangent = rest != nullptr;
  if (!rest) return;
  data_->rest_direction = &rest->field;
  data_->area_tangent = to_device("diffsim::contact::area_tangent",
                                  data_->rest_areas.tangent(parameters.at("rest_positions").field, rest->field));
}

void SurfaceContact::begin_adjoint(const ParameterSet& gradient) {
  require_derivatives(gradient);
  data_->has_gradient = gradient.find("rest_positions") != nullptr;
  if (!data_->has_gradient) return;
  data_->area_gradient = Field("area_gradient", data_->mesh->vertex_entities(), 3);
  data_->rest_gradient = data_->area_gradient.like("rest_gradient");
}

void SurfaceContact::prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) {
  if (!data_->has_gradient) return;
  Field& target = gradient.at("rest_positions").field;
  data_->rest_areas.add_gradient(parameters.at("rest_positions").field, data_->area_gradient, target);
  axpy(1.0, data_->rest_gradient, target);
}

double SurfaceContact::energy(const Configuration& at, const ParameterSet& parameters) {
  const ProfilingRegion region("diffsim::contact::energy");
  const Data::Here here = data_->look(at, parameters, false);
  return contact::sum_energies(data_->candidates.pairs(), here.active, here.x, here.law);
}

void SurfaceContact::add_force(const Configuration& at, const ParameterSet& parameters, Field& force) {
  const ProfilingRegion region("diffsim::contact::force");
  const Data::Here here = data_->look(at, parameters, uses_velocities());
  const auto values = make_device_array<double>("diffsim::contact::slots", 3 * here.targets.size());
  contact::pair_forces(data_->candidates.pairs(), here.active, here.x, here.v, here.law, values);
  data_->hand_over(here, values, force);
}

void SurfaceContact::add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                       const ParameterSet& direction, Field& force_tangent) {
  const ProfilingRegion region("diffsim::contact::force_tangent");
  const Data::Here here = data_->look(at, *data_->parameters, uses_velocities());
  const Vectors obstacles_dx = data_->still(), obstacles_dv = data_->still();
  for (const auto& motion : data_->motions)
    obstacle_tangents(motion, data_->reference.data(), *data_->parameters, direction, at.step, at.time, tangent.time,
                      obstacles_dx, obstacles_dv);
  const Vectors dx = data_->candidates.gather(tangent.positions, obstacles_dx);
  Vectors dv;
  if (here.v.size() > 0) {
    if (!tangent.velocities) throw Error("friction needs the tangent of the velocities");
    dv = data_->candidates.gather(*tangent.velocities, obstacles_dv);
  }
  contact::RestTangent rest;
  if (direction.find("rest_positions") && data_->has_tangent)
    rest = {data_->area_tangent, data_->candidates.rest(),
            data_->candidates.gather(*data_->rest_direction, data_->still())};
  const auto values = make_device_array<double>("diffsim::contact::slots", 3 * here.targets.size());
  contact::pair_tangents(data_->candidates.pairs(), here.active, here.x, here.v, here.law, dx, dv,
                         data_->law_of(direction, at.step), rest, values);
  data_->hand_over(here, values, force_tangent);
}

void SurfaceContact::add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                                       ParameterSet& gradient) {
  const ProfilingRegion region("diffsim::contact::force_adjoint");
  const contact::Candidates& candidates = data_->candidates;
  const Data::Here here = data_->look(at, *data_->parameters, uses_velocities());
  const Vectors all_w = candidates.gather(w, data_->still());  // obstacles' w is zero
  const auto slots = [&](bool needed) {
    return make_device_array<double>("diffsim::contact::slots", needed ? 3 * here.targets.size() : 0);
  };
  const Vectors x_bar = slots(true), v_bar = slots(here.v.size() > 0);
  const contact::RestAdjoint rest_bar = {slots(data_->has_gradient), slots(data_->has_gradient)};
  const contact::LawSums sums =
      contact::pair_adjoints(candidates.pairs(), here.active, here.x, here.v, here.law, all_w,
                             data_->has_gradient ? candidates.rest() : Vectors(), x_bar, v_bar, rest_bar);
  data_->add_law(sums, at.step, gradient);
  for (const auto& motion : data_->motions)
    add_obstacle_gradient(motion, here.targets, candidates.num_mesh_vertices(), here.x, x_bar, v_bar,
                          *data_->parameters, at.step, at.time, gradient);
  data_->hand_over(here, x_bar, adjoint.positions);
  if (here.v.size() > 0) data_->hand_over(here, v_bar, *adjoint.velocities);
  if (!data_->has_gradient) return;
  data_->hand_over(here, rest_bar.areas, data_->area_gradient);
  data_->hand_over(here, rest_bar.positions, data_->rest_gradient);
}

}  // namespace diffsim
