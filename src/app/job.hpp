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

/// Everything that a command works with: the scene as read, where results go, the report so far.
struct Job {
  MPI_Comm comm;
  int rank;
  const CommandLine& line;
  Agreement& agreement;  ///< to be sought before what all ranks do together after an error
  Scene scene;
  std::string scene_text;
  OutputFolder output;
  Report report;
  std::ostream& out;  ///< rank 0's standard output, and nowhere on other ranks
  std::ostream& err;
  std::function<void()> on_failure{};  ///< puts the failure of the run on record; collective

  void warn(const std::string& what) { err << "diffsim: warning: " << what << '\n' << std::flush; }
  /// Called once everything is read and checked: from here on files are written, and report.json even if the run fails.
  void begin() {
    output.create();
    report.end_setup();
  }
};

/// Says on standard output which defaults slow or pull the body where the scene leaves damping or gravity out.
void tell_defaults(Job& job);
/// Tells where the scene's substep is above what is sure to be stable, and which keys have no effect. Collective.
void warn_about_solver(Job& job, DifferentiableSolver& solver);
/// Reports the cost of the implicit steps since the model was last prepared.
void report_solver(Job& job, DifferentiableSolver& solver);
/// Warns where the barrier reaches further than the mesh resolves. Collective.
void warn_about_contact(Job& job, const TetrahedralMesh& mesh);
/// Files that `mesh --convert` writes: FILE.h5, or with bodies FILE-BODY.h5 for each; none if `file` is empty.
std::vector<std::string> converted_files(const std::string& file, const Scene& scene);
/// "100 steps, 4670 vertices, 19379 cells".
std::string size_text(const Scene& scene, const TetrahedralMesh& mesh);

// The commands. They return whether the run did what was asked (exit code 0), and throw Error. Collective.
bool simulate(Job& job);
bool gradient(Job& job);
bool check(Job& job);
bool invert(Job& job);
bool report_mesh(Job& job);

}  // namespace diffsim::app
