// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/impl/stencil_force.hpp"
#include "rod/joint_strains.hpp"
#include "rod/rod_section.hpp"
#include "rod/rope_energies.hpp"

// Energies of the segments and of the joints between segments of a rod that stretches, bends in two planes and twists.
// Each segment has a director (mesh/directors.hpp), a vector that gives the orientation of the cross-section. The
// parameters of each energy are the six values p of the cross-section (see `RodSection`).

namespace diffsim {

/// Stretching energy of a segment of a rod: W = EA L/2 (l/L - 1)², with the axial stiffness EA, the current length l
/// and the rest length L.
struct RodStretch {
  static constexpr int num_nodes = 2, num_values = RodSection::num_values;
  static constexpr bool uses_rest = true, takes_packs = true;

  RodSection section = {};

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    return RopeStretch().energy(of_rope(at));
  }
  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    StencilValues<T, num_nodes, 1> by_rope;
    RopeStretch().energy_derivatives(of_rope(at), by_rope);
    for (int k = 0; k < 3 * num_nodes; ++k) {
      by.x[k / 3][k % 3] = by_rope.x[k / 3][k % 3];
      by.X[k / 3][k % 3] = by_rope.X[k / 3][k % 3];
    }
    for (int k = RodSection::first_natural; k < num_values; ++k) by.p[k] = T(0.0);
    section.pull_back(at.p, SectionStiffness<T>{by_rope.p[0], T(0.0), T(0.0), T(0.0)}, by.p);
  }

 private:
  template <class T>
  DIFFSIM_FUNCTION StencilValues<T, num_nodes, 1> of_rope(const StencilValues<T, num_nodes, num_values>& at) const {
    StencilValues<T, num_nodes, 1> of;
    for (int k = 0; k < 3 * num_nodes; ++k) {
      of.x[k / 3][k % 3] = at.x[k / 3][k % 3];
      of.X[k / 3][k % 3] = at.X[k / 3][k % 3];
    }
    of.p[0] = section.stiffness(at.p).axial;
    return of;
  }
};

/// Penalty energy that keeps the director d of a segment perpendicular to the segment and as long as the rest director
/// D. The nodes of a segment's stencil are the two ends and the director of the segment. With the unit vector t along
/// the segment, the rest length L of the segment and the bending stiffnesses EI₁ and EI₂ (SectionStiffness), the
/// penalty energy is
///  W = (EI₁ + EI₂)/(2 L) (y² + z²),   y = t·d/|D|,   z = (|d|²/|D|² - 1)/2.
///
/// The stretching, bending and twisting energies of a rod do not depend on the component of the director along the
/// segment, or on the director's length. In equilibrium, the director is therefore perpendicular to the segment and as
/// long as in the rest shape, regardless of the stiffness of the penalty energy. The factor (EI₁ + EI₂)/(2 L) of the
/// penalty energy is chosen so that a director vibrates with the angular frequency √((EI₁ + EI₂)/(ρ(I₁ + I₂)))/L, where
/// ρ(I₁ + I₂) is the moment of inertia of the cross-section per length (rod_mass.hpp). For a cross-section of one
/// material, this frequency is half of the highest frequency of the axial waves of a rod whose segments all have the
/// rest length L.
struct RodSectionShape {
  static constexpr int num_nodes = 3, num_values = RodSection::num_values;
  static constexpr bool uses_rest = true, takes_packs = true;

