// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/surface_contact.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "contact/slot_sum.hpp"
#include "contact/surface_contact_data.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"

namespace diffsim {
namespace {

using contact::add_to;
using contact::address_of;
using contact::LawAddresses;
using contact::Vectors;

/// Number of groups of the mesh's surface. The group numbers of obstacles begin at this number.
std::size_t groups_of_mesh(const TetrahedralMesh& mesh, const SurfaceContactOptions& options) {
  return options.regions.size() + body_names(mesh.bodies()).size();
}

std::vector<contact::Surface> surfaces_of(const TetrahedralMesh& mesh, const SurfaceContactOptions& options) {
  std::vector<contact::Surface> surfaces;
  std::int64_t number = mesh.num_global_vertices();
  auto group = static_cast<std::int32_t>(groups_of_mesh(mesh, options));
  for (const TriangleObstacle& obstacle : options.obstacles) {
    surfaces.push_back(contact::triangle_surface(obstacle.mesh, number, group++));
    number += static_cast<std::int64_t>(obstacle.mesh.vertices.size());
  }
  return surfaces;
}

/// First vertex number of each body and obstacle; empty if the mesh has only one body.
std::vector<std::int64_t> first_numbers(const TetrahedralMesh& mesh, const SurfaceContactOptions& options) {
  std::vector<std::int64_t> first;
  if (mesh.bodies().size() < 2) return first;
  for (const MeshBody& body : mesh.bodies()) first.push_back(body.first_vertex);
  std::int64_t number = mesh.num_global_vertices();
  for (const TriangleObstacle& obstacle : options.obstacles) {
    first.push_back(number);
    number += static_cast<std::int64_t>(obstacle.mesh.vertices.size());
  }
  return first;
}

/// Throws Error (input) if a triangle has vertices of two bodies. Collective.
void require_bodies(const TetrahedralMesh& mesh, const std::vector<std::array<int, 3>>& triangles) {
  if (mesh.bodies().size() < 2) return;
  collectively(mesh.comm(), [&] {
    const auto number = [&](int v) { return mesh.vertex_order().file_index()[static_cast<std::size_t>(v)]; };
    for (const auto& corners : triangles)
      for (std::size_t k = 1; k < 3; ++k)
        if (body_of_vertex(mesh.bodies(), number(corners[k])) != body_of_vertex(mesh.bodies(), number(corners[0])))
          throw Error("a triangle has vertices " + vertex_name(mesh.bodies(), number(corners[0])) + " and " +
                          vertex_name(mesh.bodies(), number(corners[k])) +
                          "; give each body its own, consecutively numbered vertices",
                      ErrorKind::input);
  });
}

}  // namespace

SurfaceContact::Data::Data(std::shared_ptr<const TetrahedralMesh> the_mesh, SurfaceContactOptions the_options)
    : mesh(std::move(the_mesh)),
      options(std::move(the_options)),
      candidates(*mesh, options.self, surfaces_of(*mesh, options), first_numbers(*mesh, options), options.regions,
                 options.max_pairs),
      rest_areas(*mesh) {
  require_bodies(*mesh, candidates.local_triangles());
  candidates.set_prescribed(options.prescribed_bodies);
  if (options.forces == ContactForces::friction_part) candidates.set_friction_alone();
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
  const std::size_t groups = groups_of_mesh(*mesh, options) + options.obstacles.size();
  num_groups = static_cast<int>(groups);
  if (!options.ignored.empty()) {
    ignored.assign(groups * groups, 0);
    for (const auto& [a, b] : options.ignored) ignored[groups * a + b] = ignored[groups * b + a] = 1;
    candidates.set_ignored(ignored, num_groups);
  }
  law_names = {options.shared};
  if (options.laws.empty()) return;
  std::vector<int> table(groups * groups, 0);
  for (const GroupLaw& law : options.laws) {
    for (const auto& [a, b] : law.pairs)
      table[groups * a + b] = table[groups * b + a] = static_cast<int>(law_names.size());
    law_names.push_back(law.parameters);
  }
  law_table = to_device("diffsim::contact::law_table", table);
}

std::vector<LawAddresses> SurfaceContact::Data::laws_of(const ParameterSet& set, int n) const {
  std::vector<LawAddresses> laws;
  for (const ContactLawNames& names : law_names) {
    LawAddresses& law = laws.emplace_back();
    for (std::size_t k = 0; k < names.numbers.size(); ++k) law.of[k] = address_of(set, names.numbers[k], n);
    for (std::size_t k = 0; k < names.thickness.size(); ++k) law.thick[k] = address_of(set, names.thickness[k], n);
    law.is_penalty = names.is_penalty();
  }
  return laws;
}

void SurfaceContact::Data::add_laws(const std::vector<contact::LawSums>& sums, int n, ParameterSet& gradient) const {
  for (std::size_t l = 0; l < sums.size(); ++l) {
    const ContactLawNames& names = law_names[l];
    for (std::size_t k = 0; k < names.numbers.size(); ++k) add_to(gradient, names.numbers[k], n, &sums[l].of[k]);
    const double half = 0.5 * sums[l].of[contact::LawSums::thickness];
    for (const std::string& name : names.thickness) add_to(gradient, name, n, &half);
  }
}

std::vector<SurfaceContact::Data::Reach> SurfaceContact::Data::reaches_of(const ParameterSet& set, int n) const {
  const auto value = [&](const std::string& name) {
    const Parameter* const found = set.find(name);
    return found ? found->field.to_host().at(found->offset(n)) : 0.0;
  };
  std::vector<Reach> reaches;
  for (const ContactLawNames& names : law_names)
    reaches.push_back({value(names.range()), 0.5 * (value(names.thickness[0]) + value(names.thickness[1]))});
  return reaches;
}

double SurfaceContact::Data::range(const ParameterSet& set, int n) const {
  double most = 0.0;
  for (const Reach& reach : reaches_of(set, n))
    most = std::max(most, (assembled ? couples_within() : 1.0) * reach.range + reach.thickness);
  return most;
}

Vectors SurfaceContact::Data::obstacles_at(const ParameterSet& set, int n, double time) const {
  const auto result = candidates.pool().take<double>("diffsim::contact::obstacles", reference.size());
  for (const auto& motion : motions) place_obstacle(motion, reference.data(), set, n, time, result);
  return result;
}

SurfaceContact::Data::Here SurfaceContact::Data::look(const Configuration& at, const ParameterSet& set,
                                                      bool with_velocities) {
  ArrayPool& pool = candidates.pool();
  const Vectors obstacles = obstacles_at(set, at.step, at.time);
  cover(at, obstacles, set);
  const Vectors x = candidates.gather(at.positions, obstacles);
  const std::vector<Reach> reaches = reaches_of(set, at.step);
  const contact::PairLaws laws = pair_laws(set, at.step);
  if (last_lists == candidates.rebuilds() && last_reaches == reaches && contact::have_same_values(x, last.x)) {
    for (std::size_t l = 0; l < laws.laws.size(); ++l) last.active.parts[l].law = laws.laws[l];
  } else {
    last_lists = -1;
    last.active = contact::active_pairs(candidates.pairs(), x, laws, pool);
    last.targets = contact::targets_of(candidates.pairs(), last.active.pairs, pool);
    last.x = x;
    last_reaches = reaches;
    last_lists = candidates.rebuilds();
  }
  Here here = last;
  if (with_velocities && at.velocities) {
    const auto rates = pool.take<double>("diffsim::contact::obstacle_velocities", reference.size());
    for (const auto& motion : motions) obstacle_velocities(motion, reference.data(), set, at.step, at.time, rates);
    here.v = candidates.gather(*at.velocities, rates);
  }
  return here;
}

void SurfaceContact::Data::hand_over(const Here& here, const Vectors& values, Field& local) const {
  Field& shares = candidates.shares();
  contact::SlotSum(here.targets, candidates.num_mesh_vertices(), candidates.pool()).add(values, shares.data());
  Kokkos::fence();
  candidates.scatter(shares, local);
}

SurfaceContact::SurfaceContact(std::shared_ptr<const TetrahedralMesh> mesh, SurfaceContactOptions options)
    : data_(std::make_unique<Data>(std::move(mesh), std::move(options))) {
  set_forces(data_->options.forces);
}

SurfaceContact::~SurfaceContact() = default;

int SurfaceContact::rebuilds() const { return data_->candidates.rebuilds(); }
std::string SurfaceContact::limiting() const { return data_->limiting; }
std::string SurfaceContact::intersecting() const { return data_->intersecting; }

void SurfaceContact::prepare(const ParameterSet& parameters) {
  const ProfilingRegion region("diffsim::contact::prepare");
  data_->parameters = &parameters;
  record_dissipation(parameters, data_->law_names);
  const Field& rest = parameters.at("rest_positions").field;
  data_->candidates.set_rest(data_->rest_areas.areas(rest), rest, data_->reference);
}

void SurfaceContact::prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) {
  ContactTerm::prepare_tangent(parameters, direction);
  const Parameter* const rest = direction.find("rest_positions");
  data_->has_tangent = rest != nullptr;
  if (!rest) return;
  data_->rest_direction = &rest->field;
  data_->area_tangent = to_device("diffsim::contact::area_tangent",
                                  data_->rest_areas.tangent(parameters.at("rest_positions").field, rest->field));
}

