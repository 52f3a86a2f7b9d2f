// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Units of the parameters of joints.

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "body/parameters.hpp"
#include "body/placement.hpp"

namespace diffsim::body::joint_parameters_test {
namespace {

using All = JointParameters;

struct Units {
  ParameterSpec spec;
  std::string revolute, prismatic;
};

TEST(joint_parameters, have_the_unit_of_the_joint) {
  const std::vector<Units> all{{All::torque, "N m", "N"},
                               {All::stiffness, "N m", "N/m"},
                               {All::damping, "N m s", "N s/m"},
                               {All::friction, "N m", "N"},
                               {All::limit_stiffness, "N m", "N/m"},
                               {All::target, "1", "m"},
                               {All::armature, "kg m²", "kg"},
                               {All::initial_coordinates, "1", "m"},
                               {All::initial_rates, "1/s", "m/s"},
                               {All::point, "m", "m"},
                               {All::axis, "1", "1"}};
  for (const Units& units : all) {
    EXPECT_EQ(All::of_kind(units.spec, JointKind::revolute).unit, units.revolute) << units.spec.name;
    const ParameterSpec spec = All::of_kind(units.spec, JointKind::prismatic);
    EXPECT_EQ(spec.unit, units.prismatic) << units.spec.name;
    EXPECT_EQ(spec.name, units.spec.name);
    EXPECT_EQ(spec.range.text(), units.spec.range.text());
  }
}

TEST(joint_parameters, a_ratio_has_the_unit_of_both_joints) {
  constexpr JointKind turn = JointKind::revolute, slide = JointKind::prismatic;
  const auto one = Entities::one_for_all(MPI_COMM_WORLD);
  for (const auto& [kind, leader, unit] : {std::tuple(turn, turn, "1"), std::tuple(turn, slide, "1/m"),
                                           std::tuple(slide, turn, "m"), std::tuple(slide, slide, "1")}) {
    const std::vector<Joint> joints{{.name = "a", .kind = kind, .body = "", .follows = "b"},
                                    {.name = "b", .kind = leader, .body = ""}};
    ParameterSet set;
    set.add(All::ratio, one, 1, "a");
    set_units_of_ratios({joints[0]}, set);
    EXPECT_EQ(set.at("joint_ratio:a").spec.unit, "1");
    set_units_of_ratios(joints, set);
    EXPECT_EQ(set.at("joint_ratio:a").spec.unit, unit);
    EXPECT_EQ(set.zero_like({"joint_ratio:a"}).at("joint_ratio:a").spec.unit, unit);
  }
}

}  // namespace
}  // namespace diffsim::body::joint_parameters_test
