// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/surface_contact.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "diffsim/contact/inside.hpp"
#include "diffsim/contact/surface_areas.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"
#include "obstacle_motion.hpp"
#include "pair_kernels.hpp"
#include "slot_sum.hpp"

namespace diffsim {
namespace {

using contact::add_to;
using contact::address_of;
using contact::LawAddresses;
using contact::Vectors;

constexpr const char* law_names[4] = {"barrier_stiffness", "barrier_distance", "friction", "friction_velocity"};

LawAddresses law_of(const ParameterSet& set, int n) {
  LawAddresses law{};
  for (int k = 0; k < 4; ++k) law.of[k] = address_of(set, law_names[k], n);
  return law;
}

/// Pairs that the Jacobian has room for are nearer than this many d̂.
constexpr double coupled_within = 1.25;

void mark(const DeviceArray<int>& pairs, const DeviceArray<int>& marks) {
  Kokkos::parallel_for(
      "diffsim::contact::mark_coupled", Range(0, static_cast<int>(pairs.size())),
      KOKKOS_LAMBDA(int i) { marks(pairs(i)) = 1; });
  Kokkos::fence();
}

bool all_marked(const DeviceArray<int>& pairs, const DeviceArray<int>& marks) {
  int missing = 0;
  Kokkos::parallel_reduce(
      "diffsim::contact::count_not_coupled", Range(0, static_cast<int>(pairs.size())),
      KOKKOS_LAMBDA(int i, int& sum) { sum += marks(pairs(i)) == 0 ? 1 : 0; }, missing);
  return missing == 0;
}

}  // namespace

struct SurfaceContact::Data {
  /// Where the pairs are looked at: what is near, on which vertices.
  struct Here {
    Vectors x, v;  // v is empty without friction
    LawAddresses law;
    DeviceArray<int> active, targets;
    contact::SlotSum sum;
  };

  Data(std::shared_ptr<const TetrahedralMesh> the_mesh, SurfaceContactOptions the_options);
  Vectors obstacles_at(const ParameterSet& set, int n, double time) const;
  Vectors still() const { return Vectors("diffsim::contact::still", reference.size()); }
  /// Pairs of the lists come nearer than this; implicit steps need room for more.
  double range(const ParameterSet& set) const {
    return (assembled ? coupled_within : 1.0) * set.at("barrier_distance").field.to_host().at(0);
  }
  void cover(const Configuration& at, const Vectors& obstacles, const ParameterSet& set) {
    candidates.cover(at.positions, obstacles, at.positions, obstacles, range(set));
  }
  Here look(const Configuration& at, const ParameterSet& set, bool with_velocities);

  std::shared_ptr<const TetrahedralMesh> mesh;
  SurfaceContactOptions options;
  std::vector<contact::ObstacleMotion> motions;
  DeviceArray<double> reference;  // [obstacle vertices, 3]
  contact::Candidates candidates;
  contact::RestAreas rest_areas;
  const ParameterSet* parameters = nullptr;
  bool assembled = false;    // a Jacobian was asked for
  DeviceArray<int> coupled;  // [pairs]: whether the last couplings have it
  int coupled_lists = -1;    // the lists that they are of
  // Derivatives by the rest shape, where asked for.
  bool has_tangent = false, has_gradient = false;
  DeviceArray<double> area_tangent;  // [owned vertices]
  const Field* rest_direction = nullptr;
  Field area_gradient, rest_gradient;  // [local vertices, 3], at owned ones
  std::string limiting, intersecting;
  /// "17", or "obstacle table's 3".
  std::string name_of(int vertex) const {
    const std::int64_t number = candidates.number(vertex), total = mesh->num_global_vertices();
    if (number < total) return std::to_string(number);
    std::size_t k = 0;
    while (number - total >= first_vertex[k + 1]) ++k;
    return "obstacle " + options.obstacles[k].label + "'s " + std::to_string(number - total - first_vertex[k]);
  }
};

namespace {

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
    const double length = std::hypot(obstacle.axis[0], obstacle.axis[1], obstacle.axis[2]);
    motion.turns = length > 0.0;
    for (std::size_t c = 0; c < 3; ++c) {
      motion.axis[static_cast<int>(c)] = motion.turns ? obstacle.axis[c] / length : 0.0;
      motion.origin[static_cast<int>(c)] = motion.turns ? obstacle.origin[c] : 0.0;
    }
    motion.first = static_cast<int>(places.size() / 3);
    for (const auto& vertex : obstacle.mesh.vertices) places.insert(places.end(), vertex.begin(), vertex.end());
    motion.last = static_cast<int>(places.size() / 3);
    motions.push_back(motion);
  }
  reference = to_device("diffsim::contact::reference", places);
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
  here.sum = contact::SlotSum(here.targets, candidates.num_mesh_vertices());
  return here;
}

