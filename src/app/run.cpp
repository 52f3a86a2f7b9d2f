// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/run.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "app/agreement.hpp"
#include "app/job.hpp"
#include "app/petsc_options.hpp"
#include "app/setup.hpp"
#include "app/text_file.hpp"
#include "checkpoint/sweep_journal.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::app {
namespace {

enum ExitCode { done = 0, failed = 1, bad_input = 2, stopped = 3 };

/// Exit code and error message of a rank.
struct Outcome {
  int code = done;
  std::string error;
};

struct Command {
  bool (*run)(Job&);
  std::vector<std::string> files;  // files that the command writes
  bool needs_steps, needs_objective, needs_parameters;
};

Command command_of(const std::string& name) {
  if (name == "simulate") return {simulate, {"trajectory.h5", "trajectory.xdmf", "report.json"}, true, false, false};
  if (name == "tangent") return {tangent, {"tangent.h5", "tangent.xdmf", "report.json"}, true, false, true};
  if (name == "gradient") return {gradient, {"gradient.h5", "report.json"}, true, true, true};
  if (name == "check") return {check, {"report.json"}, true, true, true};
  if (name == "invert")
    return {
        invert, {"parameters.h5", "history.csv", "trajectory.h5", "trajectory.xdmf", "report.json"}, true, true, true};
  return {report_mesh, {"report.json"}, false, false, false};
}

/// Returns true if the command runs the experiments of a scene one after the other, each with a separate output folder.
bool runs_each_experiment(const std::string& command) { return command == "simulate" || command == "tangent"; }

void require_sections(const Scene& scene, const std::string& name, const Command& command) {
  for (const Scene& experiment : scene.further_experiments) require_sections(experiment, name, command);
  const std::string is_missing =
      scene.experiment.empty() ? "is missing; " : "is missing in experiment '" + scene.experiment + "'; ";
  const auto need = [&](bool given, const char* key, const std::string& what) {
    if (!given) throw InputError(scene.file, 0, key, is_missing + name + " needs " + what);
  };
  if (!command.needs_steps) return;
  need(!scene.materials.empty() || !scene.robots.empty(), scene.bodies.empty() ? "material" : "bodies.material",
       "{model: neo_hookean, density: …, youngs_modulus: …, poisson_ratio: …}");
  if (scene.solver.steps < 0)
    throw InputError(scene.file, scene.solver.place.line, "solver.steps",
                     is_missing + name + " needs the number of steps");
  if (!command.needs_parameters) return;
  if (!scene.initial.from.empty())
    scene.initial.place.fail("is only allowed for simulate; " + name +
                             " begins at step 0: give `displacement` and `velocity` of the frame as datasets");
  need(!command.needs_objective || !scene.objectives.empty(), "objective",
       "one, such as {type: track, observations: observed.h5}");
  need(!scene.parameters.empty(), "parameters", "at least one, such as {name: youngs_modulus, per: global}");
}

Outcome outcome_of(const std::exception& exception) {
  if (dynamic_cast<const SweepStopped*>(&exception)) return {stopped, ""};
  Outcome outcome{failed, exception.what()};
  if (const auto* error = dynamic_cast<const Error*>(&exception); error && error->kind() == ErrorKind::input)
    outcome.code = bad_input;
  std::replace_if(
      outcome.error.begin(), outcome.error.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  return outcome;
}

/// Runs the command and writes the report. If the run itself fails, the error is written to the report, too.
bool perform(Job& job, const Command& command) {
  try {
    const bool good = command.run(job);
    job.report.write(job.output);
    return good;
  } catch (const SweepStopped& stop) {
    job.report["converged"] = false;
    job.report["stopped"] = stop.what();
    job.report.write(job.output);
    job.out << stop.what() << '\n' << std::flush;
    throw;
  } catch (const Error& error) {
    if (job.output.created() && error.kind() == ErrorKind::run && job.agreement.reached()) {
      job.report["converged"] = false;
      job.report["error"] = error.what();
      job.report.write(job.output);
      try {
        if (job.on_failure) job.on_failure();
      } catch (const Error&) {
        // Only the first error, `error`, is reported.
      }
    }
    throw;
  }
}

/// Throws InputError if a file or folder that the command writes cannot be written. `directory`: folder of the results,
/// which the scene or the command line gives at `place`. Collective.
void require_output(MPI_Comm comm, const Scene& scene, const CommandLine& line, const Command& command,
                    const std::string& directory, const Place& place) {
  std::vector<std::string> files = command.files;
  if (line.command == "simulate" && !scene.output.log.empty()) files.push_back(scene.output.log);
  if ((line.command == "gradient" || line.command == "invert") && !scene.output.adjoint_log.empty())
    files.push_back(scene.output.adjoint_log);
  require_writable(comm, directory, files, place);
  if (!scene.experiment.empty() && (runs_each_experiment(line.command) || line.command == "invert"))
    for (const Scene* experiment : experiments_of(scene))
      require_writable(comm, directory + "/" + experiment->experiment,
                       {line.command == "tangent" ? "tangent.h5" : "trajectory.h5", "report.json"}, place);
  for (const std::string& name : converted_files(line.convert, scene)) {
    const std::filesystem::path file = std::filesystem::absolute(name);
    require_writable(comm, file.parent_path().string(), {file.filename().string()}, Place{nullptr, 0, "--convert"});
  }
  const bool is_resumable = line.resume || line.time_limit > 0.0;
  if (command.needs_objective && (scene.checkpoint.store != CheckpointStore::memory || is_resumable))
    require_writable(comm, scene.checkpoint.directory, {}, scene.checkpoint_place);
}

/// Communicator of this process's group; the communicator of all processes if there is one group.
class GroupComm {
 public:
  GroupComm(MPI_Comm all, const JobGroups& groups) : comm_(all), is_own_(groups.count > 1) {
    if (is_own_) DIFFSIM_MPI(MPI_Comm_split(all, groups.number, rank_of(all), &comm_));
  }
  GroupComm(const GroupComm&) = delete;
  GroupComm& operator=(const GroupComm&) = delete;
  ~GroupComm() {
    if (is_own_) MPI_Comm_free(&comm_);
  }
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_;
  bool is_own_;
};

/// Executes the command. `out` and `err` discard text of all ranks except the first; `all_err` does not.
bool execute(MPI_Comm comm, int rank, const CommandLine& line, Agreement& agreement, std::ostream& out,
             std::ostream& err, std::ostream& all_err) {
  const Command command = command_of(line.command);
  Report report(comm, line.command);
  const std::string text = read_text(comm, line.scene);
  Scene scene = parse_scene(text, line.scene);
  require_sections(scene, line.command, command);
  const std::string directory = line.output.empty() ? scene.output.directory : line.output;
  const Place place = line.output.empty() ? scene.output.place : Place{nullptr, 0, "--output"};
  require_output(comm, scene, line, command, directory, place);
  const PetscOptionsOfScene options(scene.petsc, line.petsc);
  std::vector<std::string> names;
  if (!scene.experiment.empty())
    for (const Scene* experiment : experiments_of(scene)) names.push_back(experiment->experiment);
  JobGroups groups =
      make_groups(comm, line.groups, names, line.command == "invert" ? scene.optimiser.shooting.windows : 0);
  const GroupComm of_group(comm, groups);
  if (groups.count > 1) {
    scene = scene_with(scene, groups.experiments);
    comm = of_group.get();
    rank = rank_of(comm);
    report["groups"] = groups.count;
  }
  Job job{comm,
          rank,
          line,
          agreement,
          std::move(scene),
          text,
          OutputFolder(comm, directory, groups.number > 0),
          std::move(report),
          out,
          groups.number > 0 && rank == 0 ? all_err : err,
          {},
          std::move(groups)};
  const std::vector<const Scene*> experiments = experiments_of(job.scene);
  const bool touches =
      std::any_of(experiments.begin(), experiments.end(), [](const Scene* of) { return of->contact.has_value(); });
  for (const std::string& warning : load_robots(comm, job.scene, touches)) job.warn(warning);
  for (Scene& experiment : job.scene.further_experiments) load_robots(comm, experiment, touches);
  bool good = true;
  if (runs_each_experiment(line.command) && !job.scene.experiment.empty()) {
    job.output.create();
    for (const Scene* experiment : experiments) {
      Job of_experiment = job_of_experiment(job, *experiment);
      job.out << "experiment " << experiment->experiment << ": " << std::flush;
      good = perform(of_experiment, command);
      if (!good) break;  // a stop of the run was requested
    }
  } else {
    good = perform(job, command);
  }
  for (const std::string& name : options.unused()) job.warn("PETSc option " + name + " was not used; check its name");
  return good;
}

}  // namespace

int run(MPI_Comm comm, const CommandLine& line, std::ostream& out, std::ostream& err) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::ostream nowhere(nullptr);
  std::ostream& my_out = rank == 0 ? out : nowhere;
  std::ostream& my_err = rank == 0 ? err : nowhere;
  const auto say = [](std::ostream& stream, const std::string& what) {
    stream << "diffsim: error: " << what << '\n' << std::flush;
  };
  if (!line.error.empty()) {
    say(my_err, "command line: " + line.error + "; see diffsim --help");
    return bad_input;
  }
  if (line.command.empty()) {
    my_out << line.text << std::flush;
    return done;
  }

  std::optional<Agreement> agreement;
  Outcome outcome;
  try {
    agreement.emplace(comm);
    outcome.code = execute(comm, rank, line, *agreement, my_out, my_err, err) ? done : failed;
  } catch (const std::exception& exception) {
    outcome = outcome_of(exception);
  }
  if (!agreement || !agreement->reached()) {
    say(err, (outcome.error.empty() ? "other ranks failed" : outcome.error) + " (rank " + std::to_string(rank) + ")");
    MPI_Abort(comm, failed);
  }
  if (!outcome.error.empty()) say(my_err, outcome.error);
  return agreement->largest(outcome.code);
}

}  // namespace diffsim::app
