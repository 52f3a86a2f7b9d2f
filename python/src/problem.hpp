// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/inverse/problem.hpp"
#include "progress.hpp"
#include "scene.hpp"

namespace diffsim::python {

/// Python object that owns an inverse problem.
class ProblemHandle final : public Handle {
 public:
  /// `scenes`: scenes whose parameters the problem sets. `owners`: other objects to which the problem refers; they are
  /// released after the problem. `experiments`: problems that were added to `problem`, and that `owners` own.
  ProblemHandle(std::shared_ptr<InverseProblem> problem, std::vector<std::shared_ptr<SharedScene>> scenes,
                std::vector<std::shared_ptr<const void>> owners, std::vector<InverseProblem*> experiments = {})
      : owners_(std::move(owners)),
        scenes_(std::move(scenes)),
        problem_(std::move(problem)),
        experiments_(std::move(experiments)) {}
  ~ProblemHandle() override {
    const ReleaseScope scope;
    release();
  }
  void release() override {
    experiments_.clear();
    problem_.reset();
    scenes_.clear();
    owners_.clear();
  }
  InverseProblem& get() const {
    if (!problem_) throw_finalised();
    return *problem_;
  }
  /// Returns the scene of an experiment of the problem; by default, that of the first experiment.
  const std::shared_ptr<SharedScene>& scene(std::size_t experiment = 0) const {
    if (scenes_.empty()) throw_finalised();
    return scenes_.at(experiment);
  }
  /// Adds the loss of `experiment`, a problem with a scene of its own and the same unknowns, to the loss of the
  /// problem. Throws InputError if the problem already has the scene, or if `experiment` has several experiments.
  void add(ProblemHandle& experiment);
  /// Returns the problem for an evaluation, which changes the parameters of the scenes.
  InverseProblem& change() const;
  /// Runs `body`, which evaluates the problem, in a LibraryScope. Python functions that `body` calls must not use the
  /// scenes. `title`: title of the progress bar of each sweep. `runs`: number of runs of a sweep, by default a forward
  /// run and a reverse run; 0 if the number of steps is unknown. A pending signal, such as that of Ctrl-C, ends `body`
  /// between two steps.
  template <class Body>
  auto run(const Body& body, const char* title = "evaluation", int runs = 2) const {
    const LibraryScope scope;
    InverseProblem& problem = change();
    std::vector<std::unique_ptr<Sweep>> sweeps;
    for (const std::shared_ptr<SharedScene>& scene : scenes_) sweeps.push_back(std::make_unique<Sweep>(*scene));
    SweepProgress progress(title, problem.comm());
    std::vector<std::unique_ptr<WatchScope<InverseProblem>>> watches;
    const auto watch = [&](InverseProblem& one) {
      const SweepLength length{static_cast<long>(runs) * one.num_steps()};
      watches.push_back(std::make_unique<WatchScope<InverseProblem>>(one, progress, length));
    };
    watch(problem);
    for (InverseProblem* one : experiments_) watch(*one);
    return body(problem);
  }

 private:
  std::vector<std::shared_ptr<const void>> owners_;
  std::vector<std::shared_ptr<SharedScene>> scenes_;
  std::shared_ptr<InverseProblem> problem_;
  std::vector<InverseProblem*> experiments_;
};

/// Returns the number of the unknown with a name. Throws InputError if the problem has no such unknown.
std::size_t index_of(const InverseProblem& problem, const std::string& name);
/// Binds the function that adds a prior to a problem.
void bind_priors(nb::class_<ProblemHandle>& problem);

}  // namespace diffsim::python
