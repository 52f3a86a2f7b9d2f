// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "rod/rod_stencils.hpp"

#include <algorithm>
#include <cstdint>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::rod {
namespace {

bool is_set(const std::vector<char>& flags, int vertex) {
  return !flags.empty() && flags[static_cast<std::size_t>(vertex)] != 0;
}

/// Returns true if the direction of the rod is fixed at the vertex `common` of the segment (`common`, `far`). The
/// direction is fixed if `common` belongs to a wall, or if `common` is an end of the rod and lies in a plane of
/// symmetry that does not contain the segment.
bool is_clamped(const VertexConstraints& held, int common, int far, bool is_end) {
  if (held.clamped.empty()) return false;
  const char here = held.clamped[static_cast<std::size_t>(common)], there = held.clamped[static_cast<std::size_t>(far)];
  return (here & VertexConstraints::in_wall) != 0 || (is_end && (here & ~there) != 0);
}

/// Returns true if the positions of both vertices are prescribed.
bool are_held(const VertexConstraints& held, int a, int b) {
  return is_set(held.positions, a) && is_set(held.positions, b);
}

}  // namespace

void require_directors(const TetrahedralMesh& mesh, const std::vector<int>& segments) {
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  const bool misses = std::any_of(segments.begin(), segments.end(), [&](int segment) {
    return all.directors.empty() || all.directors[static_cast<std::size_t>(segment)] < 0;
  });
  if (sum_over_ranks(static_cast<std::int64_t>(misses), mesh.comm()) > 0)
    throw Error(
        "a segment of a rod or beam has no director; call add_directors with the body's mesh, or, in Python, use "
        "Body.with_directors()",
        ErrorKind::input);
}

std::vector<int> segments_with_directors(const LowerCellSet& all) {
  std::vector<int> segments;
  for (std::size_t s = 0; s < all.directors.size(); ++s)
    if (all.directors[s] >= 0) segments.push_back(static_cast<int>(s));
  return segments;
}

std::vector<int> ends_of(const LowerCellSet& all, const std::vector<int>& segments, bool with_directors) {
  std::vector<int> vertices;
  for (const int segment : segments) {
    const auto s = static_cast<std::size_t>(segment);
    vertices.insert(vertices.end(), {all.vertices[2 * s], all.vertices[2 * s + 1]});
    if (with_directors) vertices.push_back(all.directors[s]);
  }
  return vertices;
}

Stencils joint_stencils(const LowerCellSet& all, const std::vector<int>& segments, Beyond beyond,
                        const VertexConstraints& held) {
  Stencils result;
  for (const int segment : segments) {
    const auto s = static_cast<std::size_t>(segment);
    const int* const ends = &all.vertices[2 * s];
    const int* const across = &all.across[2 * s];
    if (are_held(held, ends[0], ends[1]) && (across[0] >= 0 || across[1] >= 0)) continue;
    for (std::size_t far = 0; far < 2; ++far) {
      // `across[far]` is the far vertex of the neighbouring segment at `common`, the end opposite to `far`.
      const int common = ends[1 - far], next = across[far];
      const bool is_wall = next >= 0 && are_held(held, common, next);
      const bool keeps_direction = is_clamped(held, common, ends[far], next < 0);
      if (next < 0 && !keeps_direction) continue;
      const Beyond found = is_wall ? Beyond::wall : keeps_direction ? Beyond::direction : Beyond::segment;
      if (found != beyond) continue;
      const int director = all.directors[s];
      const bool has_next = beyond != Beyond::direction;
      result.vertices.insert(result.vertices.end(), {ends[far], common, has_next ? next : common, director,
                                                     has_next ? all.directors_across[2 * s + far] : director});
      result.segments.push_back(segment);
    }
  }
  return result;
}

}  // namespace diffsim::rod
