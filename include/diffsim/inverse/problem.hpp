// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/adjoint/sweep.hpp"
#include "diffsim/checkpoint/checkpoint_options.hpp"
#include "diffsim/core/model.hpp"
#include "diffsim/inverse/unknown.hpp"

namespace diffsim {

class EntryMap;
class EvaluationLog;
class ProcessGroups;
class JoinedState;
struct Contribution;
class Prior;
class Schedule;
class Store;
class SweepJournal;
class ValueMap;
struct SweepPlan;

/// Loss of a rollout as a function of a vector u of unknowns, with the derivatives of this function.
///
/// The vector u of unknowns is distributed: each rank's part contains the unknowns of the rank's own cells or vertices.
/// Rank 0's part of the vector of unknowns also contains the values that all ranks share: values of global parameters,
/// values of groups of entries, and coefficients of a linear map. For a logarithmic unknown of a parameter p without a
/// linear map, the entries of u are ln p. The struct Unknown describes groups of entries, linear maps, material
/// distributions and shape filters. All member functions of InverseProblem are collective.
///
/// The functions with arguments of the types Schedule, Store, SweepJournal and EvaluationLog are for the runner
/// (src/app); other programs use CheckpointOptions. The headers of Schedule, Store, SweepJournal and EvaluationLog are
/// not installed: schedule.hpp, store.hpp and sweep_journal.hpp in src/checkpoint, and evaluation_log.hpp in
/// src/inverse.
class InverseProblem {
 public:
  /// Function that creates the checkpointing schedule of a forward run and a reverse run over `num_steps` steps.
  /// ScheduleFactory is for the runner (src/app); Schedule is declared in src/checkpoint/schedule.hpp.
  using ScheduleFactory = std::function<std::unique_ptr<Schedule>(int num_steps)>;

  /// Creates the InverseProblem of a rollout of `num_steps` steps from the state `initial`. `model` and `loss` must
  /// outlive the InverseProblem. If `checkpoints.memory` is given, the first call of `gradient` plans the checkpointing
  /// schedule of gradients, and the first call of `hessian_product` plans the schedule of products with the Hessian.
  /// Without `checkpoints.memory`, the Model may store results of steps, up to 256 MiB on each rank
  /// (`Model::remember_steps`).
  InverseProblem(Model& model, const State& initial, int num_steps, Loss& loss, std::vector<Unknown> unknowns,
                 const CheckpointOptions& checkpoints = {});
  /// Creates the InverseProblem with a checkpointing schedule and a store that the caller supplies. `store` must
  /// outlive the InverseProblem. The constructor with a Store is for the runner (src/app); the headers of Schedule and
  /// Store are in src/checkpoint.
  InverseProblem(Model& model, const State& initial, int num_steps, Loss& loss, std::vector<Unknown> unknowns,
                 ScheduleFactory make_schedule, Store& store);
  ~InverseProblem();
  /// Move constructor; the moved-from problem may afterwards only be destroyed.
  InverseProblem(InverseProblem&&) noexcept;

