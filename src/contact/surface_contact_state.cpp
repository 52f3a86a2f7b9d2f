// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

// Step lengths without collisions, the contact state of surfaces, and the names of pairs for messages.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "contact/surface_contact_data.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"

namespace diffsim {

using contact::Vectors;

std::size_t SurfaceContact::Data::owner_of(int vertex) const {
  const std::int64_t total = mesh->num_global_vertices(), number = candidates.number(vertex);
  if (number < total) return static_cast<std::size_t>(body_of_vertex(mesh->bodies(), number));
  std::size_t k = 0;
  while (number - total >= motions[k].last) ++k;
  return std::max<std::size_t>(mesh->bodies().size(), 1) + k;
}

std::string SurfaceContact::Data::name_of(std::initializer_list<int> vertices) const {
  const std::int64_t total = mesh->num_global_vertices(), first = candidates.number(*vertices.begin());
  std::string before, after;
  std::int64_t begin = 0;
  if (first >= total) {
    std::size_t k = 0;
    while (first - total >= motions[k].last) ++k;
    begin = total + motions[k].first;
    before = "obstacle " + motions[k].label + "'s ";
  } else if (mesh->bodies().size() > 1) {
    const MeshBody& body = mesh->bodies()[static_cast<std::size_t>(body_of_vertex(mesh->bodies(), first))];
    begin = body.first_vertex;
    after = " of " + body.name;
  }
  std::string numbers;
  for (const int vertex : vertices) {
    if (!numbers.empty()) numbers += ' ';
    numbers += std::to_string(candidates.number(vertex) - begin);
  }
  return before + numbers + after;
}

std::array<int, 4> SurfaceContact::Data::vertices_of_pair(int pair) const {
  const DeviceArray<int> one("diffsim::contact::one_pair", 1);
  Kokkos::deep_copy(one, pair);
  const auto vertices = host_view(contact::targets_of(candidates.pairs(), one, candidates.pool()));
  return {vertices(0), vertices(1), vertices(2), vertices(3)};
}

std::string SurfaceContact::Data::name_of_pair(int pair) const {
  const auto& [a, b, c, d] = vertices_of_pair(pair);
  if (!candidates.pairs().is_point_triangle(pair)) return "edge " + name_of({a, b}) + " and edge " + name_of({c, d});
  const std::string other = c != d   ? "triangle " + name_of({b, c, d})
                            : b != c ? "edge " + name_of({b, c})
                                     : "vertex " + name_of({b});
  return "vertex " + name_of({a}) + " and " + other;
}

std::string SurfaceContact::Data::text_of_touching(const contact::NearPairs& touching, const Vectors& x, int n) const {
  const auto pairs = host_view(touching.pairs);
  const std::vector<Reach> reaches = reaches_of(*parameters, n);
  std::string text;
  for (std::size_t l = 0, shown = 0; l < touching.parts.size(); ++l)
    for (int i = touching.parts[l].begin; i < touching.parts[l].end && shown < 3; ++i, ++shown) {
      const int pair = pairs(i);
      const auto vertices = vertices_of_pair(pair);
      char apart[100];
      std::snprintf(apart, sizeof(apart),
                    ", %.6g m apart, which is not more than the mean of their thicknesses, %.6g m",
                    contact::distance_of(candidates.pairs(), pair, x), reaches[l].thickness);
      text += (shown > 0 ? "; " : "") + name_of_pair(pair) + " near " +
              contact::middle_of(x, vertices[0], vertices[0]) + apart;
    }
  return text;
}

double SurfaceContact::max_step(const Configuration& from, const Configuration& to, const ParameterSet& parameters) {
  const ProfilingRegion region("diffsim::contact::max_step");
  data_->limiting.clear();
  const Vectors obstacles_from = data_->obstacles_at(parameters, from.step, from.time);
  const Vectors obstacles_to = data_->obstacles_at(parameters, to.step, to.time);
  contact::Candidates& candidates = data_->candidates;
  candidates.cover(from.positions, obstacles_from, to.positions, obstacles_to, data_->range(parameters, to.step));
  const Vectors a = candidates.gather(from.positions, obstacles_from),
                b = candidates.gather(to.positions, obstacles_to);
  const contact::SafeStep step = contact::safe_step(candidates.pairs(), a, b, data_->pair_laws(parameters, to.step));
  if (step.pair < 0) return 1.0;
  data_->limiting = data_->name_of_pair(step.pair);
  return step.step;
}

ContactState SurfaceContact::state(const Configuration& at, const ParameterSet& parameters) {
  const ProfilingRegion region("diffsim::contact::state");
  const Data::Here here = data_->look(at, parameters, uses_velocities());
  const contact::Candidates& candidates = data_->candidates;
  ContactState result;
  if (here.v.size() > 0)
    result.friction_power = contact::friction_power(candidates.pairs(), here.active, here.x, here.v);
  data_->intersecting.clear();
  if (forces() == ContactForces::friction_part) {
    result.share(data_->mesh->comm());
    return result;
  }
  const contact::PairLaws laws = data_->pair_laws(parameters, at.step);
  result.min_distance = contact::least_gap(candidates.pairs(), here.x, laws);
  const auto found =
      host_view(contact::find_intersections(candidates.pairs(), candidates.edge_triangle_pairs(here.x), here.x));
  const auto edges = host_view(candidates.pairs().edges);
  const auto triangles = host_view(candidates.pairs().triangles);
  for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 3); ++i) {
    const auto e = 2 * static_cast<std::size_t>(found(i).query), t = 3 * static_cast<std::size_t>(found(i).leaf);
    data_->intersecting += (i > 0 ? ", edge " : "edge ") + data_->name_of({edges(e), edges(e + 1)}) + " and triangle " +
                           data_->name_of({triangles(t), triangles(t + 1), triangles(t + 2)}) + " near " +
                           contact::middle_of(here.x, edges(e), edges(e + 1));
  }
  result.active_pairs = static_cast<std::int64_t>(here.active.size());
  result.intersections = static_cast<std::int64_t>(found.size());
  if (laws.are_thick()) {
    const contact::NearPairs touching =
        contact::touching_pairs(candidates.pairs(), here.x, laws, touching_within, candidates.pool());
    result.intersections += static_cast<std::int64_t>(touching.size());
    if (found.size() == 0) data_->intersecting = data_->text_of_touching(touching, here.x, at.step);
  }
  result.share(data_->mesh->comm());
  return result;
}

