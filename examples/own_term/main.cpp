// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A user-defined force: soft springs pull the vertices at a bar's end towards a point. The struct defines the energy of
// one vertex; automatic differentiation inside the kernels provides the force and all derivatives.

#include <diffsim/core/point_term_impl.hpp>
#include <diffsim/core/runtime.hpp>
#include <diffsim/inverse/gradient_check.hpp>
#include <diffsim/inverse/losses.hpp>
#include <diffsim/simulation/simulator.hpp>
#include <iostream>

/// Spring from a vertex at the position x to a fixed point c, E = k/2 |x - c|².
struct Spring {
  static constexpr diffsim::ParameterSpec stiffness{.name = "spring_stiffness",
                                                    .unit = "N/m",
                                                    .meaning = "stiffness k of the spring at each vertex",
                                                    .range = diffsim::Interval::positive()};
  static constexpr diffsim::ParameterSpec centre{
      .name = "spring_centre", .unit = "m", .meaning = "point c to which the springs pull", .components = 3};
  static constexpr int num_values = 4;  // k and the coordinates of c

  template <class T>
  DIFFSIM_FUNCTION T energy(const diffsim::PointValues<T, num_values>& at) const {
    const T& k = at.p[0];
    const diffsim::Vec3<T> c = at.vector(1);
    return 0.5 * k * dot(at.x - c, at.x - c);
  }
};

/// Adds the springs at the vertices of a region, and the springs' parameters, to a scene.
void add_springs(diffsim::DifferentiableScene& scene, const std::string& region) {
  const diffsim::TetrahedralMesh& mesh = *scene.mesh();
  const auto one = diffsim::Entities::one_for_all(mesh.comm());
  scene.parameters().add(Spring::stiffness, one).field.from_host({0.4});
  scene.parameters().add(Spring::centre, one).field.from_host({1.0, 0.4, 0.2});
  std::vector<int> vertices;  // each rank adds the vertices that it owns
  for (const int v : mesh.region(region).vertices)
    if (v < mesh.num_owned_vertices()) vertices.push_back(v);
  using diffsim::PointParameter;
  scene.system().add_term(std::make_unique<diffsim::PointTerm<Spring>>(
      "springs", Spring{}, std::vector{PointParameter::of(Spring::stiffness), PointParameter::of(Spring::centre)},
      vertices));
}

int main(int argc, char** argv) {
  const diffsim::Runtime runtime(argc, argv);
  constexpr int num_steps = 30;
  auto mesh = diffsim::TetrahedralMesh::box(runtime.comm(), {1.0, 0.2, 0.2}, {10, 2, 2});
  const diffsim::DifferentiableMaterial rubber{
      "stable_neo_hookean", {{"youngs_modulus", 5e3}, {"poisson_ratio", 0.4}, {"density", 1000.0}}, "all"};
  diffsim::DifferentiableScene scene(mesh, {rubber}, {.dt = 0.008, .substeps = 4});
  scene.fix("x_min");
  add_springs(scene, "x_max");
  diffsim::TargetPositionLoss loss(*mesh, mesh->region("x_max"), {1.0, 0.1, 0.1}, num_steps);

  std::vector<diffsim::Unknown> unknowns(3);
  unknowns[0].parameter = "spring_stiffness";
  unknowns[1].parameter = "spring_centre";
  unknowns[2].parameter = "initial_positions";
  diffsim::InverseProblem problem(scene.model(), scene.initial_state(), num_steps, loss, unknowns);
  bool passed = true;
  for (const diffsim::UnknownCheck& check : diffsim::check_gradient(problem, problem.start())) {
    passed = passed && check.verdict == diffsim::CheckVerdict::passed;
    if (runtime.rank() == 0) std::cout << check.name << ": " << to_string(check.verdict) << ' ' << check.note << '\n';
  }
  if (runtime.rank() == 0) std::cout << "gradient checks " << (passed ? "passed" : "failed") << '\n';
  return passed ? 0 : 1;
}
