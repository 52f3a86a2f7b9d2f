// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/core/block_matrix.hpp"
#include "diffsim/core/cell_part.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/parameters.hpp"

namespace diffsim {

/// Where forces are evaluated. Fields are [local vertices, 3]; copies of other ranks' vertices are up to date.
struct Configuration {
  const Field& positions;  ///< m
  int step = 0;            ///< which entries of control signals apply
  /// Device address of the smallest local cell found invalid, or nullptr where nobody asks. A term whose energy does
  /// not exist at the configuration lowers it to the cell at fault.
  std::int32_t* invalid_cell = nullptr;
  const Field* velocities = nullptr;  ///< m/s; given if any term `uses_velocities`
  double time = 0.0;                  ///< s, since the rollout's beginning: where things that move by themselves are
  double load_factor = 1.0;           ///< on dead loads; see `factor_of`
  /// Positions that the step begins with, m, where terms that lag are evaluated, and their time, s. Implicit steps give
  /// them if any term `lags`; nullptr: terms that lag are evaluated at `positions`, as all others.
  const Field* start_positions = nullptr;
  double start_time = 0.0;

  /// Factor on a dead load: a signal that has a value for each step is taken as it is.
  double factor_of(const Parameter& load) const { return load.steps() == 1 ? load_factor : 1.0; }
};

/// A Jacobian to be assembled: a ∂f/∂x + b ∂f/∂v.
struct JacobianWeights {
  double position = 1.0;  ///< a; < 0 in implicit steps
  double velocity = 0.0;  ///< b, 1/s
  /// Each element's contribution is made positive semidefinite: for the forward solve only, never for derivatives.
  bool project = false;
};

/// Directions dx and, where velocities are given, dv of a configuration; [local vertices, 3], copies up to date.
struct ConfigurationTangent {
  const Field& positions;
  const Field* velocities = nullptr;
  double time = 0.0;                       ///< dt, s: by how much things that move by themselves go on
  const Field* start_positions = nullptr;  ///< where the configuration has them; nullptr: zero
};

/// x̄ and, where velocities are given, v̄; [local vertices, 3], this rank's shares.
struct ConfigurationAdjoint {
  Field& positions;
  Field* velocities = nullptr;
  Field* start_positions = nullptr;  ///< where the configuration has them
};

/// Local vertices whose motion is prescribed, [local vertices] each, or empty: none.
struct HeldVertices {
  std::vector<char> positions;  ///< all three components are fixed or moved
  /// Bit c: the vertex is in a plane of symmetry across axis c; bit 3: directions of the body there are kept, as in a
  /// wall.
  std::vector<char> clamped;
  static constexpr char in_wall = 8;
};

/// One mechanism of a system: elasticity, load, contact. Forces are f = -∂E/∂x where there is an energy E.
///
/// Every verb works on this rank's cells and faces and adds this rank's share to all its local vertices; the caller
/// sums shares over ranks. The derivative verbs come as value, tangent and adjoint, for positions, velocities and
/// parameters together.
class ForceTerm {
 public:
  virtual ~ForceTerm() = default;
  virtual std::string name() const = 0;
  /// Whether forces depend on velocities, which are then part of every configuration.
  virtual bool uses_velocities() const { return false; }
  /// Whether forces are f(x_n, v, p), x_n the positions that the step begins with (`Configuration::start_positions`).
  virtual bool lags() const { return false; }

  /// Told before the first `prepare`, and before the next where it changed.
  virtual void set_held(const HeldVertices&) {}

  /// As in Model: what depends on the parameters alone, and its derivatives.
  virtual void prepare(const ParameterSet&) {}
  virtual void prepare_tangent(const ParameterSet&, const ParameterSet& /*direction*/) {}
  virtual void begin_adjoint(const ParameterSet& /*gradient*/) {}
  virtual void prepare_adjoint(const ParameterSet&, ParameterSet& /*gradient*/) {}

