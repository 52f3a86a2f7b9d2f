// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim {

/// Values that the derivatives of one time step need and that are expensive to recompute. A record of a time step
/// contains at least the state at the start of the step.
class Record {
 public:
  virtual ~Record() = default;
  virtual const State& initial() const = 0;  ///< state at the start of the recorded time step
};

/// Derivatives dx[n] and dx[n+1], along a direction, of the states x[n] and x[n+1] before and after time step n. In the
/// tangents dx[n] and dx[n+1], the values at copies of other ranks' entities are up to date.
struct StepTangent {
  const State& before;  ///< dx[n]
  const State& after;   ///< dx[n+1]
};

/// Adjoint state x̄ and gradient p̄ in a reverse sweep, that is, the derivatives of a loss with respect to the state
/// x[n] and the parameters p; and the derivatives of x̄ and p̄ along a direction.
struct AdjointPair {
  State& adjoint;                  ///< x̄
  State& adjoint_tangent;          ///< derivative of the adjoint state x̄ along a direction
  ParameterSet& gradient;          ///< p̄, this rank's contribution
  ParameterSet& gradient_tangent;  ///< derivative of the gradient p̄ along a direction
};

/// Location in the computation at which a value that is not finite first occurred on a rank.
struct NotFinite {
  std::string where;  ///< location such as "the term 'elastic' at vertex 17"; empty if all values are finite
  /// Number of the operation that first computed a value that is not finite on this rank. Operations have the same
  /// numbers on all ranks, so the lowest number over all ranks identifies the first operation that computed a value
  /// that is not finite.
  std::int64_t operation = 0;
};

/// Range of steps of a rollout, from state `begin` to state `end`.
struct StepRange {
  int begin = 0;  ///< number of the first state and of the first step of the range
  int end = 0;    ///< number of the last state of the range; the number of the last step is `end` - 1
  int size() const { return end - begin; }  ///< number of steps
};

/// Callback that receives each state of a forward run once, including the initial state (n = 0).
using StateObserver = std::function<void(int n, const State& state)>;

/// Discrete-time model x[n+1] = step_n(x[n]; prepare(p)), with states x[n] and parameters p.
///
/// A rollout with N time steps computes x[N] = step_{N-1} ∘ … ∘ step_0 (x[0]) after one call of `prepare`. `prepare`
/// computes quantities that depend on the parameters alone (masses, moduli). The functions `prepare` and `step` each
/// have a tangent (J v) and an adjoint (Jᵀ w), where J is the Jacobian of the function. Code that loops over the time
/// steps, forwards or backwards, does not depend on the physics. All operations of a Model are collective over the
/// communicator `comm`.
class Model {
 public:
  virtual ~Model() = default;

  virtual MPI_Comm comm() const = 0;       ///< communicator of the Model's ranks
  virtual State make_state() const = 0;    ///< state with the fields of the Model, filled with zeros
  virtual ParameterSet& parameters() = 0;  ///< values p of the parameters
  const ParameterSet& parameters() const { return const_cast<Model*>(this)->parameters(); }  ///< constant overload

  /// Computes the quantities of the Model that depend on the parameters alone. The caller must call `prepare` after
  /// each change of parameters, force terms or fixed displacement components, before calls of `step` that use the
  /// changes. Rollouts and `DifferentiableScene::step` call `prepare` themselves.
  virtual void prepare() = 0;
  /// Computes the derivative of the results of `prepare` along `direction`, for the `step_tangent` calls that follow.
  virtual void prepare_tangent(const ParameterSet& direction) = 0;
  /// Zeroes the sums inside the Model in which `step_adjoint` accumulates adjoints of the results of `prepare`. The
  /// ParameterSet `gradient` contains the parameters whose gradient is requested. Throws Error with the reason if the
  /// gradient with respect to a requested parameter does not exist.
  virtual void begin_adjoint(const ParameterSet& gradient) = 0;
  /// Converts the adjoints of the results of `prepare`, which `step_adjoint` has accumulated, to derivatives with
  /// respect to the parameters, and adds this rank's contribution to `gradient`.
  virtual void prepare_adjoint(ParameterSet& gradient) = 0;

