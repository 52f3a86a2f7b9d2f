// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "shell/plate_rest.hpp"

namespace diffsim::shell {

/// Parameters of a shell's bending energy: Young's modulus E (Pa), Poisson's ratio ν, thickness t (m), and the ratio c
/// of the curvature of the stress-free shell to the curvature of the rest shape.
template <class T>
struct PlateModuli {
  static constexpr int size = 4;
  T p[size];

  DIFFSIM_FUNCTION const T& youngs_modulus() const { return p[0]; }
  DIFFSIM_FUNCTION const T& poisson_ratio() const { return p[1]; }
  DIFFSIM_FUNCTION const T& thickness() const { return p[2]; }
  DIFFSIM_FUNCTION const T& rest_curvature() const { return p[3]; }
  /// Returns the bending rigidity D = E t³/(12 (1 - ν²)) in N m.
  DIFFSIM_FUNCTION T rigidity() const {
    const T &E = p[0], &nu = p[1], &t = p[2];
    return E * t * t * t / (12.0 * (1.0 - nu * nu));
  }
};

/// Rotations, moments and energy of the bending of one triangle of a shell. The hinges of the triangle's stencil are
/// sides of the triangle and of its neighbours (plate_stencil.hpp). The bending energy is A D/2 [(1 - ν) κ:κ + ν (tr
/// κ)²] with the rest area A, the bending rigidity D, Poisson's ratio ν and the change κ of the curvature tensor
/// (Timoshenko and Woinowsky-Krieger 1959, equation 46). The change κ is linear in the rotations b_i of the surface's
/// normal at the three sides i of the triangle (see PlateRest), so the bending energy is a quadratic form D/2 Σ_ij Q_ij
/// b_i b_j. At free sides (HingeState::none), the rotations are chosen to minimise the bending energy, so the bending
/// moments at free sides are zero.
template <class T>
struct PlateBending {
  /// Bending rigidity D, and the coefficients Q_ij of the bending energy D/2 Σ_ij Q_ij b_i b_j for the pairs ij = 00,
  /// 11, 22, 12, 20, 01 of sides.
  T rigidity, Q[6];
  T b[3];  ///< rotations b_i of the surface's normal at the three sides i
  /// Bending moments D Σ_j Q_ij b_j (N m) at the three sides i, the derivatives of the bending energy with respect to
  /// the rotations b_i; zero at free sides.
  T m[3];

  /// Returns the index, in the arrays `Q` and `PlateRest::G`, of the pair (i, j) of sides of the triangle.
  static DIFFSIM_FUNCTION int pair(int i, int j) { return i == j ? i : 6 - i - j; }
  /// Returns the coefficient Q_ij of the bending energy D/2 Σ_ij Q_ij b_i b_j.
  DIFFSIM_FUNCTION const T& form(int i, int j) const { return Q[pair(i, j)]; }

  DIFFSIM_FUNCTION PlateBending(const PlateRest<T>& rest, const PlateModuli<T>& moduli) : rigidity(moduli.rigidity()) {
    const T& nu = moduli.poisson_ratio();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j <= i; ++j) Q[pair(i, j)] = (1.0 - nu) * rest.G[pair(i, j)] + nu * rest.L[i] * rest.L[j];
  }

  /// Computes the rotations `b` of the surface's normal and the bending moments `m` at the sides of the triangle.
  /// `change`: changes of the angles at the hinges of the triangle's stencil.
  DIFFSIM_FUNCTION void bend(const PlateRest<T>& rest, const HingeState (&state)[num_plate_hinges],
                             const T (&change)[num_plate_hinges]) {
    for (int i = 0; i < 3; ++i) {
      b[i] = T(0.0);
      if (state[i] == HingeState::none) continue;
      b[i] = change[i];
      if (state[i] == HingeState::held) continue;
      b[i] = 0.5 * change[i];
      for (int k = 0; k < num_slope_hinges; ++k) b[i] += rest.c[i][k] * change[slope_hinge(i, k)];
    }
    relax(state, b);
    for (int i = 0; i < 3; ++i) {
      m[i] = T(0.0);
      if (state[i] == HingeState::none) continue;
      for (int j = 0; j < 3; ++j) m[i] += form(i, j) * b[j];
      m[i] *= rigidity;
    }
  }

