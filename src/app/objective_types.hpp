// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/core/loss.hpp"

namespace diffsim::app {

/// Objective of the section `objective` of a scene, as a function of a rollout. The weight and the noise of an
/// objective are members of ObjectiveEntry.
class Objective {
 public:
  /// Kinds of objectives. An objective of kind `misfit` measures the difference between the rollout and observations or
  /// targets. An objective of kind `cost` is a penalty that needs no observations. An objective of kind `extremum` is a
  /// value that is minimised or maximised. If uncertainties are computed, each objective of kind `misfit` must have the
  /// key `noise` or a covariance, and objectives of kind `extremum` are not allowed.
  enum class Kind { misfit, cost, extremum };

  virtual ~Objective() = default;
  virtual Kind kind() const { return Kind::misfit; }
  /// Creates the loss. Throws InputError, with the location in the scene file, if data of the objective, such as
  /// observations, do not match the scene. Collective.
  virtual std::unique_ptr<Loss> make_loss(const Scene& scene, DifferentiableScene& solver) const = 0;
  /// Returns the regions that the objective names; each of these regions must exist in the mesh.
  virtual std::vector<RegionName> regions() const { return {}; }
  /// Returns the path of the file with observations; empty if the objective needs no file.
  virtual std::string observations_file() const { return {}; }
  /// Returns true if the loss contains the covariance of the observations' errors, which makes the loss a negative
  /// log-likelihood even without the key `noise`.
  virtual bool has_covariance() const { return false; }
};

/// Type of objectives in the section `objective` of scenes.
struct ObjectiveType {
  std::string name;               ///< value of the key `type` for this type of objectives
  std::vector<std::string> keys;  ///< all keys that an objective of this type may have
  /// Parses an objective, except for the keys `type`, `noise` and `weight`.
  std::shared_ptr<const Objective> (*parse)(const Mapping& mapping, const Scene& scene);
};

/// Table of the types of objectives, in the order in which error messages list the names of the types.
const std::vector<ObjectiveType>& objective_types();

// Functions shared by several types.
/// Parses the key `steps`, whose value is a list of step numbers or `all`. Returns the step numbers in ascending order;
/// for `all` and for a missing key `steps`, the result has no value.
std::optional<std::vector<int>> parse_steps(const Mapping& mapping, const Scene& scene);
/// Parses the key `step` and returns the number of the step; -1 for `last` and for a missing key `step`.
int parse_single_step(const Mapping& mapping, const Scene& scene);
/// Returns the sensor whose name is the value of the key `sensor`.
const SensorEntry& parse_sensor_name(const Mapping& mapping, const Scene& scene);
/// Throws InputError at the location `place` in the scene file if `last`, the last step of an observations file, is
/// after the last step of the run.
void require_steps(const Place& place, int last, const Scene& scene);

}  // namespace diffsim::app
