// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Terms defined by a stress or a potential of the strain rate, and all their derivatives.

#include "diffsim/elastic/dissipation_term_impl.hpp"

#include <gtest/gtest.h>

#include "core/term_derivatives.hpp"
#include "elastic/viscous_term.hpp"

namespace diffsim::dissipation_term_test {
namespace {

using testing_term::TermRig;

/// Shear-thickening dashpot defined by a potential only: ψ = a/2 Ė : Ė + b/4 (Ė : Ė)² + c/2 (tr Ė)².
struct Thickening {
  static constexpr const char* name = "thickening";
  static constexpr std::array<ParameterSpec, 3> parameters{ParameterSpec{.name = "a"}, ParameterSpec{.name = "b"},
                                                           ParameterSpec{.name = "c"}};
  static constexpr int num_moduli = 3;

  template <class T>
  static DIFFSIM_FUNCTION T energy(const Mat3<T>& rate, const T (&p)[3]) {
    const T squared = inner(rate, rate), dilatation = trace(rate);
    return 0.5 * (p[0] * squared + p[2] * dilatation * dilatation) + 0.25 * p[1] * squared * squared;
  }
};

class EveryKind : public testing::TestWithParam<int> {
 protected:
  std::shared_ptr<TetrahedralMesh> mesh =
      TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.6, 0.5}, {3, 2, 1}, GetParam() == 1 ? 1 : 2,
                           GetParam() == 1 ? std::optional<int>() : std::optional<int>(GetParam()));
  ParameterSet parameters;

  void expect_all_derivatives(ForceTerm& term, const std::map<std::string, double>& sizes) {
    parameters.add("rest_positions", mesh->vertex_entities(), 3).field.from_host(mesh->rest_positions());
    for (const auto& [name, size] : sizes) {
      std::vector<double> values(static_cast<std::size_t>(mesh->num_cells()));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = size * (1.0 + 0.2 * static_cast<double>(i % 5));
      parameters.add(name, mesh->cell_entities()).field.from_host(values);
    }
    TermRig(mesh, term, parameters).expect_all_derivatives({"rest_positions"});
  }
};
/// Degrees of the quadrature: 1 for linear cells, 2 and 5 for second-order cells with the coarse and the fine rule.
INSTANTIATE_TEST_SUITE_P(cells, EveryKind, testing::Values(1, 2, 5));

TEST_P(EveryKind, of_a_newtonian_stress) {
  const std::unique_ptr<ForceTerm> term = make_viscous_term(*mesh);
  expect_all_derivatives(*term, {{"viscosity", 1.0}, {"bulk_viscosity", 0.7}});
}

TEST_P(EveryKind, of_a_potential_that_is_not_quadratic) {
  const std::unique_ptr<ForceTerm> term = make_dissipation_term<Thickening>(*mesh);
  expect_all_derivatives(*term, {{"a", 1.0}, {"b", 0.01}, {"c", 0.7}});
}

}  // namespace
}  // namespace diffsim::dissipation_term_test
