// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "core/scalar_traits.hpp"
#include "shell/fabric_strain.hpp"

namespace diffsim {

/// Barrier energy that limits the strain of the threads of woven cloth. The energy tends to infinity as a thread of the
/// warp or the weft is stretched to 1 + ε times its rest length. The parameters of FabricLimit are the stiffnesses k₁
/// of the warp and k₂ of the weft, the strain limit ε, and the three components of the direction of the warp.
///
/// Let f₁ and f₂ be the images of the unit vectors along the warp and the weft under the deformation (`FabricStrain`).
/// With the strains |fᵢ| - 1 of the threads, and sᵢ = max(0, 2 (|fᵢ| - 1)/ε - 1), the energy per rest area is
///  ψ = -ε²/8 Σᵢ kᵢ sᵢ⁴ log(1 - sᵢ).
///
/// The energy is zero if the strains of the threads are at most ε/2, and NaN if a strain is beyond ε. At the strain
/// ε/2, the energy has four continuous derivatives. The barrier of Li, Kaufman & Jiang 2021,
/// doi:10.1145/3450626.3459767, has sᵢ² in place of sᵢ⁴, and only two continuous derivatives.
struct FabricLimit {
  static constexpr int num_nodes = 3, num_values = 6;
  static constexpr bool uses_rest = true, takes_packs = true;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    const T &k1 = at.p[0], &k2 = at.p[1], &epsilon = at.p[2];
    const FabricStrain<T> of(at, at.vector(3));
    const Thread<T> warp(of.f[0], epsilon), weft(of.f[1], epsilon);
    return 0.5 * of.det * (k1 * warp.barrier + k2 * weft.barrier);
  }

  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    const T &k1 = at.p[0], &k2 = at.p[1], &epsilon = at.p[2];
    const FabricStrain<T> of(at, at.vector(3));
    const Thread<T> warp(of.f[0], epsilon), weft(of.f[1], epsilon);
    const Vec3<T> p[2] = {T(k1 * warp.by_length / warp.length) * of.f[0],
                          T(k2 * weft.by_length / weft.length) * of.f[1]};
    of.pull_back(k1 * warp.barrier + k2 * weft.barrier, p, 3, by);
    by.p[0] = 0.5 * of.det * warp.barrier;
    by.p[1] = 0.5 * of.det * weft.barrier;
    by.p[2] = 0.5 * of.det * (k1 * warp.by_limit + k2 * weft.by_limit);
  }

 private:
  template <class T>
  struct Thread {
    T length;               // |f|
    T barrier;              // -ε²/8 s⁴ log(1 - s)
    T by_length, by_limit;  // derivatives of `barrier` with respect to |f| and ε

    DIFFSIM_FUNCTION Thread(const Vec3<T>& f, const T& epsilon) {
      using std::log;
      using std::sqrt;
      length = sqrt(dot(f, f));
      const T strain = length - 1.0;
      const T s = if_positive(T(2.0 * strain / epsilon - 1.0), 0.0);
      const T logarithm = log(T(1.0 - s)), c = -0.125 * epsilon * epsilon;
      const T cube = s * s * s;
      barrier = c * s * cube * logarithm;
      const T by_s = c * cube * (4.0 * logarithm - s / (1.0 - s));
      by_length = 2.0 * by_s / epsilon;
      by_limit = 2.0 * barrier / epsilon - by_s * 2.0 * strain / (epsilon * epsilon);
    }
  };
};

}  // namespace diffsim