  /// This rank's share of E, J.
  virtual double energy(const Configuration& at, const ParameterSet& parameters) = 0;
  /// f += f(x, v, p), N.
  virtual void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) = 0;
  /// The share of some of this rank's cells; all that is not of inner cells counts as shared.
  virtual void add_force_of(CellPart part, const Configuration& at, const ParameterSet& parameters, Field& force) {
    if (part != CellPart::inner) add_force(at, parameters, force);
  }
  /// df += ∂f/∂x dx + ∂f/∂v dv + ∂f/∂p dp, dp as given to `prepare_tangent`.
  virtual void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, Field& force_tangent) = 0;
  /// x̄ += (∂f/∂x)ᵀ w, v̄ += (∂f/∂v)ᵀ w and p̄ += (∂f/∂p)ᵀ w, w given on all local vertices.
  virtual void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                                 ParameterSet& gradient) = 0;
  /// As `add_force_of`. The shared cells come before the inner ones.
  virtual void add_force_adjoint_of(CellPart part, const Configuration& at, const Field& w,
                                    const ConfigurationAdjoint& adjoint, ParameterSet& gradient) {
    if (part != CellPart::inner) add_force_adjoint(at, w, adjoint, gradient);
  }

  // Second derivatives: those of the adjoint verbs along (dx, dv, dp) and dw, for products with Hessians and for
  // Newton's method differentiated as it ran. A term overrides all three, or has none and says so.

  /// Zeroes what the derivatives gather. Throws Error (input) where one by the parameters of the sets does not exist.
  virtual void begin_adjoint_tangent(const ParameterSet& /*gradient*/, const ParameterSet& /*direction*/) {
    throw Error("no second derivative by the term '" + name() + "'; use an optimiser that needs gradients only",
                ErrorKind::input);
  }
  /// Adds to `gradient_tangent` the derivative of what `prepare_adjoint` adds; that one's sums are still there.
  virtual void prepare_adjoint_tangent(const ParameterSet&, const ParameterSet& /*direction*/,
                                       ParameterSet& /*gradient_tangent*/) {}
  /// x̄ += d[(∂f/∂x)ᵀ w], v̄ and p̄ likewise, with d along `tangent`, `direction` and dw. `w` or `dw` may be nullptr:
  /// zero.
  virtual void add_force_adjoint_tangent(const Configuration& /*at*/, const ConfigurationTangent& /*tangent*/,
                                         const ParameterSet& /*direction*/, const Field* /*w*/, const Field* /*dw*/,
                                         const ConfigurationAdjoint& /*adjoint_tangent*/,
                                         ParameterSet& /*gradient_tangent*/) {
    throw Error("no second derivative by the term '" + name() + "'", ErrorKind::input);
  }

  // Verbs that implicit steps need besides.

  /// Whether f is minus the derivative of a potential of the step: f = -∂E/∂x, or f = -∂D/∂v for a term that `lags`.
  virtual bool has_energy() const { return !uses_velocities(); }
  /// This rank's share of a dissipation potential D(x, v), W, of forces f = -∂D/∂v; 0 where there is none.
  virtual double dissipation(const Configuration& /*at*/, const ParameterSet& /*parameters*/) { return 0.0; }
  /// Whether f = -∂D/∂v.
  virtual bool has_dissipation() const { return false; }
  /// Whether ∂f/∂x and ∂f/∂v are symmetric everywhere.
  virtual bool has_symmetric_jacobian() const { return true; }
  /// Whether a rigid motion of the whole body may be resisted.
  virtual bool holds_body() const { return false; }
  /// Which pairs of local vertices the Jacobian couples at this configuration; none by default.
  virtual void add_couplings(const Configuration& /*at*/, Couplings& /*couplings*/) {}
  /// Whether couplings differ from configuration to configuration. Then the term's Jacobian is a matrix of its own, and
  /// its local vertices after the owned ones are what its couplings say.
  virtual bool couplings_vary() const { return false; }
  /// Where they vary: whether those made last serve this configuration too. They may be for more than what is coupled;
  /// what they are depends on the configuration that they are made for alone. Collective, and the same on every rank.
  virtual bool couplings_serve(const Configuration& /*at*/) { return true; }
  /// matrix += a ∂f/∂x + b ∂f/∂v, this rank's elements. A term without Jacobian overrides it to do nothing.
  virtual void add_jacobian(const Configuration& /*at*/, const ParameterSet& /*parameters*/,
                            const JacobianWeights& /*weights*/, BlockMatrix& /*matrix*/) {
    throw Error("the term '" + name() + "' cannot be assembled; use integrator: symplectic_euler", ErrorKind::input);
  }

  /// stiffness_i += Σ_e λ_e over the term's elements e at vertex i, λ_e ≥ the largest eigenvalue of the element's
  /// stiffness at rest, N/m, in every component of [local vertices, 3]: xᵀKx ≤ Σ_i stiffness_i |x_i|², so ω² ≤ max_i
  /// stiffness_i / m_i.
  virtual void add_stiffness_bound(const ParameterSet& /*parameters*/, Field& /*stiffness*/) {}
  /// damping_i += Σ_e of bounds of the largest eigenvalues of -∂f/∂v at rest, N s/m, in the same way.
  virtual void add_damping_bound(const ParameterSet& /*parameters*/, Field& /*damping*/) {}

  /// Whether something moves by itself in step n: forces depend on the time.
  virtual bool moves(int /*n*/, const ParameterSet&) const { return false; }
  /// Whether some motions must not be: those that pass through an obstacle.
  virtual bool limits_steps() const { return false; }
  /// The largest a in [0, 1], less a margin, such that the straight motion from `from` to `from` + a (`to` - `from`) is
  /// allowed; 0 if `from` itself is not. This rank's share: the caller takes the least of all. Both have their time.
  /// Collective.
  virtual double max_step(const Configuration& /*from*/, const Configuration& /*to*/, const ParameterSet&) {
    return 1.0;
  }
  /// Name of the pair that limited the last `max_step` on this rank, for messages: "vertex 17 and the plane obstacle
  /// 0".
  virtual std::string limiting() const { return {}; }
};

}  // namespace diffsim