  /// Sets the rotations in the array `of` at free sides (HingeState::none) to the values that minimise the bending
  /// energy for the given rotations at the sides that are not free.
  DIFFSIM_FUNCTION void relax(const HingeState (&state)[num_plate_hinges], T (&of)[3]) const {
    int free[3], others[3], num_free = 0, num_others = 0;
    for (int i = 0; i < 3; ++i) {
      if (state[i] == HingeState::none)
        free[num_free++] = i;
      else
        others[num_others++] = i;
    }
    if (num_free == 1) {
      const int f = free[0];
      of[f] = -(form(f, others[0]) * of[others[0]] + form(f, others[1]) * of[others[1]]) / form(f, f);
    } else if (num_free == 2) {
      const int f = free[0], g = free[1], i = others[0];
      const T det = form(f, f) * form(g, g) - form(f, g) * form(f, g);
      of[f] = (form(f, g) * form(g, i) - form(g, g) * form(f, i)) * of[i] / det;
      of[g] = (form(f, g) * form(f, i) - form(f, f) * form(g, i)) * of[i] / det;
    }
  }

  /// Returns the bending energy ½ Σ_i b_i m_i (J), with the rotations b_i and the bending moments m_i at the sides i.
  DIFFSIM_FUNCTION T energy() const { return 0.5 * (b[0] * m[0] + b[1] * m[1] + b[2] * m[2]); }

  /// Computes the moments `moment`[k] = ∂W/∂δ_k, where W is the bending energy of the triangle and δ_k is the change of
  /// the angle at hinge k.
  DIFFSIM_FUNCTION void hinge_moments(const PlateRest<T>& rest, const HingeState (&state)[num_plate_hinges],
                                      T (&moment)[num_plate_hinges]) const {
    for (int k = 0; k < num_plate_hinges; ++k) moment[k] = T(0.0);
    for (int i = 0; i < 3; ++i) {
      if (state[i] == HingeState::none) continue;
      if (state[i] == HingeState::held) {
        moment[i] += m[i];
        continue;
      }
      moment[i] += 0.5 * m[i];
      for (int k = 0; k < num_slope_hinges; ++k) moment[slope_hinge(i, k)] += rest.c[i][k] * m[i];
    }
  }

  /// Computes the derivatives of the triangle's bending energy with respect to the parameters E, ν, t and c of
  /// PlateModuli. `angle`: angles, in the rest shape, at the hinges of the triangle's stencil.
  DIFFSIM_FUNCTION void by_moduli(const PlateRest<T>& rest, const PlateModuli<T>& moduli,
                                  const HingeState (&state)[num_plate_hinges], const T (&angle)[num_plate_hinges],
                                  T (&by)[PlateModuli<T>::size]) const {
    const T whole = energy(), &nu = moduli.poisson_ratio();
    by[0] = whole / moduli.youngs_modulus();
    by[2] = 3.0 * whole / moduli.thickness();
    T change(0.0);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) change += (rest.L[i] * rest.L[j] - rest.G[pair(i, j)]) * b[i] * b[j];
    by[1] = 2.0 * nu / (1.0 - nu * nu) * whole + 0.5 * rigidity * change;
    T moment[num_plate_hinges];
    hinge_moments(rest, state, moment);
    by[3] = T(0.0);
    for (int k = 0; k < num_plate_hinges; ++k) by[3] -= moment[k] * angle[k];
  }

  /// Returns the derivatives of the bending energy with respect to the members of `rest`. Each derivative is stored in
  /// the member of the same name.
  DIFFSIM_FUNCTION PlateRest<T> by_rest(const PlateRest<T>& rest, const PlateModuli<T>& moduli,
                                        const HingeState (&state)[num_plate_hinges],
                                        const T (&change)[num_plate_hinges]) const {
    const T& nu = moduli.poisson_ratio();
    PlateRest<T> by;
    T stretch(0.0);
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < num_slope_hinges; ++k)
        by.c[i][k] = state[i] == HingeState::inner ? m[i] * change[slope_hinge(i, k)] : T(0.0);
      for (int j = 0; j <= i; ++j) by.G[pair(i, j)] = (i == j ? 0.5 : 1.0) * rigidity * (1.0 - nu) * b[i] * b[j];
      stretch += rest.L[i] * b[i];
    }
    for (int i = 0; i < 3; ++i) by.L[i] = rigidity * nu * stretch * b[i];
    return by;
  }

  /// Computes the second derivatives `of`[l][k] = ∂²W/∂δ_k∂δ_l, where W is the bending energy of the triangle and δ_k
  /// is the change of the angle at hinge k.
  DIFFSIM_FUNCTION void stiffness(const PlateRest<T>& rest, const HingeState (&state)[num_plate_hinges],
                                  T (&of)[num_plate_hinges][num_plate_hinges]) {
    for (int l = 0; l < num_plate_hinges; ++l) {
      T unit[num_plate_hinges];
      for (int k = 0; k < num_plate_hinges; ++k) unit[k] = T(k == l ? 1.0 : 0.0);
      bend(rest, state, unit);
      hinge_moments(rest, state, of[l]);
    }
  }
};

}  // namespace diffsim::shell
