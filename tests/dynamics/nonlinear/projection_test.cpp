// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Newton's method with an indefinite Jacobian: the terms that are projected, and convergence to a minimum.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/block_matrix_impl.hpp"
#include "diffsim/simulation/scene.hpp"
#include "dynamics/time/implicit_model.hpp"

namespace diffsim::projection_test {
namespace {

constexpr double width = 0.1;  // m

/// Energy E = k Σ m (s⁴/(4 w²) - s²/2) with s = z - Z and the mass m of each owned vertex. E is concave around s = 0
/// and minimal at s = ±w.
double well_energy(int vertices, double k, const double* m, const double* x, const double* X) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "well_energy", Range(0, vertices),
      KOKKOS_LAMBDA(int v, double& e) {
        const double s = x[3 * v + 2] - X[3 * v + 2];
        e += k * m[v] * (s * s * s * s / (4.0 * width * width) - 0.5 * s * s);
      },
      sum);
  return sum;
}

void add_well_force(int vertices, double k, const double* m, const double* x, const double* X, double* f) {
  Kokkos::parallel_for(
      "add_well_force", Range(0, vertices), KOKKOS_LAMBDA(int v) {
        const double s = x[3 * v + 2] - X[3 * v + 2];
        f[3 * v + 2] += k * m[v] * (s - s * s * s / (width * width));
      });
  Kokkos::fence();
}

void add_well_jacobian(int vertices, double k, const double* m, const double* x, const double* X,
                       const JacobianWeights& weights, const BlockMatrix::Data& matrix) {
  const DeviceArray<double> values = matrix.values;
  const DeviceArray<int> diagonal = matrix.diagonal;
  Kokkos::parallel_for(
      "add_well_jacobian", Range(0, vertices), KOKKOS_LAMBDA(int v) {
        const double s = x[3 * v + 2] - X[3 * v + 2];
        double share = weights.position * k * m[v] * (1.0 - 3.0 * s * s / (width * width));
        if (weights.project && share < 0.0) share = 0.0;
        values(9 * static_cast<std::ptrdiff_t>(diagonal(v)) + 8) += share;
      });
  Kokkos::fence();
}

/// Term with a well for each vertex that records the projections requested of its Jacobian.
class Well : public ForceTerm {
 public:
  Well(const System& system, double stiffness, bool contact, std::vector<bool>& projected)
      : system_(system), stiffness_(stiffness), contact_(contact), projected_(projected) {}
  std::string name() const override { return "well"; }
  bool limits_steps() const override { return contact_; }
  bool has_energy() const override { return tells_energy; }
  bool has_symmetric_jacobian() const override { return tells_energy; }

  double energy(const Configuration& at, const ParameterSet& parameters) override {
    return well_energy(count(), stiffness_, system_.mass().data(), at.positions.data(), rest(parameters));
  }
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override {
    add_well_force(count(), stiffness_, system_.mass().data(), at.positions.data(), rest(parameters), force.data());
  }
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override {
    projected_.push_back(weights.project);
    add_well_jacobian(count(), stiffness_, system_.mass().data(), at.positions.data(), rest(parameters), weights,
                      matrix.data());
  }
  void add_force_tangent(const Configuration&, const ConfigurationTangent&, const ParameterSet&, Field&) override {}
  void add_force_adjoint(const Configuration&, const Field&, const ConfigurationAdjoint&, ParameterSet&) override {}

  bool tells_energy = true;  ///< if false, the term reports neither a potential nor a symmetric Jacobian

 private:
  int count() const { return system_.mesh().num_owned_vertices(); }
  static const double* rest(const ParameterSet& parameters) { return parameters.at("rest_positions").field.data(); }

  const System& system_;
  double stiffness_;  // k, 1/s²
  bool contact_;
  std::vector<bool>& projected_;
};

/// Projections requested of the two terms at each assembly of the step.
struct Asked {
  std::vector<bool> contact, other;
  bool has(bool contact_projected, bool other_projected) const {
    for (std::size_t i = 0; i < contact.size(); ++i)
      if (contact[i] == contact_projected && other[i] == other_projected) return true;
    return false;
  }
};

