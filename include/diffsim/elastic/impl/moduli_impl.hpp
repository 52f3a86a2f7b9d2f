// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/parameters.hpp"
#include "diffsim/elastic/impl/elements_impl.hpp"

namespace diffsim::elastic {

/// Device addresses of a material law's parameters in a ParameterSet, in the order of `L::parameters`. The address of a
/// parameter that the ParameterSet does not contain is nullptr, and the values of this parameter are 0 in every cell.
template <Law L>
struct ParameterPointers {
  static constexpr int size = static_cast<int>(L::parameters.size());
  const double* value[size];

  ParameterPointers(const ParameterSet& parameters) {  // NOLINT: implicit, so that callers pass a set
    for (int i = 0; i < size; ++i) value[i] = parameters.data(L::parameters[static_cast<std::size_t>(i)].name);
  }
  /// Sets p to the material law's parameters in the cell with the local index `cell`.
  DIFFSIM_FUNCTION void at(int cell, double (&p)[size]) const {
    for (int i = 0; i < size; ++i) p[i] = value[i] ? value[i][cell] : 0.0;
  }
};

/// Device addresses of the arrays [cells] to which the gradients with respect to a material law's parameters are added,
/// in the order of `L::parameters`. The address of a gradient that is not requested is nullptr.
template <Law L>
struct GradientPointers {
  double* value[L::parameters.size()] = {};

  GradientPointers(ParameterSet& gradient) {  // NOLINT
    for (std::size_t i = 0; i < L::parameters.size(); ++i)
      if (Parameter* found = gradient.find(L::parameters[i].name)) value[i] = found->field.data();
  }
};

/// Computes moduli = L::moduli(parameters) for the first `lanes` SIMD lanes, one lane per cell. `moduli`: array
/// [lanes/pack_width, K, pack_width], with the number K of moduli of the material law. Padding lanes of the last pack
/// repeat the moduli of the last cell.
template <Law L>
void compute_moduli(const LawCells<L>& law, const ParameterPointers<L>& parameters, int lanes,
                    const DeviceArray<double>& moduli) {
  constexpr int K = L::num_moduli;
  Kokkos::parallel_for(
      "diffsim::elastic::moduli", Range(0, lanes), KOKKOS_LAMBDA(int entry) {
        double p[L::parameters.size()], m[K];
        parameters.at(law.cell_of(entry), p);
        L::moduli(p, m);
        for (int k = 0; k < K; ++k) moduli(pack_width * (K * (entry / pack_width) + k) + entry % pack_width) = m[k];
      });
}

/// Computes dmoduli = ∂moduli/∂parameters · direction for the first `lanes` SIMD lanes, one lane per cell.
template <Law L>
void compute_moduli_tangent(const LawCells<L>& law, const ParameterPointers<L>& parameters,
                            const ParameterPointers<L>& direction, int lanes, const DeviceArray<double>& dmoduli) {
  constexpr int K = L::num_moduli;
  constexpr int P = static_cast<int>(L::parameters.size());
  Kokkos::parallel_for(
      "diffsim::elastic::moduli_tangent", Range(0, lanes), KOKKOS_LAMBDA(int entry) {
        const int cell = law.cell_of(entry);
        double p[P], dp[P];
        parameters.at(cell, p);
        direction.at(cell, dp);
        Dual<double, 1> along[P], m[K];
        for (int i = 0; i < P; ++i) {
          along[i].value = p[i];
          along[i].derivative[0] = dp[i];
        }
        L::moduli(along, m);
        for (int k = 0; k < K; ++k)
          dmoduli(pack_width * (K * (entry / pack_width) + k) + entry % pack_width) = m[k].derivative[0];
      });
}

/// Adds Σ_k moduli_gradient_k ∂moduli_k/∂parameter_i to gradient_i in each cell, for each parameter i whose gradient is
/// requested. `moduli_gradient`: gradient with respect to the moduli, [packs, K, pack_width], with the number K of
/// moduli of the material law.
template <Law L>
void add_parameter_gradient(const LawCells<L>& law, const ParameterPointers<L>& parameters,
                            const DeviceArray<double>& moduli_gradient, const GradientPointers<L>& gradient) {
  constexpr int K = L::num_moduli;
  constexpr int P = static_cast<int>(L::parameters.size());
  Kokkos::parallel_for(
      "diffsim::elastic::moduli_adjoint", Range(0, law.num_cells), KOKKOS_LAMBDA(int entry) {
        const int cell = law.cell_of(entry);
        double p[P];
        parameters.at(cell, p);
        Dual<double, P> variable[P], m[K];
        for (int i = 0; i < P; ++i) variable[i] = Dual<double, P>::variable(p[i], i);
        L::moduli(variable, m);
        for (int k = 0; k < K; ++k) {
          const double g = moduli_gradient(pack_width * (K * (entry / pack_width) + k) + entry % pack_width);
          for (int i = 0; i < P; ++i)
            if (gradient.value[i]) gradient.value[i][cell] += g * m[k].derivative[i];
        }
      });
}

}  // namespace diffsim::elastic
