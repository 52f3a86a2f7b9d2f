// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>

#include "diffsim/core/error.hpp"
#include "diffsim/inverse/prior.hpp"
#include "diffsim/inverse/unknown.hpp"
#include "inverse/field_solver.hpp"

namespace diffsim {

struct DensityFilter::Solver : inverse::FieldSolver {
  using FieldSolver::FieldSolver;
};

DensityFilter::DensityFilter(const TetrahedralMesh& mesh, double radius) {
  if (!(radius > 0.0 && std::isfinite(radius)))
    throw Error("the radius of a density filter is " + std::to_string(radius) + "; give a length above 0",
                ErrorKind::input);
  const ValueGradient gradient = ValueGradient::across_faces(mesh);
  const double per_r2 = 12.0 / (radius * radius);  // 1/r²
  volumes_ = gradient.lumped();
  for (double& volume : volumes_) volume *= per_r2;
  solver_ = std::make_unique<Solver>(gradient, per_r2, "filter_");
}

DensityFilter::~DensityFilter() = default;

// With the volumes V and the stiffness matrix K of the fluxes, (V/r² + K) ρ̃ = V/r² ρ. The matrix on the left is
// symmetric.
std::vector<double> DensityFilter::times(const std::vector<double>& rho) const {
  std::vector<double> b(rho.size());
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = volumes_[i] * rho[i];
  return solver_->solve(b);
}

std::vector<double> DensityFilter::transpose_times(const std::vector<double>& w) const {
  std::vector<double> result = solver_->solve(w);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] *= volumes_[i];
  return result;
}

}  // namespace diffsim
