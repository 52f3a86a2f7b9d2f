// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adjoint/sweep_plan.hpp"

namespace diffsim::app {

/// Parsed command line.
struct CommandLine {
  /// Name of the command: simulate, tangent, gradient, check, invert or mesh; empty if the command line has no command.
  std::string command;
  std::string scene;
  std::string output;  ///< folder of the results; if empty, the scene's `output.directory` is used
  /// Path FILE.h5 of the HDF5 mesh file that the command `mesh` writes; empty if no mesh file is written. For a scene
  /// with the section `bodies`, converted_files() returns the names of the written files, one file for each body.
  std::string convert;
  bool hessian = false;  ///< true if the command `check` also tests products with the Hessian of the loss
  /// True if the command `check` runs dot-product tests only, without finite differences of the loss.
  bool products = false;
  bool resume = false;  ///< true if the command `simulate`, `gradient` or `invert` continues an interrupted run
  /// Number of groups of processes for the commands `gradient` and `invert`; the groups run experiments at the same
  /// time.
  int groups = 1;
  /// Maximum wall time (s) of the command `simulate`, `gradient` or `invert`; 0 if the wall time is not limited.
  double time_limit = 0.0;
  std::vector<std::string> petsc;   ///< arguments after `--`: PETSc options
  std::vector<std::string> kokkos;  ///< arguments for Kokkos, which begin with `--kokkos-`

  /// Memory and run times from which checkpoint schedules for a memory budget are planned. If `measures` has no value,
  /// the memory and the run times are measured when a checkpoint schedule is planned. Only programs that use the
  /// functions of src/app as a library set `measures`; there is no command-line option for `measures`.
  std::optional<PlanMeasures> measures;

  std::string text;   ///< text to print for `--help`, `--version` or `--parameters`
  std::string error;  ///< error message; empty if the command line has no error
};

/// Parses the command line's arguments. The message of an error in the arguments is stored in `CommandLine::error`.
/// `parse_command_line` never throws, and needs neither MPI nor PETSc.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace diffsim::app
