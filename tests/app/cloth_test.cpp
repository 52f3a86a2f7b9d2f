// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes of cloth.
#include <cmath>

#include "flag_fixture.hpp"

namespace diffsim::app::cloth_test {
namespace {

const std::string silk = "{cloth_stiffness: 20, cloth_bending: 1.0e-3, cloth_density: 0.2}";

class Cloth : public FlagTest {
 protected:
  Cloth() : FlagTest("cloth") {}
};

TEST_F(Cloth, passes_the_check_of_its_gradient_by_every_parameter) {
  const std::string parameters =
      "parameters:\n  - {name: cloth_stiffness, per: triangle}\n  - {name: cloth_poisson_ratio, per: global}\n"
      "  - {name: cloth_bending, per: region}\n  - {name: cloth_density, per: triangle}\n"
      "  - {name: rest_positions, per: vertex}\n";
  expect_checked(silk, parameters);
}

TEST_F(Cloth, has_gradients_in_files_whose_parts_add_up) {
  expect_sums_of_triangles(silk, {"cloth_stiffness", "cloth_poisson_ratio", "cloth_bending", "cloth_density"});
}

TEST_F(Cloth, takes_its_parameters_from_files) {
  {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path("material.h5"), "test", 1);
    file.write_array("/k", std::vector{20.0, 25.0, 30.0, 15.0}, {num_triangles});
    file.write_array("/bodies/flag/k", std::vector{20.0, 25.0, 30.0, 15.0}, {num_triangles});
    file.publish();
  }
  const std::string rest = ", cloth_bending: 1.0e-3, cloth_density: 0.2}";
  const auto loss = [&](const std::string& material, const std::string& start, const std::string& output) {
    write("scene.yaml", scene(material, "parameters: [{name: cloth_stiffness, per: triangle" + start + "}]\n"));
    good({"gradient", "scene.yaml"}, output);
    return dataset(output + "/gradient.h5", "/loss").at(0);
  };
  const double by_material = loss("{cloth_stiffness: {file: material.h5, dataset: /k}" + rest, "", "material");
  const double by_initial = loss(silk, ", initial: {file: material.h5, dataset: /k}", "initial");
  EXPECT_NEAR(by_initial, by_material, 1e-14);
  EXPECT_GT(std::abs(by_material - loss(silk, "", "even")), 1e-9);
}

TEST_F(Cloth, finds_the_stiffness_that_a_shape_was_made_with) {
  const std::string target = "objective: [{type: target_position, region: tip, target: [0.3, 0.1, 0.1]}]\n";
  std::string made = scene("{cloth_stiffness: 26, cloth_density: 0.2}", "output: {every: 1}\n");
  made.erase(made.find(target), target.size());
  write("made.yaml", made);
  good({"simulate", "made.yaml"}, "made");
  std::string sought = scene("{cloth_stiffness: 20, cloth_density: 0.2}",
                             "parameters: [{name: cloth_stiffness, per: global, search: logarithm}]\n"
                             "optimiser: {method: lbfgs, max_iterations: 20}\n");
  sought.replace(sought.find(target), target.size(),
                 "objective: [{type: track, observations: made/trajectory.h5, region: tip}]\n");
  write("sought.yaml", sought);
  good({"invert", "sought.yaml"}, "found");
  EXPECT_NEAR(dataset("found/parameters.h5", "/parameters/cloth_stiffness").at(0), 26.0, 26e-4);
}

TEST_F(Cloth, refuses_what_it_cannot_be_made_of) {
  const std::string sought = "parameters: [{name: cloth_stiffness, per: global}]\n";
  refused(scene("{cloth_density: 0.2}", sought), "bodies.flag.material.cloth_stiffness: is missing");
  refused(scene("{cloth_stiffness: 20}", sought), "bodies.flag.material.cloth_density: is missing");
  refused(scene("{cloth_stiffness: 20, cloth_density: 0}", sought), "cloth_density: 0 is not positive");
  refused(scene("{cloth_stiffness: 20, cloth_density: 1, cloth_poisson_ratio: 1}", sought), "cloth_poisson_ratio: 1");
  refused(scene("{cloth_stiffness: 20, cloth_density: 1, cloth_bending: -1}", sought), "cloth_bending: -1 is negative");
  refused(scene("{cloth_stiffness: 20, cloth_density: 1, density: 3}", sought), "density");
  refused(scene(silk, "parameters: [{name: cloth_stiffness, per: cell}]\n"), "triangle");
  // A fifth triangle at the side that the first two triangles share.
  write("sheet.obj", sheet + "v 0.05 0.05 0.1\nf 1 5 7\n");
  refused(scene(silk, sought), "triangle 0 has a side that two other triangles also have");
  write("scene.yaml", scene("{cloth_stiffness: 20, cloth_density: 0.2}", sought));
  good({"check", "scene.yaml"}, "check");
}

}  // namespace
}  // namespace diffsim::app::cloth_test
