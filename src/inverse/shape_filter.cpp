// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>

#include "diffsim/core/error.hpp"
#include "diffsim/inverse/prior.hpp"
#include "diffsim/inverse/unknown.hpp"
#include "inverse/field_solver.hpp"

namespace diffsim {

struct ShapeFilter::Solver : inverse::FieldSolver {
  using FieldSolver::FieldSolver;
};

ShapeFilter::ShapeFilter(const TetrahedralMesh& mesh, double radius, const std::vector<std::string>& fixed,
                         std::array<bool, 3> moves)
    : radius_(radius), moves_(moves) {
  if (!(radius > 0.0 && std::isfinite(radius)))
    throw Error("the radius of a filter of shapes is " + std::to_string(radius) + "; give a length above 0",
                ErrorKind::input);
  if (moves == std::array<bool, 3>{}) throw Error("a filter of shapes moves no coordinate", ErrorKind::input);
  const ValueGradient gradient = ValueGradient::of_vertices(mesh, 1);
  const double per_r2 = 12.0 / (radius * radius);  // 1/r²
  masses_ = gradient.lumped();
  for (double& mass : masses_) mass *= per_r2;
  std::vector<int> rows;
  for (const std::string& region : fixed)
    for (const int v : mesh.region(region).vertices)
      if (v < mesh.num_owned_vertices() && masses_[static_cast<std::size_t>(v)] > 0.0) {
        masses_[static_cast<std::size_t>(v)] = 0.0;
        rows.push_back(v);
      }
  solver_ = std::make_unique<Solver>(gradient, per_r2, "filter_", rows);
}

ShapeFilter::~ShapeFilter() = default;

// With the lumped masses M, zero at fixed vertices, the stiffness matrix K, and the rows and columns of fixed vertices
// removed, (M/r² + K) w = M/r² s. The matrix on the left is symmetric.
std::vector<double> ShapeFilter::times(const std::vector<double>& s) const {
  std::vector<double> w(size(), 0.0), b(masses_.size());
  for (std::size_t c = 0; c < 3; ++c) {
    if (!moves_[c]) continue;
    for (std::size_t v = 0; v < b.size(); ++v) b[v] = masses_[v] * s[3 * v + c];
    const std::vector<double> component = solver_->solve(b);
    for (std::size_t v = 0; v < b.size(); ++v) w[3 * v + c] = component[v];
  }
  return w;
}

std::vector<double> ShapeFilter::transpose_times(const std::vector<double>& w) const {
  std::vector<double> s(size(), 0.0), b(masses_.size());
  for (std::size_t c = 0; c < 3; ++c) {
    if (!moves_[c]) continue;
    for (std::size_t v = 0; v < b.size(); ++v) b[v] = masses_[v] > 0.0 ? w[3 * v + c] : 0.0;
    const std::vector<double> component = solver_->solve(b);
    for (std::size_t v = 0; v < b.size(); ++v) s[3 * v + c] = masses_[v] * component[v];
  }
  return s;
}

}  // namespace diffsim
