// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/pair_access.hpp"
#include "diffsim/core/impl/along.hpp"

namespace diffsim::contact {
namespace {

constexpr int inputs = 29;  // 12 coordinates, 12 velocity components, κ, d̂, µ, ε_v, c
using Scalar = Dual<Dual<double, 1>, inputs>;

/// Loads the vectors of the points of a pair; the vectors are zero if `x` is empty.
KOKKOS_INLINE_FUNCTION void load_if(const PairView& pairs, int p, const Vectors& x, Vec3<double>* points) {
  for (int k = 0; k < 4; ++k) points[k] = {{0.0, 0.0, 0.0}};
  if (x.size() > 0) load(pairs, p, x, points);
}

/// Computes the product w·f of a pair and the gradient of w·f with respect to all inputs, and the derivatives of both
/// along `direction` and `dlaw`.
KOKKOS_INLINE_FUNCTION Scalar seeded_product(const PairView& pairs, int p, const PairPlace& at,
                                             const PairDirection& direction, const LawAddresses& given,
                                             const LawAddresses& dlaw) {
  Vec3<double> points[4], ways[4], speeds[4], changes[4], weights[4], turns[4];
  load(pairs, p, at.x, points);
  load(pairs, p, direction.dx, ways);
  load_if(pairs, p, at.v, speeds);
  load_if(pairs, p, direction.dv, changes);
  load_if(pairs, p, direction.w, weights);
  load_if(pairs, p, direction.dw, turns);
  Vec3<Scalar> seeded[4], moving[4], f[4];
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) {
      seeded[k][c] = Scalar::variable(along(points[k][c], ways[k][c]), 3 * k + c);
      moving[k][c] = Scalar::variable(along(speeds[k][c], changes[k][c]), 12 + 3 * k + c);
      f[k][c] = Scalar(0.0);
    }
  Scalar law[5];
  for (int i = 0; i < 5; ++i) law[i] = Scalar::variable(along(given.at(i), dlaw.at(i)), 24 + i);
  const Scalar thickness = Scalar::constant(along(given.thickness(), dlaw.thickness()));
  add_force_of(pairs, p, seeded, at.v.size() > 0 ? moving : nullptr,
               ContactLaw<Scalar, Scalar>{law[0], law[1], law[2], law[3], thickness, law[4], given.is_penalty}, f);
  Scalar product(0.0);
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) product = product + Scalar::constant(along(weights[k][c], turns[k][c])) * f[k][c];
  return product;
}

}  // namespace

std::vector<LawSums> pair_adjoint_tangents(const PairView& pairs, const NearPairs& near, const PairPlace& at,
                                           const PairDirection& direction, const std::vector<LawAddresses>& dlaws,
                                           const PairAdjointTangent& out) {
  const DeviceArray<int> active = near.pairs;
  std::vector<LawSums> sums(near.parts.size());
  for (std::size_t l = 0; l < near.parts.size(); ++l) {
    const LawPart& part = near.parts[l];
    const LawAddresses law = part.law, dlaw = dlaws[l];
    Kokkos::parallel_reduce(
        "diffsim::contact::pair_adjoint_tangents", part.range(),
        KOKKOS_LAMBDA(int a, LawSums& s) {
          const Scalar product = seeded_product(pairs, active(a), at, direction, law, dlaw);
          for (int i = 0; i < 12; ++i) {
            out.x_bar(12 * a + i) = product.derivative[i].value;
            out.dx_bar(12 * a + i) = product.derivative[i].derivative[0];
            if (out.v_bar.size() == 0) continue;
            out.v_bar(12 * a + i) = product.derivative[12 + i].value;
            out.dv_bar(12 * a + i) = product.derivative[12 + i].derivative[0];
          }
          for (int i = 0; i < 5; ++i) s.of[i] += product.derivative[24 + i].derivative[0];
        },
        sums[l]);
  }
  add_thickness_sum_tangents(pairs, near, at, direction, dlaws, sums);
  return sums;
}

}  // namespace diffsim::contact