  /// Adds the loss of another experiment to the loss of this problem. This problem and `experiment` must have the same
  /// unknowns, in the same order and with the same numbers of values. After a call of `add`, `set` sets the parameters
  /// and initial states of all experiments, and `value`, `gradient` and `hessian_product` return sums over the
  /// experiments. `start`, `lower_bounds`, `upper_bounds`, `final_state`, `loss`, `statistics`, the observer of
  /// `gradient`, the progress callback and the journal refer to this problem only, not to the added experiments.
  /// `experiment` must outlive this problem. Throws Error (input) if the unknowns differ.
  void add(InverseProblem& experiment);
  /// Distributes experiments over several groups of processes, which evaluate their experiments at the same time. Each
  /// group of processes has an InverseProblem on a separate communicator. All groups must have the same unknowns, and
  /// all unknowns must have values that all ranks share. `all`: communicator of all groups. `numbers`: number of this
  /// problem's own experiment, followed by the numbers of the added experiments in the order of `add`. The experiments
  /// of all groups have the numbers 0, 1, ….
  ///
  /// After a call of `share_experiments`, `value`, `gradient` and `hessian_product` return sums over the experiments of
  /// all groups, in the order of the experiments' numbers. `start` then returns the start value of the group with
  /// experiment 0. `value`, `gradient`, `hessian_product`, `start` and `solver_tolerance` are then collective over all
  /// groups. If all groups have the same number of ranks, the sums are bitwise identical for any number of groups. All
  /// groups must add the same priors. If a rollout fails in one group, all groups throw the Error of this rollout.
  /// Throws Error (input) for an unknown whose values the ranks do not share, and if an experiment has no number or
  /// several experiments have the same number. Collective over all groups.
  void share_experiments(MPI_Comm all, std::vector<int> numbers);
  /// Distributes the windows of multiple shooting (`OptimiserOptions::shooting`) over several groups of processes,
  /// which evaluate their windows at the same time. Each group of processes has an InverseProblem of the same rollout,
  /// on a separate communicator. `all`: communicator of all groups. `group`: number of this process's group, from 0 on.
  /// Group 0 evaluates losses and derivatives of whole rollouts, while the other groups wait. After a call of
  /// `share_windows`, `value`, `gradient`, `hessian_product`, `start` and `optimise` are collective over all groups.
  /// Throws Error (input) if `has_experiments` is true, for an unknown whose values the ranks do not share, and if the
  /// numbers of the groups are not 0, 1, 2, …. Collective over all groups.
  void share_windows(MPI_Comm all, int group);
  /// Returns experiment k of this problem: the problem itself for k = 0, and for k > 0 the argument of the k-th call of
  /// `add`. Throws Error (input) if experiment k does not exist, and for k > 0 after a call of `share_experiments`.
  const InverseProblem& experiment(std::size_t k) const;
  /// Creates an InverseProblem from this problem with another loss, for example for a constraint. The model, the
  /// initial state, the number of steps, the unknowns, and the parameter values p0 of linear maps, material
  /// distributions and shape filters are those of this problem. The created problem has no priors and no added
  /// experiments. If `checkpoints` has no value, the CheckpointOptions of this problem are used. `loss` must outlive
  /// the created problem. Throws Error (input) after a call of `share_experiments`.
  std::unique_ptr<InverseProblem> with_loss(Loss& loss, const std::optional<CheckpointOptions>& checkpoints = {}) const;
  /// Overload of `with_loss` with a checkpointing schedule and a store that the caller supplies. `loss` and `store`
  /// must outlive the created problem. The overload with a Store is for the runner (src/app); the headers of Schedule
  /// and Store are in src/checkpoint.
  std::unique_ptr<InverseProblem> with_loss(Loss& loss, ScheduleFactory make_schedule, Store& store) const;
  /// Creates an InverseProblem from this problem with another model and loss, for example for multiple shooting. The
  /// initial state and the priors of the created problem are those of this problem, and so is the number of steps
  /// unless `num_steps` is given. The unknowns of the created problem are those of this problem, followed by the
  /// unknowns `more`. After a call of `share_windows`, the values of the created problem are sums over all groups.
  /// `model` must have the parameters of this problem's model. `model`, `loss` and this problem must outlive the
  /// created problem. Forward and reverse runs of the created problem call this problem's progress callback, set this
  /// problem's `statistics`, end if this problem's journal requests a stop, and are not logged. Throws Error (input) if
  /// `has_experiments()` is true.
  std::unique_ptr<InverseProblem> with_model(Model& model, Loss& loss, const std::vector<Unknown>& more,
                                             std::optional<int> num_steps = {});
  /// Adds a prior of unknown k to the loss: `value`, `gradient` and `hessian_product` include the prior. A prior does
  /// not change `losses()`, `final_state` and `unit()`, and should have the same unit as the loss.
  void add_prior(std::size_t k, std::unique_ptr<Prior> prior);
  /// Sets the factor by which all priors are multiplied; the default is 1. Throws Error (input) for a factor that is
  /// negative or not finite.
  void set_prior_factor(double factor);
  double prior_factor() const { return prior_factor_; }  ///< factor of all priors
  /// Returns the sum of the priors at `u`, multiplied by `prior_factor()`. Collective.
  double prior(const std::vector<double>& u) const;
  /// Returns true if each unknown has exactly one prior with a covariance matrix, and `prior_factor()` is not 0.
  bool has_prior_covariance() const;
  /// Returns this rank's entries of the product of b with the prior covariance matrix (∂²P/∂u²)⁻¹, where P(u) is the
  /// sum of the priors, multiplied by `prior_factor()` (see `Prior::covariance_product`). Requires
  /// `has_prior_covariance`. Collective.
  std::vector<double> prior_covariance_product(const std::vector<double>& b) const;
  /// Returns this rank's entries of F z, where F Fᵀ = (∂²P/∂u²)⁻¹ is the prior covariance matrix, and P(u) is the sum
  /// of the priors, multiplied by `prior_factor()`. Requires `has_prior_covariance`. Collective.
  std::vector<double> prior_covariance_factor_product(const std::vector<double>& z) const;
  /// Returns this rank's entries of (∂²P/∂u²) v, where P(u) is the sum of the priors, multiplied by
  /// `prior_factor()`. Collective.
  std::vector<double> prior_product(const std::vector<double>& u, const std::vector<double>& v) const;
  /// Losses of all experiments, without the priors of this problem, from the last call of `value` or `gradient`: one
  /// loss for this problem and for each added experiment. After a call of `share_experiments`, `losses` contains one
  /// loss for each experiment of all groups of processes. Calls of `gradient` that return a result of the log
  /// (`set_log`) do not change `losses`.
  const std::vector<double>& losses() const { return losses_; }
  /// Returns true if experiments were added to this problem, or if groups of processes share experiments.
  bool has_experiments() const { return !experiments_.empty() || (groups_ && windows_ == WindowsOfGroups::none); }
  /// Groups of processes that share the experiments, or the windows of multiple shooting, of this problem; nullptr if
  /// there is one group. ProcessGroups is declared in src/inverse/process_groups.hpp.
  const ProcessGroups* groups() const { return groups_.get(); }
  /// Common unit of the losses of all experiments; "1" if the units differ.
  std::string unit() const;
  /// Sets the solver tolerances of all experiments to `factor` times the configured tolerances (Model::tighten_solver).
  void tighten_solvers(double factor);
  /// Largest tolerance of the solvers of all experiments; 0 if steps are explicit. Collective.
  double solver_tolerance() const;

