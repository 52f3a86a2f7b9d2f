// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/impl/element_kernels.hpp"
#include "diffsim/simulation/scene.hpp"
#include "mesh/elevate.hpp"

namespace diffsim {

using Point = std::array<double, 3>;

/// Box of tetrahedra whose vertices are mapped from [0, 1]³ by `map`. With order 2 the nodes on edges are mapped too,
/// so edges are curved.
inline std::shared_ptr<TetrahedralMesh> mapped_box(std::array<int, 3> cells, int order,
                                                   const std::function<Point(const Point&)>& map,
                                                   std::optional<int> quadrature_degree = {}) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MeshData data = box_mesh({1.0, 1.0, 1.0}, cells, rank, ranks);
  if (order == 2) elevate(MPI_COMM_WORLD, data);
  for (std::size_t i = 0; i < data.coordinates.size(); i += 3) {
    const Point x = map({data.coordinates[i], data.coordinates[i + 1], data.coordinates[i + 2]});
    for (std::size_t c = 0; c < 3; ++c) data.coordinates[i + c] = x[c];
  }
  return std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, data, quadrature_degree);
}

/// Piecewise linear interpolant of x^power on a grid of n cells on [0, 1]. For power > 1 cells are finer towards 0.
/// Nodes in the middle of edges stay there.
inline double graded(double x, int n, double power) {
  const double cell = std::min(std::floor(x * n + 1e-9), n - 1.0);
  const double low = std::pow(cell / n, power), high = std::pow((cell + 1.0) / n, power);
  return low + (x * n - cell) * (high - low);
}

/// Points and weights of the Gauss–Legendre rule on [0, 1]. Newton's method finds the roots of P_n.
inline std::vector<std::array<double, 2>> gauss_legendre(int n) {
  std::vector<std::array<double, 2>> rule;
  for (int i = 0; i < n; ++i) {
    double t = std::cos(std::acos(-1.0) * (i + 0.75) / (n + 0.5)), slope = 1.0;
    for (int iteration = 0; iteration < 20; ++iteration) {
      double p = t, before = 1.0;
      for (int k = 2; k <= n; ++k) {
        const double next = ((2.0 * k - 1.0) * t * p - (k - 1.0) * before) / k;
        before = p;
        p = next;
      }
      slope = n * (t * p - before) / (t * t - 1.0);
      t -= p / slope;
    }
    rule.push_back({0.5 - 0.5 * t, 1.0 / ((1.0 - t * t) * slope * slope)});
  }
  return rule;
}

/// Points and weights (Σ = 1/6) of degree 2n - 3 on the reference tetrahedron: collapsed Gauss–Legendre rule (Duffy
/// 1982).
inline std::vector<std::array<double, 4>> quadrature(int n) {
  std::vector<double> x, w;
  for (const auto& [point, weight] : gauss_legendre(n)) {
    x.push_back(point);
    w.push_back(weight);
  }
  std::vector<std::array<double, 4>> points;
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t k = 0; k < size; ++k) {
        const double a = x[i], b = x[j] * (1.0 - a), c = x[k] * (1.0 - a) * (1.0 - x[j]);
        points.push_back({a, b, c, w[i] * w[j] * w[k] * (1.0 - a) * (1.0 - a) * (1.0 - x[j])});
      }
  return points;
}

/// Shape functions of a cell and their derivatives with respect to the reference coordinates.
struct ShapeFunctions {
  std::array<double, 10> value{};
  std::array<Point, 10> derivative{};
};
inline ShapeFunctions shape_at(int nodes, const std::array<double, 4>& point) {
  const double L[4] = {1.0 - point[0] - point[1] - point[2], point[0], point[1], point[2]};
  const Point dL[4] = {{-1, -1, -1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  ShapeFunctions shape;
  for (std::size_t i = 0; i < 4; ++i) {
    shape.value[i] = nodes == 4 ? L[i] : L[i] * (2.0 * L[i] - 1.0);
    for (std::size_t c = 0; c < 3; ++c) shape.derivative[i][c] = (nodes == 4 ? 1.0 : 4.0 * L[i] - 1.0) * dL[i][c];
  }
  for (int e = 0; nodes == 10 && e < 6; ++e) {
    const auto i = static_cast<std::size_t>(Tet10::edge_begin(e)), j = static_cast<std::size_t>(Tet10::edge_end(e));
    const auto a = static_cast<std::size_t>(4 + e);
    shape.value[a] = 4.0 * L[i] * L[j];
    for (std::size_t c = 0; c < 3; ++c) shape.derivative[a][c] = 4.0 * (dL[i][c] * L[j] + L[i] * dL[j][c]);
  }
  return shape;
}

/// Vector field of a cell at a point, Σ_a N_a f_a, its derivative with respect to X, Σ_a f_a ⊗ ∂N_a/∂X, and det ∂X/∂ξ.
struct AtPoint {
  Vec3<double> value;
  Mat3<double> gradient;
  double volume;
};
inline AtPoint interpolate(const TetrahedralMesh& mesh, int cell, const ShapeFunctions& shape,
                           const std::vector<double>& field) {
  const int nodes = mesh.nodes_per_cell();
  AtPoint at{};
  Mat3<double> dX{}, df{};
  for (int a = 0; a < nodes; ++a) {
    const auto v = 3 * static_cast<std::size_t>(mesh.cells()[static_cast<std::size_t>(nodes * cell + a)]);
    const auto n = static_cast<std::size_t>(a);
    for (int i = 0; i < 3; ++i) {
      const auto c = static_cast<std::size_t>(i);
      at.value[i] += shape.value[n] * field[v + c];
      for (int j = 0; j < 3; ++j) {
        dX(i, j) += mesh.rest_positions()[v + c] * shape.derivative[n][static_cast<std::size_t>(j)];
        df(i, j) += field[v + c] * shape.derivative[n][static_cast<std::size_t>(j)];
      }
    }
  }
  at.gradient = df * inverse(dX);
  at.volume = determinant(dX);
  return at;
}

inline double sum_over_ranks(double x) {
  MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return x;
}

/// Equilibrium reached from the scene's initial state in `steps` steps: positions [local vertices, 3].
inline std::vector<double> equilibrium(DifferentiableScene& solver, int steps = 1) {
  State state = solver.initial_state();
  solver.model().prepare();
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  return state["positions"].to_host();
}

}  // namespace diffsim
