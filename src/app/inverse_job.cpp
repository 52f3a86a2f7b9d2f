// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/inverse_job.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "adjoint/adjoint_sweep.hpp"
#include "app/approximation.hpp"
#include "app/inputs.hpp"
#include "checkpoint/from_options.hpp"
#include "checkpoint/schedule.hpp"
#include "core/broadcast.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::app {

namespace {

/// Returns true if the scene has contact with a pressure, that is, with a law other than `impact`.
bool has_contact_pressure(const Scene& scene) {
  if (!scene.contact) return false;
  const ContactOptions& options = scene.contact->options;
  return options.law != ContactLawKind::impact ||
         std::any_of(options.pairs.begin(), options.pairs.end(), [](const ContactPair& pair) {
           return pair.touch && pair.law && *pair.law != ContactLawKind::impact;
         });
}

/// Throws InputError for options that are not available with several groups of processes: a constraint on a sensor, and
/// for groups that share windows also the options of an interrupted run.
void refuse_in_groups(const Job& job) {
  if (job.groups.count < 2 || job.line.command != "invert") return;
  const auto refuse = [](bool given, const char* option) {
    if (given) Place{nullptr, 0, option}.fail("is not available with --groups");
  };
  refuse(job.line.resume, "--resume");
  refuse(job.line.time_limit > 0.0, "--time-limit");
  for (const ConstraintEntry& entry : job.scene.constraints)
    if (!entry.experiment.empty() || !std::holds_alternative<std::size_t>(entry.of))
      entry.place.fail("of a sensor is not available with groups of processes; run without --groups");
}

/// Returns true if all ranks have the same entries of the unknown's parameter.
bool is_global(DifferentiableScene& solver, const Unknown& unknown) {
  const Parameter* const parameter = solver.parameters().find(unknown.parameter);
  return parameter && parameter->is_global();
}

/// Returns true if the scene prescribes motions of vertices, or has joints, which may have drives.
bool has_motion(const Scene& scene) {
  const auto moves = [](const BoundaryEntry& entry) { return entry.kind == BoundaryEntry::Kind::move; };
  return std::any_of(scene.boundary.begin(), scene.boundary.end(), moves) || !scene.joints.empty() ||
         !scene.robots.empty();
}

}  // namespace

InverseJob::InverseJob(Job& job)
    : progress(Progress::style_for(job.groups.number + job.rank), job.line.command, "steps"), job_(job) {
  std::vector<Unknown> unknowns;
  // If there is an error in one group, all groups throw.
  const auto on_all_groups = [&](const std::function<void()>& function) {
    if (job.groups.count > 1)
      collectively(job.groups.all, function);
    else
      function();
  };
  on_all_groups([&] { unknowns = read_scene(); });
  job.begin();
  job.report["approximate"] = !approximation_.empty();
  if (!approximation_.empty()) job.report["approximation"] = approximation_;
  on_all_groups([&] { make_problem(std::move(unknowns)); });
  if (job.groups.share_windows)
    problem->share_windows(job.groups.all, job.groups.number);
  else if (job.groups.count > 1)
    problem->share_experiments(job.groups.all, job.groups.experiments);
  // The default mean of a prior is the start, which is that of the first experiment of all groups.
  add_priors(job.scene, *mesh, *problem);
  require_reach();
  if (journal_) problem->set_journal(&*journal_);
  if (log_) problem->set_log(&*log_);
}

