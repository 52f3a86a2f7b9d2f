// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/file_order.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim::testing_simulation {

/// Gradients of a rank: for parameters on cells, the rank's block in the order of the file; for others, the local
/// values.
inline std::vector<double> in_file_order(const TetrahedralMesh& mesh, const ParameterSet& gradient) {
  std::vector<double> result;
  for (const Parameter& parameter : gradient) {
    std::vector<double> block = parameter.field.to_host();
    if (parameter.on().name() == "cells") {
      block.assign(static_cast<std::size_t>(mesh.cell_order().block_size()), 0.0);
      mesh.cell_order().to_file(parameter.field.to_host(), 1, block);
    }
    result.insert(result.end(), block.begin(), block.end());
  }
  return result;
}

/// Loss and gradients of a rollout; the gradients are those of `in_file_order`.
inline std::vector<double> loss_and_gradients(DifferentiableScene& solver, Loss& loss, int num_steps,
                                              const std::vector<std::string>& names, const CheckpointOptions& options) {
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient(names);
  std::vector<double> result{simulator.rollout(num_steps, options, loss)};
  simulator.backward();
  const std::vector<double> gradients = in_file_order(*solver.mesh(), simulator.gradient());
  result.insert(result.end(), gradients.begin(), gradients.end());
  return result;
}

/// Relative difference ‖a - b‖/‖b‖ over all ranks.
inline double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double sums[2] = {0.0, 0.0};
  for (std::size_t i = 0; i < b.size(); ++i) {
    sums[0] += (a.at(i) - b[i]) * (a.at(i) - b[i]);
    sums[1] += b[i] * b[i];
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return std::sqrt(sums[0] / sums[1]);
}

}  // namespace diffsim::testing_simulation
