// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "shell/fabric_strain.hpp"

namespace diffsim {

/// Energy of an orthotropic membrane with St. Venant–Kirchhoff's law in plane stress, on a triangle of constant strain.
/// The parameters of FabricEnergy are the stiffnesses k₁ in the direction of the warp, k₂ in the direction of the weft
/// and G against shear (force per unit strain and unit width, in N/m), Poisson's ratio ν, and the three components of
/// the direction of the warp.
///
/// Let f₁ and f₂ be the images of the unit vectors along the warp and the weft under the deformation (`FabricStrain`).
/// With the strains E₁ = (|f₁|² - 1)/2, E₂ = (|f₂|² - 1)/2 and γ = f₁·f₂, the energy per rest area is
///  ψ = (k₁ E₁² + 2 ν √(k₁ k₂) E₁ E₂ + k₂ E₂²)/(2 (1 - ν²)) + G γ²/2.
///
/// The parameter ν is the geometric mean of the Poisson's ratios ν₁₂ and ν₂₁ for tension along the warp and along the
/// weft, which satisfy k₂ ν₁₂ = k₁ ν₂₁ (Jones 1999, Mechanics of Composite Materials, section 2.5). The energy ψ is a
/// convex function of the strains E₁, E₂ and γ for every ν in (-1, 1).
struct FabricEnergy {
  static constexpr int num_nodes = 3, num_values = 7;
  static constexpr bool uses_rest = true, takes_packs = true;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    const FabricStrain<T> of(at, at.vector(4));
    return 0.5 * of.det * Density<T>(of, at.p).value;
  }

  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    const FabricStrain<T> of(at, at.vector(4));
    const Density<T> psi(of, at.p);
    const T &k1 = at.p[0], &k2 = at.p[1], &G = at.p[2], &nu = at.p[3];
    const T mixed = nu * psi.mean / psi.plane;
    const T s1 = k1 / psi.plane * psi.E1 + mixed * psi.E2, s2 = k2 / psi.plane * psi.E2 + mixed * psi.E1;
    const Vec3<T> p[2] = {s1 * of.f[0] + (G * psi.shear) * of.f[1], s2 * of.f[1] + (G * psi.shear) * of.f[0]};
    of.pull_back(psi.value, p, 4, by);
    const T half = 0.5 * of.det / psi.plane, product = psi.E1 * psi.E2;
    by.p[0] = half * (0.5 * psi.E1 * psi.E1 + 0.5 * nu * k2 / psi.mean * product);
    by.p[1] = half * (0.5 * psi.E2 * psi.E2 + 0.5 * nu * k1 / psi.mean * product);
    by.p[2] = 0.25 * of.det * psi.shear * psi.shear;
    by.p[3] = half * (psi.mean * product + 2.0 * nu * psi.stretching);
  }

 private:
  template <class T>
  struct Density {
    T mean, plane;    // √(k₁ k₂), 1 - ν²
    T E1, E2, shear;  // E₁, E₂, γ
    T stretching;     // ψ without the shear term
    T value;          // ψ

    DIFFSIM_FUNCTION Density(const FabricStrain<T>& of, const T* p) {
      using std::sqrt;
      const T &k1 = p[0], &k2 = p[1], &G = p[2], &nu = p[3];
      mean = sqrt(k1 * k2);
      plane = 1.0 - nu * nu;
      E1 = 0.5 * (dot(of.f[0], of.f[0]) - 1.0);
      E2 = 0.5 * (dot(of.f[1], of.f[1]) - 1.0);
      shear = dot(of.f[0], of.f[1]);
      stretching = (0.5 * k1 * E1 * E1 + nu * mean * E1 * E2 + 0.5 * k2 * E2 * E2) / plane;
      value = stretching + 0.5 * G * shear * shear;
    }
  };
};

}  // namespace diffsim
