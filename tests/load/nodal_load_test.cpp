// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "load/nodal_load.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::nodal_load_test {
namespace {

using Numbers = std::vector<double>;

Numbers numbers(std::size_t size, double seed) {
  Numbers result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = std::sin(seed + 1.7 * static_cast<double>(i));
  return result;
}

/// Loads on the owned vertices of a box, in the time step n = 1, with the load factor ¼. The parameter of the test is
/// the number of steps of the load: a constant load has a factor, a control signal has none.
class LoadOfStep : public testing::TestWithParam<int> {
 protected:
  LoadOfStep() {
    load.from_host(numbers(load.size(), 0.3));
    x.from_host(numbers(x.size(), 0.9));
    term->prepare(parameters);
  }
  /// Expects that `values` is `times` times the part of `all` that belongs to the step, and zero at copies of
  /// vertices.
  void expect_step_of(const Numbers& values, double times, const Numbers& all) const {
    ASSERT_EQ(values.size(), x.size());
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], i < owned ? times * all[first + i] : 0.0) << i;
  }

  std::shared_ptr<TetrahedralMesh> mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {3, 2, 2});
  std::size_t owned = 3 * static_cast<std::size_t>(mesh->num_owned_vertices());
  std::size_t first = GetParam() == 1 ? 0 : owned;  // index of the step's first value in the parameter
  double factor = GetParam() == 1 ? 0.25 : 1.0;
  ParameterSet parameters;
  Field& load = parameters.add(LoadParameters::nodal_load, mesh->owned_vertex_entities(), GetParam()).field;
  Field x{"x", mesh->vertex_entities(), 3};
  Configuration at{.positions = x, .step = 1, .load_factor = 0.25};
  std::unique_ptr<ForceTerm> term = make_nodal_load(mesh->num_owned_vertices());
};
INSTANTIATE_TEST_SUITE_P(steps, LoadOfStep, testing::Values(1, 3));

TEST_P(LoadOfStep, is_the_force_on_owned_vertices) {
  Field f = x.like("f");
  term->add_force(at, parameters, f);
  expect_step_of(f.to_host(), factor, load.to_host());
}

TEST_P(LoadOfStep, has_the_energy_of_a_constant_force) {
  EXPECT_TRUE(term->has_energy());
  EXPECT_TRUE(term->has_symmetric_jacobian());
  const Numbers p = load.to_host(), positions = x.to_host();
  double expected = 0.0, size = 0.0;
  for (std::size_t i = 0; i < owned; ++i) {
    expected -= factor * p[first + i] * positions[i];
    size += std::abs(p[first + i] * positions[i]);
  }
  EXPECT_NEAR(term->energy(at, parameters), expected, 1e-14 * size);
}

TEST_P(LoadOfStep, has_derivatives_with_respect_to_the_load_only) {
  const Field w = [&] {
    Field result = x.like("w");
    result.from_host(numbers(result.size(), 2.1));
    return result;
  }();
  ParameterSet direction = parameters.zero_like({"nodal_load"}), gradient = parameters.zero_like({"nodal_load"}),
               second = parameters.zero_like({"nodal_load"});
  direction.at("nodal_load").field.from_host(numbers(load.size(), 1.4));
  Field df = x.like("df"), dx = w.clone(), x_bar = x.like("x_bar"), none = x.like("none");
  term->prepare_tangent(parameters, direction);
  term->add_force_tangent(at, {dx}, direction, df);
  expect_step_of(df.to_host(), factor, direction.at("nodal_load").field.to_host());

  term->begin_adjoint(gradient);
  term->begin_adjoint_tangent(second, direction);
  term->add_force_adjoint(at, w, {x_bar}, gradient);
  // The adjoint is linear in w and does not depend on the configuration and the load.
  term->add_force_adjoint_tangent(at, {dx}, direction, &w, &w, {x_bar}, second);
  term->prepare_adjoint(parameters, gradient);
  EXPECT_EQ(x_bar.to_host(), none.to_host());
  const Numbers by_force = w.to_host();
  for (const ParameterSet* set : {&gradient, &second}) {
    const Numbers by_load = set->at("nodal_load").field.to_host();
    for (std::size_t i = 0; i < by_load.size(); ++i)
      EXPECT_EQ(by_load[i], i >= first && i < first + owned ? factor * by_force[i - first] : 0.0) << i;
  }
}

TEST_P(LoadOfStep, has_no_jacobian) {
  BlockMatrix matrix(mesh->num_vertices(), Couplings());
  term->add_jacobian(at, parameters, {-1.0, -1.0}, matrix);
  Field product = x.like("product");
  matrix.multiply(x, product);
  EXPECT_EQ(product.to_host(), Numbers(x.size(), 0.0));
}

}  // namespace
}  // namespace diffsim::nodal_load_test
