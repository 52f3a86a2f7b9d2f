// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/core/parameters.hpp"

namespace diffsim {

/// Lumped masses of some bodies: a contribution to the diagonal mass matrix M.
///
/// Mass fields are [local nodes, 3], in kg, with the same value in all three components. Every operation adds this
/// rank's contribution; the caller sums the contributions over the ranks.
class Inertia {
 public:
  virtual ~Inertia() = default;
  virtual std::string name() const = 0;
  /// Returns true if masses depend on one of the parameters in `set`.
  virtual bool depends_on(const ParameterSet& set) const = 0;

  /// Computes mass += m(p), where m(p) are the lumped masses. Throws Error (input) for invalid parameters. Collective.
  virtual void add_mass(const ParameterSet& parameters, Field& mass) const = 0;
  /// Computes mass_tangent += ∂m/∂p dp.
  virtual void add_mass_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                                Field& mass_tangent) const = 0;
  /// Computes p̄ += (∂m/∂p)ᵀ m̄. m̄ has up-to-date values on all local nodes.
  virtual void add_mass_adjoint(const ParameterSet& parameters, const Field& mass_adjoint,
                                ParameterSet& gradient) const = 0;
  /// Computes p̄ += d[(∂m/∂p)ᵀ m̄] for parameters with second derivatives, where d is the derivative along `direction`
  /// and dm̄.
  virtual void add_mass_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                                        const Field& mass_adjoint, const Field& mass_adjoint_tangent,
                                        ParameterSet& gradient_tangent) const = 0;
};

}  // namespace diffsim