void SurfaceContact::begin_adjoint(const ParameterSet& gradient) {
  ContactTerm::begin_adjoint(gradient);
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
  if (forces() == ContactForces::friction_part) return 0.0;
  const Data::Here here = data_->look(at, parameters, false);
  return contact::sum_energies(data_->candidates.pairs(), here.active, here.x);
}

double SurfaceContact::dissipation(const Configuration& at, const ParameterSet& parameters) {
  const ProfilingRegion region("diffsim::contact::dissipation");
  if (!has_dissipation()) return 0.0;
  const Data::Here here = data_->look(at, parameters, true);
  return here.v.size() > 0 ? contact::sum_dissipations(data_->candidates.pairs(), here.active, here.x, here.v) : 0.0;
}

void SurfaceContact::add_force(const Configuration& at, const ParameterSet& parameters, Field& force) {
  const ProfilingRegion region("diffsim::contact::force");
  const Data::Here here = data_->look(at, parameters, uses_velocities());
  const auto values = data_->candidates.pool().take<double>("diffsim::contact::slots", 3 * here.targets.size());
  contact::pair_forces(data_->candidates.pairs(), here.active, here.x, here.v, values);
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
    if (!tangent.velocities) throw Error("friction and damping need the tangent of the velocities");
    dv = data_->candidates.gather(*tangent.velocities, obstacles_dv);
  }
  contact::RestTangent rest;
  if (direction.find("rest_positions") && data_->has_tangent)
    rest = {data_->area_tangent, data_->candidates.rest(),
            data_->candidates.gather(*data_->rest_direction, data_->still())};
  const auto values = data_->candidates.pool().take<double>("diffsim::contact::slots", 3 * here.targets.size());
  contact::pair_tangents(data_->candidates.pairs(), here.active, here.x, here.v, dx, dv,
                         data_->laws_of(direction, at.step), rest, values);
  data_->hand_over(here, values, force_tangent);
}

void SurfaceContact::add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                                       ParameterSet& gradient) {
  const ProfilingRegion region("diffsim::contact::force_adjoint");
  const contact::Candidates& candidates = data_->candidates;
  const Data::Here here = data_->look(at, *data_->parameters, uses_velocities());
  const Vectors all_w = candidates.gather(w, data_->still());  // w is zero at vertices of obstacles
  const auto slots = [&](bool needed) {
    return candidates.pool().take<double>("diffsim::contact::slots", needed ? 3 * here.targets.size() : 0);
  };
  const Vectors x_bar = slots(true), v_bar = slots(here.v.size() > 0);
  const contact::RestAdjoint rest_bar = {slots(data_->has_gradient), slots(data_->has_gradient)};
  const std::vector<contact::LawSums> sums =
      contact::pair_adjoints(candidates.pairs(), here.active, here.x, here.v, all_w,
                             data_->has_gradient ? candidates.rest() : Vectors(), x_bar, v_bar, rest_bar);
  data_->add_laws(sums, at.step, gradient);
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
