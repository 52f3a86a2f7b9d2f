// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/body/joint.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/core/model.hpp"
#include "diffsim/core/state.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

class FieldPool;
class Impact;
class Inertia;
class Kinematics;
struct MotionSpan;
namespace dynamics {
class Diagnosis;
}
namespace body {
class ConstraintSet;
}

/// Mechanical system on the vertices of a mesh: inertias, force terms, gravity, fixed components of positions,
/// prescribed motions, and the parameters of all these parts. A time stepper is a class derived from Model that
/// advances a System (SystemModel in src/dynamics/system_model.hpp).
///
/// The constructor of System adds the parameter `gravity` [3] (m/s²) and the parameter `rest_positions` [local
/// vertices, 3] (m), the undeformed shape. Changing `rest_positions` does not change the initial positions x[0].
/// Callers of `add_inertia` and `add_term` must add the inertia's or term's parameters to `parameters`. Functions that
/// compute masses, forces, energies or derivatives of these quantities, and `sum_motion_adjoints`, are collective.
///
/// Vertices without mass, such as vertices of obstacles, do not move under forces: `prepare` fixes each vertex without
/// mass whose motion is not prescribed.
class System {
 public:
  /// Function that returns force terms with potentials; `split(true)` replaces a force term without a potential by
  /// these force terms.
  using MakeTerms = std::function<std::vector<std::unique_ptr<ForceTerm>>()>;

  /// Constructs a system without inertias and force terms. The initial gravity is (0, -9.8, 0) m/s².
  explicit System(std::shared_ptr<const TetrahedralMesh> mesh);
  ~System();

  // ---- composition: make these calls before the first `prepare`, with the same sequence of calls on all ranks. Terms
  // and fixed components may also be added later; call `Model::prepare` before the next step, unless
  // DifferentiableScene or a simulator takes this step. ----

  void add_inertia(std::unique_ptr<Inertia> inertia);  ///< adds an inertia; vertex masses are sums over all inertias
  void add_term(std::unique_ptr<ForceTerm> term);      ///< adds a force term; nodal forces are sums over all terms
  /// Adds the force term `term`, which has no potential. `split(true)` replaces `term` by the force terms with
  /// potentials that `make_parts` returns; for example, contact with friction is replaced by a term of normal forces
  /// and a term of lagged friction (src/dynamics/lagged_term.hpp). The first call of `split(true)` calls `make_parts`
  /// on all ranks.
  void add_term(std::unique_ptr<ForceTerm> term, MakeTerms make_parts);
  /// Adds impacts, which explicit steps apply at the end of each substep, in the order of the calls of `add_impact`.
  /// Time steps of a system with impacts must be explicit.
  void add_impact(std::unique_ptr<Impact> impact);
  /// Fixes the components `axes` of the positions of the given local vertices: time steps do not change these
  /// components. If `axes` contains all three components, `fix` also fixes the directors (mesh/directors.hpp) of the
  /// segments that have both ends in `vertices`.
  void fix(const std::vector<int>& vertices, std::array<bool, 3> axes);
  /// Fixes the components `axes` of the positions of local vertices, and clamps shells and rods at these vertices. If
  /// `axes` contains exactly one axis, `vertices` are treated as points of a plane of symmetry normal to this axis.
  /// Otherwise, slopes of shells and tangents of rods at `vertices` are fixed, as for bodies built into a wall.
  void clamp(const std::vector<int>& vertices, std::array<bool, 3> axes);
  /// Prescribes the motion `motion` for all position components of the given local vertices. Throws Error (input) for
  /// vertices with a component that is already fixed or prescribed.
  void add_kinematics(std::unique_ptr<Kinematics> motion, const std::vector<int>& vertices);
  /// Prescribes a rigid motion of local vertices and of the directors between these vertices: a rotation about `axis`
  /// through `origin` (m), and a translation of the vertices and the origin (src/dynamics/rigid_motion.hpp). Adds the
  /// parameters `angular_velocity:NAME` [steps] (rad/s) and `velocity:NAME` [steps, 3] (m/s), each with one value for
  /// all steps or one value per step, where NAME is the argument `name`. Throws Error (input) for vertices with a
  /// component that is already fixed or prescribed.
  void move(const std::string& name, const std::vector<int>& vertices, std::array<double, 3> axis,
            std::array<double, 3> origin, const std::vector<double>& angular_velocity,
            const std::vector<double>& velocity);

