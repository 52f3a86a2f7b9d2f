// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Forces of a scene that functions of the program compute.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/group_term.hpp"
#include "core/to_index.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/dynamics/system.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim {

namespace {

/// Throws Error (input) on all ranks unless the ranks have the same groups of k vertices. Collective.
void require_same(const std::vector<std::int64_t>& vertices, int k, MPI_Comm comm, const std::string& name) {
  std::uint64_t mix = 14695981039346656037U;  // FNV-1a
  for (const std::int64_t number : vertices) mix = (mix ^ static_cast<std::uint64_t>(number)) * 1099511628211U;
  const auto count = static_cast<std::int64_t>(vertices.size()), hash = static_cast<std::int64_t>(mix >> 1U);
  std::int64_t least[6] = {count, k, hash, -count, -k, -hash};
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, least, 6, MPI_INT64_T, MPI_MIN, comm));
  for (int i = 0; i < 3; ++i)
    if (least[i] != -least[i + 3])
      throw Error("the ranks pass different groups of vertices to the force '" + name + "'; pass the same list on all",
                  ErrorKind::input);
  if (k < 1 || count % k != 0)
    throw Error("the force '" + name + "' has " + std::to_string(count) + " vertices, which are no groups of " +
                    std::to_string(k),
                ErrorKind::input);
}

}  // namespace

std::vector<std::size_t> DifferentiableScene::add_force(std::unique_ptr<GroupForce> force,
                                                        const std::vector<std::int64_t>& vertices, int k) {
  require_same(vertices, k, mesh_->comm(), force->name());
  std::map<std::int64_t, int> local;
  const std::vector<std::int64_t> numbers = vertex_numbers(*mesh_);
  for (std::size_t v = 0; v < numbers.size(); ++v) local.emplace(numbers[v], static_cast<int>(v));
  const std::size_t size = to_index(k), count = vertices.size() / size;
  const int rank = rank_of(mesh_->comm()), none = num_ranks(mesh_->comm());
  std::vector<int> owner(count, none);  // first rank on which all vertices of the group are local
  for (std::size_t e = 0; e < count; ++e) {
    const auto first = vertices.begin() + static_cast<std::ptrdiff_t>(e * size);
    if (std::all_of(first, first + k, [&](std::int64_t number) { return local.count(number) > 0; })) owner[e] = rank;
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, owner.data(), static_cast<int>(count), MPI_INT, MPI_MIN, mesh_->comm()));
  std::vector<int> of_rank;
  std::vector<std::size_t> groups;
  collectively(mesh_->comm(), [&] {
    const std::string title = "the force '" + force->name() + "' acts on vertex ";
    for (const std::int64_t number : vertices)
      if (number < 0 || number >= mesh_->num_global_vertices())
        throw Error(title + std::to_string(number) + ", which the mesh does not have", ErrorKind::input);
    for (std::size_t e = 0; e < count; ++e) {
      if (owner[e] == none)
        throw Error(title + std::to_string(vertices[e * size]) +
                        " together with vertices of other ranks that have no common cell; use fewer ranks",
                    ErrorKind::input);
      if (owner[e] != rank) continue;
      groups.push_back(e);
      for (std::size_t i = e * size; i < (e + 1) * size; ++i) of_rank.push_back(local.at(vertices[i]));
    }
  });
  system().add_term(std::make_unique<GroupTerm>(std::move(force), std::move(of_rank), k));
  return groups;
}

}  // namespace diffsim
