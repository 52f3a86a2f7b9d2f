// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "shell/plate_topology.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/exchange.hpp"

namespace diffsim::shell {
namespace {

/// Hinge with its two ends in ascending order and its two third corners in ascending order. Hinges with a SecondCorner
/// code keep the order in which their vertices are given. A default-constructed object means that there is no hinge.
struct SortedHinge {
  std::array<int, 4> nodes = {-1, -1, -1, -1};
  bool negated = false;  ///< true if sorting changes the sign of the angle
  HingeState state = HingeState::none;
};

/// Returns the hinge with sorted ends p, q and sorted third corners r, o. The exchange of p with q and of r with o
/// keeps the angle; the exchange of r with o alone negates the angle.
SortedHinge sorted(int p, int q, int r, int o, HingeState state) {
  if (p > q) {
    std::swap(p, q);
    std::swap(r, o);
  }
  const bool negated = r > o;
  if (negated) std::swap(r, o);
  return {{p, q, r, o}, negated, state};
}

bool is_set(const std::vector<char>& flags, int vertex) {
  return !flags.empty() && flags[static_cast<std::size_t>(vertex)] != 0;
}

bool are_set(const std::vector<char>& flags, int a, int b, int c) {
  return is_set(flags, a) && is_set(flags, b) && is_set(flags, c);
}

/// Returns the hinge of the side from p to q of a triangle whose third corner is r; o is the third corner of the
/// triangle across the side. A negative number means that the vertex does not exist.
SortedHinge hinge_at(int p, int q, int r, int o, const std::vector<char>& walls, const std::vector<char>& clamped) {
  if (p < 0 || q < 0 || r < 0) return {};
  const unsigned axes = clamped.empty() ? 0u
                                        : static_cast<unsigned>(clamped[static_cast<std::size_t>(p)]) &
                                              static_cast<unsigned>(clamped[static_cast<std::size_t>(q)]);
  if (axes != 0) {
    const int second = axes & VertexConstraints::in_wall ? SecondCorner::clamped
                       : (axes & 1u)                     ? SecondCorner::mirrored_x
                       : (axes & 2u)                     ? SecondCorner::mirrored_y
                                                         : SecondCorner::mirrored_z;
    return {{p, q, r, second}, false, HingeState::held};
  }
  if (o < 0) return {};
  return sorted(p, q, r, o, are_set(walls, p, q, o) ? HingeState::held : HingeState::inner);
}

}  // namespace

std::vector<char> wall_vertices(const TetrahedralMesh& mesh, const std::vector<int>& triangles,
                                const VertexConstraints& held) {
  const LowerCellSet& all = mesh.lower_cells(CellKind::triangle);
  Field flags("walls", mesh.vertex_entities(), 3);
  std::vector<double> values(flags.size(), 0.0);
  for (const int triangle : triangles) {
    const int* const corner = &all.vertices[3 * static_cast<std::size_t>(triangle)];
    const int* const across = &all.across[3 * static_cast<std::size_t>(triangle)];
    const bool has_neighbour =
        std::any_of(across, across + 3, [&](int v) { return v >= 0 && is_set(held.positions, v); });
    if (!has_neighbour || !are_set(held.positions, corner[0], corner[1], corner[2])) continue;
    for (int i = 0; i < 3; ++i) values[3 * static_cast<std::size_t>(corner[i])] = 1.0;
  }
  flags.from_host(values);
  mesh.vertex_exchange().add_to_owners(flags);
  mesh.vertex_exchange().copy_to_ghosts(flags);
  values = flags.to_host();
  std::vector<char> walls(values.size() / 3);
  for (std::size_t v = 0; v < walls.size(); ++v) walls[v] = values[3 * v] > 0.0 ? 1 : 0;
  return walls;
}

PlateTopology plate_topology(const LowerCellSet& all, const std::vector<int>& triangles, const std::vector<char>& walls,
                             const std::vector<char>& clamped) {
  PlateTopology result;
  std::vector<SortedHinge> of_slots;
  for (const int triangle : triangles) {
    const auto first = 3 * static_cast<std::size_t>(triangle);
    std::array<int, num_plate_nodes> node{};
    for (std::size_t i = 0; i < 3; ++i) {
      node[i] = all.vertices[first + i];
      node[3 + i] = all.across[first + i];
      for (std::size_t end = 0; end < 2; ++end) node[6 + 2 * i + end] = all.beyond[2 * (first + i) + end];
    }
    const bool is_wall = are_set(walls, node[0], node[1], node[2]);
    for (int k = 0; k < num_plate_hinges; ++k) {
      const PlateHinge hinge = plate_hinge(k);
      const auto at = [&](int n) { return node[static_cast<std::size_t>(hinge.node[n])]; };
      of_slots.push_back(is_wall ? SortedHinge{} : hinge_at(at(0), at(1), at(2), at(3), walls, clamped));
      result.states.push_back(of_slots.back().state);
    }
    for (const int v : node) result.nodes.push_back(v >= 0 ? v : node[0]);
  }

  std::vector<std::array<int, 4>> hinges;
  for (const SortedHinge& hinge : of_slots)
    if (hinge.state != HingeState::none) hinges.push_back(hinge.nodes);
  std::sort(hinges.begin(), hinges.end());
  hinges.erase(std::unique(hinges.begin(), hinges.end()), hinges.end());
  for (const SortedHinge& hinge : of_slots) {
    const auto found = std::lower_bound(hinges.begin(), hinges.end(), hinge.nodes);
    const int number = static_cast<int>(found - hinges.begin());
    result.hinges.push_back(hinge.state == HingeState::none ? -1 : 2 * number + (hinge.negated ? 1 : 0));
  }
  for (const auto& nodes : hinges) result.hinge_nodes.insert(result.hinge_nodes.end(), nodes.begin(), nodes.end());
  return result;
}

}  // namespace diffsim::shell