/// A very soft body with wells, one term that counts as contact and one that does not, with these stiffnesses.
struct Problem {
  double contact_factor = 0.0, other_factor = 0.0;  // k dt²; J is indefinite at s = 0 if k dt² ≥ 1
  double begin = 1e-3;                              // s, m
  bool tells_energy = true;
};

/// Performs one step of backward Euler and checks that all vertices end in their wells.
Asked step(const Problem& problem) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {2, 2, 2});
  const DifferentiableMaterial soft{
      "neo_hookean", {{"youngs_modulus", 1e-3}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"};
  const DifferentiableSolver options{.dt = 0.1, .gravity = {0.0, 0.0, 0.0}, .integrator = Integrator::implicit_euler};
  DifferentiableScene solver(mesh, {soft}, options);
  Asked asked;
  const auto add = [&](double factor, bool contact, std::vector<bool>& projected) {
    auto well = std::make_unique<Well>(solver.system(), factor / (options.dt * options.dt), contact, projected);
    well->tells_energy = problem.tells_energy;
    if (factor > 0.0) solver.system().add_term(std::move(well));
  };
  add(problem.contact_factor, true, asked.contact);
  add(problem.other_factor, false, asked.other);
  solver.model().prepare();
  State state = solver.initial_state();
  std::vector<double> x = state["positions"].to_host();
  const std::vector<double> rest = x;
  for (std::size_t i = 2; i < x.size(); i += 3) x[i] += problem.begin;
  state["positions"].from_host(x);
  solver.step(0, state);
  x = state["positions"].to_host();
  for (std::size_t i = 2; i < 3 * static_cast<std::size_t>(mesh->num_owned_vertices()); i += 3)
    EXPECT_GT(std::abs(x[i] - rest[i]), 0.5 * width) << "not in its well";
  const auto& model = dynamic_cast<const ImplicitModel&>(solver.model());
  EXPECT_LE(model.last_residuals().back(), 1e-10);
  EXPECT_GT(model.statistics().projections, 0);
  EXPECT_EQ(model.statistics().cuts, 0);
  return asked;
}

TEST(projection, of_contact_alone_comes_before_that_of_all_terms) {
  const Asked asked = step({.contact_factor = 8.0, .other_factor = 0.01});
  ASSERT_GE(asked.contact.size(), 2u);
  EXPECT_FALSE(asked.contact[0] || asked.other[0]) << "the exact Jacobian comes first";
  EXPECT_TRUE(asked.contact[1] && !asked.other[1]);
  EXPECT_FALSE(asked.has(true, true)) << "contact alone suffices";
}

TEST(projection, of_all_terms_is_taken_where_that_of_contact_is_not_enough) {
  const Asked asked = step({.contact_factor = 8.0, .other_factor = 8.0});
  ASSERT_GE(asked.contact.size(), 3u);
  EXPECT_FALSE(asked.contact[0] || asked.other[0]);
  EXPECT_TRUE(asked.contact[1] && !asked.other[1]);
  EXPECT_TRUE(asked.contact[2] && asked.other[2]);
  EXPECT_FALSE(asked.has(false, true));
}

TEST(projection, of_all_terms_comes_at_once_where_there_is_no_contact) {
  const Asked asked = step({.other_factor = 8.0});
  ASSERT_GE(asked.other.size(), 2u);
  EXPECT_FALSE(asked.other[0]);
  EXPECT_TRUE(asked.other[1]);
}

// From s = 0.4 w, where E'' < 0, Newton's steps lead to the maximum at s = 0: first to -0.25 w, where the residual is
// 0.7 of the initial one, then to 0.04 w. The forces do negative work along these steps.
TEST(projection, leads_away_from_a_maximum_where_there_is_no_potential) {
  for (const double begin : {-0.4 * width, 0.4 * width})
    step({.other_factor = 100.0, .begin = begin, .tells_energy = false});
}

}  // namespace
}  // namespace diffsim::projection_test
