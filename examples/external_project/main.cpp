// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A user-defined elastic law, a rollout, and the gradient of the rollout's loss. The law is a struct with an energy;
// automatic differentiation inside the kernels provides the stress and all derivatives.

#include <cmath>
#include <diffsim/core/runtime.hpp>
#include <diffsim/elastic/elastic_term_impl.hpp>
#include <diffsim/inverse/gradient_check.hpp>
#include <diffsim/inverse/losses.hpp>
#include <diffsim/simulation/simulator.hpp>
#include <iostream>

/// Exponentially stiffening tissue (after Fung 1993, ch. 7): W = µ/2b (exp(b (tr FᵀF - 3 - 2 ln J)) - 1) + λ/2 (ln J)².
struct Tissue {
  static constexpr const char* name = "tissue";
  static constexpr std::array<diffsim::ParameterSpec, 3> parameters{
      diffsim::ElasticParameters::youngs_modulus, diffsim::ElasticParameters::poisson_ratio,
      diffsim::ParameterSpec{.name = "stiffening",
                             .meaning = "exponent b",
                             .range = diffsim::Interval::positive(),
                             .home = diffsim::ParameterHome::cells}};
  static constexpr int num_moduli = 3;  // µ, λ, b
  static constexpr bool needs_positive_jacobian = true;

  template <class T>
  static DIFFSIM_FUNCTION void moduli(const T (&parameters)[3], T (&moduli)[3]) {
    const T &E = parameters[0], &nu = parameters[1], &b = parameters[2];
    const T mu = E / (2.0 * (1.0 + nu));
    const T lambda = 2.0 * mu * nu / (1.0 - 2.0 * nu);
    moduli[0] = mu;
    moduli[1] = lambda;
    moduli[2] = b;
  }
  template <class T>
  static DIFFSIM_FUNCTION T energy(const diffsim::Mat3<T>& F, const T (&moduli)[3]) {
    using std::exp, std::log;
    const T &mu = moduli[0], &lambda = moduli[1], &b = moduli[2];
    const T ln_J = log(diffsim::determinant(F));
    const T stretch = diffsim::inner(F, F) - 3.0 - 2.0 * ln_J;
    return mu / (2.0 * b) * (exp(b * stretch) - 1.0) + 0.5 * lambda * ln_J * ln_J;
  }
};

int main(int argc, char** argv) {
  const diffsim::Runtime runtime(argc, argv);
  diffsim::register_law<Tissue>();

  constexpr int num_steps = 40;
  auto mesh = diffsim::TetrahedralMesh::box(runtime.comm(), {1.0, 0.2, 0.2}, {10, 2, 2});
  diffsim::DifferentiableMaterial tissue{
      "tissue", {{"youngs_modulus", 5e3}, {"poisson_ratio", 0.4}, {"stiffening", 4.0}, {"density", 1000.0}}, "all"};
  diffsim::DifferentiableScene scene(mesh, {tissue}, {.dt = 0.008, .substeps = 4});
  scene.fix("x_min");
  diffsim::TargetPositionLoss loss(*mesh, mesh->region("x_max"), {1.0, 0.1, 0.1}, num_steps);
  diffsim::DifferentiableSimulator simulator(scene);
  simulator.require_gradient({"stiffening"});
  const double value = simulator.rollout(num_steps, /*checkpoint_every*/ 10, loss);
  simulator.backward();
  double along = diffsim::local_sum(simulator.gradient("stiffening"))[0];
  MPI_Allreduce(MPI_IN_PLACE, &along, 1, MPI_DOUBLE, MPI_SUM, runtime.comm());

  // Verifies the gradient by dot products and by the orders of convergence of Taylor remainders.
  diffsim::Unknown unknown;
  unknown.parameter = "stiffening";
  diffsim::InverseProblem problem(scene.model(), scene.initial_state(), num_steps, loss, {unknown});
  const diffsim::UnknownCheck check = diffsim::check_gradient(problem, problem.start()).front();
  if (runtime.rank() == 0)
    std::cout << "loss " << value << ", its derivative with respect to the stiffening of the whole body " << along
              << ", gradient checks " << (check.passed ? "passed" : "failed") << '\n';
  return check.passed ? 0 : 1;
}