  Model& model() { return model_; }                ///< Model that was passed to the constructor
  const Model& model() const { return model_; }    ///< constant overload
  MPI_Comm comm() const { return model_.comm(); }  ///< communicator of the Model
  int num_steps() const { return num_steps_; }     ///< number N of steps of the rollout
  std::size_t size() const { return size_; }  ///< number of entries of this rank's part of the vector u of unknowns
  /// Unknowns, in the order of their values in the vector u of unknowns.
  const std::vector<Unknown>& unknowns() const { return unknowns_; }

  std::vector<double> start() const;  ///< start value of the vector u of unknowns
  /// Lower bounds of the vector u of unknowns; -∞ for an entry without a lower bound.
  std::vector<double> lower_bounds() const;
  /// Upper bounds of the vector u of unknowns; ∞ for an entry without an upper bound.
  std::vector<double> upper_bounds() const;

  /// Sets the parameters and the initial states x[0] of all experiments from the vector `u` of unknowns.
  void set(const std::vector<double>& u);
  /// Returns the sum L(u) of the losses of all experiments and of the priors.
  double value(const std::vector<double>& u);
  /// Returns the sum L(u) of the losses of all experiments and of the priors, and sets `gradient` to ∂L/∂u. If an entry
  /// of ∂L/∂u is not finite, the function `gradient` sets its argument `gradient`, repeats the forward and reverse runs
  /// to find the first value that is not finite, and throws Error (run). The Error's message names the step and the
  /// origin of the first value that is not finite: a force term and a vertex, the loss, or another part of the step.
  double gradient(const std::vector<double>& u, std::vector<double>& gradient, const StateObserver& observer = {});
  /// Selects the matrix that later calls of `hessian_product` multiply by a vector: the Hessian of the losses (`on` =
  /// false) or the Gauss–Newton matrix Jᵀ W J (`on` = true). J is the Jacobian of the residuals of the losses with
  /// respect to u, and W are the weights of the residuals. `hessian_product` adds the Hessians of the priors to the
  /// Hessian of the losses or to the Gauss–Newton matrix. The Gauss–Newton matrix is positive semidefinite, equals the
  /// Hessian of the losses where the residuals are zero, and needs no second derivatives of the model. The Gauss–Newton
  /// matrix exists only if all losses are sums of squares.
  void use_gauss_newton(bool on);
  /// Argument of the last call of `use_gauss_newton`; false by default.
  bool uses_gauss_newton() const { return gauss_newton_; }
  /// Returns H v, where H is the Hessian ∂²L/∂u² of the loss at u, or the Gauss–Newton matrix (`use_gauss_newton`).
  /// Sets `*gradient` to ∂L/∂u if `gradient` is not nullptr. The product with the Hessian is computed in
  /// forward-over-reverse mode: one rollout together with its derivative along v, and one reverse run together with its
  /// derivative along v. Throws Error (input) if a part of the model has no second derivatives; the message names this
  /// part.
  std::vector<double> hessian_product(const std::vector<double>& u, const std::vector<double>& v,
                                      std::vector<double>* gradient = nullptr);
  /// Runs this problem's rollout for the unknowns u in forward mode: computes the derivatives of the states along a
  /// change du of u, and calls `observer` for each state. Returns (∂L/∂u) du for the loss L of this problem without
  /// priors and added experiments.
  double tangent(const std::vector<double>& u, const std::vector<double>& du, const TangentObserver& observer);
  /// Sets `state` to the final state x[N] for the unknowns u, and `tangent` to (∂x[N]/∂u) du for a change du of u.
  void final_state(const std::vector<double>& u, const std::vector<double>& du, State& state, State& tangent);
  /// Returns (∂x[N]/∂u)ᵀ w at the vector u of unknowns for a State w, where x[N] is the state after the last step.
  std::vector<double> final_state_adjoint(const std::vector<double>& u, const State& w);

