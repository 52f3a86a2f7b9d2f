// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "app/agreement.hpp"
#include "app/command_line.hpp"
#include "app/output.hpp"
#include "app/report.hpp"
#include "app/scene.hpp"

namespace diffsim::app {

/// Groups of processes that run the experiments of a scene, or the windows of multiple shooting, at the same time. Each
/// group of processes has a Job with the experiments of the group, or with the only experiment of the scene.
struct JobGroups {
  MPI_Comm all = MPI_COMM_NULL;    ///< communicator of all groups
  int count = 1;                   ///< number of groups
  int number = 0;                  ///< number of this process's group; group 0 writes the output files of the run
  std::vector<int> experiments;    ///< numbers of the experiments of this process's group, counted from 0
  bool share_windows = false;      ///< true if the groups share the windows of the only experiment
  std::vector<std::string> names;  ///< names of all experiments
};

/// Data of a command of the program `diffsim`: the scene, the output folder, the report, and output streams.
struct Job {
  MPI_Comm comm;
  int rank;
  const CommandLine& line;
  Agreement& agreement;  ///< after an error, collective calls are allowed only if `agreement.reached()` returns true
  Scene scene;
  std::string scene_text;
  OutputFolder output;
  Report report;
  std::ostream& out;  ///< standard output on the first rank of group 0; on other ranks, a stream that discards all text
  std::ostream& err;
  /// Function that is called if the run fails, and that marks the checkpoint directory as failed; collective.
  std::function<void()> on_failure{};
  JobGroups groups{};

  void warn(const std::string& what) {
    err << "diffsim: warning: " << (groups.number > 0 ? "group " + std::to_string(groups.number) + ": " : "") << what
        << '\n'
        << std::flush;
  }
  /// Creates the output folder, and adds the wall time since the start of the run to the report, as the duration of the
  /// phase `setup`. Call `begin` after the input is read and checked, and before results are written. After a call of
  /// `begin`, report.json is written even if the run ends with an Error of kind `run`.
  void begin() {
    output.create();
    report.end_setup();
  }
};

/// Returns the scenes of all experiments, or only `scene` if the scene has no `experiments`.
std::vector<const Scene*> experiments_of(const Scene& scene);
/// Returns a job for one experiment, with the scene of the experiment, an output folder with the experiment's name, and
/// a separate report.
Job job_of_experiment(const Job& job, const Scene& experiment);
/// Returns the groups of processes for the option `--groups`. Experiment k belongs to the group with the number k
/// modulo `count`, where `count` is the number of groups. `names`: names of the scene's experiments; empty for a scene
/// without `experiments`. `windows`: number of windows of multiple shooting, which the groups share if there are no
/// experiments. Throws InputError if there are fewer experiments or windows, or fewer processes, than groups.
/// Collective.
JobGroups make_groups(MPI_Comm comm, int count, const std::vector<std::string>& names, int windows);
/// Returns a scene with some of the experiments of `scene`. `experiments`: numbers of these experiments in `scene`,
/// counted from 0.
Scene scene_with(const Scene& scene, const std::vector<int>& experiments);
/// Prints the default value of the key `solver.gravity` if the scene omits this key, and the default value of the key
/// `solver.damping` if the scene omits this key and the integrator has a damping factor.
void tell_defaults(Job& job);
/// Warns if the substep dt/substeps of an explicit integrator exceeds `DifferentiableScene::stable_substep`. Warns
/// about each key of the section `solver` that has no effect with the scene's integrator. Collective.
void warn_about_solver(Job& job, DifferentiableScene& solver);
/// Adds to the report the counters of all implicit steps since the last call of `Model::prepare`, such as the number of
/// Newton iterations. Warns if linear systems that were solved for derivatives of implicit steps were indefinite.
void report_solver(Job& job, DifferentiableScene& solver);
/// Warns if the largest barrier distance d̂ of the scene exceeds half the smallest edge of the mesh. Collective.
void warn_about_contact(Job& job, const TetrahedralMesh& mesh);
/// Returns the names of the files that the command `mesh --convert FILE.h5` writes: FILE-BODY.h5 for each body in
/// `scene.bodies`, or FILE.h5 if `scene.bodies` is empty; no names if `file`, the path FILE.h5, is empty.
std::vector<std::string> converted_files(const std::string& file, const Scene& scene);
/// Returns the size of a run as a text, for example "100 steps, 4670 vertices, 19379 cells".
std::string size_text(const Scene& scene, const TetrahedralMesh& mesh);

// Commands. Each command returns true if the run was successful (exit code 0), and throws Error if an error occurs.
// Collective.
bool simulate(Job& job);
bool tangent(Job& job);
bool gradient(Job& job);
bool check(Job& job);
bool invert(Job& job);
bool report_mesh(Job& job);

}  // namespace diffsim::app