/// Makes the objects that the scene describes, except for the inverse problem. Returns the unknowns.
std::vector<Unknown> InverseJob::read_scene() {
  Job& job = job_;
  const Scene& scene = job.scene;
  refuse_in_groups(job);
  mesh = make_mesh(job.comm, scene);
  job.report.set_mesh(*mesh);
  solver = std::make_unique<DifferentiableScene>(make_solver(scene, mesh));
  objectives = make_loss(scene, *solver);
  // `check` performs other rollouts in addition to sweeps, so the progress of `check` is derived from the calls of
  // `Loss::observes`. All other commands use a SweepWatcher.
  if (job.line.command == "check") loss = std::make_unique<WatchedLoss>(*objectives, progress, scene.solver.steps);
  std::vector<Unknown> unknowns = make_unknowns(scene, *solver);
  for (std::size_t k = 0; k < unknowns.size() && job.groups.count > 1; ++k)
    if (!unknowns[k].shared() && !is_global(*solver, unknowns[k]))
      scene.parameters[k].place.fail(
          "has values of cells or vertices, which groups of processes cannot share; run without --groups, or use "
          "`per: global`, `region` or `step`, or a `map`");
  tell_defaults(job);
  warn_about_solver(job, *solver);
  warn_about_contact(job, *mesh);
  const bool reverses = job.line.command != "tangent";
  checkpoint_ = !reverses                     ? CheckpointOptions{}
                : job.line.command == "check" ? exact(scene.checkpoint)
                                              : scene.checkpoint;
  checkpoint_.measures = job.line.measures;
  // Groups must not use the same files.
  if (job.groups.share_windows)
    use_subdirectory("group_" + std::to_string(job.groups.number), checkpoint_);
  else if (job.groups.count > 1)
    use_subdirectory(scene.experiment, checkpoint_);
  if (reverses) approximation_ = approximation_of(scene.checkpoint, scene.solver.steps);
  if (reverses && scene.checkpoint.schedule == CheckpointSchedule::reversible)
    at_place(scene.checkpoint_place, [&] { solver->model().set_reversible(true); });
  make_experiments();
  return unknowns;
}

/// Makes the inverse problem with all experiments and constraints of this group.
void InverseJob::make_problem(std::vector<Unknown> unknowns) {
  const Scene& scene = job_.scene;
  const RowOrder order(mesh->comm());
  at_place(scene.checkpoint_place, [&] {
    make_resumable(checkpoint_);
    store = make_store(checkpoint_, job_.comm, directory_, &order);
  });
  problem = std::make_unique<InverseProblem>(
      solver->model(), solver->initial_state(), scene.solver.steps, objective(), std::move(unknowns),
      [this](int num_steps) { return next_schedule(of_gradient, num_steps); }, *store);
  watch_adjoint(*problem);
  problem->set_product_schedule([this](int num_steps) { return next_schedule(of_product, num_steps); });
  make_further_problems();
  if (job_.line.command == "invert" || job_.line.command == "check") make_constraints();
  for (Experiment& experiment : further) at_place(scene.checkpoint_place, [&] { problem->add(*experiment.problem); });
}

/// Creates the solvers and losses of the experiments after the first. Throws InputError for options that are not
/// available with experiments. Collective.
void InverseJob::make_experiments() {
  const Scene& scene = job_.scene;
  if (scene.experiment.empty()) return;
  const auto refuse = [](bool given, const Place& place) {
    if (given) place.fail("is not available for scenes with `experiments`");
  };
  refuse(job_.line.resume, Place{nullptr, 0, "--resume"});
  refuse(job_.line.time_limit > 0.0, Place{nullptr, 0, "--time-limit"});
  refuse(job_.line.command == "invert" && scene.optimiser.shooting.windows > 0, scene.shooting_place);
  if (!approximation_.empty())
    scene.checkpoint_place.fail("approximate gradients are not available for scenes with `experiments`");
  for (const Scene& other : scene.further_experiments) {
    Experiment& experiment = further.emplace_back();
    check_regions(other, *mesh);
    experiment.solver = std::make_unique<DifferentiableScene>(make_solver(other, mesh));
    experiment.loss = make_loss(other, *experiment.solver);
  }
}

/// Creates the constraints. Collective.
void InverseJob::make_constraints() {
  std::vector<ConstrainedExperiment> experiments{{job_.scene, *solver, *problem}};
  for (std::size_t k = 0; k < further.size(); ++k)
    experiments.push_back({job_.scene.further_experiments[k], *further[k].solver, *further[k].problem});
  constraints = std::make_unique<SceneConstraints>(experiments, checkpoint_);
}

