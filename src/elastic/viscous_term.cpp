// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "elastic/viscous_term.hpp"

#include "diffsim/elastic/dissipation_term_impl.hpp"

namespace diffsim {
namespace {

/// Newtonian dashpot: S = 2 η Ė + ζ tr Ė I, with the Green strain rate Ė.
struct Newtonian {
  static constexpr const char* name = "viscosity";
  static constexpr std::array<ParameterSpec, 2> parameters{ElasticParameters::viscosity,
                                                           ElasticParameters::bulk_viscosity};
  static constexpr int num_moduli = 2;
  static constexpr bool is_linear = true;

  template <class T>
  static DIFFSIM_FUNCTION Mat3<T> stress(const Mat3<T>& rate, const T (&p)[2]) {
    const T &eta = p[0], &zeta = p[1];
    Mat3<T> S = (2.0 * eta) * rate;
    const T volumetric = zeta * trace(rate);
    for (int i = 0; i < 3; ++i) S(i, i) += volumetric;
    return S;
  }
};

}  // namespace

std::unique_ptr<ForceTerm> make_viscous_term(const TetrahedralMesh& mesh) {
  return make_dissipation_term<Newtonian>(mesh);
}

}  // namespace diffsim
