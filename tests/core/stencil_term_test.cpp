// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Terms defined by a force or an energy of several nodes, and all their derivatives.

#include "diffsim/core/stencil_term_impl.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/term_derivatives.hpp"

namespace diffsim::stencil_term_test {
namespace {

using testing_term::TermRig;

/// Spring between two vertices, E = k/2 (|x1 - x0| - s |X1 - X0|)².
struct Spring {
  static constexpr int num_nodes = 2, num_values = 2;  // k, s
  static constexpr bool uses_rest = true;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, 2, 2>& at) const {
    using std::sqrt;
    const Vec3<T> way = at.x[1] - at.x[0], rest = at.X[1] - at.X[0];
    const T stretch = sqrt(dot(way, way)) - at.p[1] * sqrt(dot(rest, rest));
    return 0.5 * at.p[0] * stretch * stretch;
  }
};

/// Pressure that increases with time, and drag, on the faces beyond a plane. The force has no energy.
struct Sail {
  static constexpr int num_nodes = 3, num_values = 2;  // pressure, drag
  static constexpr bool uses_velocities = true;

  template <class T>
  DIFFSIM_FUNCTION void forces(const StencilValues<T, 3, 2>& at, Vec3<T> (&f)[3]) const {
    const Vec3<T> area = cross(at.x[1] - at.x[0], at.x[2] - at.x[0]);
    for (int a = 0; a < 3; ++a)
      for (int c = 0; c < 3; ++c)
        f[a][c] = at.p[0] * (1.0 + at.time) / 6.0 * area[c] - at.p[1] * dot(at.v[a], at.v[a]) * at.v[a][c];
  }
  DIFFSIM_FUNCTION bool active(const StencilValues<double, 3, 2>& at) const { return at.x[0][0] > 0.4; }
};

/// Energy of the change of volume, E = κ/2 Σ (J - 1)² V. The sum is over parts of a cell: the whole of a linear cell,
/// or the four corner tetrahedra of a second-order cell.
template <int nodes>
struct Bulk {
  static constexpr int num_nodes = nodes, num_values = 1;
  static constexpr bool uses_rest = true;

  template <class T>
  static DIFFSIM_FUNCTION T volume(const Vec3<T> (&x)[nodes], int part) {
    constexpr int of[4][4] = {{0, 4, 6, 7}, {4, 1, 5, 8}, {6, 5, 2, 9}, {7, 8, 9, 3}};
    Vec3<T> y[4];
    for (int a = 0; a < 4; ++a) y[a] = x[nodes == 4 ? a : of[part][a]];
    return dot(y[1] - y[0], cross(y[2] - y[0], y[3] - y[0])) / 6.0;
  }
  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, nodes, 1>& at) const {
    T sum(0.0);
    for (int part = 0; part < (nodes == 4 ? 1 : 4); ++part) {
      const T rest = volume(at.X, part), change = volume(at.x, part) / rest - 1.0;
      sum += 0.5 * at.p[0] * change * change * rest;
    }
    return sum;
  }
};

/// Spring with hand-written derivatives of the energy, evaluated for one stencil at a time or for a pack of stencils.
template <bool packs>
struct FormulaSpring : Spring {
  static constexpr bool takes_packs = packs;

  template <class T>
  DIFFSIM_FUNCTION void energy_derivatives(const StencilValues<T, 2, 2>& at, StencilValues<T, 2, 2>& by) const {
    using std::sqrt;
    const Vec3<T> way = at.x[1] - at.x[0], rest = at.X[1] - at.X[0];
    const T length = sqrt(dot(way, way)), slack = sqrt(dot(rest, rest)), stretch = length - at.p[1] * slack;
    const T by_length = at.p[0] * stretch, by_slack = -at.p[1] * by_length;
    by.x[1] = (by_length / length) * way;
    by.X[1] = (by_slack / slack) * rest;
    for (int c = 0; c < 3; ++c) {
      by.x[0][c] = -by.x[1][c];
      by.X[0][c] = -by.X[1][c];
    }
    by.p[0] = 0.5 * stretch * stretch;
    by.p[1] = -slack * by_length;
  }
};

/// Returns the first `count` corners of each cell.
std::vector<int> corners(const TetrahedralMesh& mesh, int count) {
  std::vector<int> vertices;
  for (std::size_t i = 0; i < mesh.cells().size(); ++i)
    if (static_cast<int>(i % 4) < count) vertices.push_back(mesh.cells()[i]);
  return vertices;
}

class StencilTerms : public testing::Test {
 protected:
  std::shared_ptr<TetrahedralMesh> mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.6, 0.5}, {4, 2, 2});
  ParameterSet parameters;

  StencilTerms() {
    parameters.add("rest_positions", mesh->vertex_entities(), 3).field.from_host(mesh->rest_positions());
  }
  void add_number(const std::string& name, double value) {
    parameters.add(name, Entities::one_for_all(MPI_COMM_WORLD)).field.from_host({value});
  }
  /// Adds a parameter with one value per cell.
  void add_numbers(const std::string& name, double low) {
    std::vector<double> values(static_cast<std::size_t>(mesh->num_cells()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = low + 0.1 * static_cast<double>(i % 7);
    parameters.add(name, mesh->cell_entities()).field.from_host(values);
  }
};

TEST_F(StencilTerms, springs_have_all_derivatives) {
  add_numbers("stiffness", 2.0);
  add_number("slack", 0.8);
  StencilTerm<Spring> term("springs", {}, {{"stiffness"}, {"slack"}}, corners(*mesh, 2));
  EXPECT_TRUE(term.has_energy());
  TermRig(mesh, term, parameters).expect_all_derivatives();
}

TEST_F(StencilTerms, sails_have_all_derivatives) {
  add_number("drag", 0.2);
  add_numbers("pressure", 20.0);
  StencilTerm<Sail> term("sails", {}, {{"pressure"}, {"drag"}}, corners(*mesh, 3));
  EXPECT_FALSE(term.has_energy());
  TermRig(mesh, term, parameters).expect_all_derivatives({"rest_positions"});
}

TEST_F(StencilTerms, volumes_of_linear_cells_have_all_derivatives) {
  add_numbers("bulk", 2.0);
  StencilTerm<Bulk<4>> term("volumes", {}, {{"bulk"}}, corners(*mesh, 4));
  TermRig(mesh, term, parameters).expect_all_derivatives();
}

TEST_F(StencilTerms, volumes_of_second_order_cells_have_all_derivatives) {
  mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.6, 0.5}, {3, 1, 1}, 2);
  parameters = {};
  parameters.add("rest_positions", mesh->vertex_entities(), 3).field.from_host(mesh->rest_positions());
  add_numbers("bulk", 2.0);
  StencilTerm<Bulk<10>> term("volumes", {}, {{"bulk"}}, {mesh->cells().begin(), mesh->cells().end()});
  TermRig(mesh, term, parameters).expect_all_derivatives();
}

