// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/elastic/elements_impl.hpp"

namespace diffsim::elastic {

/// *target += Σ values, target a device address.
inline void add_sum(const DeviceArray<double>& values, double* target) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::elastic::sum", Range(0, static_cast<int>(values.size())),
      KOKKOS_LAMBDA(int i, double& s) { s += values(i); }, sum);
  Kokkos::parallel_for(
      "diffsim::elastic::add", Range(0, 1), KOKKOS_LAMBDA(int) { *target += sum; });
  Kokkos::fence();
}

/// The data of a law's parameters, by number: what the kernels between parameters and moduli take.
template <Law L>
struct ParameterPointers {
  const double* value[L::parameters.size()] = {};
  DIFFSIM_FUNCTION void at(int cell, double (&p)[L::parameters.size()]) const {
    for (std::size_t i = 0; i < L::parameters.size(); ++i) p[i] = value[i] ? value[i][cell] : 0.0;
  }
};

/// Where the gradient by each of a law's parameters is added; nullptr where nobody asks.
template <Law L>
struct GradientPointers {
  double* value[L::parameters.size()] = {};
};

/// Counts the cells whose value is not that of the first.
template <Law L, class E>
struct DiffersFromFirst {
  Elements<L, E> elements;
  const double* value;
  KOKKOS_INLINE_FUNCTION void operator()(int entry, int& count) const {
    if (value[elements.cell_at(entry / pack_width, entry % pack_width)] != value[elements.cell_at(0, 0)]) ++count;
  }
};

/// The smallest entry whose moduli are not all finite.
template <Law L, class E>
struct FirstWithoutModuli {
  Elements<L, E> elements;
  KOKKOS_INLINE_FUNCTION void operator()(int entry, int& first) const {
    for (int k = 0; k < L::num_moduli; ++k) {
      const double m =
          elements.moduli(elements.moduli_stride * (entry / pack_width) + pack_width * k + entry % pack_width);
      if (!(m - m == 0.0) && entry < first) first = entry;
    }
  }
};

/// moduli = L::moduli(parameters), one lane a cell; the copies in the last pack repeat the last cell.
template <Law L, class E>
void compute_moduli(const Elements<L, E>& elements, const ParameterPointers<L>& parameters, int lanes,
                    const DeviceArray<double>& moduli) {
  constexpr int K = L::num_moduli;
  Kokkos::parallel_for(
      "diffsim::elastic::moduli", Range(0, lanes), KOKKOS_LAMBDA(int entry) {
        double p[L::parameters.size()], m[K];
        parameters.at(elements.cell_at(entry / pack_width, entry % pack_width), p);
        L::moduli(p, m);
        for (int k = 0; k < K; ++k) moduli(pack_width * (K * (entry / pack_width) + k) + entry % pack_width) = m[k];
      });
}

/// dmoduli = ∂moduli/∂parameters · direction.
template <Law L, class E>
void compute_moduli_tangent(const Elements<L, E>& elements, const ParameterPointers<L>& parameters,
                            const ParameterPointers<L>& direction, int lanes, const DeviceArray<double>& dmoduli) {
  constexpr int K = L::num_moduli;
  constexpr int P = static_cast<int>(L::parameters.size());
  Kokkos::parallel_for(
      "diffsim::elastic::moduli_tangent", Range(0, lanes), KOKKOS_LAMBDA(int entry) {
        const int cell = elements.cell_at(entry / pack_width, entry % pack_width);
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

/// gradient_i += Σ_k moduli_gradient_k ∂moduli_k/∂parameter_i, for the parameters that have a gradient.
template <Law L, class E>
void add_parameter_gradient(const Elements<L, E>& elements, const ParameterPointers<L>& parameters,
                            const DeviceArray<double>& moduli_gradient, const GradientPointers<L>& gradient) {
  constexpr int K = L::num_moduli;
  constexpr int P = static_cast<int>(L::parameters.size());
  Kokkos::parallel_for(
      "diffsim::elastic::moduli_adjoint", Range(0, elements.num_cells), KOKKOS_LAMBDA(int entry) {
        const int cell = elements.cell_at(entry / pack_width, entry % pack_width);
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
