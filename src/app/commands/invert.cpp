// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "app/contact_watch.hpp"
#include "app/inverse_job.hpp"
#include "app/low_rank_uncertainty.hpp"
#include "app/stages.hpp"
#include "app/trajectory.hpp"
#include "app/uncertainty.hpp"
#include "app/unknown_files.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "io/fields.hpp"

namespace diffsim::app {
namespace {

/// Returns true if the optimiser reports violations: of constraints, or of the continuity of windows.
bool has_violation(const Scene& scene) { return !scene.constraints.empty() || scene.optimiser.shooting.windows > 0; }

/// Table history.csv: one row per iteration, with at most 20 values of unknowns. The file is rewritten after each
/// iteration, so that users can read the table during the run.
class History {
 public:
  History(Job& job, const InverseProblem& problem)
      : job_(job),
        problem_(problem),
        has_violation_(has_violation(job.scene)),
        has_stages_(number_of_stages(job.scene) > 1) {
    text_ = "iteration,loss,gradient_norm,evaluations,seconds,relative_gradient";
    if (has_violation_) text_ += ",violation";
    if (has_stages_) text_ += ",stage";
    constexpr std::size_t most = 20;
    for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
      const std::vector<std::string> names = value_names(problem, k);
      if (names.empty() || names_.size() + names.size() > most) continue;
      names_.insert(names_.end(), names.begin(), names.end());
      shown_.push_back(k);
    }
    for (const std::string& name : names_) text_ += "," + name;
    text_ += "\n";
  }

  /// Begins an optimisation after `before`, an optimisation with other penalties or factors of the priors.
  void begin(const OptimiserResult& before) {
    ++stage_;
    iterations_ += before.iterations;
    evaluations_ += before.evaluations;
  }
  /// Numbers of iterations and evaluations before the current optimisation.
  int iterations() const { return iterations_; }
  long evaluations() const { return evaluations_; }

  /// Adds a row and writes the file. Collective.
  void add(const Iterate& iterate, double seconds) {
    if (starts_.size() == stage_) starts_.push_back({iterate.loss, iterate.gradient_norm});
    text_ += fmt::format("{},{:.17g},{:.17g},{},{:.3f},{:.6g}", iterations_ + iterate.iteration, iterate.loss,
                         iterate.gradient_norm, evaluations_ + iterate.evaluations, seconds,
                         relative(iterate.gradient_norm));
    if (has_violation_) text_ += fmt::format(",{:.6g}", iterate.violation);
    if (has_stages_) text_ += fmt::format(",{}", stage_ + 1);
    for (const double value : values(*iterate.u)) text_ += fmt::format(",{:.17g}", value);
    text_ += "\n";
    const Stopwatch io(job_.report, "io");
    job_.output.write("history.csv", text_);
  }

  /// Selects the stage to which `relative` and `first_loss` refer; before the call, this is the current stage.
  void select(std::size_t stage) { stage_ = stage; }
  /// Ratio of a gradient's norm to the norm of the first gradient of the stage. The ratio is compared with
  /// optimiser.gradient_tolerance.
  double relative(double norm) const { return starts_[stage_].norm > 0.0 ? norm / starts_[stage_].norm : 0.0; }
  /// Loss at the start of the stage.
  double first_loss() const { return starts_[stage_].loss; }
  const std::vector<std::string>& names() const { return names_; }
  std::vector<double> values(const std::vector<double>& u) const {
    std::vector<double> all;
    for (const std::size_t k : shown_) {
      const std::vector<double> numbers = problem_.physical(k, u);
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
    return all;
  }

 private:
  Job& job_;
  const InverseProblem& problem_;
  std::string text_;
  std::vector<std::size_t> shown_;
  std::vector<std::string> names_;
  struct Start {
    double loss, norm;
  };
  std::vector<Start> starts_;  // of each stage
  std::size_t stage_ = 0;
  bool has_violation_, has_stages_;
  int iterations_ = 0;
  long evaluations_ = 0;
};

/// Writes the parameters that a distribution of material or a filter gives, with the names of the parameters.
void write_property(Hdf5File& file, const InverseJob& inverse, std::size_t k, const std::vector<double>& u) {
  InverseProblem& problem = *inverse.problem;
  problem.set(u);
  const Unknown& unknown = problem.unknowns()[k];
  for (const std::string& parameter : unknown.parameters()) {
    const Field& field = parameter == unknown.parameter ? std::as_const(problem).field(k)
                                                        : problem.model().parameters().at(parameter).field;
    std::vector<double> values = field.to_host();
    values.resize(problem.count(k));
    const std::string dataset = "/parameters/" + parameter, unit = unit_of(problem, parameter);
    if (unknown.shape_filter)
      write_vertex_field(file, *inverse.mesh, dataset, values, 3, unit);
    else
      write_cell_field(file, *inverse.mesh, dataset, values, unit);
  }
}

/// Standard deviations of the result, computed by one of two methods; none for scenes without `optimiser.uncertainty`.
struct ResultUncertainty {
  std::optional<Uncertainty> complete;
  std::optional<LowRankUncertainty> low_rank;