TEST_F(StencilTerms, springs_in_packs_have_all_derivatives) {
  add_numbers("stiffness", 2.0);
  add_number("slack", 0.8);
  StencilTerm<FormulaSpring<true>> term("springs", {}, {{"stiffness"}, {"slack"}}, corners(*mesh, 2));
  TermRig(mesh, term, parameters).expect_all_derivatives();
}

/// Returns all results of a term for the first `count` springs of this rank: energy, forces and the results of the
/// adjoint.
template <bool packs>
std::vector<double> results(const TetrahedralMesh& mesh, const ParameterSet& given, int count) {
  ParameterSet parameters, gradient;
  parameters.add("rest_positions", mesh.vertex_entities(), 3)
      .field.from_host(given.at("rest_positions").field.to_host());
  for (const char* const name : {"stiffness", "slack"})
    parameters.add(name, Entities::one_for_all(MPI_COMM_WORLD)).field.from_host({name[1] == 't' ? 5.0 : 0.9});
  gradient.add("rest_positions", mesh.vertex_entities(), 3);
  for (const char* const name : {"stiffness", "slack"}) gradient.add(name, Entities::one_for_all(MPI_COMM_WORLD));
  std::vector<int> vertices = corners(mesh, 2);
  vertices.resize(2 * static_cast<std::size_t>(count));
  StencilTerm<FormulaSpring<packs>> term("springs", {}, {{"stiffness"}, {"slack"}}, vertices);
  term.prepare(parameters);
  Field x("x", mesh.vertex_entities(), 3), w = x.like("w"), force = x.like("force"), by_x = x.like("by_x");
  std::vector<double> places = mesh.rest_positions(), weights = places;
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] += 0.1 * std::sin(3.7 * static_cast<double>(i));
    weights[i] = std::cos(1.3 * static_cast<double>(i));
  }
  x.from_host(places);
  w.from_host(weights);
  term.add_force({x}, parameters, force);
  term.add_force_adjoint({x}, w, {by_x}, gradient);
  std::vector<double> all{term.energy({x}, parameters)};
  for (const Field* field : {&force, &by_x, &gradient.at("rest_positions").field, &gradient.at("stiffness").field,
                             &gradient.at("slack").field})
    for (const double value : field->to_host()) all.push_back(value);
  return all;
}

TEST_F(StencilTerms, are_the_same_in_packs_whatever_their_number) {
  const int most = std::min(mesh->num_cells(), 2 * pack_width + 1);
  for (int count = 0; count <= most; ++count) {
    const std::vector<double> one = results<false>(*mesh, parameters, count),
                              packs = results<true>(*mesh, parameters, count);
    ASSERT_EQ(one.size(), packs.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      EXPECT_NEAR(packs[i], one[i], 1e-13 * (1.0 + std::abs(one[i]))) << i << " of " << count;
  }
}

TEST_F(StencilTerms, bounds_of_a_spring_are_its_stiffness) {
  add_number("stiffness", 5.0);
  add_number("slack", 1.0);
  std::vector<int> vertices;
  if (mesh->num_cells() > 0) vertices = {mesh->cells()[0], mesh->cells()[1]};
  StencilTerm<Spring> term("springs", {}, {{"stiffness"}, {"slack"}}, vertices);
  term.prepare(parameters);
  Field bound("bound", mesh->vertex_entities(), 3), damping = bound.like("damping");
  term.add_stiffness_bound(parameters, bound);
  term.add_damping_bound(parameters, damping);
  const std::vector<double> values = bound.to_host();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int vertex = static_cast<int>(i / 3);
    const bool held = vertex == vertices[0] || vertex == vertices[1];
    EXPECT_NEAR(values[i], held ? 2.0 * 5.0 : 0.0, 1e-12) << vertex;
  }
  for (const double value : damping.to_host()) EXPECT_EQ(value, 0.0);
}

TEST_F(StencilTerms, refuse_parameters_that_are_neither_one_nor_one_a_stencil) {
  add_numbers("stiffness", 1.0);
  add_number("slack", 1.0);
  std::vector<int> fewer = corners(*mesh, 2);
  fewer.resize(2);
  StencilTerm<Spring> term("springs", {}, {{"stiffness"}, {"slack"}}, fewer);
  EXPECT_THROW(term.prepare(parameters), Error);
  EXPECT_THROW(StencilTerm<Spring>("springs", {}, {{"stiffness"}}, fewer), Error);
}

}  // namespace
}  // namespace diffsim::stencil_term_test
