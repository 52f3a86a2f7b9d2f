// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "cell_model_fixture.hpp"

namespace diffsim::app {

/// Mass between two springs that are longer than half the distance of their other ends: a double well. A crank moves
/// one of these ends along a circle. The motion is chaotic.
inline std::string double_well(double stiffness, int steps, const std::string& more) {
  return "bodies: {well: {kind: springs, mesh: {file: well.obj}, material: {spring_stiffness: " +
         std::to_string(stiffness) +
         ", spring_damping: 0.02, point_mass: 0.05}}}\n"
         "regions:\n"
         "  crank: {body: well, vertices: [0]}\n"
         "  mass: {body: well, vertices: [1]}\n"
         "  post: {body: well, vertices: [2]}\n"
         "boundary:\n"
         "  - {region: post, fix: [x, y, z]}\n"
         "  - {region: mass, fix: [z]}\n"
         "  - {region: crank, move: {axis: [0, 0, 1], origin: [-0.12, 0, 0], angular_velocity: 12}}\n"
         "solver: {integrator: velocity_verlet, dt: 0.01, steps: " +
         std::to_string(steps) + ", substeps: 2, gravity: [0, 0, 0]}\n" + more;
}

inline std::string search(const std::string& optimiser) {
  return "objective: [{type: track, observations: truth/trajectory.h5, steps: all}]\n"
         "parameters: [{name: spring_stiffness, bounds: [10, 40]}]\n"
         "optimiser: {" +
         optimiser + ", gradient_tolerance: 1.0e-6}\n";
}

/// Test of scenes with a double well.
class DoubleWellTest : public CellModelTest {
 protected:
  void SetUp() override {
    CellModelTest::SetUp();
    write("well.obj", "v -0.1 0 0\nv 0 0.0663324958 0\nv 0.1 0 0\nl 1 2\nl 2 3\n");
  }
};

}  // namespace diffsim::app
