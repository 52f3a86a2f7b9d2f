// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Values that an inverse problem finds, as start values of another run of the scene.
#include "app/found_values.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "app/scene_document.hpp"
#include "app/scene_file.hpp"
#include "diffsim/core/error.hpp"
#include "runner_fixture.hpp"

namespace diffsim::app::found_values_test {
namespace {

const std::string body =
    "mesh: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}\n"
    "regions:\n"
    "  left: {box: {min: [-1, -1, -1], max: [0.2001, 1, 1]}}\n"
    "  right: {box: {min: [0.1999, -1, -1], max: [1, 1, 1]}}\n"
    "material:\n"
    "  - {region: left, model: neo_hookean, density: 1000, youngs_modulus: 2.0e+4, poisson_ratio: 0.3}\n"
    "  - {region: right, model: neo_hookean, density: 1100, youngs_modulus: 2.5e+4, poisson_ratio: 0.3}\n"
    "solver: {dt: 0.01, steps: 4, substeps: 4, damping: 1}\n"
    "boundary: [{region: x_min, fix: [x, y, z]}]\n"
    "objective: [{type: target_position, region: x_max, target: [0.4, 0.0, 0.05]}]\n";

/// Returns the value of a key of a mapping; adds the key if the mapping does not have the key.
Value& value_of(Value& mapping, const std::string& key) {
  const auto found = std::find(mapping.keys.begin(), mapping.keys.end(), key);
  if (found != mapping.keys.end()) return mapping.items[static_cast<std::size_t>(found - mapping.keys.begin())];
  mapping.keys.push_back(key);
  return mapping.items.emplace_back();
}

class FoundValues : public RunnerTest {
 protected:
  std::string folder() const { return std::filesystem::path(path("scene.yaml")).parent_path().string(); }

  /// Reads the scene, changes the point u of the problem, and returns the values found at u as start values. Expects
  /// that the problem of the scene with these start values starts at u and has the same loss.
  std::vector<Value> check(const std::string& parameters) {
    write("scene.yaml", body + parameters);
    const SceneFile file(MPI_COMM_WORLD, path("scene.yaml"));
    const SceneFile::Problem made = file.make_problem();
    std::vector<double> u = made.problem->start();
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += 0.01 * std::sin(1.0 + static_cast<double>(i));
    const Scene& scene = file.experiments().front().scene;
    const std::vector<Value> found = found_values(scene, *file.mesh(), *made.problem, u, path("found.h5"), folder());

    Value document = file.document();
    Value& entries = value_of(document, "parameters");
    EXPECT_EQ(entries.items.size(), found.size());
    for (std::size_t k = 0; k < found.size(); ++k) value_of(entries.items[k], "initial") = found[k];
    const SceneFile again(MPI_COMM_WORLD, parse_yaml(to_yaml(document), "found.yaml"), path("found.yaml"));
    const SceneFile::Problem remade = again.make_problem();
    const std::vector<double> start = remade.problem->start();
    EXPECT_EQ(start.size(), u.size());
    for (std::size_t i = 0; i < std::min(start.size(), u.size()); ++i)
      EXPECT_NEAR(start[i], u[i], 1e-12 * (1.0 + std::abs(u[i])));
    const double loss = made.problem->value(u);
    EXPECT_NEAR(remade.problem->value(start), loss, 1e-9 * loss);
    return found;
  }
};

TEST_F(FoundValues, SharedByTheRanksAreInTheDocument) {
  const std::vector<Value> found =
      check("parameters: [{name: youngs_modulus, per: region}, {name: gravity, per: step}, {name: poisson_ratio}]\n");
  EXPECT_EQ(found[0].keys, (std::vector<std::string>{"left", "right"}));
  EXPECT_EQ(found[1].items.size(), 4u);
  EXPECT_EQ(found[1].items[3].items.size(), 3u);
  EXPECT_TRUE(found[2].is_scalar());
  EXPECT_FALSE(std::filesystem::exists(path("found.h5")));
}

TEST_F(FoundValues, OfCellsAndVerticesAreInAFile) {
  const std::vector<Value> found =
      check("parameters: [{name: youngs_modulus, per: cell}, {name: initial_velocities}, {name: gravity}]\n");
  EXPECT_EQ(found[0].keys, (std::vector<std::string>{"file", "dataset"}));
  EXPECT_EQ(content_of(found[0].items[0]), ScalarContent(std::string("found.h5")));
  EXPECT_EQ(content_of(found[1].items[1]), ScalarContent(std::string("/parameters/initial_velocities")));
  EXPECT_EQ(found[2].items.size(), 3u);
}

TEST_F(FoundValues, StayWithinTheBounds) {
  write("scene.yaml", body + "parameters: [{name: youngs_modulus, per: region, bounds: [1.0e+3, 1.0e+5]}]\n");
  const SceneFile file(MPI_COMM_WORLD, path("scene.yaml"));
  const SceneFile::Problem made = file.make_problem();
  const Scene& scene = file.experiments().front().scene;
  for (const std::vector<double>& u : {made.problem->lower_bounds(), made.problem->upper_bounds()}) {
    const std::vector<Value> found = found_values(scene, *file.mesh(), *made.problem, u, "", folder());
    for (const Value& value : found[0].items) {
      const double number = to_number(value);
      EXPECT_GE(number, 1e3);
      EXPECT_LE(number, 1e5);
    }
  }
}

TEST_F(FoundValues, OfCellsNeedAPath) {
  write("scene.yaml", body + "parameters: [{name: youngs_modulus, per: cell}]\n");
  const SceneFile file(MPI_COMM_WORLD, path("scene.yaml"));
  const SceneFile::Problem made = file.make_problem();
  EXPECT_THROW(
      found_values(file.experiments().front().scene, *file.mesh(), *made.problem, made.problem->start(), "", folder()),
      InputError);
}

}  // namespace
}  // namespace diffsim::app::found_values_test