  /// Returns the relative tolerance of the linear solves in derivatives of steps; 0 if derivatives of steps need no
  /// linear solves.
  virtual double solver_tolerance() const { return 0.0; }
  /// Sets the tolerances of all later solves, in steps and in derivatives of steps, to `factor` ≤ 1 times the
  /// configured tolerances, but not below the level of rounding errors. A factor of 1 restores the configured
  /// tolerances of the solves.
  virtual void tighten_solver(double /*factor*/) {}

  /// Permits the Model to store the results of implicit steps, up to `bytes` on each rank, and to reuse a result when
  /// the same step is computed again from the same state with the same parameters. The computed states and derivatives
  /// are bitwise identical with and without stored results. By default, and if `bytes` is 0, the Model stores no
  /// results of steps. The limit `bytes` must be the same on all ranks.
  virtual void remember_steps(std::size_t /*bytes*/) {}

  /// Returns a new Record of a time step, which `step` and `step_back` can fill.
  virtual std::unique_ptr<Record> make_record() const = 0;
  /// Returns the size of a step's Record on this rank in bytes, or an upper bound if the size differs between steps.
  virtual std::size_t record_bytes() const = 0;

  /// Advances the state x[n] to x[n+1], in place in `state`. Stores the Record of step n in `record` if `record` is not
  /// nullptr. If the state becomes invalid on any rank, for example not finite, every rank throws the same Error.
  virtual void step(int n, State& state, Record* record) = 0;
  /// Advances the tangent dx[n] of the state to dx[n+1], in place in `tangent`. The argument `direction` must be the
  /// direction passed to the last call of `prepare_tangent`. The argument `record` must be the Record of time step n.
  virtual void step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) = 0;
  /// Propagates the adjoint x̄[n+1] of the state back to x̄[n], in place in `adjoint`. The argument `record` must be the
  /// Record of time step n. Adds to `gradient` this rank's contribution to the derivatives of the loss with
  /// respect to those parameters that the step reads directly. Accumulates the adjoints of the results of `prepare`
  /// inside the Model (see `prepare_adjoint`).
  virtual void step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) = 0;

  /// Enables or disables the search for values that are not finite in the adjoint operations. The search makes the
  /// adjoint operations slower. Enabling the search discards the result of an earlier search.
  virtual void set_diagnosis(bool /*on*/) {}
  /// Returns the location at which an adjoint operation on this rank first computed a value that is not finite, since
  /// the last call of `set_diagnosis(true)`.
  virtual NotFinite diagnosis() const { return {}; }

  // Second derivatives: derivatives of the adjoint operations along a direction (forward over reverse), for products
  // with Hessians.

  /// Zeroes the sums inside the Model in which `step_adjoint_tangent` accumulates derivatives, along a direction, of
  /// the adjoints of the results of `prepare`. The caller must call `prepare_tangent` and `begin_adjoint` before
  /// `begin_adjoint_tangent`. Throws Error with the reason if the model has no second derivatives, or no second
  /// derivatives with respect to a parameter in `gradient` or `direction`.
  virtual void begin_adjoint_tangent(const ParameterSet& /*gradient*/, const ParameterSet& /*direction*/) {
    throw Error("this model has no second derivatives", ErrorKind::input);
  }
  /// Adds to `gradient_tangent` this rank's contribution to the derivatives, along `direction`, of the values that
  /// `prepare_adjoint` adds to the gradient.
  virtual void prepare_adjoint_tangent(const ParameterSet& /*direction*/, ParameterSet& /*gradient_tangent*/) {}
  /// Applies `step_adjoint` to `pair.adjoint` and `pair.gradient`. Applies the derivative of `step_adjoint` along a
  /// direction to `pair.adjoint_tangent` and `pair.gradient_tangent`. Along the direction of differentiation, the
  /// states change by `tangent`, the parameters by `direction`, and the adjoint state by `pair.adjoint_tangent`.
  virtual void step_adjoint_tangent(int /*n*/, const Record& /*record*/, const StepTangent& /*tangent*/,
                                    const ParameterSet& /*direction*/, const AdjointPair& /*pair*/) {
    throw Error("this model has no second derivatives", ErrorKind::input);
  }

  /// Enables or disables reversible steps, which `step_back` can undo. In reversible steps, positions and velocities
  /// are rounded to multiples of a small unit, so a reversible step and an ordinary step give the same state up to
  /// rounding. Throws Error (input) with the reason if the model cannot undo its steps.
  virtual void set_reversible(bool wanted);
  /// Replaces the state x[n+1] by x[n], in place in `state`. For n > 0, the restored x[n] is bitwise identical to the
  /// state before step n. For n = 0, the restored x[0] is bitwise identical to the initial state after `step` has
  /// rounded its positions and velocities. Stores the Record of step n in `record`, as `step` does.
  virtual void step_back(int n, State& state, Record& record);
};

