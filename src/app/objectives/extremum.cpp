// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/objective_types.hpp"
#include "app/scene_sections.hpp"
#include "app/setup.hpp"

namespace diffsim::app {
namespace {

/// Value of a sensor that is minimised or maximised.
class ExtremumObjective : public Objective {
 public:
  explicit ExtremumObjective(SensorValueEntry entry) : entry_(std::move(entry)) {}
  Kind kind() const override { return Kind::extremum; }
  std::unique_ptr<Loss> make_loss(const Scene& scene, DifferentiableScene& solver) const override {
    return make_sensor_value(entry_, scene, solver);
  }

 private:
  SensorValueEntry entry_;
};

std::shared_ptr<const Objective> parse_extremum(const Mapping& mapping, const Scene& scene, bool is_maximised) {
  SensorValueEntry entry = parse_sensor_value(mapping, scene);
  entry.is_maximised = is_maximised;
  return std::make_shared<ExtremumObjective>(std::move(entry));
}

/// Keys of objectives of a sensor's value.
std::vector<std::string> keys_of_extremum() {
  std::vector<std::string> keys = keys_of_sensor_value();
  keys.insert(keys.end(), {"type", "weight"});
  return keys;
}

}  // namespace

ObjectiveType minimise_objective() {
  return {.name = "minimise", .keys = keys_of_extremum(), .parse = [](const Mapping& mapping, const Scene& scene) {
            return parse_extremum(mapping, scene, false);
          }};
}

ObjectiveType maximise_objective() {
  return {.name = "maximise", .keys = keys_of_extremum(), .parse = [](const Mapping& mapping, const Scene& scene) {
            return parse_extremum(mapping, scene, true);
          }};
}

}  // namespace diffsim::app