  /// Throws InputError before the optimisation if the scene requests an uncertainty that cannot be computed.
  static void require(const Job& job, InverseProblem& problem) {
    if (job.scene.low_rank)
      require_low_rank(job, problem);
    else if (job.scene.uncertainty)
      require_identified(job, problem, problem.start());
  }
  ResultUncertainty(const Job& job, InverseProblem& problem, const std::vector<double>& u) {
    if (job.scene.low_rank)
      low_rank = low_rank_uncertainty_of(job, problem, u);
    else if (job.scene.uncertainty)
      complete = uncertainty_of(job, problem, u);
  }
  void write(Hdf5File& file, const Job& job, const InverseJob& inverse, const std::vector<double>& u) const {
    if (complete) write_uncertainty(file, *complete);
    if (low_rank) write_uncertainty(file, job.scene, *inverse.mesh, *inverse.problem, u, *low_rank);
  }
  /// Reports the standard deviations. Returns false if the scene requests standard deviations that do not exist.
  bool report(Job& job, const InverseProblem& problem, const std::vector<double>& u) const {
    if (low_rank) report_uncertainty(job, problem, u, *low_rank);
    return !complete || report_uncertainty(job, problem, u, *complete);
  }
};

void write_parameters(Job& job, const InverseJob& inverse, const std::vector<double>& u,
                      const ResultUncertainty& uncertainty) {
  const Stopwatch io(job.report, "io");
  Hdf5File file = Hdf5File::create(job.comm, job.output.path("parameters.h5"), "diffsim parameters", 1);
  inverse.label(file);
  write_unknowns(
      file, "parameters", job.scene, *inverse.mesh, *inverse.problem,
      [&](std::size_t k) { return inverse.problem->physical(k, u); }, false);
  for (std::size_t k = 0; k < job.scene.parameters.size(); ++k)
    if (job.scene.parameters[k].distribution || job.scene.parameters[k].filter) write_property(file, inverse, k, u);
  uncertainty.write(file, job, inverse, u);
  file.publish();
}

/// Runs an experiment with the current parameters of `problem`, and writes the trajectory.
void record_result(Job& job, DifferentiableScene& solver, InverseProblem& problem) {
  job.output.create();
  job.report.set_mesh(*solver.mesh());
  problem.model().remember_steps(0);  // the report has the iterations of this run
  ContactWatch contact(job.scene, solver);
  record_trajectory(job, solver, [&](const StateObserver& observer) {
    State state = problem.initial().clone();
    rollout(problem.model(), state, job.scene.solver.steps, nullptr, [&](int n, const State& at) {
      observer(n, at);
      contact.observe(n, at);
    });
  });
  contact.write(job.report);
  contact.warn_about_gaps(job);
}

std::string evaluations_text(const OptimiserResult& result) {
  std::string text = fmt::format("{} evaluations", result.evaluations);
  if (result.hessian_products > 0) text += fmt::format(", {} Hessian products", result.hessian_products);
  return text;
}

/// Runs the rollouts at the result u and writes the trajectories, with one folder per experiment. Adds the losses of
/// the experiments to the report.
void record_results(Job& job, InverseJob& inverse, const std::vector<double>& u) {
  InverseProblem& problem = *inverse.problem;
  problem.set(u);
  if (job.scene.experiment.empty()) {
    record_result(job, *inverse.solver, problem);
    return;
  }
  Job first = job_of_experiment(job, job.scene);
  record_result(first, *inverse.solver, problem);
  first.report.write(first.output);
  for (std::size_t k = 0; k < inverse.further.size(); ++k) {
    Job of_experiment = job_of_experiment(job, job.scene.further_experiments[k]);
    record_result(of_experiment, *inverse.further[k].solver, *inverse.further[k].problem);
    of_experiment.report.write(of_experiment.output);
  }
  problem.value(u);  // sets problem.losses() to the losses at u
  report_experiments(job, problem);
}

/// Adds the result of the optimisation to the report. `values`: values of unknowns, in the order of `history.names()`.
void report_result(Job& job, const History& history, const OptimiserResult& result, const std::vector<double>& values) {
  job.report["loss"] = result.loss;
  job.report["gradient_norm"] = result.gradient_norm;
  job.report["relative_gradient"] = history.relative(result.gradient_norm);
  job.report["converged"] = result.converged;
  job.report["iterations"] = result.iterations;
  job.report["evaluations"] = result.evaluations;
  if (job.scene.optimiser.method == Optimiser::newton_cg) job.report["hessian_products"] = result.hessian_products;
  job.report["reason"] = result.reason;
  job.report["initial_loss"] = history.first_loss();
  for (std::size_t i = 0; i < values.size(); ++i) job.report["parameters"][history.names()[i]] = values[i];
}

/// Prints the values of unknowns, with their names, and the values of the functions of all constraints.
void print_values(const Job& job, const InverseJob& inverse, const std::vector<std::string>& names,
                  const std::vector<double>& values, const std::vector<double>& constraints) {
  for (std::size_t i = 0; i < values.size(); ++i) job.out << fmt::format("  {} = {:.8g}\n", names[i], values[i]);
  for (std::size_t i = 0; i < constraints.size(); ++i)
    job.out << fmt::format("  constraint: {} = {:.8g}\n", inverse.constraints->all()[i].function->name(),
                           constraints[i]);
}

}  // namespace

bool invert(Job& job) {
  InverseJob inverse(job);
  InverseProblem& problem = *inverse.problem;
  History history(job, problem);
  const double start = job.report.elapsed();
  const ShootingOptions& shooting = job.scene.optimiser.shooting;
  const int most_minimisations =
      static_cast<int>(number_of_stages(job.scene)) * (shooting.windows > 0 ? shooting.rounds + 1 : 1);
  const auto observe = [&](const Iterate& iterate) {
    const double seconds = job.report.elapsed() - start;
    history.add(iterate, seconds);
    inverse.watch_growth(history.iterations() + iterate.iteration);
    inverse.progress.set_label(
        fmt::format("invert, iteration {} of at most {} ({:.2g} s each), loss {:.6g}, gradient {:.3g} of the first",
                    history.iterations() + iterate.iteration, job.scene.optimiser.max_iterations * most_minimisations,
                    seconds / std::max(history.iterations() + iterate.iteration, 1), iterate.loss,
                    history.relative(iterate.gradient_norm)));
  };
  ResultUncertainty::require(job, problem);
  const auto [result, stage] =
      optimise_by_stages(job, inverse, observe, [&](const OptimiserResult& before) { history.begin(before); });
  history.select(stage);
  const ResultUncertainty uncertainty(job, problem, result.u);
  inverse.make_room();

  inverse.report_sweeps();
  inverse.report_adjoint();
  inverse.warn_about_independent_unknowns(result.loss);
  inverse.progress.clear();
  if (job.groups.number == 0) write_parameters(job, inverse, result.u, uncertainty);
  // The other groups do not record results, so that a rollout that fails at the result is an error of all groups.
  if (job.groups.share_windows && !std::isfinite(result.loss)) throw Error(result.reason, ErrorKind::run);
  if (!job.groups.share_windows || job.groups.number == 0) record_results(job, inverse, result.u);
  const std::vector<double> values = history.values(result.u);
  report_result(job, history, result, values);
  if (has_violation(job.scene)) job.report["violation"] = result.violation;
  if (!job.scene.constraints.empty()) job.report["constraints"] = inverse.constraints->report(result.constraints);

  job.out << fmt::format("invert: {}; {} after {} iterations, {}, {:.3g} s ({})\n", size_text(job.scene, *inverse.mesh),
                         result.converged ? "converged" : "NOT converged", result.iterations, evaluations_text(result),
                         job.report.elapsed() - start, result.reason)
          << (inverse.approximation().empty() ? "" : "APPROXIMATE: " + inverse.approximation() + '\n')
          << fmt::format(
                 "loss {:.6g} -> {:.6g} {}; gradient {:.3g} of the first one's norm, gradient_tolerance {:.3g}\n",
                 history.first_loss(), result.loss, problem.unit(), history.relative(result.gradient_norm),
                 job.scene.optimiser.gradient_tolerance);
  print_values(job, inverse, history.names(), values, result.constraints);
  if (!job.scene.priors.empty()) {
    const double prior = problem.prior(result.u);
    job.report["prior"] = prior;
    job.out << fmt::format("  of the loss, the priors are {:.6g}\n", prior);
  }
  const bool identified = uncertainty.report(job, problem, result.u);
  job.out << "wrote " << job.output.path("parameters.h5") << ", " << job.output.path("history.csv") << ", "
          << job.output.path("trajectory.xdmf") << ", " << job.output.path("report.json") << '\n';
  inverse.finish();
  return result.converged && identified;
}

}  // namespace diffsim::app