  /// Changes the exponent `MaterialDistribution::penalty` of unknown k, for a sequence of optimisations with increasing
  /// penalties. Throws Error (input) if unknown k has no MaterialDistribution or `penalty` is less than 1.
  void set_penalty(std::size_t k, double penalty);
  /// Converts a small change dp of the physical values of unknown k, in the layout of `physical`, to the corresponding
  /// change du of the vector u of unknowns. Returns this rank's entries of du that belong to unknown k.
  std::vector<double> search_direction(std::size_t k, const std::vector<double>& u,
                                       const std::vector<double>& dp) const;
  /// Physical values p of unknown k for the vector `u`, [values, components], such as Young's moduli, not their
  /// logarithms. If the ranks share the values of unknown k, every rank receives all values; otherwise a rank receives
  /// only the values of its own cells or vertices. The physical values of a linear map are its coefficients, those of a
  /// material distribution are the densities ρ, and those of a shape filter are the unfiltered changes s.
  std::vector<double> physical(std::size_t k, const std::vector<double>& u) const;
  /// Returns false if all derivatives of the loss L, priors included, with respect to unknown k were exactly zero in
  /// all calls of `gradient` so far. Collective.
  bool depends_on(std::size_t k) const;
  /// Returns ∂L/∂p for the loss L and the physical values p of unknown k, computed from `gradient`, which is ∂L/∂u at
  /// `u`.
  std::vector<double> physical_gradient(std::size_t k, const std::vector<double>& u,
                                        const std::vector<double>& gradient) const;
  /// Returns this rank's part of ∂c/∂u_k, where c is a function of unknown k's field and u_k are unknown k's values in
  /// the vector u. `by_entries`: derivatives of c with respect to the entries of the field on this rank, owned entries
  /// first. If the ranks share the values of unknown k, `by_entries` contains this rank's contributions, which
  /// `unknown_gradient` sums over all ranks. For a parameter with the same entries on all ranks, `by_entries` must
  /// already contain the sums over all ranks. Collective.
  std::vector<double> unknown_gradient(std::size_t k, const std::vector<double>& u,
                                       const std::vector<double>& by_entries) const;
  /// Index of the first value of unknown k in this rank's part of the vector u of unknowns.
  std::size_t offset(std::size_t k) const { return blocks_[k].offset; }
  /// Number of values of unknown k in this rank's part of the vector u of unknowns.
  std::size_t count(std::size_t k) const { return blocks_[k].count; }
  /// Number of components per value of unknown k: 1 if the unknown has a linear map (`Unknown::map`), otherwise the
  /// number of components of the unknown's field.
  int components(std::size_t k) const { return blocks_[k].components; }
  /// Field that unknown k sets: the field of a parameter, or a field of the initial state.
  const Field& field(std::size_t k) const { return const_cast<InverseProblem*>(this)->field(k); }

