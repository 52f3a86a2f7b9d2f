// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body/placement.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "body/parameters.hpp"

namespace diffsim::body {
namespace {

constexpr const ParameterSpec* specs[] = {&JointParameters::point, &JointParameters::axis};

std::string name_of(const ParameterSpec& spec, const Joint& joint) { return std::string(spec.name) + ":" + joint.name; }

}  // namespace

Placement placement_of(const Joint& joint) {
  return {joint.point[0], joint.point[1], joint.point[2], joint.axis[0], joint.axis[1], joint.axis[2]};
}

Placement read_placement(const ParameterSet& set, const Joint& joint, const Placement& otherwise) {
  Placement placement = otherwise;
  for (std::ptrdiff_t k = 0; k < 2; ++k) {
    const Parameter* const parameter = set.find(name_of(*specs[k], joint));
    if (!parameter) continue;
    const std::vector<double> values = parameter->field.to_host();
    std::copy_n(values.begin(), 3, placement.begin() + 3 * k);
  }
  return placement;
}

void add_to_placement(ParameterSet& set, const Joint& joint, const Placement& sums) {
  for (std::size_t k = 0; k < 2; ++k) {
    Parameter* const parameter = set.find(name_of(*specs[k], joint));
    if (!parameter) continue;
    std::vector<double> values = parameter->field.to_host();
    for (std::size_t c = 0; c < 3; ++c) values[c] += sums[3 * k + c];
    parameter->field.from_host(values);
  }
}

bool has_placement(const ParameterSet& set, const Joint& joint) {
  return std::any_of(std::begin(specs), std::end(specs),
                     [&](const ParameterSpec* spec) { return set.find(name_of(*spec, joint)) != nullptr; });
}

bool has_placements(const ParameterSet& set) {
  return has_ratios(set) || std::any_of(set.begin(), set.end(), [](const Parameter& parameter) {
           return std::any_of(std::begin(specs), std::end(specs),
                              [&](const ParameterSpec* spec) { return parameter.spec.name == spec->name; });
         });
}

double read_ratio(const ParameterSet& set, const Joint& joint, double otherwise) {
  const Parameter* const parameter = set.find(name_of(JointParameters::ratio, joint));
  return parameter ? parameter->field.to_host().at(0) : otherwise;
}

void set_units_of_ratios(const std::vector<Joint>& joints, ParameterSet& set) {
  for (const Joint& joint : joints)
    for (const Joint& leader : joints)
      if (joint.follows == leader.name)
        set.at(name_of(JointParameters::ratio, joint)).spec = JointParameters::of_follower(joint.kind, leader.kind);
}

void add_to_ratio(ParameterSet& set, const Joint& joint, double sum) {
  Parameter* const parameter = set.find(name_of(JointParameters::ratio, joint));
  if (parameter) parameter->field.from_host({parameter->field.to_host().at(0) + sum});
}

bool has_ratio(const ParameterSet& set, const Joint& joint) {
  return set.find(name_of(JointParameters::ratio, joint)) != nullptr;
}

bool has_ratios(const ParameterSet& set) {
  return std::any_of(set.begin(), set.end(),
                     [](const Parameter& parameter) { return parameter.spec.name == JointParameters::ratio.name; });
}

PlacementOf<Along> move_along(const Placement& values, const Placement& direction) {
  PlacementOf<Along> placement;
  for (std::size_t i = 0; i < 6; ++i) placement[i] = move_along(values[i], direction[i]);
  return placement;
}

}  // namespace diffsim::body
