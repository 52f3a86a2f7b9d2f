// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "load/nodal_damping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/term_derivatives.hpp"
#include "error_text.hpp"

namespace diffsim::nodal_damping_test {
namespace {

using Numbers = std::vector<double>;

/// Box with different damping in each cell, and with velocities.
struct Damped {
  Damped() {
    parameters.add("rest_positions", mesh->vertex_entities(), 3).field.from_host(mesh->rest_positions());
    alpha = add("rayleigh_damping", 0.4, 5);
    rho = add("density", 2.0, 4);
    c = add("drag", 0.7, 3);
    v = on_vertices(1.0);
    term->prepare(parameters);
  }
  Numbers add(const std::string& name, double size, std::size_t period) {
    Numbers values(num_cells);
    for (std::size_t i = 0; i < num_cells; ++i) values[i] = size * (1.0 + 0.2 * static_cast<double>(i % period));
    parameters.add(name, mesh->cell_entities()).field.from_host(values);
    return values;
  }
  /// Function of the rest position, with the same values at copies of vertices as at the vertices.
  Field on_vertices(double frequency) const {
    Numbers values = mesh->rest_positions();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(frequency * (1.0 + 3.0 * values[i] + i % 3));
    Field field("values", mesh->vertex_entities(), 3);
    field.from_host(values);
    return field;
  }
  std::size_t corner(std::size_t cell, std::size_t i) const {
    return static_cast<std::size_t>(mesh->cells()[4 * cell + i]);
  }
  double volume(std::size_t cell) const {
    double e[3][3];
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t d = 0; d < 3; ++d)
        e[i][d] = mesh->rest_positions()[3 * corner(cell, i + 1) + d] - mesh->rest_positions()[3 * corner(cell, 0) + d];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6.0;
  }
  /// Returns Σ ¼ V f over this rank's cells at each local vertex, where f are values of the cells.
  Numbers lumped(const Numbers& f) const {
    Numbers sums(static_cast<std::size_t>(mesh->num_vertices()), 0.0);
    for (std::size_t cell = 0; cell < num_cells; ++cell)
      for (std::size_t i = 0; i < 4; ++i) sums[corner(cell, i)] += 0.25 * volume(cell) * f[cell];
    return sums;
  }

  std::shared_ptr<TetrahedralMesh> mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.6, 0.5}, {3, 2, 2});
  std::size_t num_cells = static_cast<std::size_t>(mesh->num_cells());
  ParameterSet parameters;
  Numbers alpha, rho, c;
  Field x{"x", mesh->vertex_entities(), 3}, v;
  std::unique_ptr<ForceTerm> term = make_nodal_damping(*mesh);
};

void expect_near(const Numbers& found, const Numbers& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-13) << i;
}

TEST(nodal_damping, force_is_that_of_the_lumped_coefficients) {
  Damped body;
  Numbers per_volume;
  for (std::size_t cell = 0; cell < body.num_cells; ++cell)
    per_volume.push_back(body.alpha[cell] * body.rho[cell] + body.c[cell]);
  const Numbers d = body.lumped(per_volume), v = body.v.to_host();
  Field f = body.x.like("f"), bound = body.x.like("bound");
  body.term->add_force({body.x, 0, nullptr, &body.v}, body.parameters, f);
  body.term->add_damping_bound(body.parameters, bound);
  Numbers force, coefficients;
  for (std::size_t i = 0; i < v.size(); ++i) {
    force.push_back(-d[i / 3] * v[i]);
    coefficients.push_back(d[i / 3]);
  }
  expect_near(f.to_host(), force);
  expect_near(bound.to_host(), coefficients);
}

TEST(nodal_damping, derivatives) {
  Damped body;
  EXPECT_TRUE(body.term->uses_velocities());
  EXPECT_FALSE(body.term->has_energy());
  EXPECT_TRUE(body.term->has_symmetric_jacobian());
  testing_term::TermRig(body.mesh, *body.term, body.parameters)
      .expect_all_derivatives({"rest_positions", "rayleigh_damping", "density", "drag"});
}

// With q = -¼ V Σ v·w over the corners of a cell, the derivatives of the work Σ f·w with respect to α, ρ and c are ρ q,
// α q and q. Their derivatives along (dα, dρ) are dρ q, dα q and 0.
TEST(nodal_damping, has_second_derivatives_with_respect_to_the_product_of_damping_and_density) {
  Damped body;
  const std::vector<std::string> names{"rayleigh_damping", "density", "drag"};
  const Field w = body.on_vertices(1.7), still = body.x.like("still");
  Numbers d_alpha, d_rho, expected[3], expected_second[3];
  const Numbers velocities = body.v.to_host(), weights = w.to_host();
  for (std::size_t cell = 0; cell < body.num_cells; ++cell) {
    d_alpha.push_back(0.3 + 0.1 * static_cast<double>(cell % 3));
    d_rho.push_back(1.1 - 0.2 * static_cast<double>(cell % 4));
    double q = 0.0;
    for (std::size_t i = 0; i < 12; ++i) {
      const std::size_t at = 3 * body.corner(cell, i / 3) + i % 3;
      q -= 0.25 * body.volume(cell) * velocities[at] * weights[at];
    }
    const double first[3] = {body.rho[cell] * q, body.alpha[cell] * q, q};
    const double second[3] = {d_rho[cell] * q, d_alpha[cell] * q, 0.0};
    for (std::size_t k = 0; k < 3; ++k) {
      expected[k].push_back(first[k]);
      expected_second[k].push_back(second[k]);
    }
  }
  ParameterSet direction = body.parameters.zero_like({"rayleigh_damping", "density"}),
               gradient = body.parameters.zero_like(names), change = body.parameters.zero_like(names);
  direction.at("rayleigh_damping").field.from_host(d_alpha);
  direction.at("density").field.from_host(d_rho);
  Field x_bar = body.x.like("x_bar"), v_bar = body.x.like("v_bar");
  const Configuration at{body.x, 0, nullptr, &body.v};
  body.term->prepare_tangent(body.parameters, direction);
  body.term->begin_adjoint(gradient);
  body.term->begin_adjoint_tangent(change, direction);
  body.term->add_force_adjoint(at, w, {x_bar, &v_bar}, gradient);
  body.term->add_force_adjoint_tangent(at, {still, &still}, direction, &w, nullptr, {x_bar, &v_bar}, change);
  body.term->prepare_adjoint(body.parameters, gradient);
  body.term->prepare_adjoint_tangent(body.parameters, direction, change);
  for (std::size_t k = 0; k < 3; ++k) {
    SCOPED_TRACE(names[k]);
    expect_near(gradient.at(names[k]).field.to_host(), expected[k]);
    expect_near(change.at(names[k]).field.to_host(), expected_second[k]);
  }
  const ParameterSet shape = body.parameters.zero_like({"rest_positions"});
  EXPECT_CONTAINS(error_of([&] { body.term->begin_adjoint_tangent(shape, direction); }),
                  "no second derivative with respect to 'rest_positions'");
}

}  // namespace
}  // namespace diffsim::nodal_damping_test
