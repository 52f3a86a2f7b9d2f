// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/core/force_term.hpp"

namespace diffsim {

/// Positions x, velocities v and accelerations a of owned vertices at the end of a substep, before an impact; or
/// derivatives with respect to x, v and a, or along a direction. `accelerations` are means over the substep: the change
/// of the velocities before all impacts, divided by the length of the substep. Fields are [n, 3], where n is at least
/// the number of owned vertices.
template <class SomeField>
struct FieldsOfImpact {
  SomeField& positions;      ///< x, m
  SomeField& velocities;     ///< v, m/s
  SomeField& accelerations;  ///< a, m/s²
};

/// End of a substep, at which an impact may change the positions and the velocities.
struct PlaceOfImpact {
  FieldsOfImpact<const Field> fields;
  int step;        ///< index of the time step
  double time;     ///< time at the end of the substep, s
  double substep;  ///< length of the substep, s

  /// Configuration for the values of parameters in this time step.
  Configuration configuration() const { return {fields.positions, step, nullptr, &fields.velocities, time}; }
};

/// Vectors w_x and w_v, [owned vertices, 3], of which an adjoint operation multiplies the changes Δx of positions and
/// Δv of velocities.
struct WeightsOfImpact {
  const Field& positions;   ///< w_x
  const Field& velocities;  ///< w_v

  const Field& of(bool of_velocities) const { return of_velocities ? velocities : positions; }
};

/// Sudden change (x, v) → (x + Δx, v + Δv) of the positions x and the velocities v of some owned vertices at the end of
/// each explicit substep. The changes Δx and Δv are functions of x, v, the accelerations a, the parameters p, the time
/// and the length of the substep. Operations of an Impact change or read fields at owned vertices only.
class Impact {
 public:
  virtual ~Impact() = default;
  virtual std::string name() const = 0;
  /// Returns true if the Impact acts on the affine or rigid body with the given name; the same on all ranks.
  virtual bool acts_on(const std::string& body) const {
    static_cast<void>(body);
    return false;
  }
  /// Checks the parameters. Must be called after each change of parameters. Throws Error if a parameter is missing.
  virtual void prepare(const ParameterSet& parameters) = 0;
  /// Returns text, for error messages, that names a vertex of this rank on the wrong side, for example inside a
  /// half-space; empty if there is no such vertex.
  virtual std::string inside(const PlaceOfImpact& at, const ParameterSet& parameters) = 0;
  /// Adds Δx to `dx` and Δv to `dv`. Returns false if all changes of this rank's vertices are zero.
  virtual bool add_changes(const PlaceOfImpact& at, const ParameterSet& parameters, Field& dx, Field& dv) = 0;
  /// Adds the derivatives of Δx to `dx` and of Δv to `dv`, along the change `along` of x, v and a, and the change
  /// `direction` of the parameters.
  virtual void add_tangents(const PlaceOfImpact& at, const FieldsOfImpact<const Field>& along,
                            const ParameterSet& parameters, const ParameterSet& direction, Field& dx, Field& dv) = 0;
  /// Adds to `adjoint` the derivatives of w_x·Δx + w_v·Δv with respect to x, v and a, and to `gradient` the derivatives
  /// with respect to the parameters.
  virtual void add_adjoints(const PlaceOfImpact& at, const WeightsOfImpact& w, const ParameterSet& parameters,
                            const FieldsOfImpact<Field>& adjoint, ParameterSet& gradient) = 0;
  /// Adds to `adjoint_tangent` and `gradient_tangent` the derivatives of the results of `add_adjoints` along the
  /// changes `along` of x, v and a, `direction` of the parameters, and `dw` of the vectors w.
  virtual void add_adjoint_tangents(const PlaceOfImpact& at, const FieldsOfImpact<const Field>& along,
                                    const WeightsOfImpact& w, const WeightsOfImpact& dw, const ParameterSet& parameters,
                                    const ParameterSet& direction, const FieldsOfImpact<Field>& adjoint_tangent,
                                    ParameterSet& gradient_tangent) = 0;
};

}  // namespace diffsim
