// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Free body: symplectic Euler without damping and gravity conserves linear and angular momentum.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "diffsim/simulation/scene.hpp"
#include "dynamics/system_model.hpp"
#include "dynamics/time/explicit_model.hpp"

namespace diffsim::momentum_test {
namespace {

/// Momenta Σ m v and Σ m x × v, and the reference magnitudes Σ m |v| and Σ m |x||v|.
struct Momenta {
  std::array<double, 3> linear{}, angular{};
  double linear_size = 0.0, angular_size = 0.0;
};

Momenta momenta(const System& system, const State& state) {
  const std::vector<double> m = system.mass().to_host(), x = state["positions"].to_host(),
                            v = state["velocities"].to_host();
  std::array<double, 8> sums{};
  for (std::size_t i = 0; i < m.size(); ++i) {
    const double* const p = &x[3 * i];
    const double* const w = &v[3 * i];
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t c1 = (c + 1) % 3, c2 = (c + 2) % 3;
      sums[c] += m[i] * w[c];
      sums[3 + c] += m[i] * (p[c1] * w[c2] - p[c2] * w[c1]);
    }
    sums[6] += m[i] * std::hypot(w[0], w[1], w[2]);
    sums[7] += m[i] * std::hypot(w[0], w[1], w[2]) * std::hypot(p[0], p[1], p[2]);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return {{sums[0], sums[1], sums[2]}, {sums[3], sums[4], sums[5]}, sums[6], sums[7]};
}

TEST(momentum, a_free_body_keeps_linear_and_angular_momentum_over_ten_thousand_steps) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.2, 0.1}, {4, 2, 1});
  DifferentiableMaterial rubber{"stable_neo_hookean", {{"youngs_modulus", 1e4}, {"poisson_ratio", 0.4}}, "all"};
  DifferentiableScene solver(mesh, {rubber}, {.dt = 1e-3, .substeps = 1, .damping = 1.0, .gravity = {0.0, 0.0, 0.0}});
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) {
    const double* x = &mesh->rest_positions()[3 * static_cast<std::size_t>(v)];
    // Initial velocity with translation, rotation and stretching.
    velocity.insert(velocity.end(), {0.3 - 2.0 * x[1] + 0.5 * x[0], 0.1 + 2.0 * x[0], -0.2 + 0.4 * x[2] + x[1]});
  }
  solver.set_initial_velocity(velocity);
  State state = solver.initial_state();
  solver.model().prepare();
  const Momenta before = momenta(solver.system(), state);
  for (int n = 0; n < 10000; ++n) solver.step(n, state);
  const Momenta after = momenta(solver.system(), state);
  // The body has moved far from the origin, so the magnitude of x is that of its path.
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(after.linear[c], before.linear[c], 1e-12 * before.linear_size);
    EXPECT_NEAR(after.angular[c], before.angular[c], 1e-12 * std::max(before.angular_size, after.angular_size));
  }
}

}  // namespace
}  // namespace diffsim::momentum_test
