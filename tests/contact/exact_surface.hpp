// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Intersections of triangles and signs of volumes in rational arithmetic, the reference for states of contact. The
// code has its own surfaces, broad phase and predicates and uses no code of the library.

#include <array>
#include <vector>

namespace diffsim::contact::exact {

using Place = std::array<double, 3>;
using Corners = std::array<int, 3>;

/// Sign of (b - a)·((c - a) × (d - a)). The sign is computed in doubles if the result exceeds the error bound, (7 + 56
/// ε) ε times the sum of the magnitudes of the products (Shewchuk 1997, Adaptive Precision Floating-Point Arithmetic,
/// p. 346), and in rational arithmetic otherwise.
int orientation(const Place& a, const Place& b, const Place& c, const Place& d);

/// Triangles with their vertex positions. Two vertices are the same if their numbers are equal.
struct TriangleSet {
  std::vector<Place> places;
  std::vector<Corners> triangles;

  std::array<Place, 3> at(const Corners& t) const {
    return {places[static_cast<std::size_t>(t[0])], places[static_cast<std::size_t>(t[1])],
            places[static_cast<std::size_t>(t[2])]};
  }
  void append(const TriangleSet& other) {
    const int first = static_cast<int>(places.size());
    places.insert(places.end(), other.places.begin(), other.places.end());
    for (const Corners& t : other.triangles) triangles.push_back({first + t[0], first + t[1], first + t[2]});
  }
};

/// Returns true if two triangles have points in common other than their shared corners and edges.
bool triangles_meet(const TriangleSet& set, Corners a, Corners b);

/// Returns all pairs of triangles that meet, except pairs in which both numbers are `first_fixed` or greater.
std::vector<std::array<int, 2>> intersections(const TriangleSet& set, int first_fixed);

/// Returns the number of triangles without area.
int degenerate(const TriangleSet& set);

/// Winding number of closed triangles around a point that is not on any triangle: the sum of the signed crossings of a
/// ray in a general direction.
int winding(const Place& p, const TriangleSet& set);

/// Returns the surface of tetrahedra of first or second order, with outward orientation. Vertices are in VTK's order; a
/// face of second order becomes four flat triangles.
std::vector<Corners> surface_of(const std::vector<int>& cells, int nodes);

/// Returns the number of inverted or flat cells. Linear cells are tested by their volume, second-order cells at each
/// corner.
int inverted(const std::vector<Place>& places, const std::vector<int>& cells, int nodes);

}  // namespace diffsim::contact::exact