/// Creates the inverse problems of the experiments after the first. Collective.
void InverseJob::make_further_problems() {
  for (std::size_t k = 0; k < further.size(); ++k) {
    Experiment& experiment = further[k];
    const Scene& scene = job_.scene.further_experiments[k];
    CheckpointOptions options = checkpoint_;
    use_subdirectory(scene.experiment, options);
    at_place(job_.scene.checkpoint_place, [&] {
      experiment.problem = std::make_unique<InverseProblem>(
          experiment.solver->model(), experiment.solver->initial_state(), scene.solver.steps, *experiment.loss,
          make_unknowns(scene, *experiment.solver), options);
      watch_adjoint(*experiment.problem);
    });
  }
}

/// Throws InputError if the checkpoint options exclude derivatives that the run needs: products with the Hessian, or
/// derivatives with respect to the initial state, which a reverse sweep of the last steps does not reach.
void InverseJob::require_reach() const {
  const bool inverts = job_.line.command == "invert";
  const bool newton = inverts && job_.scene.optimiser.method == Optimiser::newton_cg;
  const bool reverses_some = skipped_steps(checkpoint_, job_.scene.solver.steps) > 0;
  if (inverts && job_.scene.uncertainty && (reverses_some || checkpoint_.schedule == CheckpointSchedule::reversible))
    job_.scene.uncertainty->fail(
        "needs products with the Hessian, which cover all steps and which the reversible schedule does not support; "
        "remove checkpoint.last, or use another checkpoint.schedule");
  if (newton && checkpoint_.schedule == CheckpointSchedule::reversible)
    job_.scene.checkpoint_place.fail(
        "newton_cg needs products with the Hessian, which the reversible schedule does not support; use another "
        "schedule");
  if (!reverses_some) return;
  if (newton)
    job_.scene.checkpoint_place.fail(
        "newton_cg needs products with the Hessian, which cover all steps; remove checkpoint.last, or use "
        "lbfgs or adam");
  for (const Unknown& unknown : problem->unknowns())
    if (unknown.parameter.starts_with("initial_") || !unknown.carries.empty())
      job_.scene.checkpoint_place.fail(
          "'" + unknown.name() +
          "' acts through the initial state, which the reverse sweep does not reach with checkpoint.last; remove "
          "checkpoint.last");
}

void InverseJob::label(Hdf5File& file) const {
  file.write_attribute("/", "approximate", std::int64_t{!approximation_.empty()});
  if (!approximation_.empty()) file.write_attribute("/", "approximation", approximation_);
}

