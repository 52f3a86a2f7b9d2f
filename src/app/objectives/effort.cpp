// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/objective_types.hpp"
#include "diffsim/inverse/losses.hpp"

namespace diffsim::app {
namespace {

/// Objective ½ Σ_n dt |u_n|², where u_n is the value of the control parameter `parameter` in step n, and dt is the time
/// step.
class EffortObjective : public Objective {
 public:
  std::string parameter;

  Kind kind() const override { return Kind::cost; }
  std::unique_ptr<Loss> make_loss(const Scene& scene, DifferentiableScene& solver) const override {
    const Parameter* const found = solver.parameters().find(parameter);
    const std::string unit(found ? found->spec.unit : "1");  // the loss refuses an unknown parameter
    return std::make_unique<EffortLoss>(solver.mesh()->comm(), parameter, scene.solver.dt, scene.solver.steps, unit);
  }
};

std::shared_ptr<const Objective> parse_effort(const Mapping& mapping, const Scene&) {
  auto made = std::make_shared<EffortObjective>();
  made->parameter = to_text(mapping.need("parameter", "the name of a global parameter"));
  return made;
}

}  // namespace

ObjectiveType effort_objective() {
  return {.name = "effort", .keys = {"type", "parameter", "weight"}, .parse = &parse_effort};
}

}  // namespace diffsim::app
