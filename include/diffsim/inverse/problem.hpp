// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/adjoint/sweep.hpp"
#include "diffsim/checkpoint/checkpoint_options.hpp"
#include "diffsim/core/model.hpp"

namespace diffsim {

class EntryMap;
class EvaluationLog;
class JoinedState;
class Prior;
class Schedule;
class Store;
class SweepJournal;
class ValueMap;
struct SweepPlan;

/// Parameter to be identified, and the values that represent the parameter in u.
///
/// The Model's parameter has one entry per cell, vertex or step. The unknown may have one value per entry, one value
/// for all entries, or one value per group of entries (region): p_e = u_group(e). `initial_positions` and
/// `initial_velocities` are the names for the fields of x[0].
struct Unknown {
  std::string parameter = {};  ///< name of the Model's parameter
  std::string label = {};      ///< name in files and messages; empty: `parameter`
  /// Group of each of this rank's entries; -1: the entry is not changed. Empty: every entry is an unknown of its own.
  std::vector<int> group = {};
  /// Names of the groups, the same on every rank; a single empty name if all grouped entries share one value.
  std::vector<std::string> group_names = {};
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool logarithmic = false;  ///< true: the unknown is ln p
  /// Linear map from few values u to many entries: this rank's rows of the matrix B, [entries · components, values of
  /// u]. All ranks share the values u. p = p0 + B u, or ln p = ln p0 + B u for a logarithmic unknown, where p0 are the
  /// Model's present values. Bounds and `start` (zeros if empty) are those of u. A map cannot be combined with groups.
  std::vector<double> map = {};
  int map_numbers = 0;  ///< number of columns of B; 0: no map
  /// Field of x[0] that changes together with the unknown p: x[0] = p + d with constant d. The field is "positions" for
  /// the unknown `rest_positions`. If the name is empty, no field changes with p.
  std::string carries = {};
  std::vector<double> start = {};  ///< [unknowns, components], or one value for all; empty: the Model's present values

  /// Returns true if all ranks share the values of the unknown.
  bool shared() const { return map_numbers > 0 || !group_names.empty(); }
  const std::string& name() const { return label.empty() ? parameter : label; }
};

/// Loss of a rollout as a function of a vector u of unknowns, with its derivatives.
///
/// u is distributed: each rank's part holds the unknowns of the rank's own cells or vertices. Unknowns that all ranks
/// share (groups, globals, maps) are in rank 0's part. For a logarithmic unknown without a map, u = ln p. All members
/// are collective.
class InverseProblem {
 public:
  using ScheduleFactory = std::function<std::unique_ptr<Schedule>(int num_steps)>;

  /// Creates the problem for `num_steps` steps from `initial`. `model` and `loss` must outlive the problem. If the
  /// options have a memory budget, the first gradient and the first product with the Hessian plan their schedules.
  InverseProblem(Model& model, const State& initial, int num_steps, Loss& loss, std::vector<Unknown> unknowns,
                 const CheckpointOptions& checkpoints = {});
  /// Creates the problem with a schedule and a store (src/checkpoint) that the caller supplies. `store` must outlive
  /// the problem.
  InverseProblem(Model& model, const State& initial, int num_steps, Loss& loss, std::vector<Unknown> unknowns,
                 ScheduleFactory make_schedule, Store& store);
  ~InverseProblem();
  InverseProblem(InverseProblem&&) noexcept;

