// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/checkpoint/checkpoint_directory.hpp"

namespace diffsim {

class InverseProblem;

/// Every loss and gradient that an optimiser asked for, on the disk.
///
/// Optimisers are deterministic: TAO's, whose memory cannot be saved, and Adam alike. So one that is started again and
/// given the logged answers, in order, comes to where it was, with the same bits, at no cost. Collective.
class EvaluationLog {
 public:
  struct Evaluation {
    double loss = 0.0;
    std::vector<double> gradient;
    std::string failure;  ///< why the rollout failed; empty: it did not
  };

  EvaluationLog(std::shared_ptr<CheckpointDirectory> directory, RowOrder order);

  /// The answer to the next evaluation, at u, if it is logged. Where u is not what the log has there, beyond rounding
  /// on another number of ranks, the rest of the log is dropped, and that is told.
  std::optional<Evaluation> replay(const InverseProblem& problem, const std::vector<double>& u);
  /// Logs an evaluation that `replay` had no answer to; it is on the disk when this returns.
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