void SurfaceContact::add_forces_between(const Configuration& at, const ParameterSet& parameters, ForcesBetween& sums) {
  const ProfilingRegion region("diffsim::contact::forces_between");
  const Data::Here here = data_->look(at, parameters, uses_velocities());
  const contact::PairView& pairs = data_->candidates.pairs();
  const auto values = data_->candidates.pool().take<double>("diffsim::contact::slots", 3 * here.targets.size());
  contact::pair_forces(pairs, here.active, here.x, here.v, values);
  Kokkos::fence();
  const auto f = host_view(values);
  const auto vertices = host_view(here.targets);
  const auto active = host_view(here.active.pairs);
  std::vector<std::string> names = body_names(data_->mesh->bodies());
  for (const contact::ObstacleMotion& motion : data_->motions) names.push_back(motion.label);
  for (std::size_t i = 0; i < active.size(); ++i) {
    const std::size_t a = data_->owner_of(vertices(4 * i)), b = data_->owner_of(vertices(4 * i + 3));
    if (a == b) continue;
    // The first primitive of a pair is a point, or an edge, which has two points.
    const std::size_t points = pairs.is_point_triangle(active(i)) ? 1 : 2;
    std::array<double, 3>& sum = sums[{names[std::min(a, b)], names[std::max(a, b)]}];
    for (std::size_t k = 0; k < 3 * points; ++k) sum[k % 3] += (a < b ? 1.0 : -1.0) * f(12 * i + k);
  }
}

}  // namespace diffsim
