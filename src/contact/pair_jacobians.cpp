// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/pair_access.hpp"
#include "contact/pair_hessian.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/block_matrix_impl.hpp"

namespace diffsim::contact {
namespace {

/// Computes K = a ∂f/∂x + b ∂f/∂v of a pair, where f includes the forces of friction and damping, and a and b are the
/// values in `weights`.
KOKKOS_INLINE_FUNCTION void jacobian_with_friction(const PairView& pairs, int p, const Vec3<double>* x,
                                                   const Vec3<double>* v, const ContactLaw<double>& law,
                                                   const JacobianWeights& weights, PairHessian& k) {
  using Scalar = Dual<double, 24>;
  Vec3<Scalar> seeded[4], moving[4], f[4];
  for (int i = 0; i < 4; ++i)
    for (int c = 0; c < 3; ++c) {
      seeded[i][c] = Scalar::variable(x[i][c], 3 * i + c);
      moving[i][c] = Scalar::variable(v[i][c], 12 + 3 * i + c);
      f[i][c] = Scalar(0.0);
    }
  const ContactLaw<Scalar> given = {law.stiffness, law.range,   law.friction,  law.velocity,
                                    law.thickness, law.damping, law.is_penalty};
  add_force_of(pairs, p, seeded, moving, given, f);
  for (int row = 0; row < 12; ++row)
    for (int column = 0; column < 12; ++column)
      k.of[row][column] = weights.position * f[row / 3][row % 3].derivative[column] +
                          weights.velocity * f[row / 3][row % 3].derivative[12 + column];
}

/// Adds b ∂f/∂v to k. Only the forces of friction and damping depend on the velocities v.
KOKKOS_INLINE_FUNCTION void add_friction_damping(const PairView& pairs, int p, const Vec3<double>* x,
                                                 const Vec3<double>* v, const ContactLaw<double>& law, double b,
                                                 PairHessian& k) {
  using Scalar = Dual<double, 12>;
  Vec3<Scalar> still[4], moving[4], f[4];
  for (int i = 0; i < 4; ++i)
    for (int c = 0; c < 3; ++c) {
      still[i][c] = x[i][c];
      moving[i][c] = Scalar::variable(v[i][c], 3 * i + c);
      f[i][c] = Scalar(0.0);
    }
  const ContactLaw<Scalar> given = {law.stiffness, law.range,   law.friction,  law.velocity,
                                    law.thickness, law.damping, law.is_penalty};
  add_force_of(pairs, p, still, moving, given, f);
  for (int row = 0; row < 12; ++row)
    for (int column = 0; column < 12; ++column) k.of[row][column] += b * f[row / 3][row % 3].derivative[column];
}

/// Computes k = -a ∂²E/∂x² of a pair, the product of a and the Jacobian of the forces without friction.
KOKKOS_INLINE_FUNCTION void jacobian_of_energy(const PairView& pairs, int p, const Vec3<double>* x,
                                               const ContactLaw<double>& law, double a, PairHessian& k) {
  k = {};
  if (pairs.is_point_triangle(p))
    add_pair_hessian(pairs.point_triangle_weights(p), x, law, k);
  else
    add_pair_hessian(pairs.edge_edge_weights(p), x, law, k);
  for (auto& row : k.of)
    for (double& value : row) value *= -a;
}

}  // namespace

void pair_jacobians(const PairView& pairs, const NearPairs& near, const Vectors& x, const Vectors& v,
                    const JacobianWeights& weights, int movable, const Vectors& blocks) {
  const DeviceArray<int> active = near.pairs;
  const bool has_velocities = v.size() > 0;
  for (const LawPart& part : near.parts) {
    const LawAddresses law = part.law;
    Kokkos::parallel_for(
        "diffsim::contact::pair_jacobians", part.range(), KOKKOS_LAMBDA(int i) {
          const int p = active(i);
          const bool friction = has_velocities && (law.at(2) != 0.0 || law.at(4) != 0.0);
          Vec3<double> points[4], speeds[4];
          load(pairs, p, x, points);
          if (friction) load(pairs, p, v, speeds);
          PairHessian k{};
          const bool is_lagged = pairs.friction_alone && weights.position == 0.0;
          if (friction && !weights.project && !is_lagged) {
            jacobian_with_friction(pairs, p, points, speeds, law.law(), weights, k);
          } else {
            if (!pairs.friction_alone) jacobian_of_energy(pairs, p, points, law.law(), weights.position, k);
            if (friction) add_friction_damping(pairs, p, points, speeds, law.law(), weights.velocity, k);
          }
          if (weights.project) {
            int vertices[4];
            pairs.vertices(p, vertices);
            bool all_move = true;
            for (int vertex : vertices) all_move = all_move && vertex < movable;
            if (all_move) {
              make_semidefinite_between(k);
            } else {
              for (int row = 0; row < 12; ++row)
                for (int column = 0; column < 12; ++column)
                  if (vertices[row / 3] >= movable || vertices[column / 3] >= movable) k.of[row][column] = 0.0;
              make_semidefinite(k);
            }
          }
          double* const out = blocks.data() + static_cast<std::ptrdiff_t>(144) * i;
          for (int row = 0; row < 12; ++row)
            for (int column = 0; column < 12; ++column)
              out[9 * (4 * (row / 3) + column / 3) + 3 * (row % 3) + column % 3] = k.of[row][column];
        });
  }
}

DeviceArray<int> block_targets(const DeviceArray<int>& targets, int movable, const BlockMatrix& matrix,
                               ArrayPool& pool) {
  const auto result = pool.take<int>("diffsim::contact::block_targets", 4 * targets.size());
  const DeviceArray<int> row_begin = matrix.data().row_begin, columns = matrix.data().columns;
  const int none = matrix.num_blocks();
  Kokkos::parallel_for(
      "diffsim::contact::block_targets", over(result.size()), KOKKOS_LAMBDA(int i) {
        const int row = targets(4 * (i / 16) + i % 16 / 4), column = targets(4 * (i / 16) + i % 4);
        result(i) = none;
        if (row >= movable || column >= movable) return;
        int low = row_begin(row), high = row_begin(row + 1);
        while (low < high) {
          const int middle = (low + high) / 2;
          if (columns(middle) < column)
            low = middle + 1;
          else
            high = middle;
        }
        if (low < row_begin(row + 1) && columns(low) == column) result(i) = low;
      });
  Kokkos::fence();
  return result;
}

}  // namespace diffsim::contact
