// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

#include "diffsim/core/impl/block_matrix_impl.hpp"
#include "diffsim/core/impl/semidefinite.hpp"
#include "shell/plate_kernels.hpp"

// Jacobian of the bending forces of plates. δ_k is the change of the angle θ_k of hinge k, and ∇ is the gradient with
// respect to positions. Each triangle contributes -Σ_kl K_kl ∇δ_k ∇δ_lᵀ, where K_kl = ∂²E/∂δ_k∂δ_l are the second
// derivatives of the triangle's energy E. Each hinge contributes -M ∇²θ, where θ is the hinge's angle and M is the sum
// of the moments ∂E/∂θ of the triangles.

namespace diffsim::shell {

/// Gradients ∂δ_k/∂x of the changes δ_k of the angles at the hinges k of a triangle's stencil, where x are the
/// positions of the four nodes of hinge k.
struct AngleGradients {
  Vec3<double> of[num_plate_hinges][4];

  DIFFSIM_FUNCTION AngleGradients(const PlateData& data, const PlateInputs& in, int i,
                                  const HingeState (&state)[num_plate_hinges]) {
    for (int k = 0; k < num_plate_hinges; ++k) {
      for (auto& g : of[k]) g = {{0.0, 0.0, 0.0}};
      if (state[k] == HingeState::none) continue;
      const int place = num_plate_hinges * i + k;
      const int hinge = data.hinges(place) / 2;
      Vec3<double> g[4];
      for (auto& v : g) v = {{0.0, 0.0, 0.0}};
      in.read_angle<double>(data, hinge).add_gradient(data.sign(place), g);
      fold_second(data.second(hinge), g);
      // Reorders the gradients from the hinge's own order of nodes to the stencil's order.
      const PlateHinge nodes = plate_hinge(k);
      const int count = data.second(hinge) >= 0 ? 4 : 3;
      for (int n = 0; n < count; ++n) {
        const int vertex = data.hinge_nodes(4 * hinge + n);
        for (int m = 0; m < count; ++m)
          if (data.nodes(num_plate_nodes * i + nodes.node[m]) == vertex) of[k][m] = g[n];
      }
    }
  }
};

/// Function object that computes the stiffness matrix Σ_kl K_kl ∇δ_k ∇δ_lᵀ of triangle i as a sum of dyads. K_kl =
/// ∂²E/∂δ_k∂δ_l are second derivatives of the triangle's bending energy E, and ∇δ_k is the gradient, with respect to
/// positions, of the change δ_k of the angle at hinge k. For each dyad u vᵀ in the block of the stiffness matrix for
/// the nodes a and b of the stencil, PlateStiffness calls the function `add(a, b, u, v)`.
struct PlateStiffness {
  PlateData data;
  PlateInputs in;

  template <class Add>
  DIFFSIM_FUNCTION void operator()(int i, const Add& add) const {
    HingeState state[num_plate_hinges];
    data.read_states(i, state);
    const AngleGradients gradients(data, in, i, state);
    const PlateRest<double> rest = in.read_rest<double>(i);
    PlateBending<double> bending(rest, in.read_moduli<double>(data.entities(i)));
    double K[num_plate_hinges][num_plate_hinges];
    bending.stiffness(rest, state, K);
    for (int k = 0; k < num_plate_hinges; ++k) {
      if (state[k] == HingeState::none) continue;
      // Σ_l K_kl ∇δ_l
      Vec3<double> sum[num_plate_nodes];
      for (auto& s : sum) s = {{0.0, 0.0, 0.0}};
      for (int l = 0; l < num_plate_hinges; ++l) {
        if (state[l] == HingeState::none) continue;
        const PlateHinge nodes = plate_hinge(l);
        for (int n = 0; n < 4; ++n)
          for (int c = 0; c < 3; ++c) sum[nodes.node[n]][c] += K[k][l] * gradients.of[l][n][c];
      }
      const PlateHinge nodes = plate_hinge(k);
      for (int n = 0; n < 4; ++n)
        for (int m = 0; m < num_plate_nodes; ++m) add(nodes.node[n], m, gradients.of[k][n], sum[m]);
    }
  }
};

/// Kernel that adds -`factor` times the stiffness matrix of each triangle (see PlateStiffness) to a BlockMatrix, one
/// triangle per SIMD lane.
struct PlateJacobian {
  PlateStiffness stiffness;
  double factor;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int*, const BlockSink& sink) const {
    Mat3<Pack> blocks[num_plate_nodes][num_plate_nodes] = {};
    for (int lane = 0; lane < pack_width; ++lane) {
      const int i = pack_width * pack + lane;
      if (i >= stiffness.data.num_triangles) break;
      double sums[num_plate_nodes][num_plate_nodes][9] = {};
      stiffness(i, [&](int a, int b, const Vec3<double>& u, const Vec3<double>& v) {
        for (int r = 0; r < 3; ++r)
          for (int c = 0; c < 3; ++c) sums[a][b][3 * r + c] -= factor * u[r] * v[c];
      });
      for (int a = 0; a < num_plate_nodes; ++a)
        for (int b = 0; b < num_plate_nodes; ++b)
          for (int k = 0; k < 9; ++k) set_lane(blocks[a][b](k / 3, k % 3), lane, sums[a][b][k]);
    }
    for (int a = 0; a < num_plate_nodes; ++a)
      for (int b = 0; b < num_plate_nodes; ++b) sink.add(a, b, blocks[a][b]);
  }
};

