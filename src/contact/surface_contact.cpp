// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/surface_contact.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "diffsim/contact/inside.hpp"
#include "diffsim/contact/surface_areas.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"
#include "pair_kernels.hpp"
#include "slot_sum.hpp"

namespace diffsim {
namespace {

using contact::LawAddresses;
using contact::Vectors;

constexpr const char* law_names[4] = {"barrier_stiffness", "barrier_distance", "friction", "friction_velocity"};

const double* address_of(const ParameterSet& set, const std::string& name, int n) {
  const Parameter* p = set.find(name);
  return p ? p->field.data() + p->offset(n) * static_cast<std::size_t>(p->field.components()) : nullptr;
}

LawAddresses law_of(const ParameterSet& set, int n) {
  LawAddresses law{};
  for (int k = 0; k < 4; ++k) law.of[k] = address_of(set, law_names[k], n);
  return law;
}

/// out[v] = reference[v] + position + t velocity; reference, position and velocity may be nullptr.
void move_obstacle(int first, int last, const double* reference, const double* position, const double* velocity,
                   double time, double* out) {
  Kokkos::parallel_for(
      "diffsim::contact::move_obstacle", Range(3 * first, 3 * last), KOKKOS_LAMBDA(int i) {
        double x = reference ? reference[i] : 0.0;
        if (position) x += position[i % 3];
        if (velocity) x += time * velocity[i % 3];
        out[i] = x;
      });
}

/// Σ values of the slots whose vertex is in [first, last), one component.
double sum_range(const DeviceArray<int>& targets, const Vectors& values, int first, int last, int c) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::contact::obstacle_sum", Range(0, static_cast<int>(targets.size())),
      KOKKOS_LAMBDA(int i, double& s) {
        if (targets(i) >= first && targets(i) < last) s += values(3 * i + c);
      },
      sum);
  return sum;
}