SurfaceContact::SurfaceContact(std::shared_ptr<const TetrahedralMesh> mesh, SurfaceContactOptions options)
    : data_(std::make_unique<Data>(std::move(mesh), std::move(options))) {}

SurfaceContact::~SurfaceContact() = default;

bool SurfaceContact::uses_velocities() const { return data_->options.with_friction; }
int SurfaceContact::rebuilds() const { return data_->candidates.rebuilds(); }
std::string SurfaceContact::limiting() const { return data_->limiting; }
std::string SurfaceContact::intersecting() const { return data_->intersecting; }

void SurfaceContact::prepare(const ParameterSet& parameters) {
  data_->parameters = &parameters;
  const Field& rest = parameters.at("rest_positions").field;
  data_->candidates.set_rest(data_->rest_areas.areas(rest), rest, data_->reference);
}

void SurfaceContact::prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) {
  require_derivatives(direction, uses_velocities());
  const Parameter* const rest = direction.find("rest_positions");
  data_->has_tangent = rest != nullptr;
  if (!rest) return;
  data_->rest_direction = &rest->field;
  data_->area_tangent = to_device("diffsim::contact::area_tangent",
                                  data_->rest_areas.tangent(parameters.at("rest_positions").field, rest->field));
}

void SurfaceContact::begin_adjoint(const ParameterSet& gradient) {
  require_derivatives(gradient, uses_velocities());
  data_->has_gradient = gradient.find("rest_positions") != nullptr;
  if (!data_->has_gradient) return;
  data_->area_gradient = Field("area_gradient", static_cast<std::size_t>(data_->mesh->num_vertices()), 3,
                               data_->mesh->num_owned_vertices());
  data_->rest_gradient = data_->area_gradient.like("rest_gradient");
}

void SurfaceContact::prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) {
  if (!data_->has_gradient) return;
  Field& target = gradient.at("rest_positions").field;
  data_->rest_areas.add_gradient(parameters.at("rest_positions").field, data_->area_gradient, target);
  axpy(1.0, data_->rest_gradient, target);
}

double SurfaceContact::energy(const Configuration& at, const ParameterSet& parameters) {
  const Data::Here here = data_->look(at, parameters, false);
  return contact::sum_energies(data_->candidates.pairs(), here.active, here.x, here.law);
}

void SurfaceContact::add_force(const Configuration& at, const ParameterSet& parameters, Field& force) {
  const ProfilingRegion region("diffsim::contact::force");
  const Data::Here here = data_->look(at, parameters, uses_velocities());
  const auto values = make_device_array<double>("diffsim::contact::slots", 3 * here.targets.size());
  contact::pair_forces(data_->candidates.pairs(), here.active, here.x, here.v, here.law, values);
  Field shares = data_->candidates.shares();
  here.sum.add(values, shares.data());
  Kokkos::fence();
  data_->candidates.scatter(shares, force);
}

void SurfaceContact::add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                       const ParameterSet& direction, Field& force_tangent) {
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
                         law_of(direction, at.step), rest, values);
  Field shares = data_->candidates.shares();
  here.sum.add(values, shares.data());
  Kokkos::fence();
  data_->candidates.scatter(shares, force_tangent);
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
  for (int k = 0; k < 4; ++k) add_to(gradient, law_names[k], at.step, &sums.of[k]);
  for (const auto& motion : data_->motions)
    add_obstacle_gradient(motion, here.targets, candidates.num_mesh_vertices(), here.x, x_bar, v_bar,
                          *data_->parameters, at.step, at.time, gradient);
  const auto hand_over = [&](const Vectors& values, Field& local) {
    Field shares = candidates.shares();
    here.sum.add(values, shares.data());
    Kokkos::fence();
    candidates.scatter(shares, local);
  };
  hand_over(x_bar, adjoint.positions);
  if (here.v.size() > 0) hand_over(v_bar, *adjoint.velocities);
  if (!data_->has_gradient) return;
  hand_over(rest_bar.areas, data_->area_gradient);
  hand_over(rest_bar.positions, data_->rest_gradient);
}

