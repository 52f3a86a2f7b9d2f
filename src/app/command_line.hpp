// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adjoint/sweep_plan.hpp"

namespace diffsim::app {

/// Parsed command line.
struct CommandLine {
  std::string command;  ///< simulate, tangent, gradient, check, invert or mesh; empty: none
  std::string scene;
  std::string output;               ///< folder of the results; empty: output.directory of the scene
  std::string convert;              ///< mesh: HDF5 mesh file to write; for several bodies see converted_files()
  bool hessian = false;             ///< check: test products with the Hessian, too
  bool products = false;            ///< check: only dot-product tests, no finite differences of the loss
  bool resume = false;              ///< simulate, gradient, invert: continue an interrupted run
  double time_limit = 0.0;          ///< simulate, gradient, invert: maximum run time, s; 0: unlimited
  std::vector<std::string> petsc;   ///< arguments after `--`
  std::vector<std::string> kokkos;  ///< arguments that begin with --kokkos-

  /// Measured quantities for checkpoint plans; without value, the plans measure these quantities. Programs that use the
  /// runner as a library set this member; there is no command-line option.
  std::optional<PlanMeasures> measures;

  std::string text;   ///< text to print for --help, --version or --parameters
  std::string error;  ///< error in the command line; empty: none
};

/// Parses the arguments. Never throws; needs neither MPI nor PETSc.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace diffsim::app
