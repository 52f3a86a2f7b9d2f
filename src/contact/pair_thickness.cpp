// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

// Derivatives of the forces of pairs with respect to the thickness, in separate kernels, so that pairs without a
// thickness have no additional cost.

#include "contact/pair_access.hpp"
#include "diffsim/core/impl/along.hpp"

namespace diffsim::contact {
namespace {

/// Loads the vectors of the four points of a pair as scalars without derivatives. The vectors are zero if `x` is empty.
template <class T>
KOKKOS_INLINE_FUNCTION void load_constants(const PairView& pairs, int p, const Vectors& x, Vec3<T>* points) {
  Vec3<double> values[4] = {};
  if (x.size() > 0) load(pairs, p, x, values);
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) points[k][c] = T(values[k][c]);
}

/// Computes ∂f/∂ξ of a pair.
KOKKOS_INLINE_FUNCTION void slopes_by_thickness(const PairView& pairs, int p, const Vectors& x, const Vectors& v,
                                                const LawAddresses& law, Vec3<double>* slopes) {
  using Scalar = Dual<double, 1>;
  Vec3<Scalar> points[4], speeds[4], f[4];
  load_constants(pairs, p, x, points);
  load_constants(pairs, p, v, speeds);
  for (auto& force : f) force = {{Scalar(0.0), Scalar(0.0), Scalar(0.0)}};
  const ContactLaw<Scalar, Scalar> seeded = {
      Scalar(law.at(0)), Scalar(law.at(1)), Scalar(law.at(2)), Scalar(law.at(3)), Scalar::variable(law.thickness(), 0),
      Scalar(law.at(4)), law.is_penalty};
  add_force_of(pairs, p, points, v.size() > 0 ? speeds : nullptr, seeded, f);
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) slopes[k][c] = f[k][c].derivative[0];
}

using Moving = Dual<double, 1>;
using Scalar = Dual<Moving, 1>;

/// Loads the vectors `x` of the four points of a pair and the tangents `dx` of these vectors into the inner Dual. The
/// derivatives of the outer Dual are zero. An empty `x` or `dx` counts as zero.
KOKKOS_INLINE_FUNCTION void load_moving(const PairView& pairs, int p, const Vectors& x, const Vectors& dx,
                                        Vec3<Scalar>* points) {
  Vec3<double> values[4] = {}, ways[4] = {};
  if (x.size() > 0) load(pairs, p, x, values);
  if (dx.size() > 0) load(pairs, p, dx, ways);
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) points[k][c] = Scalar::constant(along(values[k][c], ways[k][c]));
}

/// Derivative of the product w·∂f/∂ξ of a pair along `direction` and `dlaw`. w are the vectors `direction.w`.
KOKKOS_INLINE_FUNCTION double slope_tangent(const PairView& pairs, int p, const PairPlace& at,
                                            const PairDirection& direction, const LawAddresses& law,
                                            const LawAddresses& dlaw) {
  Vec3<Scalar> points[4], speeds[4], weights[4], f[4];
  load_moving(pairs, p, at.x, direction.dx, points);
  load_moving(pairs, p, at.v, direction.dv, speeds);
  load_moving(pairs, p, direction.w, direction.dw, weights);
  for (auto& force : f) force = {{Scalar(0.0), Scalar(0.0), Scalar(0.0)}};
  Scalar numbers[5];
  for (int i = 0; i < 5; ++i) numbers[i] = Scalar::constant(along(law.at(i), dlaw.at(i)));
  const ContactLaw<Scalar, Scalar> seeded = {
      numbers[0], numbers[1],    numbers[2], numbers[3], Scalar::variable(along(law.thickness(), dlaw.thickness()), 0),
      numbers[4], law.is_penalty};
  add_force_of(pairs, p, points, at.v.size() > 0 ? speeds : nullptr, seeded, f);
  double sum = 0.0;
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) sum += (weights[k][c] * f[k][c]).derivative[0].derivative[0];
  return sum;
}

}  // namespace

void add_thickness_tangents(const PairView& pairs, const NearPairs& near, const Vectors& x, const Vectors& v,
                            const std::vector<LawAddresses>& dlaws, const Vectors& tangents) {
  const DeviceArray<int> active = near.pairs;
  for (std::size_t l = 0; l < near.parts.size(); ++l) {
    const LawPart& part = near.parts[l];
    const LawAddresses law = part.law, dlaw = dlaws[l];
    if (!dlaw.is_thick()) continue;
    Kokkos::parallel_for(
        "diffsim::contact::thickness_tangents", part.range(), KOKKOS_LAMBDA(int a) {
          Vec3<double> slopes[4];
          slopes_by_thickness(pairs, active(a), x, v, law, slopes);
          for (int k = 0; k < 4; ++k)
            for (int c = 0; c < 3; ++c) tangents(3 * (4 * a + k) + c) += dlaw.thickness() * slopes[k][c];
        });
  }
}

void add_thickness_sums(const PairView& pairs, const NearPairs& near, const Vectors& x, const Vectors& v,
                        const Vectors& w, std::vector<LawSums>& sums) {
  const DeviceArray<int> active = near.pairs;
  for (std::size_t l = 0; l < near.parts.size(); ++l) {
    const LawPart& part = near.parts[l];
    const LawAddresses law = part.law;
    if (!law.is_thick()) continue;
    Kokkos::parallel_reduce(
        "diffsim::contact::thickness_sums", part.range(),
        KOKKOS_LAMBDA(int a, double& sum) {
          Vec3<double> slopes[4], weights[4];
          slopes_by_thickness(pairs, active(a), x, v, law, slopes);
          load(pairs, active(a), w, weights);
          for (int k = 0; k < 4; ++k) sum += dot(weights[k], slopes[k]);
        },
        sums[l].of[LawSums::thickness]);
  }
}

void add_thickness_sum_tangents(const PairView& pairs, const NearPairs& near, const PairPlace& at,
                                const PairDirection& direction, const std::vector<LawAddresses>& dlaws,
                                std::vector<LawSums>& sums) {
  const DeviceArray<int> active = near.pairs;
  for (std::size_t l = 0; l < near.parts.size(); ++l) {
    const LawPart& part = near.parts[l];
    const LawAddresses law = part.law, dlaw = dlaws[l];
    if (!law.is_thick()) continue;
    Kokkos::parallel_reduce(
        "diffsim::contact::thickness_sum_tangents", part.range(),
        KOKKOS_LAMBDA(int a, double& sum) { sum += slope_tangent(pairs, active(a), at, direction, law, dlaw); },
        sums[l].of[LawSums::thickness]);
  }
}

}  // namespace diffsim::contact