  /// Adds the loss of another experiment. Both problems must have the same unknowns, in the same order and with the
  /// same numbers of values. `set` then sets the parameters of both models, and `value`, `gradient` and
  /// `hessian_product` return sums over the experiments. `start`, the bounds, `final_state`, `loss`, the observer of
  /// `gradient`, the progress callback, the journal and `statistics` are those of this problem alone. `experiment` must
  /// outlive this problem. Throws Error (input) if the unknowns differ.
  void add(InverseProblem& experiment);
  /// Adds a prior of unknown k to the loss: `value`, `gradient` and `hessian_product` include the prior. `losses()`,
  /// `final_state` and `unit()` do not change; the prior should have the unit of the loss.
  void add_prior(std::size_t k, std::unique_ptr<Prior> prior);
  /// Returns the sum of the priors at u. Collective.
  double prior(const std::vector<double>& u) const;
  /// Losses of this problem and of the added experiments in the last call of `value`, or of `gradient`
  /// whose result was not in the log.
  const std::vector<double>& losses() const { return losses_; }
  /// Common unit of the losses of this problem and of the added experiments; "1" if the units differ.
  std::string unit() const;
  /// Multiplies the tolerances of the solvers of all experiments by `factor`, as Model::tighten_solver.
  void tighten_solvers(double factor);
  /// Largest tolerance of the solvers of all experiments; 0 if steps are explicit.
  double solver_tolerance() const;

  Model& model() { return model_; }
  const Model& model() const { return model_; }
  MPI_Comm comm() const { return model_.comm(); }
  int num_steps() const { return num_steps_; }
  std::size_t size() const { return size_; }  ///< of this rank's part of u
  const std::vector<Unknown>& unknowns() const { return unknowns_; }

  std::vector<double> start() const;         ///< start value of u
  std::vector<double> lower_bounds() const;  ///< bounds of u; ±∞ where u is not bounded
  std::vector<double> upper_bounds() const;

  /// Sets the Model's parameters and x[0] from u.
  void set(const std::vector<double>& u);
  /// Returns L(u).
  double value(const std::vector<double>& u);
  /// Returns L(u) and sets `gradient` to ∂L/∂u. If a derivative is not finite, repeats the sweep and throws Error (run)
  /// that names the step, and the force term and vertex or the loss, in which the first such value appears. `gradient`
  /// then has the computed values.
  double gradient(const std::vector<double>& u, std::vector<double>& gradient, const StateObserver& observer = {});
  /// Replaces the Hessian in later calls of `hessian_product` by the Gauss–Newton matrix Jᵀ W J if `on` is true. Priors
  /// and added experiments keep their part. The matrix is positive semidefinite, equal to the Hessian where the
  /// residuals are zero, and needs no second derivatives of the model; all losses must be sums of squares.
  void use_gauss_newton(bool on);
  bool uses_gauss_newton() const { return gauss_newton_; }
  /// Returns H v, where H = ∂²L/∂u² at u. Sets `gradient`, if given, to ∂L/∂u. The method is forward over reverse: one
  /// rollout with its tangent, and one reverse sweep with its tangent. Throws Error (input) that names the part of the
  /// model without second derivatives, if any.
  std::vector<double> hessian_product(const std::vector<double>& u, const std::vector<double>& v,
                                      std::vector<double>* gradient = nullptr);
  /// Runs the rollout of this problem and its derivative along du at u. Returns the derivative of the loss, without
  /// priors and added experiments.
  double tangent(const std::vector<double>& u, const std::vector<double>& du, const TangentObserver& observer);
  /// Sets `state` to x[N] and `tangent` to the derivative of x[N] along du.
  void final_state(const std::vector<double>& u, const std::vector<double>& du, State& state, State& tangent);
  /// Returns (∂x[N]/∂u)ᵀ w.
  std::vector<double> final_state_adjoint(const std::vector<double>& u, const State& w);

  /// Returns this rank's part of du that belongs to unknown k, for a change dp of its physical values at u, which has
  /// the layout of `physical`.
  std::vector<double> search_direction(std::size_t k, const std::vector<double>& u,
                                       const std::vector<double>& dp) const;
  /// Physical values p of unknown k at u, [unknowns, components]: all values on every rank if the ranks share them,
  /// otherwise this rank's entries. For a map, p are the coefficients u.
  std::vector<double> physical(std::size_t k, const std::vector<double>& u) const;
  /// Returns ∂L/∂p for the physical values p of unknown k, from `gradient`, which is ∂L/∂u at `u`.
  std::vector<double> physical_gradient(std::size_t k, const std::vector<double>& u,
                                        const std::vector<double>& gradient) const;
  /// Index of the first value of unknown k in this rank's part of u.
  std::size_t offset(std::size_t k) const { return blocks_[k].offset; }
  /// Number of values of unknown k in this rank's part of u.
  std::size_t count(std::size_t k) const { return blocks_[k].count; }
  /// Number of components per entry of unknown k; 1 for a map.
  int components(std::size_t k) const { return blocks_[k].components; }
  /// Field that unknown k sets: the field of a parameter, or of x[0].
  const Field& field(std::size_t k) const { return const_cast<InverseProblem*>(this)->field(k); }

