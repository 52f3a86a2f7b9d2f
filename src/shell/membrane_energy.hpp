// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/dual.hpp"
#include "shell/membrane_strain.hpp"

namespace diffsim {

/// Energy of an isotropic membrane with St. Venant–Kirchhoff's law in plane stress, on a triangle of constant strain.
/// The parameters of MembraneEnergy are the stiffness k, which is Young's modulus times thickness (the force per unit
/// strain and unit width, in N/m), and Poisson's ratio ν.
///
/// With C = k/(2 (1 - ν²)), the rest area S of the triangle and the mixed components e of Green's strain
/// (`MembraneStrain`), the energy of the triangle is S C [(tr e)² - 2 (1 - ν) det e] (Ciarlet 2000, section 4.1).
struct MembraneEnergy {
  static constexpr int num_nodes = 3, num_values = 2;
  static constexpr bool uses_rest = true, takes_packs = true;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    return modulus(at) * per_modulus(at, MembraneStrain<T>(at));
  }

  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    const MembraneStrain<T> of(at);
    const T C = modulus(at), &nu = at.p[1], root = of.root, square = root * root;
    // Partial derivatives of the energy with respect to det A · tr e, det A · det e and det A.
    const T by_trace = C * of.trace / (square * root), by_product = -C * (1.0 - nu) / root;
    const T by_square =
        (-0.75 * C * of.trace * of.trace / square + 0.5 * C * (1.0 - nu) * of.product) / (square * root);
    of.set_derivatives(by_trace, by_product, by_square, by);
    const T plane = 1.0 - nu * nu, over_modulus = per_modulus(at, of);
    by.p[0] = over_modulus / (2.0 * plane);
    by.p[1] = C * (over_modulus * 2.0 * nu / plane + of.product / root);
  }

 private:
  /// Returns C = k/(2 (1 - ν²)), with the stiffness k and Poisson's ratio ν.
  template <class T>
  static DIFFSIM_FUNCTION T modulus(const StencilValues<T, num_nodes, num_values>& at) {
    const T &k = at.p[0], &nu = at.p[1];
    return k / (2.0 * (1.0 - nu * nu));
  }
  /// Returns the energy of the triangle divided by C = k/(2 (1 - ν²)), the result of `modulus`.
  template <class T>
  static DIFFSIM_FUNCTION T per_modulus(const StencilValues<T, num_nodes, num_values>& at,
                                        const MembraneStrain<T>& of) {
    const T& nu = at.p[1];
    return (0.5 * of.trace * of.trace / (of.root * of.root) - (1.0 - nu) * of.product) / of.root;
  }
};

}  // namespace diffsim
