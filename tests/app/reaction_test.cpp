// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Reactions in scenes: output of `simulate`, and the objective `reaction`.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cell_model_fixture.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app::reaction_test {
namespace {

/// Returns a scene with a block that a moving plate of triangles presses against its fixed foot.
std::string scene(const std::string& objective, const std::string& integrator = "implicit_euler",
                  const std::string& youngs_modulus = "2.0e+5") {
  return "bodies:\n  block: {mesh: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, material: {model: neo_hookean, "
         "density: 1000, youngs_modulus: " +
         youngs_modulus +
         ", poisson_ratio: 0.3}}\n"
         "  plate: {kind: obstacle, mesh: {box: {size: [0.2, 0.02, 0.2], cells: [1, 1, 1]}}, placement: {translate: "
         "[-0.05, 0.1015, -0.05]}}\n"
         "solver: {integrator: " +
         integrator +
         ", dt: 0.01, steps: 6, gravity: [0, -9.8, 0], newton: {tolerance: 1.0e-12}}\n"
         "boundary:\n  - {region: block/y_min, fix: [x, y, z]}\n"
         "  - {region: plate/all, move: {velocity: [0.02, -0.05, 0]}}\n"
         "contact: {barrier_distance: 2.0e-3, barrier_stiffness: 1.0e+6, friction: 0.4, friction_velocity: 0.05}\n" +
         objective + "output: {fields: [positions, velocities, reactions, contact_forces]}\n";
}

class ReactionOfScene : public CellModelTest {};

TEST_F(ReactionOfScene, is_written_and_balances) {
  write("scene.yaml", scene("", "quasi_static"));
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> foot = dataset("run/trajectory.h5", "/reaction/block/y_min"),
                            plate = dataset("run/trajectory.h5", "/reaction/plate/all");
  ASSERT_EQ(foot.size(), 7u * 3u);
  ASSERT_EQ(plate.size(), 7u * 3u);
  for (std::size_t n = 1; n < 7; ++n) {
    EXPECT_NEAR(foot[3 * n] + plate[3 * n], 0.0, 1e-7) << n;
    const double weight = 1000.0 * 1e-3 * 9.8 * static_cast<double>(n) / 6.0;  // quasi-static steps ramp loads
    EXPECT_NEAR(foot[3 * n + 1] + plate[3 * n + 1], weight, 1e-7) << n;
  }
  // The reaction of an obstacle balances the contact forces on the obstacle.
  const std::vector<double> contact = dataset("run/trajectory.h5", "/contact/block|plate");
  ASSERT_EQ(contact.size(), 7u * 3u);
  for (std::size_t i = 3; i < contact.size(); ++i) EXPECT_NEAR(contact[i], plate[i], 1e-9 * std::abs(plate[i]) + 1e-12);
  EXPECT_LT(plate[3 * 6 + 1], -20.0);  // the plate is held down
  EXPECT_GT(plate[3 * 6], 1.0);        // and pulled against friction
}

TEST_F(ReactionOfScene, passes_the_check_of_its_gradient) {
  const std::string parameters =
      "parameters:\n  - {name: youngs_modulus, region: block/all}\n  - {name: density, region: block/all}\n"
      "  - {name: gravity}\n  - {name: friction}\n  - {name: barrier_stiffness}\n  - {name: velocity, region: "
      "plate/all, per: step}\n";
  for (const std::string integrator : {"implicit_euler", "quasi_static"}) {
    write("scene.yaml",
          scene("objective:\n  - {type: reaction, region: plate/all, target: [1, -20, 0.3], step: 5, weight: 30}\n"
                "  - {type: reaction, region: block/y_min, target: [0, 30, 0.1], step: 3, weight: 0.2}\n" +
                    parameters,
                integrator));
    good({"check", "scene.yaml", "--hessian"}, "check");
  }
}

TEST_F(ReactionOfScene, gives_the_stiffness) {
  write("scene.yaml", scene("", "implicit_euler", "3.1e+5"));
  good({"simulate", "scene.yaml"}, "measured");
  // From a trajectory, and from a file with only some steps and without the y components.
  const std::vector<double> forces = dataset("measured/trajectory.h5", "/reaction/plate/all");
  {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path("forces.h5"), "forces", 1);
    std::vector<double> some;
    for (const std::size_t n : {6, 4}) some.insert(some.end(), {forces[3 * n], std::nan(""), forces[3 * n + 2]});
    file.write_array<double>("/reaction", some, {2, 3}, "N");
    file.write_array<std::int64_t>("/step", {6, 4}, {2});
    file.publish();
  }
  for (const std::string file : {"measured/trajectory.h5", "forces.h5"}) {
    write("scene.yaml", scene("objective: [{type: reaction, region: plate/all, observations: " + file +
                              "}]\nparameters: [{name: youngs_modulus, region: block/all}]\n"
                              "optimiser: {max_iterations: 40, gradient_tolerance: 1.0e-9}\n"));
    good({"invert", "scene.yaml"}, "run");
    const std::vector<double> found = dataset("run/parameters.h5", "/parameters/youngs_modulus");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(found[0], 3.1e5, 1e-5 * 3.1e5) << file;
  }
}