  /// Enables or disables the repetition of a sweep whose gradient is not finite, to find the first such value.
  void locate_values_not_finite(bool on) { locates_ = on; }
  /// Sets a separate schedule for products with the Hessian, whose states and records are larger than those of
  /// gradients.
  void set_product_schedule(ScheduleFactory make) { make_product_schedule_ = std::move(make); }
  /// Sets the journal in which `gradient` saves the progress of its sweep and from which `gradient` resumes; nullptr:
  /// no journal.
  void set_journal(SweepJournal* journal) { journal_ = journal; }
  /// Sets the progress callback of the sweeps of `gradient` and `hessian_product`.
  void watch(SweepWatcher watcher) { watcher_ = std::move(watcher); }
  /// Sets the observer of the adjoint in the reverse sweeps of `gradient`, without those of added experiments.
  void observe_adjoint(AdjointObserver observer) { adjoint_observer_ = std::move(observer); }
  /// Sets the log of evaluations; if `log` is nullptr, there is no log. `gradient` and `hessian_product` return results
  /// from the log as long as the log has results to return. When the log has no more results to return, `gradient` and
  /// `hessian_product` add each computed result to the log.
  void set_log(EvaluationLog* log) { log_ = log; }

  const SweepStatistics& statistics() const { return statistics_; }
  const State& initial() const { return initial_; }
  const Loss& loss() const { return loss_; }

 private:
  struct Block {
    std::size_t offset = 0, count = 0;  // in this rank's part of u
    std::size_t shared = 0;             // number of values that all ranks share; 0: this rank's values are its own
    int components = 1;
    std::shared_ptr<const ValueMap> values;   // from u to the unknown's values
    std::shared_ptr<const EntryMap> entries;  // from the values to entries of the field
    std::vector<double> carried;              // d = x[0] - p of the field `Unknown::carries`
  };
  void set_blocks();
  /// Returns the schedule of a gradient, or of a product with the Hessian.
  std::unique_ptr<Schedule> make_schedule();
  std::unique_ptr<Schedule> make_product_schedule();
  bool of_initial_state(std::size_t k) const;
  Field& field(std::size_t k);
  /// Returns true if all ranks have the same entries of unknown k's field.
  bool is_global(std::size_t k) const;
  /// Returns the values of unknown k in u. If the ranks share the values, every rank receives all values. Otherwise a
  /// rank receives only its own values.
  std::vector<double> complete(std::size_t k, const std::vector<double>& u) const;
  ParameterSet make_gradient() const;
  /// Adds the change of the parameters along du to `direction`, and the change of x[0] along du to `tangent`. The
  /// caller zeroes both before.
  void add_direction(const std::vector<double>& u, const std::vector<double>& du, ParameterSet& direction,
                     State& tangent);
  /// Returns the derivatives with respect to the entries of unknown k's field. The derivatives with respect to the
  /// field of x[0] that unknown k shifts (`Unknown::carries`) are added to the result.
  std::vector<double> by_entries(std::size_t k, const ParameterSet& by_parameters, const State& by_initial) const;
  /// Sums the ranks' contributions `g` to derivatives with respect to unknown k's values, if the ranks share the
  /// values.
  void sum_shared(std::size_t k, std::vector<double>& g) const;
  /// Sets the parameters from u and returns the schedule of a product. To be called before the product's states are
  /// allocated, because a plan of the schedule estimates their memory. Throws Error (input) if the schedule does not
  /// reverse all steps.
  std::unique_ptr<Schedule> begin_product(const std::vector<double>& u);
  /// Sets `direction` and `start` to the derivatives along v, and the first part of `start` to x[0].
  void start_product(const std::vector<double>& u, const std::vector<double>& v, ParameterSet& direction,
                     JoinedState& start);
  /// Runs the forward and the reverse sweep of a product from the joined state `ends`, which then is the adjoint of the
  /// initial state.
  void sweep_product(Model& model, Loss& loss, Schedule& schedule, JoinedState& ends, ParameterSet& product);
  /// Returns the product of the Gauss–Newton matrix with v.
  std::vector<double> gauss_newton_sweep(const std::vector<double>& u, const std::vector<double>& v);
  std::vector<double> hessian_sweep(const std::vector<double>& u, const std::vector<double>& v,
                                    std::vector<double>* gradient);
  /// Part of u, or of another vector of that size, that belongs to unknown k.
  std::vector<double> part(std::size_t k, const std::vector<double>& u) const;
  /// Adds the gradient of the priors.
  void add_prior_gradient(const std::vector<double>& u, std::vector<double>& gradient) const;
  /// Adds the product of the priors' second derivatives with v.
  void add_prior_product(const std::vector<double>& u, const std::vector<double>& v,
                         std::vector<double>& product) const;
  /// Returns ∂L/∂u from the derivatives with respect to the Model's parameters and x[0].
  std::vector<double> by_unknowns(const std::vector<double>& u, const ParameterSet& by_parameters,
                                  const State& by_initial);
  double sweep(Loss& loss, const std::vector<double>& u, std::vector<double>& gradient, const StateObserver& observer,
               SweepJournal* journal);
  /// Repeats the sweep of this problem, whose gradient is not finite, and throws the Error of `gradient`.
  [[noreturn]] void locate_not_finite(const std::vector<double>& u);
  /// Returns the sum of the losses of all experiments, and sets the sum of their gradients.
  double sweep_all(const std::vector<double>& u, std::vector<double>& gradient, const StateObserver& observer);