  /// Enables (the default) or disables the search for the first value that is not finite, which `gradient` starts if a
  /// computed gradient is not finite. The search repeats the forward run and the reverse run. Without the search, the
  /// Error of `gradient` names no step and no origin.
  void locate_values_not_finite(bool on) { locates_ = on; }
  /// Sets a factory that creates the checkpointing schedules of products with the Hessian. A product with the Hessian
  /// needs a separate schedule, because the states of the product and the data stored per step for the reverse run take
  /// more memory than for a gradient. If no factory is set, products with the Hessian use the schedule of gradients or,
  /// with a memory budget, a separately planned schedule. `set_product_schedule` is for the runner (src/app); the
  /// header of Schedule is src/checkpoint/schedule.hpp.
  void set_product_schedule(ScheduleFactory make) { make_product_schedule_ = std::move(make); }
  /// Sets the journal on the disk in which `gradient` saves its progress, so that an interrupted call of `gradient` can
  /// be resumed; nullptr disables the journal. `set_journal` is for the runner (src/app); the header of SweepJournal is
  /// src/checkpoint/sweep_journal.hpp.
  void set_journal(SweepJournal* journal) { journal_ = journal; }
  /// Sets the progress callback, which `value`, `gradient` and `hessian_product` call after each step, and `gradient`
  /// and `hessian_product` also after the adjoint of each step.
  void watch(SweepWatcher watcher) { watcher_ = std::move(watcher); }
  /// Sets the observer of the adjoint in the reverse sweeps of `gradient`. The observer of the adjoint does not receive
  /// the adjoints of added experiments.
  void observe_adjoint(AdjointObserver observer) { adjoint_observer_ = std::move(observer); }
  /// Sets the log that stores the results of `gradient` and `hessian_product`; nullptr disables the log. As long as the
  /// log contains further results, each call of `gradient` or `hessian_product` returns the next result of the log.
  /// After the last result of the log, `gradient` and `hessian_product` compute their results and add the results to
  /// the log. Calls of `hessian_product` that also request the gradient do not use the log. `set_log` is for the runner
  /// (src/app); the header of EvaluationLog is src/inverse/evaluation_log.hpp.
  void set_log(EvaluationLog* log) { log_ = log; }

  /// Counters and times of the last forward run and reverse run of this problem.
  const SweepStatistics& statistics() const { return statistics_; }
  const State& initial() const { return initial_; }  ///< initial state x[0]
  const Loss& loss() const { return loss_; }         ///< Loss that was passed to the constructor
  Loss& loss() { return loss_; }                     ///< overload of `loss` for an InverseProblem that is not const