/// Kernel that adds -`weight` M ∇²θ for each hinge to a BlockMatrix, one hinge per SIMD lane. θ is the angle at the
/// hinge, M = ∂E/∂θ is the derivative of the bending energy E of all triangles, and ∇² is the matrix of second
/// derivatives with respect to the positions of the hinge's nodes.
struct HingeJacobian {
  PlateData data;
  PlateInputs in;
  DeviceArray<double> moment;  // [triangles, 9]
  double weight;
  // If `project` is not 0, each hinge's matrix is made positive semidefinite. `project` is 64 bits wide, so that the
  // kernel, which is copied bytewise, has no uninitialised padding bytes.
  std::int64_t project;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int*, const BlockSink& sink) const {
    constexpr int n = 12;
    Mat3<Pack> blocks[4][4] = {};
    for (int lane = 0; lane < pack_width; ++lane) {
      const int h = pack_width * pack + lane;
      if (h >= data.num_hinges) break;
      double total = 0.0;
      for (int s = data.slots.begin(h); s < data.slots.begin(h + 1); ++s)
        total += data.sign(data.slots.place(s)) * moment(data.slots.place(s));
      double J[n][n];
      set_second_derivatives(h, -weight * total, J);
      if (project != 0) make_semidefinite(J);
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) set_lane(blocks[r / 3][c / 3](r % 3, c % 3), lane, J[r][c]);
    }
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b) sink.add(a, b, blocks[a][b]);
  }

 private:
  /// Computes J = `factor` ∇²θ, where θ is the angle at hinge h and ∇² is the matrix of second derivatives with respect
  /// to the positions of the hinge's four nodes.
  DIFFSIM_FUNCTION void set_second_derivatives(int h, double factor, double (&J)[12][12]) const {
    constexpr int at_once = 6;
    using Scalar = Dual<double, at_once>;
    for (int first = 0; first < 12; first += at_once) {
      Vec3<Scalar> at[4], by[4];
      const int second = data.second(h);
      for (int k = 0; k < 12; ++k) {
        const int vertex = data.hinge_nodes(4 * h + k / 3), d = k - first;
        const double value = vertex >= 0 ? in.x[0][3 * static_cast<std::ptrdiff_t>(vertex) + k % 3] : 0.0;
        at[k / 3][k % 3] = d >= 0 && d < at_once ? Scalar::variable(value, d) : Scalar(value);
        by[k / 3][k % 3] = Scalar(0.0);
      }
      if (second == SecondCorner::clamped) {
        const Vec3<double> B = PlateInputs::read_vector<double>(in.X, 2, data.hinge_nodes(4 * h + 1)),
                           C = PlateInputs::read_vector<double>(in.X, 2, data.hinge_nodes(4 * h + 2));
        for (int c = 0; c < 3; ++c) at[3][c] = at[0][c] + (B[c] - C[c]);
      } else if (second < 0) {
        set_mirrored(second, at);
      }
      DihedralAngle<Scalar>(at).add_gradient(Scalar(factor), by);
      fold_second(second, by);
      for (int r = 0; r < 12; ++r)
        for (int d = 0; d < at_once; ++d) J[r][first + d] = by[r / 3][r % 3].derivative[d];
    }
    for (int r = 0; r < 12; ++r)
      for (int c = 0; c < r; ++c) J[r][c] = J[c][r] = 0.5 * (J[r][c] + J[c][r]);
  }
};

/// Kernel that computes, for each triangle and each node a of the triangle's stencil, the sum s_a = Σ_b |K_ab| of the
/// Frobenius norms of the blocks K_ab in row a of the triangle's stiffness matrix K. The sums s_a give the bound xᵀKx ≤
/// Σ_a s_a |x_a|² for every vector x.
struct PlateNorms {
  PlateStiffness stiffness;
  double* vectors;  // [triangles, 12, 3]

  DIFFSIM_FUNCTION void operator()(int i) const {
    double blocks[num_plate_nodes][num_plate_nodes][9] = {};
    stiffness(i, [&](int a, int b, const Vec3<double>& u, const Vec3<double>& v) {
      for (int k = 0; k < 9; ++k) blocks[a][b][k] += u[k / 3] * v[k % 3];
    });
    for (int a = 0; a < num_plate_nodes; ++a) {
      double sum = 0.0;
      for (int b = 0; b < num_plate_nodes; ++b) {
        double square = 0.0;
        for (const double x : blocks[a][b]) square += x * x;
        sum += std::sqrt(square);
      }
      for (int c = 0; c < 3; ++c) vectors[3 * (num_plate_nodes * static_cast<std::ptrdiff_t>(i) + a) + c] = sum;
    }
  }
};

}  // namespace diffsim::shell
