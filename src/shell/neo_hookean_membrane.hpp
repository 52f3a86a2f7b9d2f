// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "core/scalar_traits.hpp"
#include "shell/membrane_strain.hpp"

namespace diffsim {

/// Energy of a membrane with the Neo-Hookean law (`NeoHookean`) in plane stress, on a triangle of constant strain. The
/// stretch normal to the triangle follows from the condition that the stress normal to the triangle is zero. The
/// parameters of NeoHookeanMembrane are the membrane stiffness k, which is Young's modulus times the rest thickness
/// (the force per unit strain and unit width at small strains, in N/m), and Poisson's ratio ν < ½.
///
/// Let e be the mixed components of Green's strain (`MembraneStrain`), ℓ = ½ ln det(I + 2 e) the logarithm of the ratio
/// of current to rest area, exp(z/2) the stretch normal to the triangle, and j = ℓ + z/2 the logarithm of the volume
/// ratio. The energy per rest area is
///  W = µ/2 (2 + 2 tr e + exp(z) - 3 - 2 j) + λ/2 j²,  µ = k/(2 (1 + ν)),  λ = 2 µ ν/(1 - 2 ν).
///
/// The condition of zero normal stress is ∂W/∂z = 0, or (1 - 2 ν)(exp(z) - 1) + ν (2 ℓ + z) = 0; Newton's method solves
/// this equation for z. At the solution z, the energy W per rest area has the derivatives ∂W/∂(tr e) = µ, ∂W/∂ℓ = -µ
/// exp(z) and ∂W/∂ν = -W/(1 + ν) + µ (j/(1 - 2 ν))². The energy is NaN if the area of the triangle is zero, or if
/// Newton's method does not converge, which can happen for ν < 0 and strong compression.
struct NeoHookeanMembrane {
  static constexpr int num_nodes = 3, num_values = 2;
  static constexpr bool uses_rest = true, takes_packs = true;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    const T &k = at.p[0], &nu = at.p[1];
    const MembraneStrain<T> of(at);
    return 0.5 * of.root * PlaneStress<T>(of, k, nu).W;
  }

  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, num_nodes, num_values>& at,
                                           StencilValues<T, num_nodes, num_values>& by) const {
    const T &k = at.p[0], &nu = at.p[1];
    const MembraneStrain<T> of(at);
    const PlaneStress<T> law(of, k, nu);
    const T half_root = 0.5 * of.root, inverse = 1.0 / (of.root * of.root);
    const T pressure = law.mu * law.e_z / law.det;
    const T W_trace = law.mu - pressure, W_det = -2.0 * pressure;
    // tr e and det e are `of.trace` and `of.product` divided by det A.
    const T by_square =
        0.25 * law.W / of.root - half_root * inverse * inverse * (W_trace * of.trace + W_det * of.product);
    of.set_derivatives(T(half_root * inverse * W_trace), T(half_root * inverse * W_det), by_square, by);
    const T g = law.ln_J_over();
    by.p[0] = half_root * law.W / k;
    by.p[1] = half_root * (law.mu * g * g - law.W / (1.0 + nu));
  }

 private:
  template <class T>
  struct PlaneStress {
    T nu, mu, det;  // det(I + 2 e)
    T z, e_z, j, W;

    DIFFSIM_FUNCTION PlaneStress(const MembraneStrain<T>& of, const T& k, const T& poisson_ratio) : nu(poisson_ratio) {
      using std::log;
      const T inverse = 1.0 / (of.root * of.root), trace = inverse * of.trace;
      mu = 0.5 * k / (1.0 + nu);
      det = 1.0 + 2.0 * trace + 4.0 * inverse * of.product;
      const T l = 0.5 * log(det);
      solve(l);
      j = l + 0.5 * z;
      // The condition ∂W/∂z = 0 is λ j = µ (1 - exp(z)), which eliminates λ from W.
      W = 0.5 * mu * (2.0 * trace + e_z - 1.0 - (1.0 + e_z) * j);
    }

    /// Returns g = j/(1 - 2 ν), where j is the logarithm of the volume ratio. To avoid a division by 0 for ν = ½, g is
    /// computed as the least-squares solution of the two equations j = (1 - 2 ν) g and 1 - exp(z) = 2 ν g.
    DIFFSIM_FUNCTION T ln_J_over() const {
      const T a = 1.0 - 2.0 * nu, b = 2.0 * nu;
      return (a * j + b * (1.0 - e_z)) / (a * a + b * b);
    }

   private:
    /// Computes z and exp(z), where exp(z/2) is the normal stretch, by Newton's method for (1 - 2 ν)(exp(z) - 1) + ν (2
    /// ℓ + z) = 0, started at z = 0; `l` is the logarithm ℓ of the area ratio. The left-hand side of the equation is
    /// convex in z, so after the first Newton step the iterates decrease towards the root. If T is a scalar type of
    /// automatic differentiation, further Newton steps with scalars of type T compute the derivatives of z after
    /// convergence; each of these steps makes the derivatives of at least one more order exact.
    DIFFSIM_FUNCTION void solve(const T& l) {
      using std::exp, std::sqrt;
      using Traits = ScalarTraits<T>;
      using Base = typename Traits::Base;
      constexpr double tolerance = 1e-8;  // bound of the last Newton step; the error of z is of order step²
      const Base base_l = Traits::base(l), base_nu = Traits::base(nu);
      Base root(0.0), squared(0.0);
      for (int k = 0; k < 60; ++k) {
        const Base e = exp(root), a = 1.0 - 2.0 * base_nu;
        const Base step = (a * (e - 1.0) + base_nu * (2.0 * base_l + root)) / (a * e + base_nu);
        root = root - step;
        squared = step * step;
        if (!any_not_greater(-squared, -tolerance * tolerance)) break;
      }
      // If the last Newton step is larger than the tolerance, sets the root to NaN by adding the square root of -1.
      root = root + sqrt(-indicator_greater(squared, tolerance * tolerance));
      z = Traits::constant(root);
      e_z = exp(z);
      for (int k = 0; k < Traits::order; ++k) {
        const T a = 1.0 - 2.0 * nu;
        z = z - (a * (e_z - 1.0) + nu * (2.0 * l + z)) / (a * e_z + nu);
        e_z = exp(z);
      }
    }
  };
};

}  // namespace diffsim
