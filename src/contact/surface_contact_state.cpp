// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

// Where bodies may go, and how they touch.

#include <algorithm>
#include <cmath>

#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"
#include "surface_contact_data.hpp"

namespace diffsim {

using contact::Vectors;

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
  for (const int vertex : vertices)
    numbers += (numbers.empty() ? "" : " ") + std::to_string(candidates.number(vertex) - begin);
  return before + numbers + after;
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
  const contact::PairView& pairs = candidates.pairs();
  const DeviceArray<int> one("diffsim::contact::limiting", 1);
  Kokkos::deep_copy(one, step.pair);
  const auto vertices = host_view(contact::targets_of(pairs, one, candidates.pool()));
  const auto v = [&](std::size_t k) { return vertices(k); };
  data_->limiting = pairs.is_point_triangle(step.pair)
                        ? "vertex " + data_->name_of({v(0)}) + " and triangle " + data_->name_of({v(1), v(2), v(3)})
                        : "edge " + data_->name_of({v(0), v(1)}) + " and edge " + data_->name_of({v(2), v(3)});
  return step.step;
}

ContactState SurfaceContact::state(const Configuration& at, const ParameterSet& parameters) {
  const ProfilingRegion region("diffsim::contact::state");
  const Data::Here here = data_->look(at, parameters, uses_velocities());
  const contact::Candidates& candidates = data_->candidates;
  ContactState result;
  if (here.v.size() > 0)
    result.friction_power = contact::friction_power(candidates.pairs(), here.active, here.x, here.v);
  result.min_distance = contact::least_distance(candidates.pairs(), here.x);
  const auto found =
      host_view(contact::find_intersections(candidates.pairs(), candidates.edge_triangle_pairs(here.x), here.x));
  const auto edges = host_view(candidates.pairs().edges);
  const auto triangles = host_view(candidates.pairs().triangles);
  data_->intersecting.clear();
  for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 3); ++i) {
    const auto e = 2 * static_cast<std::size_t>(found(i).query), t = 3 * static_cast<std::size_t>(found(i).leaf);
    data_->intersecting += (i > 0 ? ", edge " : "edge ") + data_->name_of({edges(e), edges(e + 1)}) + " and triangle " +
                           data_->name_of({triangles(t), triangles(t + 1), triangles(t + 2)}) + " near " +
                           contact::middle_of(here.x, edges(e), edges(e + 1));
  }
  result.active_pairs = static_cast<std::int64_t>(here.active.size());
  result.intersections = static_cast<std::int64_t>(found.size());
  result.share(data_->mesh->comm());
  return result;
}

}  // namespace diffsim