  RodSection section = {};

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    const Parts<T> of(at, section);
    return of.stiffness / (2.0 * of.L) * (of.y * of.y + of.z * of.z);
  }
  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    const Parts<T> of(at, section);
    const T squares = of.y * of.y + of.z * of.z;
    const T by_y = of.stiffness * of.y / of.L, by_z = of.stiffness * of.z / of.L;
    const T by_L = -of.stiffness * squares / (2.0 * of.L * of.L);
    const T DD = of.D * of.D, by_DD = -(0.5 * by_y * of.y + by_z * (of.z + 0.5)) / DD;
    for (int c = 0; c < 3; ++c) {
      by.x[2][c] = by_y * of.t[c] / of.D + by_z * at.x[2][c] / DD;
      by.x[1][c] = by_y * (at.x[2][c] / of.D - of.y * of.t[c]) / of.l;
      by.x[0][c] = -by.x[1][c];
      by.X[2][c] = 2.0 * by_DD * at.X[2][c];
      by.X[1][c] = by_L * (at.X[1][c] - at.X[0][c]) / of.L;
      by.X[0][c] = -by.X[1][c];
    }
    const T by_stiffness = squares / (2.0 * of.L);
    for (int k = RodSection::first_natural; k < num_values; ++k) by.p[k] = T(0.0);
    section.pull_back(at.p, SectionStiffness<T>{T(0.0), by_stiffness, by_stiffness, T(0.0)}, by.p);
  }

 private:
  /// Intermediate quantities of the penalty energy: the unit vector t along the segment, the current length l and the
  /// rest length L of the segment, the rest length |D| of the director d, the stiffness EI₁ + EI₂, y = t·d/|D| and z =
  /// (|d|²/|D|² - 1)/2.
  template <class T>
  struct Parts {
    Vec3<T> t;
    T l, L, D, stiffness, y, z;

    DIFFSIM_FUNCTION Parts(const StencilValues<T, num_nodes, num_values>& at, const RodSection& section)
        : t(at.x[1] - at.x[0]) {
      using std::sqrt;
      const Vec3<T> rest = at.X[1] - at.X[0], &d = at.x[2];
      l = sqrt(dot(t, t));
      L = sqrt(dot(rest, rest));
      D = sqrt(dot(at.X[2], at.X[2]));
      for (int c = 0; c < 3; ++c) t[c] /= l;
      const SectionStiffness<T> B = section.stiffness(at.p);
      stiffness = B.bending1 + B.bending2;
      y = dot(t, d) / D;
      z = 0.5 * (dot(d, d) / (D * D) - 1.0);
    }
  };
};

/// Kind of the object that a joint (RodJoint) uses as the second segment.
enum class Beyond : int {
  segment = 0,  ///< a segment of the rod, at most one end of which has a prescribed position
  wall = 1,     ///< a segment of the rod whose two ends have prescribed positions
  /// Clamped vertex, at which the first segment's rest direction and rest director replace the second segment.
  direction = 2,
};

/// Contribution of the first segment to the bending and twisting energy at the node between two segments of a rod. The
/// nodes of the stencil of two adjacent segments are the first segment's far end, the common node, the second segment's
/// far end, and the directors of the first and the second segment. Let κ₁, κ₂ and τ be the bending strains and the
/// twist of JointStrains, and κ̄₁, κ̄₂ and τ̄ the values of these strains in the rest shape. With the natural curvature
/// κ₀, the natural twist τ₀ and the stiffnesses EI₁, EI₂ and GJ of the first segment (`RodSection`), and the rest
/// lengths L and M of the first and the second segment, the energy is
///  W = L/4 (EI₁ (Δκ₁ - κ₀)² + EI₂ Δκ₂² + GJ (Δτ - τ₀)²),   Δκᵢ = (κᵢ - κ̄ᵢ)/((L + M)/2),   Δτ = (τ - τ̄)/((L + M)/2).
///
/// If the member `RodJoint::beyond` is `wall` or `direction`, the rod ends at the common node: L/2 replaces (L + M)/2
/// in the energy, and the second segment contributes no energy.
struct RodJoint {
  static constexpr int num_nodes = 5, num_values = RodSection::num_values;
  static constexpr bool uses_rest = true, takes_packs = true;

