// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/group_term.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::group_term_test {
namespace {

using Numbers = std::vector<double>;

/// Force on two vertices: f_0 = a s d + c (v_1 - v_0), f_1 = -f_0 with d = x_1 - x_0, s = |d|², and the parameters a
/// (`cubic`) and c (`damper`).
class Pair final : public GroupForce {
 public:
  explicit Pair(bool damped) : damped_(damped) {}
  std::string name() const override { return "pair"; }
  bool uses_velocities() const override { return damped_; }
  bool has_energy() const override { return !damped_; }
  std::vector<std::string> parameters() const override {
    return damped_ ? std::vector<std::string>{"cubic", "damper"} : std::vector<std::string>{"cubic"};
  }
  double energy(const GroupValues& at) override {
    double sum = 0.0;
    for (std::size_t e = 0; e < at.x.size(); e += 6) sum += 0.25 * at.p[0][0] * square(at.x, e) * square(at.x, e);
    return sum;
  }
  Numbers force(const GroupValues& at) override {
    Numbers f(at.x.size());
    for (std::size_t e = 0; e < f.size(); e += 6)
      for (std::size_t c = 0; c < 3; ++c) {
        double push = at.p[0][0] * square(at.x, e) * (at.x[e + 3 + c] - at.x[e + c]);
        if (damped_) push += at.p[1][0] * (at.v[e + 3 + c] - at.v[e + c]);
        f[e + c] = push;
        f[e + 3 + c] = -push;
      }
    return f;
  }
  Jacobians jacobians(const GroupValues& at) override {
    Jacobians by;
    by.by_parameters.resize(parameters().size());
    for (std::size_t e = 0; e < at.x.size(); e += 6)
      for (std::size_t i = 0; i < 6; ++i) {
        const double of_i = i < 3 ? 1.0 : -1.0, d_i = at.x[e + 3 + i % 3] - at.x[e + i % 3];
        for (std::size_t j = 0; j < 6; ++j) {
          const double of_j = j < 3 ? -1.0 : 1.0, d_j = at.x[e + 3 + j % 3] - at.x[e + j % 3];
          const double same = i % 3 == j % 3 ? 1.0 : 0.0;
          by.by_positions.push_back(of_i * of_j * at.p[0][0] * (square(at.x, e) * same + 2.0 * d_i * d_j));
          if (damped_) by.by_velocities.push_back(of_i * of_j * at.p[1][0] * same);
        }
        by.by_parameters[0].push_back(of_i * square(at.x, e) * d_i);
        if (damped_) by.by_parameters[1].push_back(of_i * (at.v[e + 3 + i % 3] - at.v[e + i % 3]));
      }
    return by;
  }

 private:
  static double square(const Numbers& x, std::size_t e) {
    double sum = 0.0;
    for (std::size_t c = 0; c < 3; ++c) sum += (x[e + 3 + c] - x[e + c]) * (x[e + 3 + c] - x[e + c]);
    return sum;
  }
  bool damped_;
};

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

class GroupTermTest : public testing::TestWithParam<bool> {
 protected:
  GroupTermTest() : mesh_(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.7, 0.4}, {2, 1, 1})) {
    parameters_.add("rest_positions", mesh_->vertex_entities(), 3).field.from_host(mesh_->rest_positions());
    parameters_.add("cubic", Entities::one_for_all(MPI_COMM_WORLD)).field.from_host({3.0});
    parameters_.add("damper", Entities::one_for_all(MPI_COMM_WORLD)).field.from_host({0.4});
    std::vector<int> vertices;
    for (int cell = 0; cell < mesh_->num_cells(); ++cell)
      for (const std::size_t corner : {0u, 2u})
        vertices.push_back(mesh_->cells()[4 * static_cast<std::size_t>(cell) + corner]);
    term_ = std::make_unique<GroupTerm>(std::make_unique<Pair>(GetParam()), vertices, 2);
    term_->prepare(parameters_);
  }
  Field wave(double k) const {
    Field field("wave", mesh_->vertex_entities(), 3);
    Numbers values(field.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(k * (1.0 + static_cast<double>(i % 3)) + 7.0 * mesh_->rest_positions()[3 * (i / 3)] -
                           5.0 * mesh_->rest_positions()[3 * (i / 3) + 1]);
    field.from_host(values);
    return field;
  }
  Numbers force(double t, const ParameterSet& direction) {
    Field x = wave(0.3), v = wave(0.7), dx = wave(1.1), dv = wave(1.3);
    axpy(t, dx, x);
    axpy(t, dv, v);
    ParameterSet moved = parameters_.zero_like(parameters_.names());
    for (const Parameter& parameter : parameters_) moved.at(parameter.name()).field.copy_from(parameter.field);
    for (const Parameter& change : direction) axpy(t, change.field, moved.at(change.name()).field);
    Field f("force", mesh_->vertex_entities(), 3);
    term_->add_force({x, 0, nullptr, &v}, moved, f);
    return f.to_host();
  }
  ParameterSet direction() const {
    ParameterSet set = parameters_.zero_like({"cubic", "damper"});
    set.at("cubic").field.from_host({0.5});
    set.at("damper").field.from_host({-0.2});
    return set;
  }

  std::shared_ptr<const TetrahedralMesh> mesh_;
  ParameterSet parameters_;
  std::unique_ptr<GroupTerm> term_;
};