 private:
  struct Block {
    std::size_t offset = 0, count = 0;  // first index and number of values in this rank's part of u
    std::size_t shared = 0;             // number of values that all ranks share; 0 if each rank has separate values
    int components = 1;
    std::shared_ptr<const ValueMap> values;   // map from values of u to values of the unknown, such as exp
    std::shared_ptr<const EntryMap> entries;  // map from the values to entries of the field
    std::vector<double> property;             // p0 of all parameters of a distribution, one after the other
    std::vector<double> carried;              // d = x[0] - p for the field `Unknown::carries` of x[0]
  };
  void set_blocks();
  /// Throws Error (input) if an unknown with a nonlinear map, which sets a field of the initial state, excludes another
  /// unknown.
  void require_one_start() const;
  /// Copies the unknowns of `other`, with the parameter values p0 of their maps, to the first unknowns of this problem.
  void copy_unknowns(const InverseProblem& other);
  /// Records which entries of `gradient`, this rank's part of ∂L/∂u, are not zero, for `depends_on`.
  void note_dependence(const std::vector<double>& gradient);
  /// Throws Error (input) if groups of processes share this problem.
  void require_one_group() const;
  /// Throws Error (input) for an unknown whose values the ranks do not share.
  void require_shared_unknowns() const;
  /// Returns true if this process's group waits while group 0 evaluates the rollout (`share_windows`).
  bool waits_for_first_group() const;
  /// Sets the map from the densities ρ of unknown k, a material distribution, to the parameters that unknown k sets.
  void set_distribution(std::size_t k);
  /// Sets those entries of `u`, this rank's part of a vector of unknowns, that are densities with prescribed values.
  void set_prescribed(std::vector<double>& u) const;
  /// Sets the map, with the shape filter, from the changes s of unknown k to the entries of unknown k's field.
  void set_shape_filter(std::size_t k);
  /// Returns the checkpointing schedule for a gradient; `make_product_schedule` returns the schedule for a product with
  /// the Hessian.
  std::unique_ptr<Schedule> make_schedule();
  std::unique_ptr<Schedule> make_product_schedule();
  bool of_initial_state(std::size_t k) const;
  Field& field(std::size_t k);
  /// Returns true if all ranks have the same entries of unknown k's field.
  bool is_global(std::size_t k) const;
  /// Returns the values of unknown k in the vector `u` of unknowns. If the ranks share the values of unknown k, every
  /// rank receives all values; otherwise a rank receives only the values of its own cells or vertices.
  std::vector<double> complete(std::size_t k, const std::vector<double>& u) const;
  ParameterSet make_gradient() const;
  /// Adds the derivative of the parameters along the change du of the vector u of unknowns to `direction`, and the
  /// derivative of the initial state x[0] along du to `tangent`. The caller sets `direction` and `tangent` to zero
  /// before the call.
  void add_direction(const std::vector<double>& u, const std::vector<double>& du, ParameterSet& direction,
                     State& tangent);
  /// Returns the derivatives of the loss with respect to the entries of unknown k's field, followed by the derivatives
  /// with respect to the parameters `MaterialDistribution::also`. The derivatives with respect to the entries of
  /// unknown k's field include the derivatives with respect to the field `Unknown::carries` of the initial state x[0],
  /// which changes with unknown k.
  std::vector<double> by_entries(std::size_t k, const ParameterSet& by_parameters, const State& by_initial) const;
  /// Replaces `g`, this rank's contribution to the derivatives with respect to the values of unknown k, by the sum over
  /// all ranks, if the ranks share these values. `sum_shared` does nothing for a parameter with the same entries on all
  /// ranks (`is_global`), because `g` then is already the sum over all ranks.
  void sum_shared(std::size_t k, std::vector<double>& g) const;
  /// Sets the parameters from the vector `u` of unknowns, and returns the schedule of a product with the Hessian. The
  /// caller must not allocate the states of the product with the Hessian before `begin_product` returns. The plan of
  /// the schedule includes an estimate of the memory of these states, and would count existing states twice. Throws
  /// Error (input) if the schedule computes the adjoints of the last steps only (`CheckpointOptions::last`).
  std::unique_ptr<Schedule> begin_product(const std::vector<double>& u);
  /// Sets `start.first` to the initial state x[0] at the vector u of unknowns, `start.second` to the derivative of x[0]
  /// along a change v of u, and `direction` to the derivative of the parameters along v.
  void start_product(const std::vector<double>& u, const std::vector<double>& v, ParameterSet& direction,
                     JoinedState& start);
  /// Performs the forward run and the reverse sweep of a product with the Hessian or the Gauss–Newton matrix. Before
  /// the call, `ends` contains the initial state and the derivative of the initial state along the vector v of the
  /// product; after the call, `ends` contains the adjoints of these two states.
  void sweep_product(Model& model, Loss& loss, Schedule& schedule, JoinedState& ends, ParameterSet& product);
  /// Returns the product of the Gauss–Newton matrix of this problem's loss with v.
  std::vector<double> gauss_newton_sweep(const std::vector<double>& u, const std::vector<double>& v);
  /// Returns the product of the Hessian of this problem's loss with v, and sets `gradient` to the gradient of this
  /// loss.
  std::vector<double> hessian_sweep(const std::vector<double>& u, const std::vector<double>& v,
                                    std::vector<double>& gradient);
  /// Sets the statistics of the last forward run and reverse run, also in the problem whose function `with_model`
  /// created this problem, if there is one.
  void set_statistics(const SweepStatistics& statistics) {
    statistics_ = statistics;
    if (origin_) origin_->statistics_ = statistics;
  }
  /// Returns unknown k's entries of `u`, this rank's part of a vector with the layout of the vector of unknowns.
  std::vector<double> part(std::size_t k, const std::vector<double>& u) const;
  /// Adds the gradient of the priors at `u`, multiplied by `prior_factor()`, to `gradient`.
  void add_prior_gradient(const std::vector<double>& u, std::vector<double>& gradient) const;
  /// Adds the product of v with the Hessian of the priors at `u`, multiplied by `prior_factor()`, to `product`.
  void add_prior_product(const std::vector<double>& u, const std::vector<double>& v,
                         std::vector<double>& product) const;
  /// Returns ∂L/∂u from the derivatives of the loss with respect to the Model's parameters and the initial state x[0].
  std::vector<double> by_unknowns(const std::vector<double>& u, const ParameterSet& by_parameters,
                                  const State& by_initial);
  double sweep(Loss& loss, const std::vector<double>& u, std::vector<double>& gradient, const StateObserver& observer,
               SweepJournal* journal);
  /// Repeats the forward run and the reverse run of this problem, whose gradient is not finite, and throws Error (run).
  /// The message names the step and the origin of the first value that is not finite.
  [[noreturn]] void locate_not_finite(const std::vector<double>& u);
  /// Calls `evaluate(k, problem)` for this problem (k = 0) and each added experiment (k > 0). Returns the results of
  /// `evaluate` for all experiments of all groups of processes, in the order of the experiments' numbers. `width`:
  /// number of entries of the derivative of a contribution on this rank.
  std::vector<Contribution> contributions(
      std::size_t width, const std::function<Contribution(std::size_t k, InverseProblem& problem)>& evaluate);
  /// Sets `losses_` to the losses of the experiments. `all`: contributions of the experiments, or of groups that share
  /// windows.
  void set_losses(const std::vector<Contribution>& all);
  /// Returns the product of the Hessian, or of the Gauss–Newton matrix, with v, summed over all experiments and priors.
  /// If `gradient` is not nullptr, sets `gradient` to the gradient of the sum of the losses of all experiments and of
  /// the priors.
  std::vector<double> product_all(const std::vector<double>& u, const std::vector<double>& v,
                                  std::vector<double>* gradient);
  /// Returns the sum of the losses of all experiments and of the priors, and sets `gradient` to the gradient of this
  /// sum.
  double sweep_all(const std::vector<double>& u, std::vector<double>& gradient, const StateObserver& observer);

