// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/objective_types.hpp"

namespace diffsim::app {

// Types of objectives, in src/app/objectives/.
ObjectiveType track_objective();
ObjectiveType target_position_objective();
ObjectiveType target_velocity_objective();
ObjectiveType effort_objective();
ObjectiveType joint_objective();
ObjectiveType reaction_objective();
ObjectiveType sensor_objective();
ObjectiveType minimise_objective();
ObjectiveType maximise_objective();
ObjectiveType silhouette_objective();
ObjectiveType depth_objective();

const std::vector<ObjectiveType>& objective_types() {
  static const std::vector<ObjectiveType> types{
      track_objective(),    target_position_objective(), target_velocity_objective(), effort_objective(),
      joint_objective(),    reaction_objective(),        sensor_objective(),          minimise_objective(),
      maximise_objective(), silhouette_objective(),      depth_objective(),
  };
  return types;
}

}  // namespace diffsim::app