TEST_P(GroupTermTest, tangent_and_adjoint_agree_with_differences) {
  const ParameterSet along = direction();
  const Field x = wave(0.3), v = wave(0.7), dx = wave(1.1), dv = wave(1.3), w = wave(1.9);
  Field df("df", mesh_->vertex_entities(), 3), x_bar = df.like("x_bar"), v_bar = df.like("v_bar");
  term_->add_force_tangent({x, 0, nullptr, &v}, {dx, &dv}, along, df);
  constexpr double h = 1e-2;  // the force is a polynomial of degree 4
  const Numbers a = force(h, along), b = force(-h, along), c = force(2.0 * h, along), d = force(-2.0 * h, along);
  const Numbers found = df.to_host();
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], (8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12.0 * h), 1e-10);
  ParameterSet gradient = parameters_.zero_like({"cubic", "damper"});
  term_->add_force_adjoint({x, 0, nullptr, &v}, w, {x_bar, &v_bar}, gradient);
  double back = dot(x_bar.to_host(), dx.to_host()) + dot(v_bar.to_host(), dv.to_host());
  for (const char* name : {"cubic", "damper"})
    back += gradient.at(name).field.to_host()[0] * along.at(name).field.to_host()[0];
  const double forth = dot(w.to_host(), found);
  EXPECT_NEAR(back, forth, 1e-12 * std::abs(forth));
  EXPECT_EQ(gradient.at("damper").field.to_host()[0] != 0.0, GetParam());
}

TEST_P(GroupTermTest, jacobian_multiplies_like_the_tangent) {
  const Field x = wave(0.3), v = wave(0.7), dx = wave(1.1), w = wave(1.9);
  Couplings couplings;
  const Configuration at{x, 0, nullptr, &v};
  term_->add_couplings(at, couplings);
  BlockMatrix matrix(mesh_->num_vertices(), couplings);
  const JacobianWeights weights{-0.8, GetParam() ? 1.7 : 0.0};
  term_->add_jacobian(at, parameters_, weights, matrix);
  Field product("product", mesh_->vertex_entities(), 3), df = product.like("df"), rates = product.like("rates");
  matrix.multiply(dx, product);
  axpy(weights.velocity / weights.position, dx, rates);
  term_->add_force_tangent(at, {dx, &rates}, parameters_.zero_like({}), df);
  const Numbers found = product.to_host(), expected = df.to_host();
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], weights.position * expected[i], 1e-12);
}

/// A negative parameter `cubic` makes the Jacobian of a pair indefinite. The projected Jacobian is positive
/// semidefinite and leaves positive semidefinite matrices as they are.
TEST_P(GroupTermTest, projects_the_jacobian) {
  const Field x = wave(0.3), v = wave(0.7);
  Couplings couplings;
  const Configuration at{x, 0, nullptr, &v};
  term_->add_couplings(at, couplings);
  const auto products = [&](double cubic, bool project) {
    parameters_.at("cubic").field.from_host({cubic});
    BlockMatrix matrix(mesh_->num_vertices(), couplings);
    term_->add_jacobian(at, parameters_, {-1.0, 0.0, project}, matrix);
    Numbers all;
    for (const double k : {1.1, 2.3, 3.7}) {
      const Field along = wave(k);
      Field product("product", mesh_->vertex_entities(), 3);
      matrix.multiply(along, product);
      all.push_back(dot(product.to_host(), along.to_host()));
    }
    return all;
  };
  const Numbers convex = products(3.0, false), same = products(3.0, true), concave = products(-3.0, false),
                none = products(-3.0, true);
  for (std::size_t i = 0; i < convex.size(); ++i) {
    EXPECT_GT(convex[i], 0.0);
    EXPECT_NEAR(same[i], convex[i], 1e-12 * convex[i]);
    EXPECT_LT(concave[i], 0.0);
    EXPECT_NEAR(none[i], 0.0, 1e-12 * convex[i]);
  }
}

TEST_P(GroupTermTest, refuses_parameters_with_several_values) {
  ParameterSet set;
  set.add("cubic", mesh_->vertex_entities());
  EXPECT_THROW(term_->prepare(set), Error);
}

TEST_P(GroupTermTest, has_an_energy_and_bounds) {
  EXPECT_EQ(term_->has_energy(), !GetParam());
  EXPECT_EQ(term_->has_symmetric_jacobian(), !GetParam());
  Field stiffness("stiffness", mesh_->vertex_entities(), 3), damping = stiffness.like("damping");
  term_->add_stiffness_bound(parameters_, stiffness);
  term_->add_damping_bound(parameters_, damping);
  double largest = 0.0, most = 0.0;
  for (const double value : stiffness.to_host()) largest = std::max(largest, value);
  for (const double value : damping.to_host()) most = std::max(most, value);
  EXPECT_GT(largest, 0.0);
  EXPECT_EQ(most > 0.0, GetParam());
  const Field x = wave(0.3), v = wave(0.7), dx = wave(1.1);
  if (GetParam()) {
    EXPECT_THROW(term_->begin_adjoint_tangent(parameters_, parameters_), Error);
    return;
  }
  // The force is the negative gradient of the energy.
  const auto energy = [&](double t) {
    Field moved = x.clone();
    axpy(t, dx, moved);
    return term_->energy({moved}, parameters_);
  };
  Field f("force", mesh_->vertex_entities(), 3);
  term_->add_force({x}, parameters_, f);
  constexpr double h = 1e-3;
  const double slope = (8.0 * (energy(h) - energy(-h)) - (energy(2.0 * h) - energy(-2.0 * h))) / (12.0 * h);
  EXPECT_NEAR(dot(f.to_host(), dx.to_host()), -slope, 1e-9 * std::abs(slope) + 1e-10);
}

INSTANTIATE_TEST_SUITE_P(core, GroupTermTest, testing::Bool());

}  // namespace
}  // namespace diffsim::group_term_test
