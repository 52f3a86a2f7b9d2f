// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/cell_sums.hpp"

#include <cstddef>
#include <variant>

#include "diffsim/core/impl/along.hpp"
#include "diffsim/mesh/impl/cell_geometry_impl.hpp"
#include "diffsim/mesh/impl/element_kernels.hpp"

namespace diffsim::sensor {
namespace {

using D = Dual<double, 1>;

constexpr int rows[6] = {0, 1, 2, 0, 1, 0}, columns[6] = {0, 1, 2, 1, 2, 2};

/// Sums, or weights of sums, with scalars of type T: double, or D for values with derivatives along a direction.
template <class T>
struct Sums {
  T volume, rest_volume, strain[6];
};

void assign(double from, double, double& to) { to = from; }
void assign(double from, double change, D& to) { to = along(from, change); }

template <class T>
Sums<T> sums_of(const CellSums& values, const CellSums& changes) {
  Sums<T> sums;
  assign(values.volume, changes.volume, sums.volume);
  assign(values.rest_volume, changes.rest_volume, sums.rest_volume);
  for (std::size_t k = 0; k < 6; ++k) assign(values.strain[k], changes.strain[k], sums.strain[k]);
  return sums;
}

double output(double number) { return number; }
double output(const D& number) { return number.derivative[0]; }

/// Nodes of a cell, or adjoints of the nodes.
template <class E, class T>
struct Nodes {
  Vec3<T> x[E::nodes], X[E::nodes];
};

template <class E, class T>
Nodes<E, T> gather(const int* vertices, const CellPositions& at, const CellPositions& direction) {
  Nodes<E, T> nodes;
  const auto change = [](const std::vector<double>& array, std::size_t i) { return array.empty() ? 0.0 : array[i]; };
  for (int a = 0; a < E::nodes; ++a)
    for (int c = 0; c < 3; ++c) {
      const std::size_t i = 3 * static_cast<std::size_t>(vertices[a]) + static_cast<std::size_t>(c);
      assign(at.x[i], change(direction.x, i), nodes.x[a][c]);
      assign(at.X[i], change(direction.X, i), nodes.X[a][c]);
    }
  return nodes;
}

/// Derivatives A = ∂x/∂ξ and B = ∂X/∂ξ at a quadrature point, F = A B⁻¹, and the weights of the current and the rest
/// volume.
template <class T>
struct Point {
  Mat3<T> A, B, inverse, F;
  T weight, volume;
};

/// `factor`: ratio of the volume that the tetrahedron represents to the volume of the tetrahedron
/// (TetrahedralMesh::volume_factors).
template <class E, class T>
Point<T> point_of(const typename E::Rule& rule, int q, const Nodes<E, T>& nodes, double factor) {
  Point<T> point;
  Vec3<T> y[4];
  E::corners(rule, q, nodes.x, y);
  point.A = edges_of(y);
  E::corners(rule, q, nodes.X, y);
  point.B = edges_of(y);
  point.inverse = inverse(point.B);
  point.F = point.A * point.inverse;
  point.weight = T(factor * rule.weight(q));
  point.volume = point.weight * determinant(point.B);
  return point;
}

/// Returns ½ (FᵀF - 1).
template <class T>
Mat3<T> strain_of(const Mat3<T>& F) {
  return T(0.5) * (transpose(F) * F - Mat3<T>::identity());
}

template <class E, class T>
void add_sums(const typename E::Rule& rule, const Nodes<E, T>& nodes, double factor, Sums<T>& sums) {
  for (int q = 0; q < E::Rule::num_points; ++q) {
    const Point<T> point = point_of<E, T>(rule, q, nodes, factor);
    const Mat3<T> strain = strain_of(point.F);
    sums.volume = sums.volume + point.weight * determinant(point.A);
    sums.rest_volume = sums.rest_volume + point.volume;
    for (int k = 0; k < 6; ++k) sums.strain[k] = sums.strain[k] + point.volume * strain(rows[k], columns[k]);
  }
}

/// Adds the derivatives of φ = Σ w_k s_k with respect to the nodes' positions to `bar`. With the symmetric matrix W for
/// which Σ w_k E_k = W : E, and the rest volume V of the point, the derivatives are
///   ∂φ/∂A = w_volume weight cof A + V F W B⁻ᵀ,
///   ∂φ/∂B = (w_rest + W : E) weight cof B - V Fᵀ F W B⁻ᵀ.
template <class E, class T>
void add_adjoint(const typename E::Rule& rule, const Nodes<E, T>& nodes, double factor, const Sums<T>& w,
                 Nodes<E, T>& bar) {
  Mat3<T> W;
  for (int k = 0; k < 6; ++k) W(rows[k], columns[k]) = W(columns[k], rows[k]) = (k < 3 ? T(1.0) : T(0.5)) * w.strain[k];
  for (int q = 0; q < E::Rule::num_points; ++q) {
    const Point<T> point = point_of<E, T>(rule, q, nodes, factor);
    const Mat3<T> S = point.volume * times_transpose(W, point.inverse);
    const Mat3<T> A_bar = (w.volume * point.weight) * cofactor(point.A) + point.F * S;
    const T density = w.rest_volume + inner(W, strain_of(point.F));
    const Mat3<T> B_bar = (density * point.weight) * cofactor(point.B) - transpose(point.F) * (point.F * S);
    Vec3<T> y[4];
    edges_adjoint(A_bar, y);
    E::add_corners_adjoint(rule, q, y, bar.x);
    edges_adjoint(B_bar, y);
    E::add_corners_adjoint(rule, q, y, bar.X);
  }
}

template <class T>
CellSums sum_over_cells(const TetrahedralMesh& mesh, const std::vector<int>& cells, const CellPositions& at,
                        const CellPositions& direction) {
  const std::vector<double> factors = mesh.volume_factors(cells);
  Sums<T> sums = sums_of<T>({}, {});
  const auto add_cells = [&](auto kind) {
    using E = decltype(kind);
    const typename E::Rule rule;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const int* const vertices = &mesh.cells()[static_cast<std::size_t>(E::nodes * cells[k])];
      add_sums<E, T>(rule, gather<E, T>(vertices, at, direction), factors.empty() ? 1.0 : factors[k], sums);
    }
  };
  std::visit(add_cells, element_of(mesh));
  CellSums result{output(sums.volume), output(sums.rest_volume), {}};
  for (std::size_t k = 0; k < 6; ++k) result.strain[k] = output(sums.strain[k]);
  return result;
}

template <class T>
void add_adjoints(const TetrahedralMesh& mesh, const std::vector<int>& cells, const CellPositions& at,
                  const CellPositions& direction, const Sums<T>& w, CellPositions& adjoint) {
  const std::vector<double> factors = mesh.volume_factors(cells);
  const auto add_cells = [&](auto kind) {
    using E = decltype(kind);
    const typename E::Rule rule;
    for (std::size_t k = 0; k < cells.size(); ++k) {
      const int* const vertices = &mesh.cells()[static_cast<std::size_t>(E::nodes * cells[k])];
      Nodes<E, T> bar;
      for (int a = 0; a < E::nodes; ++a)
        for (int c = 0; c < 3; ++c) bar.x[a][c] = bar.X[a][c] = T(0.0);
      add_adjoint<E, T>(rule, gather<E, T>(vertices, at, direction), factors.empty() ? 1.0 : factors[k], w, bar);
      for (int a = 0; a < E::nodes; ++a)
        for (int c = 0; c < 3; ++c) {
          const std::size_t i = 3 * static_cast<std::size_t>(vertices[a]) + static_cast<std::size_t>(c);
          adjoint.x[i] += output(bar.x[a][c]);
          adjoint.X[i] += output(bar.X[a][c]);
        }
    }
  };
  std::visit(add_cells, element_of(mesh));
}

}  // namespace

