// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/field_pool.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/core/inertia.hpp"
#include "diffsim/core/kinematics.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Mechanical system on the vertices of a mesh: inertias, force terms, gravity, fixed and prescribed motions, and the
/// parameters of all of them. Time steppers are Models of a System (dynamics/system_model.hpp).
///
/// Parameters of its own: `gravity` [3], m/s²; `rest_positions` (local vertex) [3], m, the undeformed shape, which x[0]
/// does not follow by itself; those of inertias and terms are added by whoever adds these. Verbs that compute are
/// collective.
///
/// Vertices without mass, as obstacles have, take no part in the dynamics: `prepare` fixes those that nothing moves.
class System {
 public:
  using MakeTerms = std::function<std::vector<std::unique_ptr<ForceTerm>>()>;

  explicit System(std::shared_ptr<const TetrahedralMesh> mesh);
  ~System();

  // ---- composition, before the first `prepare`; on all ranks alike ----

  void add_inertia(std::unique_ptr<Inertia> inertia);
  void add_term(std::unique_ptr<ForceTerm> term);
  /// Adds a term without potential that is the sum of others, each of which has one if it lags or not: `make_parts`
  /// makes these when they are first needed, on all ranks together.
  void add_term(std::unique_ptr<ForceTerm> term, MakeTerms make_parts);
  /// Fixes the components `axes` of local vertices where they are.
  void fix(const std::vector<int>& vertices, std::array<bool, 3> axes);
  /// Fixes the components `axes` of local vertices and clamps shells and rods there: with all three components,
  /// directions at such vertices do not turn; with one, the vertices are in a plane of symmetry across that axis.
  void clamp(const std::vector<int>& vertices, std::array<bool, 3> axes);
  /// Prescribes the motion of local vertices. Throws Error (input) for vertices that are fixed or moved already.
  void add_kinematics(std::unique_ptr<Kinematics> motion, const std::vector<int>& vertices);
  /// Prescribes a rigid motion to local vertices, and to the directors between them: they turn about `axis` through
  /// `origin`, which travels with them (src/dynamics/rigid_motion.hpp). Adds its parameters, `angular_velocity:NAME`
  /// [steps], rad/s, and `velocity:NAME` [steps, 3], m/s, of one step or several. Throws Error (input) for vertices
  /// that are fixed or moved already.
  void move(const std::string& name, const std::vector<int>& vertices, std::array<double, 3> axis,
            std::array<double, 3> origin, const std::vector<double>& angular_velocity,
            const std::vector<double>& velocity);

  // ---- parts ----

  MPI_Comm comm() const { return mesh_->comm(); }
  const TetrahedralMesh& mesh() const { return *mesh_; }
  ParameterSet& parameters() { return parameters_; }
  const ParameterSet& parameters() const { return parameters_; }
  const std::vector<std::unique_ptr<ForceTerm>>& terms() const { return terms_; }
  const std::vector<std::unique_ptr<Inertia>>& inertias() const { return inertias_; }
  bool has_motions() const { return !motions_.empty(); }
  bool any_term_uses_velocities() const;
  bool any_term_lags() const;
  /// Whether every term has a potential once terms are split.
  bool can_split() const { return !splits_.empty() && others_have_energy(); }
  /// Replaces the terms that were added with parts by these, prepared for the parameters as they are, or takes the
  /// terms back. For forward solves: derivatives are those of the terms that were added.
  void split(bool wanted);
  /// Masks of the owned vertices: device address, [owned vertices], bit c set where component c is fixed, or moved, and
  /// bit `weightless` where there is no gravity: at directors.
  const std::uint8_t* fixed() const;
  static constexpr std::uint8_t weightless = 32;
  /// Zeroed vector field on local vertices.
  Field local_field(const char* name) const;
  /// The same for a field that ends soon: its memory serves the next one, so that steps allocate nothing.
  Field scratch_field(const char* name) const;
  FieldPool& scratch() const { return *scratch_; }
  /// `positions` [local vertices, 3], m; `velocities` and `rates` [owned vertices, 3]; then the fields that motions
  /// keep.
  State make_state(const std::vector<std::string>& rates = {}) const;

  // ---- what depends on the parameters alone; see Model ----

