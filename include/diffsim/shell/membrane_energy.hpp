// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "diffsim/core/dual.hpp"
#include "diffsim/core/stencil_force.hpp"

namespace diffsim {

/// Membrane of St. Venant–Kirchhoff's law in plane stress: a triangle of constant strain. The parameters are k, force
/// over strain and width (Young's modulus times thickness), and ν.
///
/// With the edges dᵢ of the triangle from its first corner, those at rest Dᵢ, aᵢⱼ = dᵢ·dⱼ, Aᵢⱼ = Dᵢ·Dⱼ and the mixed
/// components of Green's strain e = A⁻¹ g, g = (a - A)/2, the energy is √(det A)/2 · C [(tr e)² - 2 (1 - ν) det e] with
/// C = k/(2 (1 - ν²)) (Ciarlet 2000, section 4.1).
struct MembraneEnergy {
  static constexpr int num_nodes = 3, num_values = 2;
  static constexpr bool uses_rest = true, takes_packs = true;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    const Strain<T> of(at);
    return of.modulus * of.per_modulus;
  }

  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    const Strain<T> of(at);
    const T &C = of.modulus, nu = at.p[1], root = of.root, square = root * root;
    // By T = det A · tr e, G = det A · det e and det A, each with the others held.
    const T by_trace = C * of.trace / (square * root), by_product = -C * (1.0 - nu) / root;
    const T by_square =
        (-0.75 * C * of.trace * of.trace / square + 0.5 * C * (1.0 - nu) * of.product) / (square * root);
    // By g, and by A with g held; the components 12 and 21 together.
    T s[3], q[3];
    s[0] = by_trace * of.A[2] + by_product * of.g[2];
    s[1] = -2.0 * (by_trace * of.A[1] + by_product * of.g[1]);
    s[2] = by_trace * of.A[0] + by_product * of.g[0];
    q[0] = by_trace * of.g[2] + by_square * of.A[2];
    q[1] = -2.0 * (by_trace * of.g[1] + by_square * of.A[1]);
    q[2] = by_trace * of.g[0] + by_square * of.A[0];
    for (int c = 0; c < 3; ++c) {
      by.x[1][c] = s[0] * of.d[0][c] + 0.5 * s[1] * of.d[1][c];
      by.x[2][c] = 0.5 * s[1] * of.d[0][c] + s[2] * of.d[1][c];
      by.x[0][c] = -by.x[1][c] - by.x[2][c];
      by.X[1][c] = (2.0 * q[0] - s[0]) * of.D[0][c] + (q[1] - 0.5 * s[1]) * of.D[1][c];
      by.X[2][c] = (q[1] - 0.5 * s[1]) * of.D[0][c] + (2.0 * q[2] - s[2]) * of.D[1][c];
      by.X[0][c] = -by.X[1][c] - by.X[2][c];
    }
    const T plane = 1.0 - nu * nu;
    by.p[0] = of.per_modulus / (2.0 * plane);
    by.p[1] = C * (of.per_modulus * 2.0 * nu / plane + of.product / root);
  }

 private:
  template <class T>
  struct Strain {
    Vec3<T> d[2], D[2];
    T A[3], g[3];      // components 11, 12, 22
    T root;            // √(det A), twice the area at rest
    T trace, product;  // det A · tr e, det A · det e
    T modulus;         // C
    T per_modulus;     // energy over C

    DIFFSIM_FUNCTION explicit Strain(const StencilValues<T, num_nodes, num_values>& at) {
      using std::sqrt;
      for (int i = 0; i < 2; ++i) {
        d[i] = at.x[i + 1] - at.x[0];
        D[i] = at.X[i + 1] - at.X[0];
      }
      for (int k = 0; k < 3; ++k) {
        const int i = k / 2, j = (k + 1) / 2;
        A[k] = dot(D[i], D[j]);
        g[k] = 0.5 * (dot(d[i], d[j]) - A[k]);
      }
      root = sqrt(A[0] * A[2] - A[1] * A[1]);
      trace = A[2] * g[0] - 2.0 * A[1] * g[1] + A[0] * g[2];
      product = g[0] * g[2] - g[1] * g[1];
      modulus = at.p[0] / (2.0 * (1.0 - at.p[1] * at.p[1]));
      per_modulus = (0.5 * trace * trace / (root * root) - (1.0 - at.p[1]) * product) / root;
    }
  };
};

}  // namespace diffsim