void SurfaceContact::add_couplings(const Configuration& at, Couplings& couplings) {
  data_->assembled = true;
  contact::Candidates& candidates = data_->candidates;
  const Data::Here here = data_->look(at, *data_->parameters, false);
  const DeviceArray<int> near = contact::pairs_within(candidates.pairs(), here.x, here.law, coupled_within);
  data_->coupled = DeviceArray<int>("diffsim::contact::coupled", static_cast<std::size_t>(candidates.pairs().size()));
  mark(near, data_->coupled);
  data_->coupled_lists = candidates.rebuilds();
  // By the number of vertices that are the mesh's; a single one is there anyway.
  const auto vertices =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), contact::targets_of(candidates.pairs(), near));
  std::vector<int> groups[5];
  for (std::size_t i = 0; i < vertices.size(); i += 4) {
    int ours[4], count = 0;
    for (std::size_t k = 0; k < 4; ++k)
      if (vertices(i + k) < candidates.num_mesh_vertices()) ours[count++] = vertices(i + k);
    groups[count].insert(groups[count].end(), ours, ours + count);
  }
  for (int count = 2; count <= 4; ++count)
    if (!groups[count].empty()) couplings.add(groups[count], count);
  couplings.set_copies(candidates.copies());
}

bool SurfaceContact::couplings_serve(const Configuration& at) {
  const Data::Here here = data_->look(at, *data_->parameters, false);
  int serve = data_->coupled_lists == data_->candidates.rebuilds() && all_marked(here.active, data_->coupled);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &serve, 1, MPI_INT, MPI_MIN, data_->mesh->comm()));
  return serve != 0;
}

void SurfaceContact::add_jacobian(const Configuration& at, const ParameterSet& parameters,
                                  const JacobianWeights& weights, BlockMatrix& matrix) {
  const ProfilingRegion region("diffsim::contact::jacobian");
  const contact::Candidates& candidates = data_->candidates;
  const Data::Here here = data_->look(at, parameters, uses_velocities());
  const auto blocks = make_device_array<double>("diffsim::contact::blocks", 144 * here.active.size());
  contact::pair_jacobians(candidates.pairs(), here.active, here.x, here.v, here.law, weights,
                          candidates.num_mesh_vertices(), blocks);
  const contact::SlotSum sum(contact::block_targets(here.targets, candidates.num_mesh_vertices(), matrix),
                             matrix.num_blocks());
  sum.add(blocks, matrix.values(), 9);
  Kokkos::fence();
}

bool SurfaceContact::moves(int n, const ParameterSet& parameters) const {
  return std::any_of(data_->motions.begin(), data_->motions.end(),
                     [&](const auto& motion) { return motion.moves(parameters, n); });
}

double SurfaceContact::max_step(const Configuration& from, const Configuration& to, const ParameterSet& parameters) {
  const ProfilingRegion region("diffsim::contact::max_step");
  data_->limiting.clear();
  const Vectors obstacles_from = data_->obstacles_at(parameters, from.step, from.time);
  const Vectors obstacles_to = data_->obstacles_at(parameters, to.step, to.time);
  contact::Candidates& candidates = data_->candidates;
  candidates.cover(from.positions, obstacles_from, to.positions, obstacles_to, data_->range(parameters));
  const Vectors a = candidates.gather(from.positions, obstacles_from),
                b = candidates.gather(to.positions, obstacles_to);
  const contact::SafeStep step = contact::safe_step(candidates.pairs(), a, b);
  if (step.pair < 0) return 1.0;
  // Numbers in the file for the message.
  const auto host = [](const auto& view) { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view); };
  const contact::PairView& pairs = candidates.pairs();
  const DeviceArray<int> one("diffsim::contact::limiting", 1);
  Kokkos::deep_copy(one, step.pair);
  const auto vertices = host(contact::targets_of(pairs, one));
  const auto name = [&](int k) { return data_->name_of(vertices(static_cast<std::size_t>(k))); };
  data_->limiting = pairs.is_point_triangle(step.pair)
                        ? "vertex " + name(0) + " and triangle " + name(1) + ' ' + name(2) + ' ' + name(3)
                        : "edge " + name(0) + ' ' + name(1) + " and edge " + name(2) + ' ' + name(3);
  return step.step;
}