  Model& model_;
  State initial_;
  int num_steps_;
  Loss& loss_;
  std::vector<Unknown> unknowns_;
  std::vector<Block> blocks_;
  std::size_t size_ = 0;
  CheckpointOptions checkpoints_;
  std::unique_ptr<SweepPlan> plan_, product_plan_;         // plans for `checkpoints_.memory`
  ScheduleFactory make_schedule_, make_product_schedule_;  // if empty, `checkpoints_` defines the schedules
  std::unique_ptr<Store> own_store_;
  Store& store_;
  std::vector<char> has_slope_;  // for each unknown: 1 if a derivative on this rank was not zero (see depends_on)
  SweepJournal* journal_ = nullptr;
  SweepWatcher watcher_;
  AdjointObserver adjoint_observer_;
  EvaluationLog* log_ = nullptr;
  SweepStatistics statistics_;
  InverseProblem* origin_ = nullptr;             // problem whose `with_model` created this problem
  std::vector<InverseProblem*> experiments_;     // added experiments
  std::string shared_unit_;                      // unit of the losses of all groups; empty if there is one group
  std::shared_ptr<const ProcessGroups> groups_;  // nullptr if there is one group
  enum class WindowsOfGroups {
    none,           // groups of processes share experiments, or there is one group
    whole_rollout,  // group 0 evaluates the whole rollout; groups share windows in multiple shooting
    own_windows     // this problem consists of the windows of this process's group
  } windows_ = WindowsOfGroups::none;
  std::vector<std::pair<std::size_t, std::shared_ptr<Prior>>> priors_;  // index of the unknown, and its prior
  double prior_factor_ = 1.0;
  std::vector<double> losses_;
  bool gauss_newton_ = false;
  bool locates_ = true;    // true: the Error of a gradient names the first value that is not finite
  bool is_added_ = false;  // true: this problem was added to another problem
};

/// Returns names for the values of unknown k, such as "youngs_modulus[soft]" or "gravity.x", if all ranks share these
/// values; otherwise returns an empty list.
std::vector<std::string> value_names(const InverseProblem& problem, std::size_t k);

/// Scope in which `hessian_product` uses the Gauss–Newton matrix if the argument `on` is true. If the argument `on` is
/// false, the GaussNewtonScope does not change the matrix that `use_gauss_newton` selected last. The destructor of
/// GaussNewtonScope selects the matrix that was selected before the scope.
class GaussNewtonScope {
 public:
  /// Begins the scope. `problem` must outlive the GaussNewtonScope.
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
