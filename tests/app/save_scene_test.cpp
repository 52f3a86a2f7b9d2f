// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes that are written with the present values of their parameters, and read again.
#include "app/save_scene.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "app/scene_file.hpp"
#include "diffsim/core/error.hpp"
#include "runner_fixture.hpp"

namespace diffsim::app::save_scene_test {
namespace {

const std::string bar =
    "mesh: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}\n"
    "material: {model: neo_hookean, density: 1000, youngs_modulus: 2.0e+4, poisson_ratio: 0.3}\n"
    "solver: {dt: 0.01, steps: 4, substeps: 4, damping: 1}\n"
    "boundary: [{region: x_min, fix: [x, y, z]}, {region: x_max, traction: [0, 0, 10]}]\n";

const std::string two_bodies =
    "bodies:\n"
    "  crate:\n"
    "    mesh: {box: {size: [0.1, 0.1, 0.1], cells: [2, 1, 1]}}\n"
    "    material: {model: neo_hookean, density: 1000, youngs_modulus: 2.0e+4, poisson_ratio: 0.3}\n"
    "    initial: {velocity: [0, 0, 1]}\n"
    "  net:\n"
    "    kind: springs\n"
    "    mesh: {file: net.obj}\n"
    "    material: {spring_stiffness: 200, point_mass: 0.01}\n"
    "solver: {dt: 0.001, steps: 4}\n";

/// Changes all values of a parameter by factors that differ from entity to entity.
void change(DifferentiableScene& scene, const std::string& name) {
  Parameter& parameter = scene.parameters().at(name);
  std::vector<double> values = parameter.field.to_host();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= 1.0 + 0.01 * std::sin(1.0 + static_cast<double>(i));
  parameter.field.from_host(values);
  synchronise(scene.parameters());
}

class SaveScene : public RunnerTest {
 protected:
  std::string folder() const { return std::filesystem::path(path("scene.yaml")).parent_path().string(); }

  /// Writes the scene and reads the scene file. Expects that all parameters and states are bitwise equal.
  void check(const SceneFile& file) {
    DifferentiableScene& scene = *file.experiments().front().solver;
    save_scene(scene, file.document(), folder(), path("saved.yaml"));
    const SceneFile again(MPI_COMM_WORLD, path("saved.yaml"));
    DifferentiableScene& made = *again.experiments().front().solver;
    EXPECT_EQ(made.parameters().names(), scene.parameters().names());
    for (const Parameter& parameter : scene.parameters())
      EXPECT_EQ(made.parameters().at(parameter.name()).field.to_host(), parameter.field.to_host()) << parameter.name();
    State x = scene.initial_state(), y = made.initial_state();
    for (int n = 0; n < 4; ++n) {
      for (const char* const field : {"positions", "velocities"})
        EXPECT_EQ(y[field].to_host(), x[field].to_host()) << field << " of state " << n;
      scene.step(n, x);
      made.step(n, y);
    }
  }
};

TEST_F(SaveScene, ParametersLoadsAndInitialState) {
  write("scene.yaml", bar);
  const SceneFile file(MPI_COMM_WORLD, path("scene.yaml"));
  DifferentiableScene& scene = *file.experiments().front().solver;
  for (const char* const name : {"youngs_modulus", "rest_positions", "traction:x_max"}) change(scene, name);
  scene.set_control("gravity", {0, -9, 1, 0, -8, 2, 0, -7, 3, 0, -6, 1.0 / 3.0});
  std::vector<double> v(3 * static_cast<std::size_t>(scene.mesh()->num_owned_vertices()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 1e-3 * std::cos(static_cast<double>(i));
  scene.set_initial_displacement(v);
  scene.set_initial_velocity(v);
  check(file);
}

TEST_F(SaveScene, SeveralBodies) {
  write("net.obj", "v 0 0.2 0\nv 0.1 0.2 0\nv 0.2 0.25 0\nl 1 2\nl 2 3\n");
  write("scene.yaml", two_bodies);
  const SceneFile file(MPI_COMM_WORLD, path("scene.yaml"));
  DifferentiableScene& scene = *file.experiments().front().solver;
  for (const char* const name : {"youngs_modulus", "spring_stiffness", "point_mass"}) change(scene, name);
  check(file);
}

TEST_F(SaveScene, DifferencesThatNoValueDescribesAreRefused) {
  write("scene.yaml", bar);
  const SceneFile file(MPI_COMM_WORLD, path("scene.yaml"));
  DifferentiableScene& scene = *file.experiments().front().solver;
  const auto refusal = [&] {
    try {
      save_scene(scene, file.document(), folder(), path("saved.yaml"));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  scene.fix("x_max", {false, true, false});
  EXPECT_EQ(refusal(), "the scene cannot be written: its fixed vertices differ from those of the document");
  scene.add_pressure("y_max", {1.0});
  EXPECT_EQ(refusal(),
            "the scene cannot be written: no section of a scene file describes the parameter 'pressure:y_max'");
  EXPECT_FALSE(std::filesystem::exists(path("saved.yaml")));
}

}  // namespace
}  // namespace diffsim::app::save_scene_test
