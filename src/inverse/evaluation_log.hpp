// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_directory.hpp"

namespace diffsim {

class InverseProblem;

/// Log on disk of every loss, gradient and product with the Hessian that an optimiser requested.
///
/// The internal memory of TAO's optimisers cannot be saved, but all optimisers, including Adam, are deterministic. A
/// restarted optimiser that receives the logged results in order therefore returns to the point of the interruption
/// without new rollouts, with bitwise identical results. All functions are collective.
class EvaluationLog {
 public:
  struct Evaluation {
    double loss = 0.0;
    std::vector<double> gradient;  ///< gradient, or product of the Hessian with a vector
    std::string failure;           ///< error message of a failed rollout; empty if the rollout succeeded
  };

  EvaluationLog(std::shared_ptr<CheckpointDirectory> directory, RowOrder order);

  /// Returns the next logged evaluation; nullopt if no logged evaluation is left. `u` is the point at which the
  /// optimiser requests the gradient, or the direction of the requested product with the Hessian, and must agree with
  /// the vector in the log. If `u` differs from the vector in the log, or if the next entry of the log is damaged,
  /// `replay` erases the rest of the log with a warning and returns nullopt. The vector `u` must be equal to the logged
  /// vector if the log was written with the same number of ranks. If the log was written with another number of ranks,
  /// the entries may differ by up to 1e-10 max |u_i|.
  std::optional<Evaluation> replay(const InverseProblem& problem, const std::vector<double>& u);
  /// Logs an evaluation for which `replay` returned nullopt. `add` returns when the evaluation is on the disk.
  void add(const InverseProblem& problem, const std::vector<double>& u, const Evaluation& evaluation);

  long num_replayed() const { return replayed_; }

 private:
  void drop(const std::string& why);

  std::shared_ptr<CheckpointDirectory> directory_;
  RowOrder order_;
  int next_ = 0;
  long replayed_ = 0;
};

}  // namespace diffsim
