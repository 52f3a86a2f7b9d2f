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

/// Subset of a rank's cells over which a computation loops. `shared`: all cells with a vertex that is also a local
/// vertex of another rank, and possibly other cells. `inner`: the cells that are not in `shared`, which can be
/// processed while ranks exchange sums at shared vertices. `all`: all cells of the rank.
enum class CellPart { shared, inner, all };

/// Configuration (positions, velocities and time) at which forces are evaluated. Each field of a Configuration is
/// [local vertices, 3], and its values at copies of other ranks' vertices are up to date.
struct Configuration {
  const Field& positions;  ///< m
  /// Index of the time step. If a parameter has separate values for each time step (a control signal), forces use the
  /// parameter's values for the time step with the index `step`.
  int step = 0;
  /// Device address of an integer i that receives the smallest local index of a cell with an undefined energy; nullptr
  /// if the index is not requested. A term whose energy is undefined in cell c replaces the integer i at the address
  /// `invalid_cell` by min(i, c).
  std::int32_t* invalid_cell = nullptr;
  const Field* velocities = nullptr;  ///< velocities, m/s; given if `uses_velocities()` is true for any term
  double time = 0.0;                  ///< simulated time (s) since the start of the rollout, for moving obstacles
  double load_factor = 1.0;           ///< factor by which dead loads are multiplied; see `factor_of`
  /// Positions at the start of the time step (m). Force terms whose `lags()` is true are evaluated at the positions
  /// `start_positions` and at the time `start_time` (s). Implicit steps set `start_positions` and `start_time` if
  /// `lags()` is true for any term. If `start_positions` is nullptr, all terms are evaluated at `positions`.
  const Field* start_positions = nullptr;
  double start_time = 0.0;  ///< time (s) at the start of the time step; see `start_positions`

  /// Returns the factor by which the dead load `load` is multiplied: `load_factor` if the load is constant in time, or
  /// 1 if the load has separate values for each time step.
  double factor_of(const Parameter& load) const { return load.steps() == 1 ? load_factor : 1.0; }
};

/// Weights a and b of the assembled Jacobian a ∂f/∂x + b ∂f/∂v of the forces f with respect to the positions x and the
/// velocities v.
struct JacobianWeights {
  double position = 1.0;  ///< weight a of ∂f/∂x in the Jacobian; negative in implicit steps
  double velocity = 0.0;  ///< weight b of ∂f/∂v in the Jacobian, 1/s
  /// True if the contribution of each element to the Jacobian is projected to a positive semidefinite matrix. Only
  /// forward solves use a projected Jacobian; derivatives of a time step use the exact Jacobian.
  bool project = false;
};

/// Derivatives of a Configuration along a direction: dx of the positions and, if the configuration has velocities, dv
/// of the velocities. Each field of a ConfigurationTangent is [local vertices, 3], and its values at copies of other
/// ranks' vertices are up to date.
struct ConfigurationTangent {
  const Field& positions;                  ///< dx, m
  const Field* velocities = nullptr;       ///< change dv of the velocities, m/s; nullptr if there are no velocities
  double time = 0.0;                       ///< change of `Configuration::time`, s
  const Field* start_positions = nullptr;  ///< change of `Configuration::start_positions`, m; nullptr means zero
};

/// Adjoint of a Configuration: derivatives x̄ of a scalar with respect to the positions and, if the configuration has
/// velocities, v̄ with respect to the velocities. Each field of a ConfigurationAdjoint is [local vertices, 3] and
/// contains this rank's contributions to the derivatives. The caller of an adjoint operation sums the ranks'
/// contributions to a ConfigurationAdjoint.
struct ConfigurationAdjoint {
  Field& positions;                  ///< x̄
  Field* velocities = nullptr;       ///< derivative v̄ with respect to velocities; nullptr if there are no velocities
  Field* start_positions = nullptr;  ///< adjoint of `Configuration::start_positions`; nullptr: not computed
};

