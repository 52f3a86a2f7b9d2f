// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Matrix formats, and products without a matrix. All give the gradient that AIJ gives.

#include <gtest/gtest.h>
#include <mpi.h>
#include <petscsys.h>

#include <array>
#include <cmath>
#include <string>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "dynamics/linear/linear_system.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "simulation/sweep_testing.hpp"

namespace diffsim::matrix_options_test {
namespace {

using testing_simulation::relative_difference;

/// Sets an option of PETSc for the lifetime of this object.
class PetscOption {
 public:
  PetscOption(std::string name, const std::string& value) : name_(std::move(name)) {
    if (!value.empty()) PetscOptionsSetValue(nullptr, name_.c_str(), value.c_str());
  }
  ~PetscOption() { PetscOptionsClearValue(nullptr, name_.c_str()); }
  PetscOption(const PetscOption&) = delete;
  PetscOption& operator=(const PetscOption&) = delete;

 private:
  std::string name_;
};

DifferentiableScene make_solver(int direct_below, bool matrix_free, const std::string& damping,
                                bool fast_paths = true) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.25, 0.25}, {8, 2, 2});
  // With damping, J also contains derivatives with respect to velocities. Viscosity makes J unsymmetric.
  DifferentiableMaterial rubber{
      "neo_hookean", {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.3}, {damping, 30.0}}, "all"};
  DifferentiableSolver options{.dt = 0.05, .integrator = Integrator::newmark};
  options.implicit.newton.tolerance = 1e-12;
  options.implicit.linear.direct_below = direct_below;
  options.implicit.linear.matrix_free = matrix_free;
  options.implicit.linear.fast_paths = fast_paths;
  DifferentiableScene solver(mesh, {rubber}, options);
  solver.fix("x_min");
  solver.fix("y_min", {false, true, false});
  return solver;
}

std::vector<double> gradient(int direct_below, bool matrix_free, ImplicitStatistics& statistics,
                             const std::string& damping = "drag") {
  DifferentiableScene solver = make_solver(direct_below, matrix_free, damping);
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {1.0, -0.1, 0.1}, 3);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"youngs_modulus", damping});
  simulator.rollout(3, 0, loss);
  simulator.backward();
  statistics = dynamic_cast<const ImplicitModel&>(solver.model()).statistics();
  std::vector<double> all = simulator.gradient("youngs_modulus").to_host();
  for (const double value : simulator.gradient(damping).to_host()) all.push_back(value * 1e-3);
  return all;
}

/// Products by blocks and smoothers in single precision change the gradient within the solver's tolerance only.
TEST(matrix_options, fast_paths_change_no_result) {
  for (const char* damping : {"drag", "viscosity"}) {  // with a symmetric and with an unsymmetric matrix
    std::vector<double> by_block, by_petsc;
    for (const bool fast : {true, false}) {
      DifferentiableScene solver = make_solver(0, false, damping, fast);
      TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {1.0, -0.1, 0.1}, 3);
      DifferentiableSimulator simulator(solver);
      simulator.require_gradient({"youngs_modulus"});
      simulator.rollout(3, 0, loss);
      simulator.backward();
      (fast ? by_block : by_petsc) = simulator.gradient("youngs_modulus").to_host();
    }
    EXPECT_LE(relative_difference(by_block, by_petsc), 1e-9) << damping;
    if (damping == std::string("drag")) {
      EXPECT_NE(by_block, by_petsc) << "the same smoothers in both runs";
    }
  }
}

TEST(matrix_options, give_the_gradient_of_aij) {
  for (const int direct_below : {0, 100000}) {
    ImplicitStatistics plain, counts;
    const std::vector<double> expected = gradient(direct_below, false, plain);
    for (const char* type : {"aij", "baij", "sbaij"}) {
      const PetscOption option("-mat_type", type);
      EXPECT_LE(relative_difference(gradient(direct_below, false, counts), expected), 1e-9) << type << direct_below;
      EXPECT_EQ(counts.newton_iterations, plain.newton_iterations);
      EXPECT_NEAR(static_cast<double>(counts.derivative_iterations), static_cast<double>(plain.derivative_iterations),
                  3.0);
    }
    EXPECT_LE(relative_difference(gradient(direct_below, true, counts), expected), 1e-9) << direct_below;
    EXPECT_EQ(counts.newton_iterations, plain.newton_iterations);
    EXPECT_NEAR(static_cast<double>(counts.derivative_iterations), static_cast<double>(plain.derivative_iterations),
                3.0);
  }
}