/// Function u[n] = π(n, x[n], p) that computes the values u[n] of some parameters for step n from the state x[n] before
/// the step and from the other parameters p. Examples of a Link are a feedback controller, a neural network, and a
/// coupling to another program. The parameters whose values u[n] a Link computes are called the controls of the Link.
/// All functions of a Link are collective over the Model's communicator. In the parameters that the functions of a Link
/// receive, all controls are zero; in the states and tangents, values at copies of other ranks' entities are up to
/// date.
class Link {
 public:
  virtual ~Link() = default;
  /// Returns the names of the controls. Each control is a parameter of the Model that may have a value for each step
  /// (`ParameterSpec::by_step`).
  virtual std::vector<std::string> controls() const = 0;
  /// Sets the values u[n] of the controls in `controls`, a ParameterSet that contains the controls alone.
  virtual void evaluate(int n, const State& state, const ParameterSet& parameters, ParameterSet& controls) = 0;
  /// Sets `control_tangents` to the derivatives du = ∂π/∂x dx + ∂π/∂p dp of the controls u = π(n, x, p), where dx is
  /// `tangent` and dp is `direction`.
  virtual void tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                       const ParameterSet& direction, ParameterSet& control_tangents) = 0;
  /// Adds (∂π/∂x)ᵀ ū to the values of `adjoint` at owned entities, and this rank's contribution to (∂π/∂p)ᵀ ū to
  /// `gradient` for the parameters that `gradient` contains, where π(n, x, p) are the controls and ū is
  /// `control_adjoints`. For a control with one value for the whole model, the value of `control_adjoints` is the sum
  /// over all ranks, and is the same on every rank.
  virtual void add_adjoint(int n, const State& state, const ParameterSet& parameters,
                           const ParameterSet& control_adjoints, State& adjoint, ParameterSet& gradient) = 0;
  /// Adds to `adjoint_tangent` and `gradient_tangent` the derivatives of the results of `add_adjoint` along `tangent`
  /// (state), `direction` (parameters) and `control_adjoint_tangents` (`control_adjoints`).
  virtual void add_adjoint_tangent(int /*n*/, const State& /*state*/, const ParameterSet& /*parameters*/,
                                   const State& /*tangent*/, const ParameterSet& /*direction*/,
                                   const ParameterSet& /*control_adjoints*/,
                                   const ParameterSet& /*control_adjoint_tangents*/, State& /*adjoint_tangent*/,
                                   ParameterSet& /*gradient_tangent*/) {
    throw Error("a link of this model has no second derivatives", ErrorKind::input);
  }
};

}  // namespace diffsim
