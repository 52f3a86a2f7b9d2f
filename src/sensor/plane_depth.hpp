// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include "sensor/camera_view.hpp"

namespace diffsim::sensor {

/// Depth at which a line of sight meets the plane of a triangle, and the derivatives of the depth with respect to the
/// corners.
template <class T>
struct PlaneDepth {
  T depth;                                ///< Z, m
  std::array<SpacePoint<T>, 3> gradient;  ///< ∂Z/∂P_k
};

/// Returns the depth Z of the point h = o + Z d at which `line` meets the plane of the triangle with the corners P_k,
/// and ∂Z/∂P_k. All points are in the coordinates of the camera. With the normal n of the triangle and the barycentric
/// coordinates λ_k of h,
///   Z = n·(P_0 - o)/(n·d),   ∂Z/∂P_k = λ_k n/(n·d).
/// The line must not be parallel to the plane.
template <class T>
PlaneDepth<T> plane_depth(const std::array<SpacePoint<T>, 3>& P, const SightLine& line) {
  const auto minus = [](const auto& a, const auto& b) { return SpacePoint<T>{a[0] - b[0], a[1] - b[1], a[2] - b[2]}; };
  const auto cross = [](const SpacePoint<T>& a, const SpacePoint<T>& b) {
    return SpacePoint<T>{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  };
  const auto dot = [](const auto& a, const auto& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
  const SpacePoint<T> n = cross(minus(P[1], P[0]), minus(P[2], P[0]));
  const T along = dot(n, line.direction);
  PlaneDepth<T> result;
  result.depth = dot(n, minus(P[0], line.origin)) / along;
  SpacePoint<T> h;
  for (std::size_t c = 0; c < 3; ++c) h[c] = line.origin[c] + result.depth * line.direction[c];
  const T square = dot(n, n);
  for (std::size_t k = 0; k < 3; ++k) {
    const T weight = dot(cross(minus(P[(k + 1) % 3], h), minus(P[(k + 2) % 3], h)), n) / (square * along);
    for (std::size_t c = 0; c < 3; ++c) result.gradient[k][c] = weight * n[c];
  }
  return result;
}

}  // namespace diffsim::sensor
