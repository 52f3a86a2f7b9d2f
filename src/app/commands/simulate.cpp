// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <optional>

#include "app/contact_watch.hpp"
#include "app/inputs.hpp"
#include "app/progress.hpp"
#include "app/setup.hpp"
#include "app/step_log.hpp"
#include "app/stop_request.hpp"
#include "app/text_file.hpp"
#include "app/trajectory.hpp"
#include "checkpoint/manifest.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "io/trajectory_frame.hpp"

namespace diffsim::app {
namespace {

/// Loss to evaluate during the run; nullptr if the scene has no objective, or if a file of observations does not exist
/// yet.
std::unique_ptr<SumLoss> loss_if_observed(Job& job, DifferentiableScene& solver) {
  if (job.scene.objectives.empty()) return nullptr;
  const std::string missing = missing_observations(job.comm, job.scene);
  if (missing.empty()) return make_loss(job.scene, solver);
  job.warn("'" + missing + "' does not exist, so the loss is not computed");
  return nullptr;
}

/// First state of a run: the scene's initial state, a frame of another run, or the last frame of a run that was
/// stopped.
struct Beginning {
  State state;
  int step = 0;
  std::optional<EarlierFrames> earlier;
};

Beginning beginning_of(Job& job, const DifferentiableScene& solver) {
  const Scene& scene = job.scene;
  Beginning begin{solver.initial_state(), 0, {}};
  if (!scene.initial.from.empty())
    at_place(scene.initial.place,
             [&] { begin.step = solver.read_frame(scene.initial.from, scene.initial.step, begin.state); });
  if (begin.step > scene.solver.steps)
    scene.initial.place.fail(fmt::format("has a frame of step {}, which is after the last step (solver.steps: {})",
                                         begin.step, scene.solver.steps));
  const std::string path = job.output.path("trajectory.h5");
  if (!job.line.resume) return begin;
  TrajectoryFrames frames;
  if (is_there(job.comm, path)) frames = trajectory_frames(job.comm, path);
  if (frames.steps.empty() || frames.is_complete) {
    job.out << (frames.is_complete ? "the run in '" + path + "' is complete: it is run again\n"
                                   : "there is no '" + path + "': the run starts from the beginning\n");
    return begin;
  }
  const std::string difference =
      frames.scene.empty() ? "" : difference_of(parts_of_lines(frames.scene), parts_of_lines(scene_of_run(job)));
  if (!difference.empty())
    throw InputError("'" + path + "' is the trajectory of another scene (" + difference +
                     "); run without --resume, or give another --output");
  begin.step = solver.read_frame(path, -1, begin.state);
  job.out << fmt::format("continuing from step {} of '{}'\n", begin.step, path);
  // The last frame is not copied: the resumed run writes this frame again, unless the frame was written only because
  // the run was stopped.
  frames.steps.pop_back();
  begin.earlier = EarlierFrames{path, frames.steps, solver.initial_state()};
  return begin;
}

/// Throws Error (input) if the scene, without experiments, requests contact forces but has none.
void require_contact_for_forces(const Scene& scene, const DifferentiableScene& solver) {
  if (!scene.output.contact_forces || solver.has_contact_forces() || !scene.experiment.empty()) return;
  if (solver.has_contact())
    scene.output.place.fail("asks for contact_forces, but impacts have none; use the contact law barrier or penalty");
  scene.output.place.fail("asks for contact_forces, but the scene has no `contact`; add it, or remove contact_forces");
}

/// Advances `from.state` from step `from.step` to step `last`, and passes each state to `observer`. Returns the loss,
/// summed over all ranks; 0 if `loss` is nullptr.
double run_steps(DifferentiableScene& solver, Beginning& from, int last, Loss* loss, const StateObserver& observer) {
  Model& model = solver.model();
  model.prepare();
  double contribution = 0.0;
  for (int n = from.step; n <= last; ++n) {
    if (n > from.step) model.step(n - 1, from.state, nullptr);
    if (loss && loss->observes(n)) contribution += loss->value(n, from.state, model.parameters());
    observer(n, from.state);
  }
  return sum_over_ranks(contribution, model.comm());
}

}  // namespace

bool simulate(Job& job) {
  const Scene& scene = job.scene;
  const double limit = job.line.time_limit;
  const StopRequest stop(limit - job.report.elapsed(), limit > 0.0);
  const std::shared_ptr<TetrahedralMesh> mesh = make_mesh(job.comm, scene);
  job.report.set_mesh(*mesh);
  DifferentiableScene solver = make_solver(scene, mesh);
  const std::unique_ptr<SumLoss> loss = loss_if_observed(job, solver);
  require_contact_for_forces(scene, solver);
  tell_defaults(job);
  warn_about_solver(job, solver);
  warn_about_contact(job, *mesh);
  Beginning from = beginning_of(job, solver);
  if (loss && from.step > 0) job.warn(fmt::format("the loss covers only the states from step {} on", from.step));
  job.begin();

  ContactWatch contact(scene, solver);
  StepLog log(job, solver, from.earlier ? std::optional(from.step) : std::nullopt);
  double value = 0.0;
  int reached = from.step;
  double begin = job.report.elapsed();
  const double io_before = job.report.seconds("io");
  std::string stopped;
  {
    Progress progress(Progress::style_for(job.rank), "simulate", "steps");
    const auto roll = [&](const StateObserver& observer) {
      value = run_steps(solver, from, scene.solver.steps, loss.get(), [&](int n, const State& at) {
        reached = n;
        log.add(n, contact.observe(n, at));
        observer(n, at);
        progress.update(n, scene.solver.steps);
      });
    };
    stopped = record_trajectory(job, solver, roll, &stop, from.earlier ? &*from.earlier : nullptr);
  }
  log.finish();
  const double seconds = job.report.elapsed() - begin - (job.report.seconds("io") - io_before);
  job.report.add_seconds("forward", seconds);
  report_solver(job, solver);
  contact.write(job.report);
  contact.warn_about_gaps(job);
  job.out << fmt::format("simulate: {} in {:.3g} s ({:.3g} steps/s)\n", size_text(scene, *mesh), seconds,
                         (reached - from.step) / seconds);
  if (!stopped.empty()) {
    job.report["converged"] = false;
    job.report["stopped"] = stopped;
    job.report["steps_done"] = reached;
    job.out << stopped << ": " << job.output.path("trajectory.h5")
            << " contains the completed steps. To continue, run the command "
            << "again with --resume\n";
  } else if (loss) {
    job.report["loss"] = value;
    job.out << fmt::format("loss {:.10g} {}\n", value, loss->unit());
  }
  job.out << "wrote " << job.output.path("trajectory.h5") << ", " << job.output.path("trajectory.xdmf") << ", "
          << (scene.output.log.empty() ? "" : job.output.path(scene.output.log) + ", ")
          << job.output.path("report.json") << '\n';
  return stopped.empty();
}

}  // namespace diffsim::app
