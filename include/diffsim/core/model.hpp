// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "diffsim/core/error.hpp"
#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim {

/// Values that the derivatives of one step need and cannot cheaply recompute: at least the state the step began with.
class Record {
 public:
  virtual ~Record() = default;
  virtual const State& initial() const = 0;
};

/// dx[n] and dx[n+1] of step n, copies up to date.
struct StepTangent {
  const State& before;
  const State& after;
};

/// State of the reverse sweep, and its derivatives along a direction.
struct AdjointPair {
  State& adjoint;
  State& adjoint_tangent;
  ParameterSet& gradient;
  ParameterSet& gradient_tangent;
};

/// Everything that evolves: x[n+1] = step_n(x[n]; prepare(p)), p the parameters.
///
/// A rollout is x[N] = step_{N-1} ∘ … ∘ step_0 (x[0]) after one `prepare`, which computes what depends on the
/// parameters alone (masses, moduli). Both come as a triple of value, tangent (J v) and adjoint (Jᵀ w), so that a
/// sweep knows nothing of physics. All verbs are collective over `comm`.
class Model {
 public:
  virtual ~Model() = default;

  virtual MPI_Comm comm() const = 0;
  virtual State make_state() const = 0;  ///< zeroed, of the Model's shape
  virtual ParameterSet& parameters() = 0;
  const ParameterSet& parameters() const { return const_cast<Model*>(this)->parameters(); }

  /// Called after parameters changed, before the steps that use them.
  virtual void prepare() = 0;
  /// Sets the derivative of what `prepare` computed along `direction`, for the `step_tangent` calls that follow.
  virtual void prepare_tangent(const ParameterSet& direction) = 0;
  /// Zeroes what `step_adjoint` gathers; `gradient` names the parameters asked for. Throws Error with the reason where
  /// the gradient by one of them does not exist.
  virtual void begin_adjoint(const ParameterSet& gradient) = 0;
  /// Adds to `gradient` what the `step_adjoint` calls gathered for the results of `prepare`; this rank's share.
  virtual void prepare_adjoint(ParameterSet& gradient) = 0;

  /// To what relative tolerance the derivatives of steps are solved for; 0: they are explicit.
  virtual double solver_tolerance() const { return 0.0; }
  /// Solves the equations of steps and of their derivatives to `factor` ≤ 1 times the tolerances that were given, or to
  /// rounding, from here on; 1: to those given.
  virtual void tighten_solver(double /*factor*/) {}

  virtual std::unique_ptr<Record> make_record() const = 0;
  /// Bytes of a record on this rank; at most, where they depend on how the step goes.
  virtual std::size_t record_bytes() const = 0;

  /// x[n] → x[n+1] in place; fills `record` if one is given. Throws the same Error on every rank if the state becomes
  /// invalid.
  virtual void step(int n, State& state, Record* record) = 0;
  /// dx[n] → dx[n+1] in place, along the direction given to `prepare_tangent`.
  virtual void step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) = 0;
  /// x̄[n+1] → x̄[n] in place; adds this rank's share of the parameters' gradient.
  virtual void step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) = 0;

  // Second derivatives: those of the adjoint verbs along a direction, forward over reverse, for products with Hessians.

  /// After `prepare_tangent` and `begin_adjoint`: zeroes what the derivatives gather. Throws Error with the reason
  /// where there is no second derivative by the parameters of the two sets, or at all.
  virtual void begin_adjoint_tangent(const ParameterSet& /*gradient*/, const ParameterSet& /*direction*/) {
    throw Error("this model has no second derivatives", ErrorKind::input);
  }
  /// Adds to `gradient_tangent` the derivative of what `prepare_adjoint` adds; this rank's share.
  virtual void prepare_adjoint_tangent(const ParameterSet& /*direction*/, ParameterSet& /*gradient_tangent*/) {}
  /// `step_adjoint` of `pair.adjoint` and `pair.gradient` together with its derivative along dx and `direction`.
  virtual void step_adjoint_tangent(int /*n*/, const Record& /*record*/, const StepTangent& /*tangent*/,
                                    const ParameterSet& /*direction*/, const AdjointPair& /*pair*/) {
    throw Error("this model has no second derivatives", ErrorKind::input);
  }

  /// Whether steps from here on can be undone by `step_back`, which changes them in their last digits. Throws Error
  /// (input) with the reason where that cannot be.
  virtual void set_reversible(bool wanted);
  /// x[n+1] → x[n] in place, to the bit what `step` began with (n = 0: what it made of that first); fills `record` as
  /// `step` does.
  virtual void step_back(int n, State& state, Record& record);
};

}  // namespace diffsim
