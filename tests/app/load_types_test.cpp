// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/load_types.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/scene.hpp"
#include "error_text.hpp"

namespace diffsim::app::load_types_test {
namespace {

Scene scene_of(const std::string& sections) {
  return parse_scene("mesh: {box: {size: [1, 1, 1], cells: [2, 2, 2]}}\nsolver: {dt: 0.01, steps: 10}\n" + sections,
                     "s.yaml");
}

std::string error_in(const std::string& sections) {
  return error_of([&] { scene_of(sections); });
}

/// Entry of `boundary` with a load of the given type on the region `region`.
std::string entry_of(const LoadType& type, const std::string& region) {
  std::string text = "{region: " + region + ", " + type.key() + ": " + (type.is_vector() ? "[1, 2, 3]" : "1");
  for (const LoadCoefficient& coefficient : type.coefficients) text += ", " + coefficient.key + ": 0.5";
  return text + "}";
}

TEST(LoadTypes, EntriesHaveValuesAndCoefficients) {
  for (const LoadType& type : load_types()) {
    const Scene scene = scene_of("boundary: [" + entry_of(type, "x_min") + "]\n");
    ASSERT_EQ(scene.boundary.size(), 1u) << type.key();
    const BoundaryEntry& entry = scene.boundary[0];
    EXPECT_EQ(entry.kind, BoundaryEntry::Kind::load) << type.key();
    EXPECT_EQ(entry.type, &type) << type.key();
    EXPECT_EQ(entry.load.array()->values.size(), type.is_vector() ? 3u : 1u) << type.key();
    EXPECT_EQ(entry.coefficients, std::vector<double>(type.coefficients.size(), 0.5)) << type.key();
  }
}

TEST(LoadTypes, ParametersAreKnown) {
  for (const LoadType& type : load_types()) {
    const std::string boundary = "boundary: [" + entry_of(type, "x_min") + "]\n";
    std::vector<std::string> names{type.key()};
    for (const LoadCoefficient& coefficient : type.coefficients) names.emplace_back(coefficient.parameter.name);
    for (const std::string& name : names) {
      EXPECT_EQ(spec_of(name + ":x_min").name, name);
      EXPECT_TRUE(is_of_boundary(name)) << name;
      const Scene scene = scene_of(boundary + "parameters: [{name: " + name + "}]\n");
      ASSERT_TRUE(scene.parameters.at(0).region.has_value()) << name;
      EXPECT_EQ(scene.parameters.at(0).region->name, "x_min") << name;
      EXPECT_CONTAINS(error_in("parameters: [{name: " + name + "}]\n"), "the scene has no " + type.key() + "; add one");
    }
  }
}

TEST(LoadTypes, TwoLoadsOfATypeNeedDifferentRegions) {
  for (const LoadType& type : load_types()) {
    EXPECT_EQ(error_in("boundary: [" + entry_of(type, "x_min") + ", " + entry_of(type, "x_max") + "]\n"), "no error");
    EXPECT_CONTAINS(error_in("boundary: [" + entry_of(type, "x_min") + ", " + entry_of(type, "x_min") + "]\n"),
                    "the region 'x_min' already has a " + type.key() + "; " +
                        (type.is_additive ? "give the sum of the two" : "remove one"));
  }
}

TEST(LoadTypes, InvalidEntriesAreErrors) {
  EXPECT_CONTAINS(error_in("boundary: [{region: x_min, wind: [1, 0, 0]}]\n"),
                  "is missing; give density times drag coefficient, such as 1.4");
  EXPECT_CONTAINS(error_in("boundary: [{region: x_min, pressure: 1, drag: 1}]\n"),
                  "is only allowed with `wind`; remove it");
  EXPECT_CONTAINS(error_in("boundary: [{region: x_min, pressure: [1, 2]}]\n"),
                  "give a number in Pa, or one for each of solver.steps");
  EXPECT_CONTAINS(error_in("parameters: [{name: pressure}]\n"),
                  "the scene has no pressure; add one to `boundary`, for example with the value 0");
  EXPECT_CONTAINS(error_in("parameters: [{name: gravity, region: x_min}]\n"),
                  "is only allowed for traction, pressure, wind, wind_drag, moment, angular_velocity, velocity, "
                  "attachment_stiffness, and for a material's parameter with `per: global`; remove it");
}

}  // namespace
}  // namespace diffsim::app::load_types_test
