// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/stencil_force.hpp"

namespace diffsim {

/// Membrane energy of a triangle of a shell with the parameters Young's modulus E, Poisson's ratio ν and thickness t.
/// The template argument `Membrane` is an energy with the parameters stiffness k = E t (N/m) and Poisson's ratio ν
/// (MembraneEnergy or NeoHookeanMembrane).
template <class Membrane>
struct ShellMembrane {
  static constexpr int num_nodes = 3, num_values = 3;
  static constexpr bool uses_rest = true, takes_packs = true;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    return Membrane().energy(membrane(at));
  }

  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    const T &E = at.p[0], &t = at.p[2];
    StencilValues<T, 3, 2> of;
    Membrane().energy_derivatives(membrane(at), of);
    for (int i = 0; i < num_nodes; ++i) {
      by.x[i] = of.x[i];
      by.X[i] = of.X[i];
    }
    by.p[0] = of.p[0] * t;
    by.p[1] = of.p[1];
    by.p[2] = of.p[0] * E;
  }

 private:
  /// Returns the inputs of the energy `Membrane`: the positions, the stiffness k = E t and Poisson's ratio ν.
  template <class T>
  static DIFFSIM_FUNCTION StencilValues<T, 3, 2> membrane(const StencilValues<T, num_nodes, num_values>& at) {
    const T &E = at.p[0], &nu = at.p[1], &t = at.p[2];
    StencilValues<T, 3, 2> of;
    for (int i = 0; i < num_nodes; ++i) {
      of.x[i] = at.x[i];
      of.v[i] = at.v[i];
      of.X[i] = at.X[i];
    }
    of.p[0] = E * t;
    of.p[1] = nu;
    of.time = at.time;
    return of;
  }
};

}  // namespace diffsim