/// Constraints of the local vertices. Each array of VertexConstraints has one entry for each local vertex, but may be
/// empty if no vertex has a constraint of the array's kind.
struct VertexConstraints {
  std::vector<char> positions;  ///< non-zero for each vertex whose three components are fixed or prescribed
  /// Bit mask of the constraints at each vertex of a shell or rod. Bit c (c = 0, 1, 2) of `clamped` is set if the
  /// vertex lies in a plane of symmetry normal to the coordinate axis c. Bit 3 (`in_wall`) of `clamped` is set if the
  /// slope of the shell, or the tangent of the rod, is fixed at the vertex, as for a body clamped in a wall.
  std::vector<char> clamped;
  static constexpr char in_wall = 8;  ///< bit 3 of `clamped`
};

/// Contribution to the forces of a system, for example elasticity, a load or contact. If the force term has an energy
/// E(x), where x are the positions, the forces are f = -∂E/∂x.
///
/// Every operation of a force term processes this rank's cells and faces, and adds the contributions of these cells and
/// faces at all local vertices. The caller of a force term's operation sums the contributions of all ranks at each
/// vertex. A differentiable operation has a tangent (product with the Jacobian) and an adjoint (product with the
/// transposed Jacobian). The tangent and the adjoint of an operation include the derivatives with respect to positions
/// x, velocities v and parameters p.
class ForceTerm {
 public:
  virtual ~ForceTerm() = default;
  virtual std::string name() const = 0;  ///< name of the force term for messages, for example "elastic"
  /// Returns true if forces depend on velocities; if so, every Configuration passed to the term, except to `max_step`,
  /// has velocities.
  virtual bool uses_velocities() const { return false; }
  /// Returns true if the forces are f(x_n, v, p), where v are velocities, p are parameters and x_n are the positions at
  /// the start of the time step (`Configuration::start_positions`), not the positions at the end.
  virtual bool lags() const { return false; }

  /// Passes the constraints of the local vertices to the force term. The caller must call `set_constraints` before the
  /// first `prepare`, and before a later `prepare` if the constraints have changed.
  virtual void set_constraints(const VertexConstraints&) {}

  /// Computes and stores the quantities of the force term that depend on the parameters alone, for example areas in the
  /// rest shape. The caller must call `prepare` after each change of parameters.
  virtual void prepare(const ParameterSet&) {}
  /// Computes and stores the derivatives, along `direction`, of the quantities that `prepare` computes.
  virtual void prepare_tangent(const ParameterSet&, const ParameterSet& /*direction*/) {}
  /// Zeroes the adjoints of the quantities that `prepare` computes; `add_force_adjoint` accumulates these adjoints
  /// inside the force term. `gradient` contains the parameters whose gradient is requested.
  virtual void begin_adjoint(const ParameterSet& /*gradient*/) {}
  /// Applies the adjoint of `prepare`: converts the accumulated adjoints of the quantities that `prepare` computes to
  /// derivatives with respect to parameters, and adds these derivatives to `gradient`.
  virtual void prepare_adjoint(const ParameterSet&, ParameterSet& /*gradient*/) {}