/// Creates a checkpoint directory that remains after the end of the program. The directory is needed if checkpoints are
/// stored on a disk, if the run has a time limit, or if the run resumes another run.
void InverseJob::make_resumable(const CheckpointOptions& options) {
  const CommandLine& line = job_.line;
  const bool can_resume = (line.command == "gradient" || line.command == "invert") && job_.scene.experiment.empty() &&
                          !job_.groups.share_windows;
  if (!can_resume || (options.store == CheckpointStore::memory && !line.resume && line.time_limit <= 0.0)) return;
  CheckpointDirectory::Options how;
  how.keep = true;
  how.resume = line.resume;
  how.warn = [this](const std::string& what) {
    progress.clear();
    job_.warn(what);
  };
  std::string parts;
  collectively(job_.comm, [&] {
    if (job_.rank != 0) return;
    parts = to_lines(problem_parts(job_.scene_text, job_.scene.file));
  });
  broadcast_text(parts, job_.comm);
  how.problem = parts_of_lines(parts);
  how.problem.emplace_back("mesh_contents", fmt::format("{:016x}", mesh->fingerprint()));
  // A run can be resumed only if all options of `checkpoint` that change results are the same.
  const bool reversible = options.schedule == CheckpointSchedule::reversible;
  if (const int skipped = skipped_steps(options, job_.scene.solver.steps); skipped > 0 || options.single || reversible)
    how.problem.emplace_back(
        "checkpoint", fmt::format("skipped_{}_single_{:d}_reversible_{:d}", skipped, options.single, reversible));

  // The options `gauss_newton` and `uncertainty` determine which products with the Hessian are in the log of
  // evaluations.
  const bool gauss_newton = job_.scene.optimiser.gauss_newton;
  const int rank = job_.scene.low_rank ? job_.scene.low_rank->rank : 0;
  const int uncertainty = job_.scene.uncertainty.has_value() ? 1 + rank : 0;
  if (line.command == "invert" && (gauss_newton || uncertainty > 0))
    how.problem.emplace_back("optimiser", fmt::format("gauss_newton_{:d}_uncertainty_{}", gauss_newton, uncertainty));

  directory_ = std::make_shared<CheckpointDirectory>(job_.comm, options.directory, std::move(how));
  job_.on_failure = [directory = directory_] { directory->mark_failed(); };
  if (line.resume)
    job_.out << (directory_->is_empty()
                     ? "no checkpoint in '" + options.directory + "': the run starts from the beginning\n"
                     : "resuming from the checkpoint in '" + options.directory + "'\n")
             << std::flush;
  stop_ = std::make_unique<StopRequest>(line.time_limit > 0.0 ? line.time_limit - job_.report.elapsed() : 0.0,
                                        line.time_limit > 0.0);
  const RowOrder order(mesh->comm());
  journal_.emplace(directory_, order, options.interval, [this] { return stop_->is_there(); });
  if (line.command == "invert") log_.emplace(directory_, order);
}

void InverseJob::finish() {
  if (!directory_) return;
  // The directories of other storage levels are inside `directory_`, so the stores of these levels are deleted first.
  constraints.reset();
  problem.reset();
  store.reset();
  directory_->remove_all();
}

std::unique_ptr<Schedule> InverseJob::next_schedule(Sweep sweep, int num_steps) {
  add_statistics();
  const std::optional<SweepPlan>& plan = plans_[sweep];
  if (checkpoint_.memory.is_given() && !plan) make_plan(sweep, num_steps);
  const auto make = [&] { return make_schedule(checkpoint_, num_steps, plan ? &plan->checkpoints : nullptr); };
  if (!loss && job_.rank == 0) {
    if (!forecasts_[sweep] || forecasts_[sweep]->num_steps != num_steps)
      forecasts_[sweep] = forecast(*make(), num_steps);
    watch_.emplace(progress, *forecasts_[sweep]);
    problem->watch([this](long taken, int reached, int from) { (*watch_)(taken, reached, from); });
  }
  return make();
}

