// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/inputs.hpp"
#include "app/objective_types.hpp"
#include "app/scene_sections.hpp"
#include "diffsim/inverse/losses.hpp"

namespace diffsim::app {
namespace {

/// Difference of the mean position or velocity of a region from a target, after one step.
class TargetObjective : public Objective {
 public:
  RegionName region;
  std::array<double, 3> target{};
  int step = -1;             ///< number of the observed step; -1 for the last step
  bool of_velocity = false;  ///< true: mean velocity; false: mean position

  std::unique_ptr<Loss> make_loss(const Scene& scene, DifferentiableScene& solver) const override {
    const TetrahedralMesh& mesh = *solver.mesh();
    const int observed = step < 0 ? scene.solver.steps : step;
    const Region& vertices = find_region(mesh, region);
    if (of_velocity) return std::make_unique<TargetVelocityLoss>(mesh, vertices, target, observed);
    return std::make_unique<TargetPositionLoss>(mesh, vertices, target, observed);
  }
  std::vector<RegionName> regions() const override { return {region}; }
};

std::shared_ptr<const Objective> parse_target(const Mapping& mapping, const Scene& scene, bool of_velocity) {
  auto made = std::make_shared<TargetObjective>();
  TargetObjective& target = *made;
  target.of_velocity = of_velocity;
  target.region = parse_region_name(mapping.need("region", "the name of a region"));
  target.target = to_vector(mapping.need("target", of_velocity ? "[x, y, z] in m/s" : "[x, y, z] in m"));
  target.step = parse_single_step(mapping, scene);
  return made;
}

}  // namespace

ObjectiveType target_position_objective() {
  return {.name = "target_position",
          .keys = {"type", "region", "target", "step", "noise", "weight"},
          .parse = [](const Mapping& mapping, const Scene& scene) { return parse_target(mapping, scene, false); }};
}

ObjectiveType target_velocity_objective() {
  return {.name = "target_velocity",
          .keys = {"type", "region", "target", "step", "noise", "weight"},
          .parse = [](const Mapping& mapping, const Scene& scene) { return parse_target(mapping, scene, true); }};
}

}  // namespace diffsim::app