  /// Returns this rank's contribution to the energy E (J) of the force term.
  virtual double energy(const Configuration& at, const ParameterSet& parameters) = 0;
  /// Computes `force` += f(x, v, p), in N, where x are the positions and v the velocities in the configuration `at`,
  /// and p are the parameters.
  virtual void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) = 0;
  /// Adds the forces of the cells in the subset `part` to `force`. Forces that do not belong to a cell are added for
  /// every `part` except `CellPart::inner`. The default implementation of `add_force_of` adds no forces for
  /// `CellPart::inner`, and all forces of the force term for any other `part`.
  virtual void add_force_of(CellPart part, const Configuration& at, const ParameterSet& parameters, Field& force) {
    if (part != CellPart::inner) add_force(at, parameters, force);
  }
  /// Computes df += ∂f/∂x dx + ∂f/∂v dv + ∂f/∂p dp for the forces f, where df is `force_tangent`, dx and dv are in
  /// `tangent`, and dp is `direction`, which must be the direction that was passed to the last `prepare_tangent`.
  virtual void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, Field& force_tangent) = 0;
  /// Computes x̄ += (∂f/∂x)ᵀ w, v̄ += (∂f/∂v)ᵀ w and p̄ += (∂f/∂p)ᵀ w, where w is the adjoint of the forces f, x̄ and v̄ are
  /// in `adjoint`, and p̄ is `gradient`. Derivatives with respect to the quantities that `prepare` computes are
  /// accumulated inside the force term; `prepare_adjoint` converts these derivatives to contributions to `gradient`.
  /// `w`: [local vertices, 3], with up-to-date values at copies of other ranks' vertices.
  virtual void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                                 ParameterSet& gradient) = 0;
  /// Computes the part of the results of `add_force_adjoint` that belongs to the cells in the subset `part`. The rules
  /// of `add_force_of` for forces that do not belong to a cell, and for the default implementation, apply to
  /// `add_force_adjoint_of`. The caller calls `add_force_adjoint_of` for `CellPart::shared` before `CellPart::inner`.
  virtual void add_force_adjoint_of(CellPart part, const Configuration& at, const Field& w,
                                    const ConfigurationAdjoint& adjoint, ParameterSet& gradient) {
    if (part != CellPart::inner) add_force_adjoint(at, w, adjoint, gradient);
  }

  // Second derivatives: derivatives of the adjoint operations along a direction (dx, dv, dp, dw) of positions,
  // velocities, parameters and the adjoint w of the forces, for products with Hessians and for the differentiation of
  // unrolled Newton iterations. A term without second derivatives does not override the following functions. The
  // default implementations of `begin_adjoint_tangent` and `add_force_adjoint_tangent` throw Error.

  /// Zeroes the derivatives, along a direction, of the adjoints of the quantities that `prepare` computes;
  /// `add_force_adjoint_tangent` accumulates these derivatives inside the force term. Throws Error (input) if the force
  /// term has no second derivatives with respect to some parameter in `gradient` or in `direction`.
  virtual void begin_adjoint_tangent(const ParameterSet& /*gradient*/, const ParameterSet& /*direction*/) {
    throw Error("the term '" + name() + "' has no second derivatives; use an optimiser that needs gradients only",
                ErrorKind::input);
  }
  /// Adds to `gradient_tangent` the derivatives, along `direction`, of the contributions that `prepare_adjoint` adds to
  /// the gradient. The adjoints that `add_force_adjoint` has accumulated inside the force term still exist when
  /// `prepare_adjoint_tangent` is called.
  virtual void prepare_adjoint_tangent(const ParameterSet&, const ParameterSet& /*direction*/,
                                       ParameterSet& /*gradient_tangent*/) {}
  /// Computes dx̄ += d[(∂f/∂x)ᵀ w], dv̄ += d[(∂f/∂v)ᵀ w] and dp̄ += d[(∂f/∂p)ᵀ w], where w is the adjoint of the forces f,
  /// and d[…] is the derivative along `tangent`, `direction` and dw. dx̄ and dv̄ are in `adjoint_tangent`; dp̄ is
  /// `gradient_tangent`. A nullptr for `w` or `dw` stands for zeros.
  virtual void add_force_adjoint_tangent(const Configuration& /*at*/, const ConfigurationTangent& /*tangent*/,
                                         const ParameterSet& /*direction*/, const Field* /*w*/, const Field* /*dw*/,
                                         const ConfigurationAdjoint& /*adjoint_tangent*/,
                                         ParameterSet& /*gradient_tangent*/) {
    throw Error("the term '" + name() + "' has no second derivatives", ErrorKind::input);
  }

  // Operations for implicit steps.

  /// Returns true if the force f is the negative gradient of a potential: f = -∂E/∂x with the energy E, or, for a term
  /// whose `lags()` is true, f = -∂D/∂v with the dissipation potential D.
  virtual bool has_energy() const { return !uses_velocities(); }
  /// Returns this rank's contribution to the dissipation potential D(x, v) (W) of the force f = -∂D/∂v. Returns 0 if
  /// the force term has no dissipation potential.
  virtual double dissipation(const Configuration& /*at*/, const ParameterSet& /*parameters*/) { return 0.0; }
  /// Returns true if the term's force is f = -∂D/∂v with a dissipation potential D.
  virtual bool has_dissipation() const { return false; }
  /// Returns true if ∂f/∂x and ∂f/∂v of the force f are symmetric at every configuration.
  virtual bool has_symmetric_jacobian() const { return true; }
  /// Returns true if the force term may resist a rigid motion of the whole body. If `holds_body` returns true for a
  /// term, quasi-static steps accept a body whose fixed displacement components do not prevent all rigid motions.
  virtual bool holds_body() const { return false; }
  /// Adds to `couplings` the pairs (i, j) of local vertices whose blocks ∂f_i/∂x_j and ∂f_i/∂v_j of the Jacobian may be
  /// nonzero at the configuration `at`. The default implementation of `add_couplings` adds no pairs of vertices.
  virtual void add_couplings(const Configuration& /*at*/, Couplings& /*couplings*/) {}
  /// Returns true if the force term has its own Jacobian matrix, whose sparsity pattern may depend on the
  /// configuration. The rows and columns of a term's own Jacobian matrix are the vertices that the rank owns, followed
  /// by the copies of other ranks' vertices that `add_couplings` sets (`Couplings::set_copies`).
  virtual bool couplings_vary() const { return false; }
  /// Returns true if the couplings that the last call of `add_couplings` added include all couplings of the Jacobian at
  /// the configuration `at`. `pattern_covers` is called only if `couplings_vary` returns true. `add_couplings` may add
  /// more couplings than its argument `at` requires, but the added couplings must depend on `at` alone.
  /// `pattern_covers` is collective and returns the same value on every rank.
  virtual bool pattern_covers(const Configuration& /*at*/) { return true; }
  /// Adds the Jacobian a ∂f/∂x + b ∂f/∂v of this rank's elements to `matrix`, where a and b are the weights in
  /// `weights`. A term whose Jacobian is zero overrides `add_jacobian` with a function that does nothing.
  virtual void add_jacobian(const Configuration& /*at*/, const ParameterSet& /*parameters*/,
                            const JacobianWeights& /*weights*/, BlockMatrix& /*matrix*/) {
    throw Error("the term '" + name() + "' cannot be assembled; use integrator: symplectic_euler", ErrorKind::input);
  }

  /// Adds a bound of the stiffness at each vertex: stiffness_i += Σ_e λ_e over the term's elements e at vertex i, in
  /// all three components of `stiffness`, [local vertices, 3]. λ_e (N/m) is an upper bound, or an estimate by power
  /// iterations, of the largest eigenvalue of the element's stiffness matrix in the reference configuration. If all λ_e
  /// are upper bounds, the sums stiffness_i over all terms and ranks satisfy xᵀKx ≤ Σ_i stiffness_i |x_i|² for the
  /// system's stiffness matrix K and every vector x. Every natural angular frequency ω of the system then satisfies ω²
  /// ≤ max_i stiffness_i / m_i, where m_i is the lumped mass of vertex i. An estimate by power iterations does not
  /// exceed the element's largest eigenvalue; the safety factor 0.8 of the stable substep is sufficient if the estimate
  /// is at least 0.8² times the element's largest eigenvalue.
  virtual void add_stiffness_bound(const ParameterSet& /*parameters*/, Field& /*stiffness*/) {}
  /// Adds a bound of the damping at each vertex: damping_i += Σ_e δ_e over the term's elements e at vertex i, in all
  /// three components of `damping`, [local vertices, 3]. δ_e (N s/m) is an upper bound, or an estimate by power
  /// iterations, of the largest eigenvalue of the element's matrix -∂f/∂v in the reference configuration.
  virtual void add_damping_bound(const ParameterSet& /*parameters*/, Field& /*damping*/) {}

  /// Returns true if forces depend explicitly on time in time step n, for example because an obstacle moves.
  virtual bool moves(int /*n*/, const ParameterSet&) const { return false; }
  /// Returns true if the force term forbids some displacements, for example displacements through an obstacle. If
  /// `limits_steps` returns true, `max_step` may return values less than 1.
  virtual bool limits_steps() const { return false; }
  /// Returns the largest a in [0, 1], less a safety margin, for which the straight motion from `from` to `from` + a
  /// (`to` - `from`) contains no displacement that the term forbids. Returns 0 if the configuration `from` itself is
  /// forbidden. `max_step` may return different values on the ranks; the caller computes the minimum over all ranks.
  /// The configurations `from` and `to` may have different times. Collective.
  virtual double max_step(const Configuration& /*from*/, const Configuration& /*to*/, const ParameterSet&) {
    return 1.0;
  }
  /// Returns the names of the two objects that made the last `max_step` on this rank return less than 1, as text for
  /// messages, for example "vertex 17 and the plane obstacle 0".
  virtual std::string limiting() const { return {}; }
};

