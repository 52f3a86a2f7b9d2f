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
/// The internal memory of TAO's optimisers cannot be saved. However, all optimisers, including Adam, are deterministic.
/// An optimiser that is restarted and receives the logged results in order therefore returns to the point of the
/// interruption without new rollouts, with bitwise identical results. All functions are collective.
class EvaluationLog {
 public:
  struct Evaluation {
    double loss = 0.0;
    std::vector<double> gradient;
    std::string failure;  ///< error message of a failed rollout; empty: the rollout succeeded
  };

  EvaluationLog(std::shared_ptr<CheckpointDirectory> directory, RowOrder order);

  /// Returns the next logged evaluation, which must belong to the point u (for a product with the Hessian: to the
  /// direction u), or nullopt if no logged evaluation is left. If u differs from the logged vector, erases the rest of
  /// the log with a warning. If the number of ranks is the same as when the log was written, u must agree bitwise with
  /// the logged vector; otherwise u must agree up to a relative difference of 1e-10.
  std::optional<Evaluation> replay(const InverseProblem& problem, const std::vector<double>& u);
  /// Logs an evaluation for which `replay` returned nullopt. The evaluation is on the disk when the function returns.
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
