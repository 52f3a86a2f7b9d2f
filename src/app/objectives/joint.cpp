// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "app/inputs.hpp"
#include "app/objective_types.hpp"
#include "app/scene_sections.hpp"
#include "core/nearest_word.hpp"
#include "diffsim/body/joint.hpp"
#include "diffsim/inverse/losses.hpp"

namespace diffsim::app {
namespace {

/// Target of a joint's coordinate after one step, or after each step of the run.
class JointObjective : public Objective {
 public:
  std::string joint;
  Numbers target;  ///< in rad or m; shape [], or [] or [steps] if `all_steps` is true
  int step = -1;   ///< number of the observed step; -1 for the last step
  bool all_steps = false;
  Place place;  ///< location of the joint's name in the scene file

  std::unique_ptr<Loss> make_loss(const Scene& scene, DifferentiableScene& solver) const override;
};

std::unique_ptr<Loss> JointObjective::make_loss(const Scene& scene, DifferentiableScene& solver) const {
  const JointObjective& objective = *this;
  const TetrahedralMesh& mesh = *solver.mesh();
  std::vector<Joint> joints;
  for (const JointEntry& entry : scene.joints) joints.push_back(entry.joint);
  for (const RobotEntry& entry : scene.robots)
    joints.insert(joints.end(), entry.robot->joints.begin(), entry.robot->joints.end());
  const auto found =
      std::find_if(joints.begin(), joints.end(), [&](const Joint& other) { return other.name == objective.joint; });
  if (found == joints.end()) {
    std::vector<std::string> names;
    for (const Joint& known : joints) names.push_back(known.name);
    const std::string close = nearest(objective.joint, names);
    objective.place.fail("there is no joint '" + objective.joint + "'" +
                         (close.empty() ? "" : "; did you mean '" + close + "'?"));
  }
  const std::int64_t steps = scene.solver.steps;
  const std::vector<double> given =
      load_array(mesh.comm(), objective.target,
                 objective.all_steps ? std::vector<Shape>{{}, {steps}} : std::vector<Shape>{{}}, "a number or [steps]")
          .values;
  std::map<int, double> targets;
  const int last = static_cast<int>(steps);
  if (!objective.all_steps) targets[objective.step < 0 ? last : objective.step] = given.at(0);
  for (int n = 1; objective.all_steps && n <= last; ++n)
    targets[n] = given.size() == 1 ? given[0] : given[static_cast<std::size_t>(n) - 1];
  std::unique_ptr<Loss> loss;
  at_place(objective.place, [&] { loss = std::make_unique<JointLoss>(mesh, *found, std::move(targets)); });
  return loss;
}

std::shared_ptr<const Objective> parse_joint_objective(const Mapping& mapping, const Scene& scene) {
  auto made = std::make_shared<JointObjective>();
  JointObjective& joint = *made;
  const Value& name = mapping.need("joint", "the name of a joint; of a robot: ROBOT/JOINT");
  joint.joint = to_text(name);
  joint.place = name.place;
  if (const Value* steps = mapping.find("steps")) {
    to_choice(*steps, {"all"});
    joint.all_steps = true;
    if (mapping.has("step")) mapping.place_of("step").fail("cannot be combined with `steps: all`; remove one");
  }
  joint.target = parse_numbers(mapping.need("target", "a coordinate in rad or m"), scene);
  if (joint.all_steps)
    expect_shape(joint.target, {{}, {scene.solver.steps}}, "a number, or one for each of solver.steps");
  else
    expect_shape(joint.target, {{}}, "a number, in rad or m");
  joint.step = parse_single_step(mapping, scene);
  return made;
}

}  // namespace

ObjectiveType joint_objective() {
  return {.name = "joint",
          .keys = {"type", "joint", "target", "step", "steps", "noise", "weight"},
          .parse = &parse_joint_objective};
}

}  // namespace diffsim::app
