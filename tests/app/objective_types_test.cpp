// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/objective_types.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "error_text.hpp"

namespace diffsim::app::objective_types_test {
namespace {

Scene scene_of(const std::string& objective) {
  return parse_scene(
      "mesh: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}\nsolver: {dt: 0.01, steps: 10}\n"
      "sensors: {tip: {type: position, region: x_max}}\n"
      "objective: {" +
          objective + "}\n",
      "folder/s.yaml");
}

/// Objective in a scene, and the expected properties of the objective.
struct Sample {
  std::string text;
  Objective::Kind kind = Objective::Kind::misfit;
  std::string file = {};
  std::vector<std::string> regions = {};
  bool has_covariance = false;
};

const std::map<std::string, Sample> samples{
    {"track", {.text = "observations: o.h5", .file = "folder/o.h5", .regions = {"all"}}},
    {"target_position", {.text = "region: x_max, target: [0, 0, 0]", .regions = {"x_max"}}},
    {"target_velocity", {.text = "region: x_max, target: [0, 0, 0]", .regions = {"x_max"}}},
    {"effort", {.text = "parameter: gravity", .kind = Objective::Kind::cost}},
    {"joint", {.text = "joint: hinge, target: 0.5"}},
    {"reaction", {.text = "region: x_min, target: [0, 0, 0]", .regions = {"x_min"}}},
    {"sensor",
     {.text = "sensor: tip, observations: o.h5, covariance: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
      .file = "folder/o.h5",
      .regions = {"x_max"},
      .has_covariance = true}},
    {"minimise", {.text = "sensor: tip, component: y", .kind = Objective::Kind::extremum}},
    {"maximise", {.text = "sensor: tip, component: y", .kind = Objective::Kind::extremum}},
    {"silhouette",
     {.text = "observations: m.h5, region: x_max, camera: {position: [0, 0, 1], target: [0, 0, 0], view_height: 1, "
              "size: [4, 4]}",
      .file = "folder/m.h5",
      .regions = {"x_max"}}},
    {"depth",
     {.text = "observations: d.h5, region: x_max, huber: 0.01, camera: {position: [0, 0, 1], target: [0, 0, 0], "
              "field_of_view: 1, size: [4, 4]}",
      .file = "folder/d.h5",
      .regions = {"x_max"}}},
};

TEST(ObjectiveTypes, HaveTheirProperties) {
  EXPECT_EQ(objective_types().size(), samples.size());
  for (const ObjectiveType& type : objective_types()) {
    ASSERT_EQ(samples.count(type.name), 1u) << type.name;
    const Sample& sample = samples.at(type.name);
    const Scene scene = scene_of("type: " + type.name + ", weight: 2, " + sample.text);
    ASSERT_EQ(scene.objectives.size(), 1u) << type.name;
    EXPECT_EQ(scene.objectives[0].weight, 2.0) << type.name;
    const Objective& objective = *scene.objectives[0].function;
    EXPECT_EQ(objective.kind(), sample.kind) << type.name;
    EXPECT_EQ(objective.observations_file(), sample.file) << type.name;
    EXPECT_EQ(objective.has_covariance(), sample.has_covariance) << type.name;
    std::vector<std::string> regions;
    for (const RegionName& region : objective.regions()) regions.push_back(region.name);
    EXPECT_EQ(regions, sample.regions) << type.name;
  }
}

TEST(ObjectiveTypes, KeysAreUniqueAndIncludeTypeAndWeight) {
  for (const ObjectiveType& type : objective_types()) {
    const std::set<std::string> keys(type.keys.begin(), type.keys.end());
    EXPECT_EQ(keys.size(), type.keys.size()) << type.name;
    EXPECT_EQ(keys.count("type"), 1u) << type.name;
    EXPECT_EQ(keys.count("weight"), 1u) << type.name;
  }
}

TEST(ObjectiveTypes, KeysOfOtherTypesAreErrors) {
  const std::string error = error_of([] { scene_of("type: effort, parameter: gravity, joint: hinge"); });
  EXPECT_CONTAINS(error, "objective.joint: unknown key; ");
  EXPECT_CONTAINS(error, "known keys: type, parameter, weight");
  EXPECT_CONTAINS(error_of([] { scene_of("type: effort, parametr: gravity"); }),
                  "objective.parametr: unknown key; did you mean 'parameter'?");
}

}  // namespace
}  // namespace diffsim::app::objective_types_test