  void prepare();
  void prepare_tangent(const ParameterSet& direction);
  void begin_adjoint(const ParameterSet& gradient);
  void prepare_adjoint(ParameterSet& gradient);
  /// Throws Error (input) that names the first parameter, or term, that has no second derivatives.
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction);
  void prepare_adjoint_tangent(const ParameterSet& direction, ParameterSet& gradient_tangent);
  /// Of the terms alone; Error (input) where one of them, or a parameter that they share, has no second derivatives.
  void begin_terms_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction);

  // ---- masses: the sum of all inertias ----

  const Field& mass() const { return mass_; }                  ///< [owned vertices], kg
  const Field& mass_tangent() const { return mass_tangent_; }  ///< [owned vertices], kg
  /// Whether masses depend on one of the parameters in `set`.
  bool changes_mass(const ParameterSet& set) const;
  /// [owned vertices, 3]: where steps gather ∂L/∂m, component by component, if the gradient asked for `changes_mass`.
  Field& mass_gradient() { return mass_gradient_; }
  /// Derivative of `mass_gradient` along a direction.
  Field& mass_gradient_tangent() { return mass_gradient_tangent_; }

  // ---- forces: the sum of all terms; see ForceTerm ----

  /// force = Σ f(x, v, p), complete at owned vertices.
  void compute_force(const Configuration& at, Field& force);
  /// force_tangent = Σ ∂f dx + ∂f dv + ∂f dp, complete at owned vertices; the directions' copies are up to date.
  void compute_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                             const ParameterSet& direction, Field& force_tangent);
  /// x̄ = Σ (∂f/∂x)ᵀ w, v̄ = Σ (∂f/∂v)ᵀ w and, for terms that lag, x̄_n = Σ (∂f/∂x_n)ᵀ w, complete at owned vertices, and
  /// p̄ += (∂f/∂p)ᵀ w; w's copies are up to date.
  void compute_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                             ParameterSet& gradient);
  /// x̄ = Σ d[(∂f/∂x)ᵀ w], v̄ = Σ d[(∂f/∂v)ᵀ w], complete at owned vertices, and p̄ += d[(∂f/∂p)ᵀ w].
  void compute_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                     const ParameterSet& direction, const Field* w, const Field* dw,
                                     const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent);

  // ---- prescribed motions: all of them; see Kinematics ----

  void apply_motions(const MotionSpan& span, const State& start, const Field& x, Field& y, Field& v) const;
  void apply_motions_tangent(const ParameterSet& direction, const MotionSpan& span, const State& start,
                             const State& start_tangent, const Field& x, const Field& dx, Field& dy, Field& dv) const;
  void apply_motions_adjoint(const MotionSpan& span, const State& start, const Field& x, Field& y_bar, Field& v_bar,
                             State& start_adjoint, ParameterSet& gradient) const;
  /// Takes the fields that motions keep through step n of length dt.
  void advance_motions(int n, double dt, State& state) const;
  void advance_motions_tangent(const ParameterSet& direction, int n, double dt, State& tangent) const;
  void advance_motions_adjoint(int n, double dt, State& adjoint, ParameterSet& gradient) const;
  /// Sums the ranks' shares of the adjoints of these fields, at the end of a step's adjoint.
  void sum_motion_adjoints(State& adjoint) const;

  // ---- energies, J, over all ranks ----

  /// Σ ½ m v².
  double kinetic_energy(const State& state) const;
  /// Σ of the terms' energies less gravity's work from rest.
  double potential_energy(const State& state, int n = 0);

 private:
  struct Mask;
  bool others_have_energy() const;
  void tell_held();
  /// Directors of segments whose ends are both among the vertices.
  std::vector<int> directors_between(const std::vector<int>& vertices) const;
  void fix_components(const std::vector<int>& vertices, std::array<bool, 3> axes);
  void sum_masses(Field& sums, Field& owned) const;
  /// Copies [owned vertices, 3] to local vertices, copies up to date.
  Field on_local_vertices(const Field& owned) const;

  std::shared_ptr<const TetrahedralMesh> mesh_;
  std::shared_ptr<FieldPool> scratch_ = FieldPool::make();
  std::vector<std::unique_ptr<Inertia>> inertias_;
  std::vector<std::unique_ptr<ForceTerm>> terms_;
  /// Terms that have parts, by their places in `terms_`, from where they are moved to here while they are split.
  struct Split {
    std::size_t place;
    MakeTerms make;
    std::vector<std::unique_ptr<ForceTerm>> parts;
    std::unique_ptr<ForceTerm> whole;
  };
  std::vector<Split> splits_;
  bool is_split_ = false;
  std::vector<std::unique_ptr<Kinematics>> motions_;
  ParameterSet parameters_;
  Field mass_, mass_tangent_, mass_gradient_, mass_gradient_tangent_;
  std::unique_ptr<Mask> mask_;
};

}  // namespace diffsim