TEST(matrix_options, give_the_gradient_of_aij_where_it_is_unsymmetric) {
  for (const int direct_below : {0, 100000}) {
    ImplicitStatistics counts;
    const std::vector<double> expected = gradient(direct_below, false, counts, "viscosity");
    const PetscOption option("-mat_type", "baij");
    EXPECT_LE(relative_difference(gradient(direct_below, false, counts, "viscosity"), expected), 1e-9) << direct_below;
  }
}

/// Each rank factors a copy of a small matrix, unless an option of PETSc selects the package that factors.
TEST(matrix_options, copies_on_each_rank_give_the_gradient_of_shared_factors) {
  for (const char* damping : {"drag", "viscosity"}) {
    ImplicitStatistics copied, shared;
    const std::vector<double> expected = gradient(100000, false, copied, damping);
    const PetscOption option("-pc_factor_mat_solver_type", "mumps");
    EXPECT_LE(relative_difference(gradient(100000, false, shared, damping), expected), 1e-9) << damping;
    EXPECT_EQ(copied.newton_iterations, shared.newton_iterations) << damping;
  }
}

TEST(matrix_options, reach_the_factors_of_copies) {
  ImplicitStatistics counts;
  const PetscOption option("-pc_factor_reuse_ordering", "1");
  gradient(100000, false, counts);
  PetscBool used = PETSC_FALSE;
  DIFFSIM_PETSC(PetscOptionsUsed(nullptr, "pc_factor_reuse_ordering", &used));
  EXPECT_TRUE(used);
}

TEST(matrix_options, refuse_what_cannot_be) {
  const auto text_of = [](const auto& program) {
    try {
      program();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return std::string(error.what());
    }
    return std::string();
  };
  ImplicitStatistics counts;
  for (const auto& [type, part] : {std::pair{"dense", "mat_type: implicit steps cannot use 'dense'"},
                                   {"sbaij", "mat_type: sbaij stores half of a symmetric matrix"},
                                   {"aij", "operator: matrix_free needs a symmetric Jacobian"}}) {
    const PetscOption option("-mat_type", type);
    const std::string text = text_of([&] { gradient(0, std::string(type) == "aij", counts, "viscosity"); });
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

/// A diagonal matrix on the mesh's sparsity pattern. The type of the matrix in products follows from the format option,
/// or is a shell matrix if a function for products is given.
TEST(matrix_options, decide_what_is_multiplied_with) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {5, 3, 2});
  Couplings couplings;
  couplings.add({mesh->cells().begin(), mesh->cells().end()}, 4);
  dynamics::MatrixShare share(*mesh, couplings, false);
  Field ones("ones", static_cast<std::size_t>(mesh->num_owned_vertices()));
  ones.fill(2.0);
  for (const char* type : {"", "aij", "baij", "sbaij"}) {
    const PetscOption option("-mat_type", type);
    dynamics::LinearSystem system(*mesh, {});
    const auto fixed = make_device_array<std::uint8_t>("fixed", static_cast<std::size_t>(mesh->num_owned_vertices()));
    Kokkos::deep_copy(fixed, std::uint8_t{0});
    system.set_fixed(fixed.data());
    share.blocks().zero();
    share.blocks().add_to_diagonal(1.0, ones);
    system.set_matrix({&share}, true);
    MatType found = nullptr;
    DIFFSIM_PETSC(MatGetType(system.product(), &found));
    EXPECT_TRUE(std::string(found).ends_with(*type ? type : "aij")) << found;
    if (std::string(type) == "sbaij") {
      EXPECT_THROW(system.set_matrix({&share}, false), Error);
    }
    system.set_matrix({&share}, true, [&](const Field& x, Field& y) {
      y.copy_from(x);
      scale(3.0, y);
    });
    DIFFSIM_PETSC(MatGetType(system.product(), &found));
    EXPECT_EQ(std::string(found), MATSHELL);
    system.set_matrix({&share}, true);
    DIFFSIM_PETSC(MatGetType(system.product(), &found));
    EXPECT_TRUE(std::string(found).ends_with(*type ? type : "aij")) << found;
  }
}