/// Arguments of the functions of a GroupForce on a rank with G groups of k vertices: the configuration, or a change of
/// the configuration.
struct GroupValues {
  std::vector<double> x;               ///< positions, [G, k, 3], m
  std::vector<double> v;               ///< velocities, [G, k, 3], m/s; empty unless `GroupForce::uses_velocities`
  std::vector<std::vector<double>> p;  ///< values of the parameters `GroupForce::parameters`, one vector for each
};

/// Forces f(x, v, p) on groups of k vertices each, computed on the host for all groups of a rank at once. The force on
/// the vertices of a group depends on the positions and velocities of the vertices of this group, and on parameters
/// with one value (a number or a vector) for the whole model. For large numbers of groups, a StencilTerm, whose
/// function is compiled and differentiated automatically, is many times faster. All functions are called on all ranks.
class GroupForce {
 public:
  virtual ~GroupForce() = default;
  virtual std::string name() const = 0;                 ///< name of the force term for messages
  virtual bool uses_velocities() const = 0;             ///< true if the forces depend on velocities
  virtual bool has_energy() const = 0;                  ///< true if f = -∂E/∂x with the function `energy`
  virtual std::vector<std::string> parameters() const;  ///< names of the parameters p; none by default

  /// Returns the forces, [G, k, 3], N.
  virtual std::vector<double> force(const GroupValues& at) = 0;
  /// Returns the sum of the energies of the groups, J. Called only if `has_energy()` is true.
  virtual double energy(const GroupValues& at);

  /// Jacobians of the forces of each group.
  struct Jacobians {
    std::vector<double> by_positions;                ///< ∂f/∂x, [G, 3 k, 3 k], N/m
    std::vector<double> by_velocities;               ///< ∂f/∂v, [G, 3 k, 3 k]; empty unless `uses_velocities()`
    std::vector<std::vector<double>> by_parameters;  ///< ∂f/∂p, [G, 3 k, size of the parameter], one for each parameter
  };
  virtual Jacobians jacobians(const GroupValues& at) = 0;  ///< returns the Jacobians of the forces

  /// Returns true if the function `pullback_tangent` exists; false by default.
  virtual bool has_second_derivatives() const { return false; }
  /// Returns the derivatives of (∂f/∂x)ᵀ w, (∂f/∂v)ᵀ w and (∂f/∂p)ᵀ w, summed over the groups for parameters, along the
  /// change `change` of the configuration and the change `dw` of `w`, [G, k, 3]. The default implementation throws
  /// Error (input): the force has no second derivatives.
  virtual GroupValues pullback_tangent(const GroupValues& at, const GroupValues& change, const std::vector<double>& w,
                                       const std::vector<double>& dw);
};

}  // namespace diffsim
