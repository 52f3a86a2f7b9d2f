// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Order in which Newton's method projects the terms of an indefinite Jacobian: none, contact alone, all.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "diffsim/core/block_matrix_impl.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/dynamics/implicit_model.hpp"
#include "diffsim/simulation/solver.hpp"

namespace diffsim {
namespace {

constexpr double width = 0.1;  // m

/// E = k Σ (s⁴/(4 w²) - s²/2), s = z - Z of each owned vertex: concave around s = 0, least at s = ±w.
double well_energy(int vertices, double k, const double* x, const double* X) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "well_energy", Range(0, vertices),
      KOKKOS_LAMBDA(int v, double& e) {
        const double s = x[3 * v + 2] - X[3 * v + 2];
        e += k * (s * s * s * s / (4.0 * width * width) - 0.5 * s * s);
      },
      sum);
  return sum;
}

void add_well_force(int vertices, double k, const double* x, const double* X, double* f) {
  Kokkos::parallel_for(
      "add_well_force", Range(0, vertices), KOKKOS_LAMBDA(int v) {
        const double s = x[3 * v + 2] - X[3 * v + 2];
        f[3 * v + 2] += k * (s - s * s * s / (width * width));
      });
  Kokkos::fence();
}

void add_well_jacobian(int vertices, double k, const double* x, const double* X, const JacobianWeights& weights,
                       const BlockMatrix::Data& matrix) {
  const DeviceArray<double> values = matrix.values;
  const DeviceArray<int> diagonal = matrix.diagonal;
  Kokkos::parallel_for(
      "add_well_jacobian", Range(0, vertices), KOKKOS_LAMBDA(int v) {
        const double s = x[3 * v + 2] - X[3 * v + 2];
        double share = weights.position * k * (1.0 - 3.0 * s * s / (width * width));
        if (weights.project && share < 0.0) share = 0.0;
        values(9 * static_cast<std::ptrdiff_t>(diagonal(v)) + 8) += share;
      });
  Kokkos::fence();
}

/// A well for each vertex, which notes how its Jacobian was asked for.
class Well : public ForceTerm {
 public:
  Well(const TetrahedralMesh& mesh, double stiffness, bool contact, std::vector<bool>& projected)
      : mesh_(mesh), stiffness_(stiffness), contact_(contact), projected_(projected) {}
  std::string name() const override { return "well"; }
  bool limits_steps() const override { return contact_; }

  double energy(const Configuration& at, const ParameterSet& parameters) override {
    return well_energy(count(), stiffness_, at.positions.data(), rest(parameters));
  }
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override {
    add_well_force(count(), stiffness_, at.positions.data(), rest(parameters), force.data());
  }
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override {
    projected_.push_back(weights.project);
    add_well_jacobian(count(), stiffness_, at.positions.data(), rest(parameters), weights, matrix.data());
  }
  void add_force_tangent(const Configuration&, const ConfigurationTangent&, const ParameterSet&, Field&) override {}
  void add_force_adjoint(const Configuration&, const Field&, const ConfigurationAdjoint&, ParameterSet&) override {}

 private:
  int count() const { return mesh_.num_owned_vertices(); }
  static const double* rest(const ParameterSet& parameters) { return parameters.at("rest_positions").field.data(); }

  const TetrahedralMesh& mesh_;
  double stiffness_;
  bool contact_;
  std::vector<bool>& projected_;
};

/// What a step asked of the two terms.
struct Asked {
  std::vector<bool> contact, other;
  bool has(bool contact_projected, bool other_projected) const {
    for (std::size_t i = 0; i < contact.size(); ++i)
      if (contact[i] == contact_projected && other[i] == other_projected) return true;
    return false;
  }
};

/// One step of backward Euler of a soft body that begins in the concave part of its wells, at `factor` of the least
/// stiffness that outweighs M/dt². Without contact where its factor is 0.
Asked step(double contact_factor, double other_factor) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {2, 2, 2});
  const DifferentiableMaterial soft{
      "neo_hookean", {{"youngs_modulus", 1e-3}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"};
  const SolverOptions options{.dt = 0.1, .gravity = {0.0, 0.0, 0.0}, .integrator = "implicit_euler"};
  DifferentiableSolver solver(mesh, {soft}, options);
  std::vector<double> velocity(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.0);
  for (std::size_t i = 2; i < velocity.size(); i += 3) velocity[i] = 0.01;
  solver.set_initial_velocity(velocity);
  // The largest of the vertices' masses is a twelfth of the body's at most.
  const double stiffness = 1000.0 / 12.0 / (options.dt * options.dt);
  Asked asked;
  if (contact_factor > 0.0)
    solver.system().add_term(std::make_unique<Well>(*mesh, contact_factor * stiffness, true, asked.contact));
  solver.system().add_term(std::make_unique<Well>(*mesh, other_factor * stiffness, false, asked.other));
  solver.model().prepare();
  State state = solver.initial_state();
  const std::vector<double> before = state["positions"].to_host();
  solver.step(0, state);
  const std::vector<double> x = state["positions"].to_host();
  for (std::size_t i = 2; i < 3 * static_cast<std::size_t>(mesh->num_owned_vertices()); i += 3)
    EXPECT_GT(std::abs(x[i] - before[i]), 0.05) << "not in its well";
  const auto& model = dynamic_cast<const ImplicitModel&>(solver.integrator());
  EXPECT_LE(model.last_residuals().back(), 1e-10);
  EXPECT_GT(model.statistics().projections, 0);
  EXPECT_EQ(model.statistics().cuts, 0);
  return asked;
}

TEST(projection, of_contact_alone_comes_before_that_of_all_terms) {
  const Asked asked = step(8.0, 0.01);
  ASSERT_GE(asked.contact.size(), 2u);
  EXPECT_FALSE(asked.contact[0] || asked.other[0]) << "the exact Jacobian comes first";
  EXPECT_TRUE(asked.contact[1] && !asked.other[1]);
  EXPECT_FALSE(asked.has(true, true)) << "contact alone suffices";
}

TEST(projection, of_all_terms_is_taken_where_that_of_contact_is_not_enough) {
  const Asked asked = step(8.0, 8.0);
  ASSERT_GE(asked.contact.size(), 3u);
  EXPECT_FALSE(asked.contact[0] || asked.other[0]);
  EXPECT_TRUE(asked.contact[1] && !asked.other[1]);
  EXPECT_TRUE(asked.contact[2] && asked.other[2]);
  EXPECT_FALSE(asked.has(false, true));
}

TEST(projection, of_all_terms_comes_at_once_where_there_is_no_contact) {
  const Asked asked = step(0.0, 8.0);
  ASSERT_GE(asked.other.size(), 2u);
  EXPECT_FALSE(asked.other[0]);
  EXPECT_TRUE(asked.other[1]);
}

}  // namespace
}  // namespace diffsim