TEST_F(ReactionOfScene, contact_forces_are_those_on_the_first_of_a_pair) {
  // A stack of two blocks on a plane: the plane carries the upper and the lower block, the lower block the upper one.
  write("scene.yaml",
        "bodies:\n  lower: {kind: affine, mesh: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, material: {model: "
        "stable_neo_hookean, density: 1000, youngs_modulus: 1.0e+7, poisson_ratio: 0.3}}\n"
        "  upper: {mesh: {box: {size: [0.06, 0.06, 0.06], cells: [2, 2, 2]}}, placement: {translate: [0.02, 0.1005, "
        "0.02]}, material: {model: neo_hookean, density: 2000, youngs_modulus: 1.0e+6, poisson_ratio: 0.3}}\n"
        "solver: {integrator: implicit_euler, dt: 0.05, steps: 60, gravity: [0, -9.8, 0], newton: {tolerance: "
        "1.0e-11}}\n"
        "contact: {barrier_distance: 1.0e-3, barrier_stiffness: 1.0e+5, friction: 0.3, friction_velocity: 0.01, "
        "obstacles: [{plane: {point: [0, -0.0005, 0], normal: [0, 1, 0]}, name: ground}]}\n"
        "output: {fields: [positions, contact_forces]}\n");
  good({"simulate", "scene.yaml"}, "run");
  const double lower = 1000.0 * 1e-3 * 9.8, upper = 2000.0 * 0.06 * 0.06 * 0.06 * 9.8;
  const auto last = [&](const std::string& pair) {
    const std::vector<double> forces = dataset("run/trajectory.h5", "/contact/" + pair);
    return forces.at(3 * 60 + 1);
  };
  EXPECT_NEAR(last("lower|upper"), -upper, 1e-5 * upper);
  EXPECT_NEAR(last("lower|ground"), lower + upper, 1e-5 * lower);
  EXPECT_EQ(last("upper|ground"), 0.0);
}

TEST_F(ReactionOfScene, is_refused_in_one_line) {
  const auto refused = [&](const std::string& objective, const std::string& words) {
    write("scene.yaml", scene("objective: [{type: reaction, " + objective +
                              "}]\nparameters: [{name: youngs_modulus, region: block/all}]\n"));
    const Ran ran = run({"gradient", "scene.yaml"}, "refused");
    EXPECT_EQ(ran.code, 2);
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
      EXPECT_FALSE(std::filesystem::exists(path("refused")));
    }
  };
  refused("region: block/y_max, target: [0, 0, 0]", "'block/y_max' has no reaction, because none of its vertices is");
  refused("region: block/y_min", "target: is missing; give [x, y, z] in N, or `observations`");
  refused("region: block/y_min, target: [0, 0, 0], steps: all", "needs `observations`");
  refused("region: block/y_min, target: [0, 0, 0], observations: f.h5", "cannot be combined with `observations`");
  refused("region: block/y_min, target: [0, 0, 0], step: 7", "is after the last step, 6");
  refused("region: block/top, target: [0, 0, 0]", "block/top");
  refused("region: block/y_min, observations: absent.h5", "absent.h5");
  {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path("late.h5"), "forces", 1);
    file.write_array<double>("/reaction", std::vector<double>(24, 1.0), {8, 3}, "N");
    file.publish();
  }
  refused("region: block/y_min, observations: late.h5", "has step 7, which is after the run's last step, 6");
  {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path("other.h5"), "forces", 1);
    file.write_array<double>("/force", std::vector<double>(3, 1.0), {1, 3}, "N");
    file.publish();
  }
  refused("region: block/y_min, observations: other.h5", "does not exist; give a dataset [K, 3]");
}

}  // namespace
}  // namespace diffsim::app::reaction_test