std::string SurfaceContact::enclosed(const Configuration& at, const ParameterSet& parameters) {
  const TetrahedralMesh& mesh = *data_->mesh;
  const std::vector<double> x = at.positions.to_host();
  const auto view =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), data_->obstacles_at(parameters, at.step, at.time));
  const std::vector<double> obstacles(view.data(), view.data() + view.size());
  const auto place = [](const std::vector<double>& from, int vertex) {
    const auto i = 3 * static_cast<std::size_t>(vertex);
    return std::array{from[i], from[i + 1], from[i + 2]};
  };
  const std::vector<std::array<int, 3>> surface = contact::surface_triangles(mesh);
  const std::vector<int> parts = contact::witnesses(mesh.cells(), mesh.nodes_per_cell(), mesh.num_vertices());
  std::string found;
  for (std::size_t k = 0; k < data_->options.obstacles.size(); ++k) {
    const TriangleObstacle& obstacle = data_->options.obstacles[k];
    std::vector<std::array<int, 3>> triangles = obstacle.mesh.triangles;
    for (auto& triangle : triangles)
      for (int& corner : triangle) corner += data_->motions[k].first;
    if (obstacle.solid)
      for (const int vertex : parts)
        if (found.empty() && std::abs(contact::winding(obstacles, triangles, place(x, vertex))) > 0.5)
          found = "vertex " + std::to_string(mesh.vertex_order().file_index()[static_cast<std::size_t>(vertex)]) +
                  " at " + contact::text_of(place(x, vertex)) + " is inside obstacle " + obstacle.label;
    std::vector<int> corners;
    for (const auto& triangle : triangles) corners.insert(corners.end(), triangle.begin(), triangle.end());
    for (const int vertex : contact::witnesses(corners, 3, static_cast<int>(data_->reference.size() / 3))) {
      double turns = contact::winding(x, surface, place(obstacles, vertex));
      DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &turns, 1, MPI_DOUBLE, MPI_SUM, mesh.comm()));
      if (found.empty() && std::abs(turns) > 0.5)
        found = "obstacle " + obstacle.label + ", at " + contact::text_of(place(obstacles, vertex)) +
                ", is inside the body";
    }
  }
  return found;
}

ContactState SurfaceContact::state(const Configuration& at, const ParameterSet& parameters) {
  const Data::Here here = data_->look(at, parameters, uses_velocities());
  const contact::Candidates& candidates = data_->candidates;
  ContactState result;
  if (here.v.size() > 0)
    result.friction_power = contact::friction_power(candidates.pairs(), here.active, here.x, here.v, here.law);
  result.min_distance = contact::least_distance(candidates.pairs(), here.x);
  const auto found = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(),
      contact::find_intersections(candidates.pairs(), candidates.edge_triangle_pairs(here.x), here.x));
  const auto edges = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), candidates.pairs().edges);
  const auto triangles = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), candidates.pairs().triangles);
  data_->intersecting.clear();
  for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 3); ++i) {
    const auto e = 2 * static_cast<std::size_t>(found(i).query), t = 3 * static_cast<std::size_t>(found(i).leaf);
    data_->intersecting += (i > 0 ? ", edge " : "edge ") + data_->name_of(edges(e)) + ' ' +
                           data_->name_of(edges(e + 1)) + " and triangle " + data_->name_of(triangles(t)) + ' ' +
                           data_->name_of(triangles(t + 1)) + ' ' + data_->name_of(triangles(t + 2)) + " near " +
                           contact::middle_of(here.x, edges(e), edges(e + 1));
  }
  std::int64_t counts[2] = {static_cast<std::int64_t>(here.active.size()), static_cast<std::int64_t>(found.size())};
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &result.min_distance, 1, MPI_DOUBLE, MPI_MIN, data_->mesh->comm()));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM, data_->mesh->comm()));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &result.friction_power, 1, MPI_DOUBLE, MPI_SUM, data_->mesh->comm()));
  result.active_pairs = counts[0];
  result.intersections = counts[1];
  return result;
}

}  // namespace diffsim
