// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "diffsim/adjoint/sweep.hpp"
#include "diffsim/inverse/evaluation_log.hpp"
#include "diffsim/inverse/unknown.hpp"

namespace diffsim {

/// The loss of a rollout as a function of a vector u of unknowns, with its derivatives.
///
/// u is distributed: this rank's part holds its own cells' or vertices' unknowns; those that all ranks share (groups,
/// globals) are in rank 0's part. u of a logarithmic unknown is ln p. Everything is collective.
class InverseProblem {
 public:
  using ScheduleFactory = std::function<std::unique_ptr<Schedule>(int num_steps)>;

  InverseProblem(Model& model, const State& initial, int num_steps, Loss& loss, std::vector<Unknown> unknowns,
                 ScheduleFactory make_schedule, Store& store);

  Model& model() { return model_; }
  const Model& model() const { return model_; }
  MPI_Comm comm() const { return model_.comm(); }
  int num_steps() const { return num_steps_; }
  std::size_t size() const { return size_; }  ///< of this rank's part of u
  const std::vector<Unknown>& unknowns() const { return unknowns_; }

  std::vector<double> start() const;         ///< u to begin with
  std::vector<double> lower_bounds() const;  ///< of u; ±∞ where there is none
  std::vector<double> upper_bounds() const;

  /// Sets the Model's parameters, and x[0], from u.
  void set(const std::vector<double>& u);
  /// L(u).
  double value(const std::vector<double>& u);
  /// L(u) and ∂L/∂u.
  double gradient(const std::vector<double>& u, std::vector<double>& gradient, const StateObserver& observer = {});
  /// H v, H = ∂²L/∂u² at u; sets `gradient`, ∂L/∂u, if one is given. One rollout with its tangent and one reverse sweep
  /// with its own: forward over reverse. Throws Error (input) naming what has no second derivatives.
  std::vector<double> hessian_product(const std::vector<double>& u, const std::vector<double>& v,
                                      std::vector<double>* gradient = nullptr);
  /// x[N] and its derivative along du.
  void final_state(const std::vector<double>& u, const std::vector<double>& du, State& state, State& tangent);
  /// (∂x[N]/∂u)ᵀ w.
  std::vector<double> final_state_adjoint(const std::vector<double>& u, const State& w);

  /// Physical values of unknown k at u, [unknowns, components]: the groups' on every rank, else this rank's entries.
  std::vector<double> physical(std::size_t k, const std::vector<double>& u) const;
  /// Derivative ∂L/∂p by the physical values of unknown k: `gradient` holds ∂L/∂u at `u`.
  std::vector<double> physical_gradient(std::size_t k, const std::vector<double>& u,
                                        const std::vector<double>& gradient) const;
  /// Where unknown k begins in this rank's part of u, and how many numbers it has there.
  std::size_t offset(std::size_t k) const { return blocks_[k].offset; }
  std::size_t count(std::size_t k) const { return blocks_[k].count; }
  int components(std::size_t k) const { return blocks_[k].components; }
  /// Values of unknown k: the field of a parameter, or of x[0].
  const Field& field(std::size_t k) const { return const_cast<InverseProblem*>(this)->field(k); }

  /// From here on products with the Hessian follow another schedule than gradients: their states and records are
  /// larger.
  void set_product_schedule(ScheduleFactory make) { make_product_schedule_ = std::move(make); }
  /// From here on `gradient` keeps how far its sweep is, and goes on from there; nullptr: no more.
  void set_journal(SweepJournal* journal) { journal_ = journal; }
  /// Told how far the sweeps of `gradient` are.
  void watch(SweepWatcher watcher) { watcher_ = std::move(watcher); }
  /// From here on `gradient` answers from a log as long as that has an answer, and logs what it computes.
  void set_log(EvaluationLog* log) { log_ = log; }

  const SweepStatistics& statistics() const { return statistics_; }
  const State& initial() const { return initial_; }
  const Loss& loss() const { return loss_; }

 private:
  struct Block {
    std::size_t offset = 0, count = 0;  // in this rank's part of u
    std::size_t shared = 0;             // numbers all ranks share; 0: this rank's entries are its own
    int components = 1;
    std::vector<double> base;     // of a map: the values it starts from
    std::vector<double> carried;  // of the field of x[0] that moves along: x[0] - p
  };
  bool of_initial_state(std::size_t k) const;
  Field& field(std::size_t k);
  /// Whether u is ln p, number by number; a map's logarithm is that of its entries.
  bool in_logarithm(std::size_t k) const;
  /// values_i *= p_i where a map is searched in the logarithm.
  void scale_by_value(std::size_t k, std::vector<double>& values);
  /// How many entries of unknown k's field this rank sets: all of a global one, else those it owns.
  std::size_t entries_of(std::size_t k, const Field& values) const;
  /// This rank's part of unknown k, completed on every rank by the shared numbers.
  std::vector<double> complete(std::size_t k, const std::vector<double>& u) const;
  ParameterSet make_gradient() const;
  /// Adds the direction du to `direction` and `tangent`, of x[0], both zeroed.
  void add_direction(const std::vector<double>& u, const std::vector<double>& du, ParameterSet& direction,
                     State& tangent);
  /// Derivatives by the entries of unknown k's field, those of the field that moves along included.
  std::vector<double> by_entries(std::size_t k, const ParameterSet& by_parameters, const State& by_initial) const;
  /// From there to those by its numbers, over all ranks where these share them; `values` scaled where a map says so.
  std::vector<double> by_numbers(std::size_t k, const std::vector<double>& values) const;
  std::vector<double> hessian_sweep(const std::vector<double>& u, const std::vector<double>& v,
                                    std::vector<double>* gradient);
  /// ∂L/∂u from derivatives by the Model's parameters and x[0].
  std::vector<double> by_unknowns(const std::vector<double>& u, const ParameterSet& by_parameters,
                                  const State& by_initial);
  double sweep(Loss& loss, const std::vector<double>& u, std::vector<double>& gradient, const StateObserver& observer,
               SweepJournal* journal);

  Model& model_;
  State initial_;
  int num_steps_;
  Loss& loss_;
  std::vector<Unknown> unknowns_;
  std::vector<Block> blocks_;
  std::size_t size_ = 0;
  ScheduleFactory make_schedule_, make_product_schedule_;
  Store& store_;
  SweepJournal* journal_ = nullptr;
  SweepWatcher watcher_;
  EvaluationLog* log_ = nullptr;
  SweepStatistics statistics_;
};

}  // namespace diffsim