  /// Makes bodies rigid. Each local cell in `cells` must represent an affine body (`TetrahedralMesh::affine_body`).
  /// Time steps of a system with rigid bodies must use symplectic Euler, velocity Verlet, implicit Euler or BDF2.
  /// Throws Error (input) if called after `prepare`. `prepare` throws Error (input) for a cell that does not represent
  /// an affine body.
  void add_rigid_bodies(const std::vector<int>& cells);
  /// Adds a joint between two rigid bodies, or between a rigid body and the world. All ranks must pass the same joint.
  /// Adds the parameters `joint_point:NAME` and `joint_axis:NAME`, where NAME is the name of the joint; a spherical
  /// joint has no `joint_axis`, and a fixed joint has neither parameter. If the joint follows another joint, adds the
  /// parameter `joint_ratio:NAME`. If the joint has an armature, adds the inertia of the joint's rotor and the
  /// parameter `joint_armature:NAME`. Throws Error (input) if called after `prepare`, if a joint with the same name
  /// exists, for an armature that is negative or not finite, for an armature of a joint that is neither revolute nor
  /// prismatic, and for an armature without a rotor in the mesh (`Joint::rotor`). `prepare` throws Error (input) for a
  /// joint of a body that does not exist or is not rigid, and for redundant constraints.
  void join(Joint joint);

  // ---- parts ----

  MPI_Comm comm() const { return mesh_->comm(); }         ///< communicator of the mesh
  const TetrahedralMesh& mesh() const { return *mesh_; }  ///< mesh that was passed to the constructor
  /// Number of additions of inertias, force terms, fixed components and prescribed motions so far. While neither the
  /// result of `changes` nor a parameter changes, repetitions of step n from the same state give the same result.
  std::uint64_t changes() const { return changes_; }
  /// Returns a number that identifies the present version of the system on this rank. After an operation that may have
  /// changed a parameter's value (`Field::revision`), and after each addition that `changes` counts, the result of
  /// `revision` differs from all earlier results.
  std::uint64_t revision() const;
  /// Returns true if the system may have changed on any rank since `revision` returned `earlier` on that rank.
  /// Collective.
  bool changed_since(std::uint64_t earlier) const;
  ParameterSet& parameters() { return parameters_; }              ///< parameters of all parts
  const ParameterSet& parameters() const { return parameters_; }  ///< constant overload
  /// Force terms, in the order in which they were added. After `split(true)`, `terms` returns the terms that were not
  /// replaced, followed by the terms that the functions `make_parts` returned.
  const std::vector<std::unique_ptr<ForceTerm>>& terms() const { return terms_; }
  /// Inertias (contributions to the masses), in the order in which they were added.
  const std::vector<std::unique_ptr<Inertia>>& inertias() const { return inertias_; }
  /// Impacts, in the order in which they were added (src/core/impact.hpp).
  const std::vector<std::unique_ptr<Impact>>& impacts() const { return impacts_; }
  bool has_motions() const { return !motions_.empty(); }  ///< true if the motion of some vertices is prescribed
  /// Constraints of rigid bodies and joints, or nullptr if the system has no rigid bodies and joints. Valid after
  /// `prepare`.
  const body::ConstraintSet* constraints() const { return constraints_.get(); }
  /// Returns the joints, in the order of the calls of `join`, with the present values of the parameters `joint_ratio`.
  std::vector<Joint> joints() const;
  /// Local indices of this rank's cells that are rigid bodies, in the order of the calls of `add_rigid_bodies`.
  const std::vector<int>& rigid_cells() const { return rigid_cells_; }
  bool any_term_uses_velocities() const;  ///< true if `ForceTerm::uses_velocities` of any term is true
  bool any_term_lags() const;             ///< true if `ForceTerm::lags` of any term is true
  /// Returns true if at least one term was added with `make_parts`, and every term has a potential after `split(true)`.
  /// `can_split` must not be called between `split(true)` and `split(false)`.
  bool can_split() const { return !splits_.empty() && others_have_energy(); }
  /// Replaces each term that was added with `make_parts` by the terms that `make_parts` returns, and prepares these
  /// terms for the present parameters. If `wanted` is false, restores the terms that `split(true)` replaced.
  /// `split(true)` is intended for forward solves only: `split(false)` must restore the original terms before
  /// derivatives of a step are computed.
  void split(bool wanted);
  /// Device address of the masks of the owned vertices, [owned vertices]. Bit c of a mask, c = 0, 1, 2, is set if
  /// component c of the vertex is fixed or has a prescribed motion. Masks of directors, on which gravity does not act,
  /// have the bit `weightless`. After `prepare`, masks of vertices without mass have the bit `massless`.
  const std::uint8_t* fixed() const;
  static constexpr std::uint8_t massless = 8,  ///< bit of vertices without mass in the masks that `fixed` returns
      weightless = 32;                         ///< bit of directors in the masks that `fixed` returns
  /// Returns a field of zeros, [local vertices, 3].
  Field local_field(const char* name) const;
  /// Returns a field [local vertices, 3] of zeros for temporary values. The memory of the field that `scratch_field`
  /// returns is taken from a pool, so that time steps allocate no memory.
  Field scratch_field(const char* name) const;
  FieldPool& scratch() const { return *scratch_; }  ///< memory pool of `scratch_field`
  /// Returns a state with the following fields: `positions` (m) on local vertices; `velocities` (m/s) and the fields
  /// named in `rates` on owned vertices; the fields in which prescribed motions store their state. The values of the
  /// returned state are zero, except in fields of prescribed motions, which have the values at the start of a rollout.
  State make_state(const std::vector<std::string>& rates = {}) const;

