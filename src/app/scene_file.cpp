// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/scene_file.hpp"

#include <algorithm>
#include <utility>

#include "app/setup.hpp"
#include "app/text_file.hpp"

namespace diffsim::app {

SceneFile::SceneFile(MPI_Comm comm, const std::string& path)
    : SceneFile(comm, parse_yaml(read_text(comm, path), path), path) {}

SceneFile::SceneFile(MPI_Comm comm, Value document, const std::string& file) : document_(std::move(document)) {
  Scene first = parse_scene(document_, file);
  std::vector<Scene> scenes = std::move(first.further_experiments);
  first.further_experiments.clear();
  scenes.insert(scenes.begin(), std::move(first));
  const bool touches =
      std::any_of(scenes.begin(), scenes.end(), [](const Scene& of) { return of.contact.has_value(); });
  for (Scene& scene : scenes) {
    std::vector<std::string> warnings = load_robots(comm, scene, touches);
    if (!mesh_) {
      mesh_ = make_mesh(comm, scene);
      warnings_ = std::move(warnings);
    } else {
      check_regions(scene, *mesh_);
    }
    if (!scene.initial.from.empty())
      scene.initial.place.fail(
          "is only allowed for simulate; give `displacement` and `velocity` of the frame as datasets");
    Experiment experiment;
    experiment.solver = std::make_shared<DifferentiableScene>(make_solver(scene, mesh_));
    if (!scene.objectives.empty()) experiment.loss = make_loss(scene, *experiment.solver);
    experiment.scene = std::move(scene);
    experiments_.push_back(std::move(experiment));
  }
}

SceneFile::Problem SceneFile::make_problem(const CheckpointOptions& options) const {
  Problem result;
  for (const Experiment& experiment : experiments_) {
    const Scene& scene = experiment.scene;
    const auto need = [&](bool given, const char* key, const char* what) {
      const std::string where = scene.experiment.empty() ? "" : " in experiment '" + scene.experiment + "'";
      if (!given) throw InputError(scene.file, 0, key, "is missing" + where + "; an inverse problem needs " + what);
    };
    need(scene.solver.steps >= 0, "solver.steps", "the number of steps");
    need(experiment.loss != nullptr, "objective", "one");
    need(!scene.parameters.empty(), "parameters", "at least one");
    auto problem = std::make_unique<InverseProblem>(experiment.solver->model(), experiment.solver->initial_state(),
                                                    scene.solver.steps, *experiment.loss,
                                                    make_unknowns(scene, *experiment.solver), options);
    if (!result.problem) {
      add_priors(scene, *mesh_, *problem);
      result.problem = std::move(problem);
    } else {
      result.problem->add(*problem);
      result.further.push_back(std::move(problem));
    }
  }
  return result;
}

}  // namespace diffsim::app