  Beyond beyond = Beyond::segment;
  RodSection section = {};

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    const Parts<T> of(at, beyond);
    const SectionStiffness<T> B = section.stiffness(at.p);
    return 0.25 * of.L *
           (B.bending1 * of.delta[0] * of.delta[0] + B.bending2 * of.delta[1] * of.delta[1] +
            B.torsion * of.delta[2] * of.delta[2]);
  }

  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    const Parts<T> of(at, beyond);
    const SectionStiffness<T> B = section.stiffness(at.p);
    const T half = 0.5 * of.L;
    const T by_delta[3] = {half * B.bending1 * of.delta[0], half * B.bending2 * of.delta[1],
                           half * B.torsion * of.delta[2]};
    // Derivatives of the energy with respect to the strains, and with respect to the length `size`, by which the
    // changes of the strains are divided.
    T by_strain[3], by_size(0.0), square(0.0);
    const T stiffness[3] = {B.bending1, B.bending2, B.torsion};
    for (int k = 0; k < 3; ++k) {
      by_strain[k] = by_delta[k] / of.size;
      by_size -= by_delta[k] * of.change[k] / (of.size * of.size);
      square += stiffness[k] * of.delta[k] * of.delta[k];
    }
    Vec3<T> e, f, d, g;
    of.now.pull_back(by_strain[0], by_strain[1], by_strain[2], e, f, d, g);
    Vec3<T> E, F, D, G;
    of.rest.pull_back(-by_strain[0], -by_strain[1], -by_strain[2], E, F, D, G);
    if (beyond == Beyond::direction)
      for (int c = 0; c < 3; ++c) {
        // The second segment is the rest vector E of the first segment, with the rest director D. Derivatives with
        // respect to the second segment and its director are therefore added to the derivatives with respect to E and
        // D.
        E[c] += F[c] + f[c];
        D[c] += G[c] + g[c];
        f[c] = g[c] = F[c] = G[c] = T(0.0);
      }
    const T by_L = 0.25 * square + 0.5 * by_size;
    const T by_M = beyond == Beyond::segment ? 0.5 * by_size : T(0.0);
    for (int c = 0; c < 3; ++c) {
      E[c] += by_L * of.E[c] / of.L;
      F[c] += by_M * of.F[c] / of.M;
      by.x[0][c] = -e[c];
      by.x[1][c] = e[c] - f[c];
      by.x[2][c] = f[c];
      by.x[3][c] = d[c];
      by.x[4][c] = g[c];
      by.X[0][c] = -E[c];
      by.X[1][c] = E[c] - F[c];
      by.X[2][c] = F[c];
      by.X[3][c] = D[c];
      by.X[4][c] = G[c];
    }
    const T quarter = 0.25 * of.L;
    section.pull_back(at.p,
                      SectionStiffness<T>{T(0.0), quarter * of.delta[0] * of.delta[0],
                                          quarter * of.delta[1] * of.delta[1], quarter * of.delta[2] * of.delta[2]},
                      by.p);
    by.p[RodSection::first_natural] = -by_delta[0];
    by.p[RodSection::first_natural + 1] = -by_delta[2];
  }

 private:
  template <class T>
  using Values = StencilValues<T, num_nodes, num_values>;

  template <class T>
  struct Parts {
    Vec3<T> E, F;               // rest edge vectors of the segments
    JointStrains<T> now, rest;  // current strains and rest strains
    T L, M, size;               // rest lengths, and the length of the part of the rod that belongs to the node
    T change[3], delta[3];      // κ - κ̄ and τ - τ̄; and (Δκ₁ - κ₀, Δκ₂, Δτ - τ₀)

    DIFFSIM_FUNCTION Parts(const Values<T>& at, Beyond beyond)
        : E(at.X[1] - at.X[0]),
          F(beyond == Beyond::direction ? E : at.X[2] - at.X[1]),
          now(at.x[1] - at.x[0], beyond == Beyond::direction ? E : at.x[2] - at.x[1], at.x[3],
              beyond == Beyond::direction ? at.X[3] : at.x[4]),
          rest(E, F, at.X[3], beyond == Beyond::direction ? at.X[3] : at.X[4]) {
      using std::sqrt;
      L = sqrt(dot(E, E));
      M = sqrt(dot(F, F));
      size = beyond == Beyond::segment ? 0.5 * (L + M) : 0.5 * L;
      change[0] = now.bending1 - rest.bending1;
      change[1] = now.bending2 - rest.bending2;
      change[2] = now.twist - rest.twist;
      for (int k = 0; k < 3; ++k) delta[k] = change[k] / size;
      const T &kappa0 = at.p[RodSection::first_natural], &tau0 = at.p[RodSection::first_natural + 1];
      delta[0] -= kappa0;
      delta[2] -= tau0;
    }
  };
};

}  // namespace diffsim
