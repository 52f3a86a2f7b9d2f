// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adjoint/sweep_plan.hpp"

namespace diffsim::app {

/// Parsed command line.
struct CommandLine {
  std::string command;  ///< simulate, tangent, gradient, check, invert or mesh; empty if there is no command
  std::string scene;
  std::string output;     ///< folder of the results; if empty, output.directory of the scene
  std::string convert;    ///< for `mesh`: HDF5 mesh file to write; for several bodies see converted_files()
  bool hessian = false;   ///< for `check`: true if products with the Hessian of the loss are tested, too
  bool products = false;  ///< for `check`: true for dot-product tests only, without finite differences of the loss
  bool resume = false;    ///< for `simulate`, `gradient`, `invert`: true if an interrupted run is continued
  /// Number of groups of processes, for `gradient` and `invert`; the groups run experiments at the same time.
  int groups = 1;
  double time_limit = 0.0;          ///< for `simulate`, `gradient`, `invert`: maximum wall time (s); 0 if unlimited
  std::vector<std::string> petsc;   ///< arguments after `--`
  std::vector<std::string> kokkos;  ///< arguments that begin with --kokkos-

  /// Memory and run times from which checkpoint schedules for a memory budget are planned. If this member has no value,
  /// the run measures these quantities. Only programs that use the runner as a library set this member; there is no
  /// command-line option for it.
  std::optional<PlanMeasures> measures;

  std::string text;   ///< text to print for --help, --version or --parameters
  std::string error;  ///< error in the command line; empty if there is no error
};

/// Parses the command line's arguments. An error is stored in `CommandLine::error`. The function never throws, and
/// needs neither MPI nor PETSc.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace diffsim::app