std::array<double*, 8> CellSums::entries() {
  return {&volume, &rest_volume, &strain[0], &strain[1], &strain[2], &strain[3], &strain[4], &strain[5]};
}

CellSums cell_sums(const TetrahedralMesh& mesh, const std::vector<int>& cells, const CellPositions& at) {
  return sum_over_cells<double>(mesh, cells, at, {});
}

CellSums cell_sums_tangent(const TetrahedralMesh& mesh, const std::vector<int>& cells, const CellPositions& at,
                           const CellPositions& direction) {
  return sum_over_cells<D>(mesh, cells, at, direction);
}

void add_cell_sums_adjoint(const TetrahedralMesh& mesh, const std::vector<int>& cells, const CellPositions& at,
                           const CellSums& w, CellPositions& adjoint) {
  add_adjoints(mesh, cells, at, {}, sums_of<double>(w, {}), adjoint);
}

void add_cell_sums_adjoint_tangent(const TetrahedralMesh& mesh, const std::vector<int>& cells, const CellPositions& at,
                                   const CellPositions& direction, const CellSums& w, const CellSums& dw,
                                   CellPositions& adjoint_tangent) {
  add_adjoints(mesh, cells, at, direction, sums_of<D>(w, dw), adjoint_tangent);
}

}  // namespace diffsim::sensor
