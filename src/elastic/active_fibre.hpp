// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/elastic/law.hpp"
#include "elastic/fibre.hpp"
#include "elastic/neo_hookean.hpp"

namespace diffsim {

/// Law of muscle: a Neo-Hookean matrix material with fibres. The fibres have an active tension, which is multiplied by
/// an activation (active stress: Ambrosi & Pezzuto 2012, doi:10.1007/s10659-011-9351-4). With the deformation gradient
/// F, the energy W per rest volume, the first Piola stress P = ∂W/∂F and the derivative dP of P along dF are
///   W = W_NeoHookean(F) + A T (s - 1),   s = |F a|,
///   P = P_NeoHookean(F) + A T (F a / s) aᵀ,
///   dP = dP_NeoHookean + A T (dF a - n (n · dF a)) / s aᵀ,   n = F a / s,
/// where W_NeoHookean and P_NeoHookean are the energy and the stress of the law `NeoHookean`, A is the activation, T is
/// the active tension, a is the unit vector along the fibres in the rest shape, and s is the stretch of the fibres. The
/// energy W is defined for J = det F > 0 only.
///
/// The unit vector along the fibres is a = b / |b|, where b is the vector of the parameters fibre_x, fibre_y and
/// fibre_z. The active tension T is a nominal stress (force per area of the rest shape) and does not depend on the
/// stretch of the fibres. If the product A T is not zero, the rest shape is not an equilibrium.
///
/// | parameter                  | symbol | unit | range                                              |
/// |----------------------------|--------|------|----------------------------------------------------|
/// | youngs_modulus             | E      | Pa   | > 0                                                |
/// | poisson_ratio              | ν      | 1    | (-1, ½)                                            |
/// | active_tension             | T      | Pa   | ≥ 0; tension at full activation                    |
/// | activation                 | A      | 1    | [0, 1]                                             |
/// | fibre_x, fibre_y, fibre_z  | b      | 1    | vector along the fibres in the rest shape, b ≠ 0   |
///
/// The control signal `activation_signal` multiplies the activation A in all cells; the signal has one value for all
/// time steps or one value per time step, and the default is 1.
///
/// The function `moduli` computes Lamé's µ and λ, the product A T, and the three components of the unit vector a along
/// the fibres. If J = det F ≤ 0 in a cell, the run stops with an error that names the cell.
struct ActiveFibre {
  static constexpr const char* name = "active_fibre";
  static constexpr std::array<ParameterSpec, 7> parameters{
      ElasticParameters::youngs_modulus,
      ElasticParameters::poisson_ratio,
      ParameterSpec{.name = "active_tension",
                    .unit = "Pa",
                    .meaning = "tension of the fibres at full activation",
                    .range = Interval::not_negative(),
                    .sample = 2e3,
                    .home = ParameterHome::cells},
      ParameterSpec{.name = "activation",
                    .meaning = "activation of the fibres",
                    .range = {.low = 0.0, .high = 1.0, .has_low = true, .has_high = true},
                    .sample = 0.4,
                    .home = ParameterHome::cells},
      ElasticParameters::fibre_x,
      ElasticParameters::fibre_y,
      ElasticParameters::fibre_z};
  static constexpr int num_moduli = 6;
  static constexpr ParameterSpec signal{.name = "activation_signal",
                                        .meaning = "factor on the activation of all cells",
                                        .by_step = true,
                                        .default_value = 1.0};
  static constexpr int signal_modulus = 2;
  static constexpr bool needs_positive_jacobian = true;
  static constexpr bool long_arithmetic = true;

  template <class T>
  static DIFFSIM_FUNCTION void moduli(const T (&parameters)[7], T (&moduli)[6]) {
    const T elastic[2] = {parameters[0], parameters[1]};
    T lame[2];
    lame_moduli(elastic, lame);
    moduli[0] = lame[0];
    moduli[1] = lame[1];
    moduli[2] = parameters[2] * parameters[3];
    unit_fibre(parameters + 4, moduli + 3);
  }

  template <class T>
  static DIFFSIM_FUNCTION T energy(const Mat3<T>& F, const T (&moduli)[6]) {
    using std::sqrt;
    const T& tension = moduli[2];
    const T lame[2] = {moduli[0], moduli[1]};
    const Vec3<T> Fa = F * Vec3<T>{{moduli[3], moduli[4], moduli[5]}};
    return NeoHookean::energy(F, lame) + tension * (sqrt(dot(Fa, Fa)) - 1.0);
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress(const Mat3<T>& F, const T (&moduli)[6]) {
    using std::sqrt;
    const T& tension = moduli[2];
    const T lame[2] = {moduli[0], moduli[1]};
    const Vec3<T> a{{moduli[3], moduli[4], moduli[5]}};
    const Vec3<T> Fa = F * a;
    return NeoHookean::stress(F, lame) + dyad(tension / sqrt(dot(Fa, Fa)), Fa, a);
  }

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress_tangent(const Mat3<T>& F, const Mat3<T>& dF, const T (&moduli)[6]) {
    using std::sqrt;
    const T& tension = moduli[2];
    const T lame[2] = {moduli[0], moduli[1]};
    const Vec3<T> a{{moduli[3], moduli[4], moduli[5]}};
    const Vec3<T> Fa = F * a, dFa = dF * a;
    const T squared = dot(Fa, Fa);
    const T along = dot(Fa, dFa) / squared;
    const Vec3<T> across{{dFa[0] - along * Fa[0], dFa[1] - along * Fa[1], dFa[2] - along * Fa[2]}};
    return NeoHookean::stress_tangent(F, dF, lame) + dyad(tension / sqrt(squared), across, a);
  }
};

}  // namespace diffsim
