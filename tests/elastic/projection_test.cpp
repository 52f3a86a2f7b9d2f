// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Positive semidefinite projections of the derivatives of stresses: the projection in the frame of F's singular vectors
// is compared with Jacobi's method.

#include "diffsim/elastic/impl/projection_impl.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "diffsim/elastic/impl/shared_law.hpp"
#include "diffsim/elastic/law.hpp"
#include "elastic/neo_hookean.hpp"
#include "elastic/st_venant_kirchhoff.hpp"

namespace diffsim::projection_test {
namespace {

using Matrix9 = Pack[9][9];
using Stretches = std::array<double, 3>;

class Numbers {
 public:
  double next() { return distribution_(random_); }

 private:
  std::mt19937_64 random_{7};
  std::uniform_real_distribution<double> distribution_{-1.0, 1.0};
};

/// Returns a different F in each lane: diag(`stretch`) plus random numbers up to `size`.
Mat3<Pack> random_gradient(Numbers& numbers, const Stretches& stretch, double size) {
  Mat3<Pack> F;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      F(i, j) = 0.0;
      for (int lane = 0; lane < pack_width; ++lane)
        set_lane(F(i, j), lane, (i == j ? stretch[static_cast<std::size_t>(i)] : 0.0) + size * numbers.next());
    }
  return F;
}

void expect_near(const Matrix9& a, const Matrix9& b, double tolerance) {
  for (int lane_of = 0; lane_of < pack_width; ++lane_of) {
    double size = 0.0, difference = 0.0;
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 9; ++j) {
        size = std::max(size, std::abs(lane(a[i][j], lane_of)));
        difference = std::max(difference, std::abs(lane(a[i][j], lane_of) - lane(b[i][j], lane_of)));
      }
    EXPECT_LE(difference, tolerance * size);
  }
}

/// Returns true if the projection in the frame of F is applicable. Checks that both methods then give the same H, and
/// that H is unchanged otherwise.
template <class L>
bool frame_serves(const Mat3<Pack>& F, const Pack (&moduli)[L::num_moduli], int row = 0, int column = 0,
                  double perturbation = 0.0) {
  Matrix9 H, in_frame, general;
  elastic::stress_jacobian<L>(F, moduli, H);
  H[row][column] += perturbation;
  if (row != column) H[column][row] += perturbation;
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) in_frame[i][j] = general[i][j] = H[i][j];
  elastic::project_to_semidefinite(general);
  const bool served = elastic::project_in_frame(F, in_frame);
  expect_near(served ? general : H, in_frame, served ? 1e-12 : 0.0);
  elastic::project_to_semidefinite(F, H);
  expect_near(general, H, 1e-12);
  return served;
}

constexpr Stretches unstretched{1.0, 1.0, 1.0}, pressed{0.4, 0.9, 1.1}, drawn{2.0, 0.7, 0.7}, mirrored{-0.8, 1.0, 1.2},
    flat{1.3, 0.8, 1e-9};

TEST(projection, in_the_frame_is_that_of_all_eigenvalues) {
  Numbers numbers;
  const Pack moduli[2] = {3.0, 11.0};
  for (int round = 0; round < 50; ++round) {
    for (const auto& stretch : {unstretched, pressed, drawn})
      EXPECT_TRUE(frame_serves<NeoHookean>(random_gradient(numbers, stretch, 0.05), moduli));
    // NeoHookean is not defined for J ≤ 0. StVenantKirchhoff also has derivatives at flat and mirrored cells.
    for (const auto& stretch : {unstretched, pressed, drawn, mirrored, flat})
      EXPECT_TRUE(frame_serves<StVenantKirchhoff>(random_gradient(numbers, stretch, 0.05), moduli));
  }
  // Equal and nearly equal singular values.
  for (const double size : {0.0, 1e-14, 1e-9, 1e-5})
    for (const auto& stretch : {unstretched, drawn, flat})
      EXPECT_TRUE(frame_serves<StVenantKirchhoff>(random_gradient(numbers, stretch, size), moduli));
}

/// Perturbed Hessian in which the block of two axes has different diagonal entries, unlike in isotropic laws.
TEST(projection, in_the_frame_is_that_of_all_blocks) {
  Numbers numbers;
  const Pack moduli[2] = {3.0, 11.0};
  for (const double change : {-2.0, -20.0, 20.0})
    EXPECT_TRUE(frame_serves<NeoHookean>(random_gradient(numbers, {1.3, 1.0, 0.7}, 0.0), moduli, 1, 1, change));
}

TEST(projection, without_a_frame_takes_all_eigenvalues) {
  Numbers numbers;
  const Pack moduli[2] = {3.0, 11.0};
  // A nonzero entry that vanishes for every isotropic law, but not for laws with fibres.
  EXPECT_FALSE(frame_serves<NeoHookean>(random_gradient(numbers, pressed, 0.05), moduli, 1, 2, 1e-6));
  // A cell that is degenerate to a line has no unique frame.
  EXPECT_FALSE(frame_serves<StVenantKirchhoff>(random_gradient(numbers, {1.0, 0.0, 0.0}, 1e-9), moduli));
  EXPECT_FALSE(frame_serves<StVenantKirchhoff>(random_gradient(numbers, {0.0, 0.0, 0.0}, 0.0), moduli));
}

}  // namespace
}  // namespace diffsim::projection_test
