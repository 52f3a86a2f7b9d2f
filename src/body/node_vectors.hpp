// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::body {

/// Vectors at nodes, one per node. The type T of the components is double, or Dual<double, 1> if each component has a
/// derivative along a direction.
template <class T>
using NodeVectors = std::vector<Vec3<T>>;

template <class T>
NodeVectors<T> zero_vectors(std::size_t count) {
  return NodeVectors<T>(count, Vec3<T>{{T(0.0), T(0.0), T(0.0)}});
}

/// Returns the vectors with the components `values`, [nodes, 3].
inline NodeVectors<double> to_vectors(const std::vector<double>& values) {
  NodeVectors<double> vectors(values.size() / 3);
  for (std::size_t i = 0; i < values.size(); ++i) vectors[i / 3][static_cast<int>(i % 3)] = values[i];
  return vectors;
}

/// Returns the derivatives of the components of `vectors`, [nodes, 3].
inline std::vector<double> derivatives_of(const NodeVectors<Dual<double, 1>>& vectors) {
  std::vector<double> derivatives;
  derivatives.reserve(3 * vectors.size());
  for (const Vec3<Dual<double, 1>>& v : vectors)
    for (int c = 0; c < 3; ++c) derivatives.push_back(v[c].derivative[0]);
  return derivatives;
}

/// Returns the components of `vectors`, [nodes, 3]; the derivatives of components of type Dual are omitted.
template <class T>
std::vector<double> values_of(const NodeVectors<T>& vectors) {
  std::vector<double> values;
  values.reserve(3 * vectors.size());
  for (const Vec3<T>& v : vectors)
    for (int c = 0; c < 3; ++c) values.push_back(value_of(v[c]));
  return values;
}

}  // namespace diffsim::body