  // ---- quantities that depend on the parameters only; see Model ----

  /// Creates the constraints of rigid bodies and joints, applies changes of fixed components, computes the masses, and
  /// prepares all terms for the present parameters. Collective.
  void prepare();
  /// Calls `prepare` if the system has not been prepared, or may have changed since the last call of `prepare`. A time
  /// stepper of the system is prepared by `Model::prepare`, not by `prepare_if_changed`. Collective.
  void prepare_if_changed();
  /// Computes the derivatives of the masses and of the results of `ForceTerm::prepare` along `direction`.
  void prepare_tangent(const ParameterSet& direction);
  /// Zeroes the sums in which adjoints of steps accumulate derivatives of the loss with respect to the masses and to
  /// the results of `ForceTerm::prepare`. `gradient`: parameters whose gradient is requested.
  void begin_adjoint(const ParameterSet& gradient);
  /// Multiplies the sums that adjoints of steps have accumulated since `begin_adjoint` by the derivatives of the masses
  /// and of the results of `ForceTerm::prepare` with respect to the parameters, and adds the products to `gradient`.
  void prepare_adjoint(ParameterSet& gradient);
  /// Zeroes the derivatives, along `direction`, of the sums that `begin_adjoint` zeroes. Throws Error (input) if a
  /// parameter of `gradient` or `direction`, or a term, does not support second derivatives; the message names the
  /// first such parameter or term.
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction);
  /// Adds to `gradient_tangent` the derivatives, along `direction`, of the products that `prepare_adjoint` adds to the
  /// gradient.
  void prepare_adjoint_tangent(const ParameterSet& direction, ParameterSet& gradient_tangent);
  /// Zeroes the sums in which force terms accumulate second derivatives of the loss. Throws Error (input) if `gradient`
  /// or `direction` contains `rest_positions`, or if a term does not support second derivatives.
  void begin_terms_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction);

  // ---- masses: the sum of all inertias ----

  /// Vertex masses, [owned vertices], kg; 1 at vertices without mass.
  const Field& mass() const { return mass_; }
  /// Derivatives of the masses along the direction of `prepare_tangent`, [owned vertices].
  const Field& mass_tangent() const { return mass_tangent_; }
  /// Returns the masses as an array in host memory, [owned vertices], kg; 0 at vertices without mass.
  std::vector<double> vertex_masses() const;
  /// Returns true if masses depend on one of the parameters in `set`.
  bool changes_mass(const ParameterSet& set) const;
  /// Derivatives of the loss with respect to the vertex masses, [owned vertices, 3], to which the adjoints of steps add
  /// their contributions; the derivative with respect to the mass of a vertex is the sum of the vertex's three
  /// components. `begin_adjoint(gradient)` allocates `mass_gradient` if `changes_mass(gradient)` is true.
  Field& mass_gradient() { return mass_gradient_; }
  /// Derivative of `mass_gradient` along the direction of `begin_adjoint_tangent`, [owned vertices, 3].
  Field& mass_gradient_tangent() { return mass_gradient_tangent_; }

  // ---- forces: the sum of all terms; see ForceTerm ----

  /// Computes the sum of the forces f(x, v, p) of all terms, with positions x, velocities v and parameters p. At owned
  /// vertices, `force` contains the contributions of all ranks.
  void compute_force(const Configuration& at, Field& force);
  /// Computes ∂f/∂x dx + ∂f/∂v dv + ∂f/∂p dp, where f is the result of `compute_force`, dx and dv are in `tangent`, and
  /// dp is `direction`. Ghost values of dx and dv in `tangent` must be up to date.
  void compute_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                             const ParameterSet& direction, Field& force_tangent);
  /// Computes x̄ = (∂f/∂x)ᵀ w, v̄ = (∂f/∂v)ᵀ w and, for lagged terms (`ForceTerm::lags`), x̄_n = (∂f/∂x_n)ᵀ w in
  /// `adjoint`, and adds this rank's contribution to (∂f/∂p)ᵀ w to `gradient`, where f is the sum of the forces of all
  /// terms, w is the adjoint of f, and x_n are the positions at the start of the time step. At owned vertices,
  /// `adjoint` contains the contributions of all ranks. Ghost values of `w` must be up to date.
  void compute_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                             ParameterSet& gradient);
  /// Computes in `adjoint_tangent` the derivatives, along `tangent`, `direction` and `dw`, of the adjoints x̄, v̄ and,
  /// for lagged terms, x̄_n that `compute_force_adjoint` computes, and adds to `gradient_tangent` this rank's
  /// contribution to the derivative of (∂f/∂p)ᵀ w. `w`, `dw`: nullptr stands for zero.
  void compute_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                     const ParameterSet& direction, const Field* w, const Field* dw,
                                     const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent);

  /// Enables or disables a search for NaN and infinite values in the arguments of `compute_force_adjoint`, and in the
  /// result of each term in `compute_force_adjoint` and `prepare_adjoint`. Each call of `set_diagnosis` resets the
  /// result of `diagnosis`.
  void set_diagnosis(bool on);
  /// Returns the location of the first NaN or infinite value that the search enabled by `set_diagnosis` found on this
  /// rank, such as "the term 'elastic' at vertex 17, tetrahedron 4".
  NotFinite diagnosis() const;

  // ---- all prescribed motions; see Kinematics ----

  /// Sets the positions y and the velocities v of vertices with prescribed motions at the end of the time span `span`,
  /// from the positions x at the start of `span`. `start`: state at the start of the time step.
  void apply_motions(const MotionSpan& span, const State& start, const Field& x, Field& y, Field& v) const;
  /// Tangent of `apply_motions`: sets the derivatives dy and dv of the positions y and the velocities v.
  void apply_motions_tangent(const ParameterSet& direction, const MotionSpan& span, const State& start,
                             const State& start_tangent, const Field& x, const Field& dx, Field& dy, Field& dv) const;
  /// Adjoint of `apply_motions`: at vertices with prescribed motions, replaces ȳ = `y_bar` by the adjoint of `x`, and
  /// v̄ = `v_bar` by 0. Adds this rank's contributions to `start_adjoint` and `gradient`.
  void apply_motions_adjoint(const MotionSpan& span, const State& start, const Field& x, Field& y_bar, Field& v_bar,
                             State& start_adjoint, ParameterSet& gradient) const;
  /// Advances, by step n of length dt (s), those fields of `state` in which prescribed motions store data.
  void advance_motions(int n, double dt, State& state) const;
  /// Tangent of `advance_motions`: advances the derivatives in `tangent` of the fields in which prescribed motions
  /// store data.
  void advance_motions_tangent(const ParameterSet& direction, int n, double dt, State& tangent) const;
  /// Adjoint of `advance_motions`: changes `adjoint` in place, and adds this rank's contribution to `gradient`.
  void advance_motions_adjoint(int n, double dt, State& adjoint, ParameterSet& gradient) const;
  /// Sums over all ranks the adjoints of those fields in which prescribed motions store data. A Model calls
  /// `sum_motion_adjoints` at the end of the adjoint of a step.
  void sum_motion_adjoints(State& adjoint) const;

  // ---- energies in J, summed over all ranks; these functions call `prepare_if_changed` ----

  /// Kinetic energy Σ ½ m |v|² of all vertices.
  double kinetic_energy(const State& state);
  /// Potential energy Σ E - Σ m g·x: the energies E of the force terms, and the potential of gravity, which is zero at
  /// x = 0. The parameters are those of step n, moving obstacles are at their positions at time 0, loads have their
  /// full values, and `Configuration::velocities` is nullptr.
  double potential_energy(const State& state, int n = 0);

 private:
  struct Mask;
  /// Implementation of `compute_force_adjoint` with the search for NaN and infinite values (`set_diagnosis`); adds the
  /// results to the fields of `adjoint`, which the caller has zeroed.
  void diagnose_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                              ParameterSet& gradient);
  bool others_have_energy() const;
  void update_constraints();
  /// Creates the constraints of rigid bodies and joints. Throws Error (input) if a vertex of a rigid body has a fixed
  /// component or a prescribed motion. Collective.
  void make_rigid();
  /// Throws Error (input), with the name `function` of the caller in the message, if `prepare` has been called.
  void require_no_constraints(const char* function) const;
  /// Throws Error (input) if the system has rigid bodies and `set` contains the parameter `rest_positions`.
  void require_constant_shape(const ParameterSet& set) const;
  /// Returns the directors of the segments that have both ends among `vertices`.
  std::vector<int> directors_between(const std::vector<int>& vertices) const;
  void fix_components(const std::vector<int>& vertices, std::array<bool, 3> axes);
  void sum_masses(Field& sums, Field& owned) const;
  /// Returns a copy of a field [owned vertices, 3] on local vertices, with ghost values up to date.
  Field on_local_vertices(const Field& owned) const;

  std::shared_ptr<const TetrahedralMesh> mesh_;
  std::shared_ptr<FieldPool> scratch_;
  std::vector<std::unique_ptr<Inertia>> inertias_;
  std::vector<std::unique_ptr<ForceTerm>> terms_;
  std::vector<std::unique_ptr<Impact>> impacts_;
  /// Force term that was added with `make_parts`, and the force terms that replace this term after `split(true)`. While
  /// `is_split_` is false, `terms_[place]` is the replaceable term, and `parts` contains the terms that `make` has
  /// made. While `is_split_` is true, `whole` is the replaced term, and `terms_` contains the terms made by `make`.
  struct Split {
    std::size_t place;
    MakeTerms make;
    std::vector<std::unique_ptr<ForceTerm>> parts;
    std::unique_ptr<ForceTerm> whole;
  };
  std::vector<Split> splits_;
  bool is_split_ = false;
  std::vector<std::unique_ptr<Kinematics>> motions_;
  std::uint64_t changes_ = 0;
  std::uint64_t prepared_ = 0;  // `revision` at the end of the last call of `prepare`; 0: none
  ParameterSet parameters_;
  Field mass_, mass_tangent_, mass_gradient_, mass_gradient_tangent_;
  std::unique_ptr<Mask> mask_;
  bool is_prepared_ = false, has_rigid_bodies_ = false;
  std::vector<int> rigid_cells_;
  std::vector<Joint> joints_;
  std::unique_ptr<body::ConstraintSet> constraints_;
  std::unique_ptr<dynamics::Diagnosis> diagnosis_;  // nullptr if the search is disabled
};

}  // namespace diffsim