/// Adds to each vertex's block, which must be zero, the permutation that swaps the components along x and y.
void swap_x_and_y(int vertices, double* blocks) {
  Kokkos::parallel_for(
      "swap_x_and_y", Range(0, vertices), KOKKOS_LAMBDA(int v) {
        double* const block = blocks + 9 * v;
        block[1] = block[3] = block[8] = 1.0;
      });
  Kokkos::fence();
}

/// Zeros on the diagonal require pivoting, in successive factorisations and after a factorisation with another pattern
/// of zeros.
TEST(matrix_options, zeros_on_the_diagonal_are_factored_with_pivoting) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {5, 3, 2});
  dynamics::MatrixShare share(*mesh, {}, false);
  const auto owned = static_cast<std::size_t>(mesh->num_owned_vertices());
  const auto fixed = make_device_array<std::uint8_t>("fixed", owned);
  Kokkos::deep_copy(fixed, std::uint8_t{0});
  Field ones("ones", owned, 3), b("b", owned, 3), x("x", owned, 3);
  ones.fill(1.0);
  std::vector<double> values(3 * owned), swapped = values;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 + static_cast<double>(i % 3);
  for (std::size_t i = 0; i < values.size(); ++i) swapped[i] = std::array{2.0, 1.0, 3.0}[i % 3];
  b.from_host(values);
  for (const bool symmetric : {true, false}) {
    dynamics::LinearSystem system(*mesh, {});
    system.set_fixed(fixed.data());
    for (const bool swaps : {true, true, false, true}) {
      system.renew_preconditioner();
      share.blocks().zero();
      if (swaps)
        swap_x_and_y(static_cast<int>(owned), share.blocks().values());
      else
        share.blocks().add_to_diagonal(1.0, ones);
      system.set_matrix({&share}, symmetric);
      for (int solves = 0; solves < 2; ++solves) {
        const dynamics::LinearReport report = system.solve(b, x, 1e-12);
        EXPECT_TRUE(report.converged) << report.reason;
        EXPECT_EQ(report.indefinite, swaps && symmetric);
        EXPECT_EQ(x.to_host(), swaps ? swapped : values);
      }
    }
  }
}

/// Diagonal matrices that are positive definite, or positive except for one negative entry on the first rank.
TEST(matrix_options, negative_eigenvalues_are_found_by_copies_and_by_shared_factors) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {5, 3, 2});
  dynamics::MatrixShare share(*mesh, {}, false);
  const auto owned = static_cast<std::size_t>(mesh->num_owned_vertices());
  const auto fixed = make_device_array<std::uint8_t>("fixed", owned);
  Kokkos::deep_copy(fixed, std::uint8_t{0});
  Field diagonal("diagonal", owned, 3), b("b", owned, 3), x("x", owned, 3);
  for (const char* package : {"", "mumps"}) {
    const PetscOption option("-pc_factor_mat_solver_type", package);
    dynamics::LinearSystem system(*mesh, {});
    system.set_fixed(fixed.data());
    for (const double first : {2.0, -2.0}) {
      std::vector<double> values(3 * owned, 1.0);
      if (is_first_rank(MPI_COMM_WORLD)) values.front() = first;
      diagonal.from_host(values);
      share.blocks().zero();
      share.blocks().add_to_diagonal(1.0, diagonal);
      system.set_matrix({&share}, true);
      b.fill(2.0);
      const dynamics::LinearReport report = system.solve(b, x, 1e-12);
      EXPECT_TRUE(report.converged) << report.reason;
      EXPECT_EQ(report.indefinite, first < 0.0) << package;
      for (double& value : values) value = 2.0 / value;
      EXPECT_EQ(x.to_host(), values) << package;
    }
  }
}

}  // namespace
}  // namespace diffsim::matrix_options_test
