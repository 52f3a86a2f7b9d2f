// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diffsim/simulation/checkpointing.hpp"

namespace diffsim::app {

/// The user's request on the command line.
struct CommandLine {
  std::string command;  ///< simulate, gradient, check, invert, mesh; empty: nothing to run
  std::string scene;
  std::string output;               ///< empty: as the scene says
  std::string convert;              ///< mesh: the HDF5 mesh file to write, or of several bodies where theirs begin
  bool hessian = false;             ///< check: products with the Hessian too
  bool products = false;            ///< check: dot products alone, without differences
  bool resume = false;              ///< gradient, invert: go on from the checkpoint
  double time_limit = 0.0;          ///< s, of simulate, gradient, invert; 0: none
  std::vector<std::string> petsc;   ///< words after `--`
  std::vector<std::string> kokkos;  ///< --kokkos-…

  /// Figures that plans of checkpoints would measure, where a program that has the runner as a library knows; no
  /// option.
  std::optional<PlanMeasures> measures;

  std::string text;   ///< of --help or --version
  std::string error;  ///< fault of the command line
};

/// Never throws; needs neither MPI nor PETSc.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace diffsim::app
