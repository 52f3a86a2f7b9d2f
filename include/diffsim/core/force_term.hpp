// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/parameters.hpp"

namespace diffsim {

class BlockMatrix;
class Couplings;

/// Subset of a rank's cells that a sweep processes. `shared`: cells with a vertex that is also a local vertex of
/// another rank. `inner`: all other cells. The inner cells can be processed while the sums at shared vertices are
/// exchanged between ranks. `all`: all cells of the rank.
enum class CellPart { shared, inner, all };

/// Configuration at which forces are evaluated. Each field is [local vertices, 3], and its values at copies of other
/// ranks' vertices are up to date.
struct Configuration {
  const Field& positions;  ///< m
  int step = 0;            ///< index of the time step; selects the entries of control signals
  /// Device address of an integer i that receives the smallest local index of an invalid cell; nullptr if the index is
  /// not requested. If the energy of a term is undefined in cell c, the term replaces i by min(i, c).
  std::int32_t* invalid_cell = nullptr;
  const Field* velocities = nullptr;  ///< m/s; set if any term `uses_velocities`
  double time = 0.0;         ///< s, since the start of the rollout; determines the positions of moving obstacles
  double load_factor = 1.0;  ///< factor on dead loads; see `factor_of`
  /// Positions at the start of the time step (m). Terms whose `lags()` is true are evaluated at these positions and at
  /// the time `start_time` (s). Implicit steps set `start_positions` and `start_time` if `lags()` is true for any term.
  /// If `start_positions` is nullptr, all terms are evaluated at `positions`.
  const Field* start_positions = nullptr;
  double start_time = 0.0;  ///< time (s) at the start of the time step; see `start_positions`

  /// Returns the factor by which a dead load is multiplied: `load_factor` for a constant load, 1 for a control signal
  /// with a value for each time step.
  double factor_of(const Parameter& load) const { return load.steps() == 1 ? load_factor : 1.0; }
};

/// Weights a and b of the assembled Jacobian a ∂f/∂x + b ∂f/∂v.
struct JacobianWeights {
  double position = 1.0;  ///< a; < 0 in implicit steps
  double velocity = 0.0;  ///< b, 1/s
  /// True if the contribution of each element is projected to a positive semidefinite matrix. The projection is used in
  /// forward solves only; derivatives use the exact Jacobian.
  bool project = false;
};

/// Tangent of a configuration: dx and, if the configuration has velocities, dv. Each field is [local vertices, 3], and
/// its values at copies of other ranks' vertices are up to date.
struct ConfigurationTangent {
  const Field& positions;                  ///< dx, m
  const Field* velocities = nullptr;       ///< dv, m/s; nullptr if the configuration has no velocities
  double time = 0.0;                       ///< derivative of `Configuration::time` along the direction (s)
  const Field* start_positions = nullptr;  ///< derivative of the start positions; nullptr: zero
};

/// Adjoint of a configuration: x̄ and, if the configuration has velocities, v̄. Each field is [local vertices, 3] and
/// contains this rank's contributions.
struct ConfigurationAdjoint {
  Field& positions;                  ///< x̄
  Field* velocities = nullptr;       ///< v̄; nullptr if the configuration has no velocities
  Field* start_positions = nullptr;  ///< nullptr if the configuration has no start positions
};

/// Constraints of the local vertices. Each array is [local vertices], or empty if no vertex has a constraint of the
/// array's kind.
struct VertexConstraints {
  std::vector<char> positions;  ///< non-zero: the position is fixed or follows a prescribed motion
  /// Bit mask for each vertex. Bit c (c = 0, 1, 2): the vertex lies in a plane of symmetry normal to axis c. Bit 3
  /// (`in_wall`): the slope of a shell, or the tangent of a rod, is fixed at the vertex, as for a body clamped in a
  /// wall.
  std::vector<char> clamped;
  static constexpr char in_wall = 8;  ///< bit 3 of `clamped`
};

/// Contribution to the forces of a system, for example elasticity, a load or contact. If the term has an energy E, the
/// forces are f = -∂E/∂x.
///
/// Every operation processes this rank's cells and faces, and adds the contributions of these cells and faces at all
/// local vertices. The caller sums the contributions over the ranks. A differentiable operation has a tangent and an
/// adjoint, each with respect to positions, velocities and parameters together.
class ForceTerm {
 public:
  virtual ~ForceTerm() = default;
  virtual std::string name() const = 0;  ///< name for messages, for example "elastic"
  /// Returns true if forces depend on velocities. Every Configuration passed to the term then has velocities.
  virtual bool uses_velocities() const { return false; }
  /// Returns true if forces are f(x_n, v, p), where x_n are the positions at the start of the time step
  /// (`Configuration::start_positions`).
  virtual bool lags() const { return false; }

