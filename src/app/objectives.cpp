// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/inputs.hpp"
#include "app/objective_types.hpp"
#include "app/setup.hpp"
#include "app/text_file.hpp"
#include "diffsim/sensor/sensor.hpp"

namespace diffsim::app {

void require_steps(const Place& place, int last, const Scene& scene) {
  if (last > scene.solver.steps)
    place.fail(
        fmt::format("has step {}, which is after the run's last step, {}; give `steps: [...]` or raise solver.steps",
                    last, scene.solver.steps));
}

std::unique_ptr<Loss> make_sensor_value(const SensorValueEntry& entry, const Scene& scene,
                                        DifferentiableScene& solver) {
  std::vector<int> steps = entry.steps.value_or(std::vector<int>{});
  if (entry.step) {
    steps.push_back(*entry.step < 0 ? scene.solver.steps : *entry.step);
  } else if (!entry.steps) {
    for (int n = 1; n <= scene.solver.steps; ++n) steps.push_back(n);
  }
  std::unique_ptr<Loss> loss;
  at_place(entry.sensor.place, [&] {
    loss = std::make_unique<SensorValueLoss>(make_sensor(entry.sensor, solver), entry.weights, std::move(steps),
                                             entry.power);
  });
  if (entry.is_maximised) loss->multiply(-1.0);
  return loss;
}

std::unique_ptr<SumLoss> make_loss(const Scene& scene, DifferentiableScene& solver) {
  auto sum = std::make_unique<SumLoss>();
  for (const ObjectiveEntry& objective : scene.objectives) {
    std::unique_ptr<Loss> loss = objective.function->make_loss(scene, solver);
    if (objective.noise || objective.function->has_covariance())
      sum->add_likelihood(std::move(loss), objective.noise.value_or(1.0), objective.weight);
    else
      sum->add(std::move(loss), objective.weight);
  }
  return sum;
}

std::string missing_observations(MPI_Comm comm, const Scene& scene) {
  for (const ObjectiveEntry& objective : scene.objectives) {
    const std::string file = objective.function->observations_file();
    if (!file.empty() && !is_there(comm, file)) return file;
  }
  return {};
}

}  // namespace diffsim::app