ParameterSet InverseJob::asked_gradient() const {
  std::vector<std::string> names;
  for (const Unknown& unknown : problem->unknowns())
    for (const std::string& name : unknown.parameters())
      if (solver->parameters().find(name) && std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
  return solver->parameters().zero_like(names);
}

void InverseJob::make_plan(Sweep sweep, int num_steps) {
  std::optional<SweepPlan>& plan = plans_[sweep];
  const RowOrder order(mesh->comm());
  at_place(job_.scene.checkpoint_place, [&] {
    const auto make = sweep == of_product ? plan_product_sweep : plan_sweep;
    plan = make(checkpoint_, solver->model(), problem->initial(), asked_gradient(), num_steps,
                {.has_journal = journal_.has_value(), .order = &order});
  });
  make_room();  // returns the memory of the gradient that was allocated for the plan
  progress.clear();
  job_.out << (sweep == of_product ? "checkpoints of products with the Hessian: " : "checkpoints: ") << plan->summary()
           << '\n'
           << std::flush;
}

void InverseJob::make_room() const {
  if (checkpoint_.memory.is_given()) release_free_memory();
}

void InverseJob::watch_adjoint(InverseProblem& of) {
  const int every = job_.scene.output.adjoint_log.empty() ? AdjointSweep::steps_of_block : 1;
  AdjointHistory& history = *adjoint_histories_.emplace_back(std::make_unique<AdjointHistory>(job_.comm, every));
  of.observe_adjoint(
      [&history](int n, const State& adjoint, bool is_complete) { history.observe(n, adjoint, is_complete); });
}

void InverseJob::watch_growth(int iteration) {
  iteration_ = iteration;
  largest_growths_.resize(adjoint_histories_.size());
  for (std::size_t k = 0; k < adjoint_histories_.size(); ++k) {
    const AdjointHistory::Growth growth = adjoint_histories_[k]->take_largest_growth();
    LargestGrowth& largest = largest_growths_[k];
    if (growth.factor <= largest.growth.factor) continue;
    if (growth.factor > large_growth && largest.growth.factor <= large_growth) warn_about_growth(k, growth, iteration);
    largest = {growth, iteration};
  }
}

void InverseJob::warn_about_growth(std::size_t experiment, const AdjointHistory::Growth& growth, int iteration) {
  const Scene& scene = *experiments_of(job_.scene)[experiment];
  const std::string& name = scene.experiment;
  const bool softens = has_contact_pressure(scene);
  const double seconds = scene.solver.dt * (growth.from - growth.to);
  progress.clear();
  job_.warn(fmt::format(
      "{}{}the norm of the adjoint grows by a factor of {:.1e} from step {} to step {} (by a factor of e every {:.2g} "
      "s): the motion is chaotic or contact is stiff. The gradient describes only relative changes of the "
      "parameters below about {:.0e}; fit shorter rollouts, {}{}reverse the last steps only (checkpoint.last){}",
      name.empty() ? "" : "experiment " + name + ": ",
      job_.line.command == "invert" ? fmt::format("iteration {}: ", iteration) : "", growth.factor, growth.from,
      growth.to, seconds / std::log(growth.factor), 1.0 / growth.factor,
      name.empty() && job_.scene.optimiser.shooting.windows == 0 ? "use windows (optimiser.shooting), " : "",
      softens ? "" : "or ", softens ? ", or raise barrier_distance and friction_velocity" : ""));
}

/// Warns if the adjoint of an experiment vanishes towards the first step. A quasi-static equilibrium depends on earlier
/// states only through friction and the choice between several equilibria, so its adjoint usually vanishes.
void InverseJob::warn_about_decay(std::size_t experiment) {
  const Scene& scene = *experiments_of(job_.scene)[experiment];
  const std::optional<int> step = adjoint_histories_[experiment]->vanishes_before(!has_motion(scene));
  if (!step || scene.solver.integrator == Integrator::quasi_static) return;
  progress.clear();
  job_.warn(fmt::format(
      "{}from step {} to step 0, the norm of the adjoint is below the rounding error of its largest value: the steps "
      "before step {} do not contribute to the gradient. Parameters that act only before step {}, such as initial "
      "velocities, are not determined: observe earlier states. For all other parameters, reverse the last steps only "
      "(checkpoint.last: {})",
      scene.experiment.empty() ? "" : "experiment " + scene.experiment + ": ", *step, *step, *step,
      scene.solver.steps - *step));
}

void InverseJob::warn_about_independent_unknowns(double total) {
  if (total == 0.0 || !job_.scene.constraints.empty()) return;
  for (std::size_t k = 0; k < problem->unknowns().size(); ++k) {
    if (problem->depends_on(k) || job_.groups.number > 0) continue;
    progress.clear();
    job_.warn(fmt::format(
        "all derivatives of the loss with respect to '{}' in this run are exactly zero: at these values, the loss does "
        "not change with the parameter. Observe a quantity that the parameter changes, or remove the parameter from "
        "`parameters`",
        problem->unknowns()[k].name()));
  }
}

void InverseJob::report_adjoint() {
  watch_growth(iteration_);
  const std::vector<const Scene*> scenes = experiments_of(job_.scene);
  for (std::size_t k = 0; k < scenes.size(); ++k) {
    const std::string& name = scenes[k]->experiment;
    const std::vector<AdjointHistory::Entry>& entries = adjoint_histories_[k]->entries();
    if (entries.empty()) continue;  // all gradients are from the log of an earlier run
    const AdjointHistory::Growth growth = adjoint_histories_[k]->growth();
    const double dt = scenes[k]->solver.dt, seconds = dt * (growth.from - growth.to);
    ReportValue& report = name.empty() ? job_.report["adjoint"] : job_.report["experiments"][name]["adjoint"];
    report = {{"growth", growth.factor}, {"from_step", growth.from}, {"to_step", growth.to}};
    if (seconds > 0.0) report["exponent"] = std::log(growth.factor) / seconds;
    if (job_.line.command == "invert") {
      report["largest_growth"] = largest_growths_[k].growth.factor;
      report["largest_iteration"] = largest_growths_[k].iteration;
    }
    warn_about_decay(k);
    if (job_.scene.output.adjoint_log.empty() || k > 0) continue;
    std::string text = "step,time,positions,velocities\n";
    for (const AdjointHistory::Entry& entry : entries)
      text +=
          fmt::format("{},{:.17g},{:.17g},{:.17g}\n", entry.step, dt * entry.step, entry.positions, entry.velocities);
    job_.output.write(job_.scene.output.adjoint_log, text);
  }
}

void InverseJob::add_statistics() {
  if (problem) done_ += problem->statistics();
}

void InverseJob::report_sweeps() {
  add_statistics();
  job_.report.add_seconds("forward", done_.forward_seconds);
  job_.report.add_seconds("backward", done_.backward_seconds);
  report_solver(job_, *solver);
  const CheckpointOptions& options = checkpoint_;
  ReportValue& report = job_.report["checkpoint"];
  report = {{"schedule", options.memory.is_given() ? "planned" : to_string(options.schedule)},
            {"store", to_string(options.store)},
            {"steps_reversed", job_.scene.solver.steps - skipped_steps(options, job_.scene.solver.steps)},
            {"advances", done_.advances},
            {"recordings", done_.recordings},
            {"stores", done_.stores},
            {"restores", done_.restores},
            {"bytes_written", done_.bytes_written},
            {"seconds_waiting", done_.seconds_waiting}};
  if (directory_) report["directory"] = directory_->path();
  if (log_) report["evaluations_replayed"] = log_->num_replayed();
  for (const Sweep sweep : {of_gradient, of_product}) {
    if (!plans_[sweep]) continue;
    const CheckpointPlan& plan = plans_[sweep]->checkpoints;
    report[sweep == of_product ? "plan_of_products" : "plan"] = {
        {"snapshots", plan.snapshots},
        {"disk_snapshots", plan.disk_snapshots},
        {"records", plan.records},
        {"bytes", plan.bytes},
        {"held_bytes", plan.held},
        {"beside_bytes", plan.beside},
        {"recomputations", plan.recomputations},
        {"writes", plan.writes},
        {"reads", plan.reads},
        {"ratio", plan.ratio},
        {"write_steps", plans_[sweep]->write},
        {"read_steps", plans_[sweep]->read},
        {"step_seconds", plans_[sweep]->step_seconds},
        {"adjoint_seconds", plans_[sweep]->adjoint_seconds},
        {"expected_seconds", plans_[sweep]->expected_seconds()}};
  }
}

void report_experiments(Job& job, const InverseProblem& problem) {
  if (job.scene.experiment.empty()) return;
  for (std::size_t k = 0; k < job.groups.names.size(); ++k) {
    job.report["experiments"][job.groups.names[k]]["loss"] = problem.losses().at(k);
    job.out << fmt::format("  experiment {}: loss {:.10g}\n", job.groups.names[k], problem.losses().at(k));
  }
}

double gradient_norm(const InverseProblem& problem, const std::vector<std::vector<double>>& gradients) {
  double shared = 0.0, own = 0.0;
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    double& sum = problem.unknowns()[k].shared() ? shared : own;
    for (const double value : gradients[k]) sum += value * value;
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, problem.comm()));
  return std::sqrt(shared + own);
}

}  // namespace diffsim::app