  Model& model_;
  State initial_;
  int num_steps_;
  Loss& loss_;
  std::vector<Unknown> unknowns_;
  std::vector<Block> blocks_;
  std::size_t size_ = 0;
  CheckpointOptions checkpoints_;
  std::unique_ptr<SweepPlan> plan_, product_plan_;         // for the memory budget of `checkpoints_`
  ScheduleFactory make_schedule_, make_product_schedule_;  // empty: the schedule of `checkpoints_`
  std::unique_ptr<Store> own_store_;
  Store& store_;
  SweepJournal* journal_ = nullptr;
  SweepWatcher watcher_;
  AdjointObserver adjoint_observer_;
  EvaluationLog* log_ = nullptr;
  SweepStatistics statistics_;
  std::vector<InverseProblem*> experiments_;                            // added
  std::vector<std::pair<std::size_t, std::unique_ptr<Prior>>> priors_;  // with the number of the unknown
  std::vector<double> losses_;
  bool gauss_newton_ = false;
  bool locates_ = true;    // false: a gradient that is not finite is an Error without the place of the first such value
  bool is_added_ = false;  // to another problem
};

/// Returns names for the values of unknown k, such as "youngs_modulus[soft]" or "gravity.x", if all ranks have the same
/// values; otherwise returns an empty list.
std::vector<std::string> value_names(const InverseProblem& problem, std::size_t k);

/// Scope in which products of a problem use the Gauss–Newton matrix if `on` is true, or if the problem used the matrix
/// before.
class GaussNewtonScope {
 public:
  GaussNewtonScope(InverseProblem& problem, bool on) : problem_(problem), before_(problem.uses_gauss_newton()) {
    problem_.use_gauss_newton(on || before_);
  }
  ~GaussNewtonScope() { problem_.use_gauss_newton(before_); }
  GaussNewtonScope(const GaussNewtonScope&) = delete;
  GaussNewtonScope& operator=(const GaussNewtonScope&) = delete;

 private:
  InverseProblem& problem_;
  bool before_;
};

}  // namespace diffsim
