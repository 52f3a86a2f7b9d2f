// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A value that is not finite in the adjoint of one term at one step is located: step, term, vertex and cell.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::not_finite_test {
namespace {

constexpr int num_steps = 40, bad_step = 17, bad_cell = 5;

/// Term without force whose adjoint is not finite in one step: at the vertices of one tetrahedron, or in the derivative
/// with respect to gravity.
class BadTerm final : public ForceTerm {
 public:
  BadTerm(const TetrahedralMesh& mesh, bool of_parameter) : mesh_(mesh), of_parameter_(of_parameter) {}
  std::string name() const override { return "bad"; }
  double energy(const Configuration&, const ParameterSet&) override { return 0.0; }
  void add_force(const Configuration&, const ParameterSet&, Field&) override {}
  void add_force_tangent(const Configuration&, const ConfigurationTangent&, const ParameterSet&, Field&) override {}
  void add_jacobian(const Configuration&, const ParameterSet&, const JacobianWeights&, BlockMatrix&) override {}
  void prepare_adjoint(const ParameterSet&, ParameterSet& gradient) override {
    // A sum over steps that reaches the gradient only here.
    if (std::exchange(is_bad_, false)) gradient.at("gravity").field.fill(std::numeric_limits<double>::quiet_NaN());
  }
  void add_force_adjoint(const Configuration& at, const Field&, const ConfigurationAdjoint& adjoint,
                         ParameterSet&) override {
    if (at.step != bad_step) return;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (of_parameter_) {
      is_bad_ = true;
      return;
    }
    std::vector<double> values = adjoint.positions.to_host();
    for (std::size_t cell = 0; cell < static_cast<std::size_t>(mesh_.num_cells()); ++cell)
      for (std::size_t i = 0; i < 4 && mesh_.cell_order().file_index()[cell] == bad_cell; ++i)
        values[3 * static_cast<std::size_t>(mesh_.cells()[4 * cell + i]) + 1] = nan;
    adjoint.positions.from_host(values);
  }

 private:
  const TetrahedralMesh& mesh_;
  bool of_parameter_;
  bool is_bad_ = false;
};

/// Returns the message of the gradient of a scene with a BadTerm.
std::string message(const std::string& integrator, bool of_parameter) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.1, 0.1}, {4, 1, 1});
  DifferentiableScene scene(
      mesh,
      {DifferentiableMaterial("neo_hookean", {{"density", 1000.0}, {"youngs_modulus", 1e5}, {"poisson_ratio", 0.3}})},
      {.dt = 1e-3, .integrator = integrator_named(integrator)});
  scene.fix("x_min");
  scene.system().add_term(std::make_unique<BadTerm>(*mesh, of_parameter));
  TargetPositionLoss loss(*mesh, mesh->region("x_max"), {0.4, 0.1, 0.0}, num_steps);
  InverseProblem problem(scene.model(), scene.initial_state(), num_steps, loss,
                         {{.parameter = "gravity"}, {.parameter = "initial_velocities"}});
  std::vector<double> gradient;
  try {
    problem.gradient(problem.start(), gradient);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::run);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(not_finite, value_of_a_vertex_is_located) {
  for (const std::string integrator : {"symplectic_euler", "velocity_verlet"}) {
    const std::string text = message(integrator, false);
    EXPECT_NE(text.find("state of step 17, from the term 'bad' at vertex"), std::string::npos) << text;
    EXPECT_NE(text.find(", tetrahedron 5"), std::string::npos) << text;
  }
}

TEST(not_finite, derivative_by_a_parameter_is_located) {
  for (const std::string integrator : {"symplectic_euler", "implicit_euler"}) {
    const std::string text = message(integrator, true);
    EXPECT_NE(text.find("state of step 17, from the term 'bad', in the derivative with respect to 'gravity'"),
              std::string::npos)
        << text;
  }
}

TEST(not_finite, gradient_of_a_loss_is_located) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.1, 0.1}, {4, 1, 1});
  DifferentiableScene scene(
      mesh,
      {DifferentiableMaterial("neo_hookean", {{"density", 1000.0}, {"youngs_modulus", 1e5}, {"poisson_ratio", 0.3}})},
      {.dt = 1e-3});
  FunctionLoss loss([](int n, const State& state, State* gradient) {
    if (n != 3 || !gradient) return 0.0;
    std::vector<double> values((*gradient)["velocities"].size(), 0.0);
    values[4] = std::numeric_limits<double>::infinity();
    (*gradient)["velocities"].from_host(values);
    return local_dot(state["velocities"], state["velocities"]);
  });
  InverseProblem problem(scene.model(), scene.initial_state(), 5, loss, {{.parameter = "gravity"}});
  std::vector<double> gradient;
  try {
    problem.gradient(problem.start(), gradient);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("state of step 3, from the loss, in 'velocities'"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace diffsim::not_finite_test