void add_to(ParameterSet& gradient, const std::string& name, int n, const double* values) {
  Parameter* const parameter = gradient.find(name);
  if (!parameter) return;
  const auto components = static_cast<std::size_t>(parameter->field.components());
  std::vector<double> all = parameter->field.to_host();
  for (std::size_t c = 0; c < components; ++c) all[parameter->offset(n) * components + c] += values[c];
  parameter->field.from_host(all);
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
  /// Places, or velocities, of obstacles' vertices, by the parameters of `set`.
  Vectors obstacles_at(const ParameterSet& set, int n, double time, bool with_reference) const;
  Vectors obstacle_velocities(const ParameterSet& set, int n) const;
  double range(const ParameterSet& set) const { return set.at("barrier_distance").field.to_host().at(0); }
  void cover(const Configuration& at, const Vectors& obstacles, const ParameterSet& set) {
    candidates.cover(at.positions, obstacles, at.positions, obstacles, range(set));
  }
  Here look(const Configuration& at, const ParameterSet& set, bool with_velocities);

  std::shared_ptr<const TetrahedralMesh> mesh;
  SurfaceContactOptions options;
  std::vector<int> first_vertex;  // of each obstacle, and their number
  DeviceArray<double> reference;  // [obstacle vertices, 3]
  contact::Candidates candidates;
  const ParameterSet* parameters = nullptr;
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
      candidates(*mesh, options.self, surfaces_of(*mesh, options.obstacles), options.max_pairs) {
  std::vector<double> places;
  first_vertex.push_back(0);
  for (const TriangleObstacle& obstacle : options.obstacles) {
    for (const auto& vertex : obstacle.mesh.vertices) places.insert(places.end(), vertex.begin(), vertex.end());
    first_vertex.push_back(static_cast<int>(places.size() / 3));
  }
  reference = to_device("diffsim::contact::reference", places);
}

Vectors SurfaceContact::Data::obstacles_at(const ParameterSet& set, int n, double time, bool with_reference) const {
  const auto result = make_device_array<double>("diffsim::contact::obstacles", reference.size());
  for (std::size_t k = 0; k < options.obstacles.size(); ++k)
    move_obstacle(first_vertex[k], first_vertex[k + 1], with_reference ? reference.data() : nullptr,
                  address_of(set, "obstacle_position:" + options.obstacles[k].label, n),
                  address_of(set, "obstacle_velocity:" + options.obstacles[k].label, n), time, result.data());
  Kokkos::fence();
  return result;
}

Vectors SurfaceContact::Data::obstacle_velocities(const ParameterSet& set, int n) const {
  const auto result = make_device_array<double>("diffsim::contact::obstacle_velocities", reference.size());
  for (std::size_t k = 0; k < options.obstacles.size(); ++k)
    move_obstacle(first_vertex[k], first_vertex[k + 1], nullptr,
                  address_of(set, "obstacle_velocity:" + options.obstacles[k].label, n), nullptr, 0.0, result.data());
  Kokkos::fence();
  return result;
}

SurfaceContact::Data::Here SurfaceContact::Data::look(const Configuration& at, const ParameterSet& set,
                                                      bool with_velocities) {
  const Vectors obstacles = obstacles_at(set, at.step, at.time, true);
  cover(at, obstacles, set);
  Here here;
  here.x = candidates.gather(at.positions, obstacles);
  if (with_velocities && at.velocities) here.v = candidates.gather(*at.velocities, obstacle_velocities(set, at.step));
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

void SurfaceContact::prepare(const ParameterSet& parameters) { data_->parameters = &parameters; }

void SurfaceContact::prepare_tangent(const ParameterSet&, const ParameterSet& direction) { begin_adjoint(direction); }

void SurfaceContact::begin_adjoint(const ParameterSet& gradient) { require_derivatives(gradient, uses_velocities()); }

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
  const Vectors dx =
      data_->candidates.gather(tangent.positions, data_->obstacles_at(direction, at.step, at.time, false));
  Vectors dv;
  if (here.v.size() > 0) {
    if (!tangent.velocities) throw Error("friction needs the tangent of the velocities");
    dv = data_->candidates.gather(*tangent.velocities, data_->obstacle_velocities(direction, at.step));
  }
  const auto values = make_device_array<double>("diffsim::contact::slots", 3 * here.targets.size());
  contact::pair_tangents(data_->candidates.pairs(), here.active, here.x, here.v, here.law, dx, dv,
                         law_of(direction, at.step), values);
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
  const DeviceArray<double> still("diffsim::contact::still", data_->reference.size());  // obstacles' w is zero
  const Vectors all_w = candidates.gather(w, still);
  const auto x_bar = make_device_array<double>("diffsim::contact::x_bar", 3 * here.targets.size());
  const auto v_bar = make_device_array<double>("diffsim::contact::v_bar", here.v.size() > 0 ? x_bar.size() : 0);
  const contact::LawSums sums =
      contact::pair_adjoints(candidates.pairs(), here.active, here.x, here.v, here.law, all_w, x_bar, v_bar);
  for (int k = 0; k < 4; ++k) add_to(gradient, law_names[k], at.step, &sums.of[k]);
  for (std::size_t k = 0; k < data_->options.obstacles.size(); ++k) {
    const std::string& label = data_->options.obstacles[k].label;
    if (!gradient.find("obstacle_position:" + label) && !gradient.find("obstacle_velocity:" + label)) continue;
    const int first = candidates.num_mesh_vertices() + data_->first_vertex[k];
    const int last = candidates.num_mesh_vertices() + data_->first_vertex[k + 1];
    double position[3], velocity[3];
    for (int c = 0; c < 3; ++c) {
      position[c] = sum_range(here.targets, x_bar, first, last, c);
      velocity[c] = at.time * position[c];
      if (here.v.size() > 0) velocity[c] += sum_range(here.targets, v_bar, first, last, c);
    }
    add_to(gradient, "obstacle_position:" + label, at.step, position);
    add_to(gradient, "obstacle_velocity:" + label, at.step, velocity);
  }
  Field shares = candidates.shares();
  here.sum.add(x_bar, shares.data());
  Kokkos::fence();
  candidates.scatter(shares, adjoint.positions);
  if (here.v.size() == 0) return;
  shares.fill(0.0);
  here.sum.add(v_bar, shares.data());
  Kokkos::fence();
  candidates.scatter(shares, *adjoint.velocities);
}

double SurfaceContact::max_step(const Configuration& from, const Configuration& to, const ParameterSet& parameters) {
  const ProfilingRegion region("diffsim::contact::max_step");
  data_->limiting.clear();
  const Vectors obstacles_from = data_->obstacles_at(parameters, from.step, from.time, true);
  const Vectors obstacles_to = data_->obstacles_at(parameters, to.step, to.time, true);
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
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), data_->obstacles_at(parameters, at.step, at.time, true));
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
      for (int& corner : triangle) corner += data_->first_vertex[k];
    if (obstacle.solid)
      for (const int vertex : parts)
        if (found.empty() && std::abs(contact::winding(obstacles, triangles, place(x, vertex))) > 0.5)
          found = "vertex " + std::to_string(mesh.vertex_order().file_index()[static_cast<std::size_t>(vertex)]) +
                  " at " + contact::text_of(place(x, vertex)) + " is inside obstacle " + obstacle.label;
    std::vector<int> corners;
    for (const auto& triangle : triangles) corners.insert(corners.end(), triangle.begin(), triangle.end());
    for (const int vertex : contact::witnesses(corners, 3, data_->first_vertex.back())) {
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
