// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes of affine bodies.
#include <array>
#include <cmath>

#include "cell_model_fixture.hpp"

namespace diffsim::app::affine_test {
namespace {

const std::string wood = "{model: st_venant_kirchhoff, density: 600, youngs_modulus: 1.0e6, poisson_ratio: 0.2}";
const std::string foam = "{model: stable_neo_hookean, density: 300, youngs_modulus: 4.0e4, poisson_ratio: 0.2}";
const std::string wedge = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

/// Returns a scene with a crate and a wedge that fall onto a soft slab.
std::string scene(const std::string& more, const std::string& integrator = "symplectic_euler",
                  const std::string& of_crate = {}) {
  return "bodies:\n  crate:\n    kind: affine\n    mesh: {box: {size: [0.1, 0.06, 0.08], cells: [2, 1, 1]}}\n"
         "    placement: {rotate: {axis: [1, 2, 0], angle: 0.05}, translate: [0.1, 0.11, 0.1]}\n    material: " +
         wood + "\n    initial: {velocity: [0.2, -0.5, 0], angular_velocity: [1, 2, 3]}\n" + of_crate +
         "  wedge:\n    kind: affine\n    mesh: {file: wedge.obj}\n    placement: {translate: [0.25, 0.115, 0.1]}\n"
         "    material: " +
         wood + "\n  slab:\n    mesh: {box: {size: [0.4, 0.1, 0.3], cells: [3, 1, 2]}}\n    material: " + foam +
         "\nregions:\n  corner: {body: crate, vertices: [1]}\n"
         "boundary: [{region: slab/y_min, fix: [x, y, z]}]\n"
         "contact: {barrier_distance: 1.0e-2, barrier_stiffness: 1.0e5, friction: 0.3, friction_velocity: 0.1}\n"
         "solver: {integrator: " +
         integrator + ", dt: 0.002, steps: 5" + (integrator == "symplectic_euler" ? ", substeps: 8, damping: 1" : "") +
         "}\nobjective: [{type: target_position, region: corner, target: [0.5, -0.1, 0.1]}]\n" + more;
}

class Affine : public CellModelTest {
 protected:
  void SetUp() override {
    CellModelTest::SetUp();
    write("wedge.obj", wedge);
  }
};

TEST_F(Affine, passes_the_check_of_its_gradient) {
  const std::string parameters =
      "parameters:\n  - {name: density, per: region}\n  - {name: youngs_modulus, per: cell}\n"
      "  - {name: friction}\n";
  for (const std::string integrator : {"symplectic_euler", "newmark"}) {
    write("scene.yaml", scene(parameters, integrator));
    good({"check", "scene.yaml"}, "check");
  }
}

TEST_F(Affine, has_its_surface_in_trajectories) {
  write("scene.yaml", scene(""));
  good({"simulate", "scene.yaml"}, "run");
  const auto read = [&](const std::string& name) { return dataset("run/trajectory.h5", name); };
  EXPECT_EQ(read("/bodies/crate/positions").size(), 6u * 3u * 4u);
  const std::vector<double> rest = read("/bodies/wedge/surface/mesh/vertices"),
                            all = read("/bodies/wedge/surface/positions"),
                            velocities = read("/bodies/wedge/surface/velocities");
  ASSERT_EQ(rest.size(), 3u * 4u);
  ASSERT_EQ(all.size(), 6u * 3u * 4u);
  ASSERT_EQ(velocities.size(), all.size());
  EXPECT_EQ(dataset("run/trajectory.h5", "/bodies/crate/surface/mesh/vertices").size(), 3u * 12u);
  for (std::size_t i = 0; i < rest.size(); ++i) EXPECT_NEAR(all[i], rest[i], 1e-15);
  EXPECT_NEAR(rest[3], 0.35, 1e-15);  // the second vertex, after the placement
  // The mean velocity during the first step differs from the velocity at its end by g dt/2, due to gravity.
  for (std::size_t i = 0; i < rest.size(); ++i) EXPECT_NEAR((all[12 + i] - all[i]) / 0.002, velocities[12 + i], 0.01);
  if (rank_ == 0) {
    const std::string xdmf = this->read("run/trajectory.xdmf");
    EXPECT_NE(xdmf.find("<Grid Name=\"crate\""), std::string::npos);
    EXPECT_NE(xdmf.find("/bodies/crate/surface/mesh/cells"), std::string::npos);
    EXPECT_NE(xdmf.find("/bodies/wedge/surface/velocities"), std::string::npos);
    EXPECT_EQ(xdmf.find("/bodies/wedge/positions"), std::string::npos);
  }
}

TEST_F(Affine, begins_to_turn_about_its_centre_of_mass) {
  write("scene.yaml", scene(""));
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> x = dataset("run/trajectory.h5", "/bodies/crate/surface/positions"),
                            v = dataset("run/trajectory.h5", "/bodies/crate/surface/velocities");
  const double w[3] = {1.0, 2.0, 3.0}, velocity[3] = {0.2, -0.5, 0.0};
  double centre[3] = {};
  for (std::size_t i = 0; i < 36; ++i) centre[i % 3] += x[i] / 12.0;  // mean of the box's vertices
  for (std::size_t i = 0; i < 36; i += 3)
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t a = (c + 1) % 3, b = (c + 2) % 3;
      EXPECT_NEAR(v[i + c], velocity[c] + w[a] * (x[i + b] - centre[b]) - w[b] * (x[i + a] - centre[a]), 1e-12);
    }
}

TEST_F(Affine, is_the_same_from_a_box_and_from_its_file) {
  write("scene.yaml", scene(""));
  good({"mesh", "scene.yaml", "--convert", path("part.h5")}, "mesh");
  std::string text = scene("");
  const std::string box = "{box: {size: [0.1, 0.06, 0.08], cells: [2, 1, 1]}}";
  text.replace(text.find(box), box.size(), "{file: part-crate.h5, cells: tetrahedra}");
  write("again.yaml", text);
  good({"simulate", "scene.yaml"}, "run");
  good({"simulate", "again.yaml"}, "again");
  EXPECT_EQ(dataset("run/trajectory.h5", "/bodies/crate/positions"),
            dataset("again/trajectory.h5", "/bodies/crate/positions"));
}

TEST_F(Affine, refuses_what_it_cannot_be) {
  const auto with = [&](const std::string& old, const std::string& now) {
    std::string text = scene("parameters: [{name: density, per: global}]\n");
    text.replace(text.find(old), old.size(), now);
    return text;
  };
  const std::string box = "{box: {size: [0.1, 0.06, 0.08], cells: [2, 1, 1]}}";
  refused(with("cells: [3, 1, 2]}", "cells: [3, 1, 2]}, order: 2"), "is in a scene with affine bodies");
  refused(with(box, "{box: {size: [0.1, 0.06, 0.08], cells: [2, 1, 1]}, order: 2}"),
          "an affine body has flat triangles");
  write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  refused(with("wedge.obj", "open.obj"), "the surface is open; repair the surface");
  write("line.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n");
  refused(with("{file: wedge.obj}", "{file: line.obj, cells: segments}"), "an affine body needs a closed surface");
  refused(with("kind: affine\n    mesh: {box", "kind: affine\n    surface: {file: wedge.obj}\n    mesh: {box"),
          "the contact surface of an affine body is its mesh; remove `surface`");
  refused(with("boundary: [", "boundary: [{region: crate/all, traction: [1, 0, 0]}, "),
          "has faces of an affine body, for which surface loads are not supported");
  refused(with("material: " + foam, "initial: {angular_velocity: [0, 0, 1]}\n    material: " + foam),
          "angular_velocity");
}

TEST_F(Affine, has_sensors_of_contact) {
  std::string text = scene(
      "sensors:\n  push: {type: contact_force, between: [crate, slab]}\n"
      "  top: {type: contact_force, between: [slab/y_max, crate]}\n"
      "parameters:\n  - {name: youngs_modulus, per: cell}\n  - {name: friction}\n"
      "output: {fields: [positions, contact_forces]}\n",
      "newmark");
  const std::string target = "type: target_position, region: corner, target: [0.5, -0.1, 0.1]";
  text.replace(text.find(target), target.size(), "type: minimise, sensor: push, component: y, step: 2");
  write("scene.yaml", text);
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> push = dataset("run/trajectory.h5", "/sensors/push"),
                            top = dataset("run/trajectory.h5", "/sensors/top"),
                            forces = dataset("run/trajectory.h5", "/contact/crate|slab");
  ASSERT_EQ(push.size(), 6u * 3u);
  ASSERT_EQ(top.size(), push.size());
  ASSERT_EQ(forces.size(), push.size());
  const double size = push.at(3 * 2 + 1);  // the crate touches the slab in state 2
  EXPECT_GT(size, 1.0);
  for (std::size_t i = 0; i < push.size(); ++i) {
    EXPECT_NEAR(push[i], forces[i], 1e-10 * size) << i;
    EXPECT_NEAR(top[i], -forces[i], 1e-10 * size) << i;  // the crate touches only the top of the slab
  }
  good({"check", "scene.yaml"}, "check");
}

}  // namespace
}  // namespace diffsim::app::affine_test