  /// Passes the constraints of the local vertices to the term. The caller must call this function before the first
  /// `prepare`, and before a later `prepare` if the constraints have changed.
  virtual void set_constraints(const VertexConstraints&) {}

  /// Computes the prepared quantities, which depend on the parameters alone. `prepare_tangent`, `begin_adjoint` and
  /// `prepare_adjoint` compute the tangent and the adjoint of these quantities, like the functions of the same names in
  /// Model.
  virtual void prepare(const ParameterSet&) {}
  /// Computes the derivatives of the prepared quantities along `direction`.
  virtual void prepare_tangent(const ParameterSet&, const ParameterSet& /*direction*/) {}
  /// Zeroes the sums that `add_force_adjoint` accumulates. `gradient` contains the parameters whose gradient is
  /// requested.
  virtual void begin_adjoint(const ParameterSet& /*gradient*/) {}
  /// Adds to `gradient` the derivatives with respect to parameters that follow from the accumulated sums.
  virtual void prepare_adjoint(const ParameterSet&, ParameterSet& /*gradient*/) {}

  /// Returns this rank's contribution to the energy E, in J.
  virtual double energy(const Configuration& at, const ParameterSet& parameters) = 0;
  /// Computes `force` += f(x, v, p), in N.
  virtual void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) = 0;
  /// Adds the forces of the cells in `part`. Contributions that do not come from inner cells are added with
  /// `CellPart::shared`. By default, all contributions are added with `CellPart::shared`.
  virtual void add_force_of(CellPart part, const Configuration& at, const ParameterSet& parameters, Field& force) {
    if (part != CellPart::inner) add_force(at, parameters, force);
  }
  /// Computes df += ∂f/∂x dx + ∂f/∂v dv + ∂f/∂p dp. dp is `direction`, which must be the direction that was passed to
  /// the last `prepare_tangent`.
  virtual void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, Field& force_tangent) = 0;
  /// Computes x̄ += (∂f/∂x)ᵀ w, v̄ += (∂f/∂v)ᵀ w and p̄ += (∂f/∂p)ᵀ w. w has up-to-date values on all local vertices.
  virtual void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                                 ParameterSet& gradient) = 0;
  /// Computes the part of the results of `add_force_adjoint` that comes from the cells in `part`. Parts are defined as
  /// in `add_force_of`. The caller processes `CellPart::shared` before `CellPart::inner`.
  virtual void add_force_adjoint_of(CellPart part, const Configuration& at, const Field& w,
                                    const ConfigurationAdjoint& adjoint, ParameterSet& gradient) {
    if (part != CellPart::inner) add_force_adjoint(at, w, adjoint, gradient);
  }

  // Second derivatives: derivatives of the adjoint operations along (dx, dv, dp) and dw. Second derivatives are used
  // for products with Hessians and for the differentiation of unrolled Newton iterations. A term without second
  // derivatives does not override the following functions. The default implementations of `begin_adjoint_tangent` and
  // `add_force_adjoint_tangent` throw Error.

  /// Zeroes the sums that the second derivatives accumulate. Throws Error (input) if a second derivative with respect
  /// to parameters of `gradient` or `direction` does not exist.
  virtual void begin_adjoint_tangent(const ParameterSet& /*gradient*/, const ParameterSet& /*direction*/) {
    throw Error("the term '" + name() + "' has no second derivatives; use an optimiser that needs gradients only",
                ErrorKind::input);
  }
  /// Adds to `gradient_tangent` the derivatives, along `direction`, of the terms that `prepare_adjoint` adds to the
  /// gradient. The sums that were accumulated for `prepare_adjoint` still have their values.
  virtual void prepare_adjoint_tangent(const ParameterSet&, const ParameterSet& /*direction*/,
                                       ParameterSet& /*gradient_tangent*/) {}
  /// Computes x̄ += d[(∂f/∂x)ᵀ w], v̄ += d[(∂f/∂v)ᵀ w] and p̄ += d[(∂f/∂p)ᵀ w], where d is the derivative along `tangent`,
  /// `direction` and dw. A nullptr for `w` or `dw` stands for zeros.
  virtual void add_force_adjoint_tangent(const Configuration& /*at*/, const ConfigurationTangent& /*tangent*/,
                                         const ParameterSet& /*direction*/, const Field* /*w*/, const Field* /*dw*/,
                                         const ConfigurationAdjoint& /*adjoint_tangent*/,
                                         ParameterSet& /*gradient_tangent*/) {
    throw Error("the term '" + name() + "' has no second derivatives", ErrorKind::input);
  }

  // Operations for implicit steps.

  /// Returns true if f is the negative gradient of a potential: f = -∂E/∂x, or f = -∂D/∂v for a term whose `lags()` is
  /// true.
  virtual bool has_energy() const { return !uses_velocities(); }
  /// Returns this rank's contribution to the dissipation potential D(x, v) in W, for which f = -∂D/∂v. Returns 0 if the
  /// term has no dissipation potential.
  virtual double dissipation(const Configuration& /*at*/, const ParameterSet& /*parameters*/) { return 0.0; }
  /// Returns true if the term has a dissipation potential D with f = -∂D/∂v.
  virtual bool has_dissipation() const { return false; }
  /// Returns true if ∂f/∂x and ∂f/∂v are symmetric at every configuration.
  virtual bool has_symmetric_jacobian() const { return true; }
  /// Returns true if the term may resist a rigid motion of the whole body. If a term returns true, quasi-static steps
  /// accept a body whose fixed displacement components do not prevent all rigid motions.
  virtual bool holds_body() const { return false; }
  /// Adds the pairs of local vertices that the Jacobian couples at this configuration. The default implementation adds
  /// no pairs.
  virtual void add_couplings(const Configuration& /*at*/, Couplings& /*couplings*/) {}
  /// Returns true if the term's Jacobian is a separate matrix, whose sparsity pattern may depend on the configuration.
  /// The local vertices of this matrix are the owned vertices, followed by the copies that `add_couplings` sets
  /// (`Couplings::set_copies`).
  virtual bool couplings_vary() const { return false; }
  /// Returns true if the last sparsity pattern contains all pairs that the Jacobian couples at this configuration. The
  /// function is called only if `couplings_vary` returns true. The pattern may contain more entries than this
  /// configuration needs, but must depend only on the configuration that was passed to `add_couplings`. Collective,
  /// with the same result on every rank.
  virtual bool pattern_covers(const Configuration& /*at*/) { return true; }
  /// Adds a ∂f/∂x + b ∂f/∂v of this rank's elements to `matrix`. A term whose Jacobian is zero overrides this function
  /// with a function that does nothing.
  virtual void add_jacobian(const Configuration& /*at*/, const ParameterSet& /*parameters*/,
                            const JacobianWeights& /*weights*/, BlockMatrix& /*matrix*/) {
    throw Error("the term '" + name() + "' cannot be assembled; use integrator: symplectic_euler", ErrorKind::input);
  }

  /// Adds a bound of the stiffness at each vertex: stiffness_i += Σ_e λ_e over the term's elements e at vertex i, in
  /// all three components of `stiffness`, [local vertices, 3]. λ_e (N/m) is an upper bound, or an estimate by power
  /// iterations, of the largest eigenvalue of the element's stiffness matrix in the reference configuration. If all λ_e
  /// are upper bounds, the sums over all terms and ranks satisfy xᵀKx ≤ Σ_i stiffness_i |x_i|² for every vector x,
  /// where K is the stiffness matrix of the system. Every natural angular frequency ω then satisfies ω² ≤ max_i
  /// stiffness_i / m_i, where m_i is the lumped mass of vertex i. An estimate by power iterations does not exceed the
  /// eigenvalue. The safety factor 0.8 of the stable substep compensates for estimates of at least 0.8² times the
  /// eigenvalue.
  virtual void add_stiffness_bound(const ParameterSet& /*parameters*/, Field& /*stiffness*/) {}
  /// Adds a bound of the damping at each vertex: damping_i += Σ_e δ_e over the term's elements e at vertex i, in all
  /// three components of `damping`, [local vertices, 3]. δ_e (N s/m) is an upper bound, or an estimate by power
  /// iterations, of the largest eigenvalue of the element's matrix -∂f/∂v in the reference configuration.
  virtual void add_damping_bound(const ParameterSet& /*parameters*/, Field& /*damping*/) {}

  /// Returns true if forces depend explicitly on time in time step n, for example because an obstacle moves.
  virtual bool moves(int /*n*/, const ParameterSet&) const { return false; }
  /// Returns true if the term forbids some displacements, for example displacements through an obstacle.
  virtual bool limits_steps() const { return false; }
  /// Returns the largest a in [0, 1], less a margin, for which the straight motion from `from` to `from` + a (`to` -
  /// `from`) is allowed. Returns 0 if the term does not allow the configuration `from`. Ranks may return different
  /// values; the caller computes the minimum over all ranks. `from` and `to` may have different times. Collective.
  virtual double max_step(const Configuration& /*from*/, const Configuration& /*to*/, const ParameterSet&) {
    return 1.0;
  }
  /// Returns the names of the two objects that limited the last `max_step` on this rank, as text for messages, for
  /// example "vertex 17 and the plane obstacle 0".
  virtual std::string limiting() const { return {}; }
};

}  // namespace diffsim
