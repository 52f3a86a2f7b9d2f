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
  std::string output;               ///< folder of the results; if empty, output.directory of the scene
  std::string convert;              ///< mesh: HDF5 mesh file to write; for several bodies see converted_files()
  bool hessian = false;             ///< check: test products with the Hessian, too
  bool products = false;            ///< check: only dot-product tests, no finite differences of the loss
  bool resume = false;              ///< simulate, gradient, invert: continue an interrupted run
  int groups = 1;                   ///< gradient, invert: number of groups of processes that run experiments
  double time_limit = 0.0;          ///< simulate, gradient, invert: maximum run time (s); 0 if unlimited
  std::vector<std::string> petsc;   ///< arguments after `--`
  std::vector<std::string> kokkos;  ///< arguments that begin with --kokkos-

  /// Quantities for checkpoint plans. If this member has no value, the plans measure these quantities. Only programs
  /// that use the runner as a library set this member; there is no command-line option for it.
  std::optional<PlanMeasures> measures;

  std::string text;   ///< text to print for --help, --version or --parameters
  std::string error;  ///< error in the command line; empty if there is no error
};

/// Parses the command line's arguments. An error is stored in `CommandLine::error`. The function never throws, and
/// needs neither MPI nor PETSc.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace diffsim::app
