// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/model.hpp"
#include "diffsim/dynamics/lumped_mass.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

namespace dynamics {
class RigidMotion;
}

/// What all time steppers of a mesh share: force terms, lumped masses, fixed components, and the parameters.
///
/// Parameters of its own: `density` (cell), kg/m³; `gravity` [3], m/s²; `rest_positions` (local vertex) [3], m, the
/// undeformed shape, which x[0] does not follow by itself; those of the terms are added by whoever adds the terms. A
/// stepper derives its `step` triple.
class MeshModel : public Model {
 public:
  ~MeshModel() override;

  /// Terms come before the first `prepare`.
  void add_term(std::unique_ptr<ForceTerm> term);
  /// Fixes the components `axes` of local vertices where they are.
  void fix(const std::vector<int>& vertices, std::array<bool, 3> axes);
  /// Prescribes a rigid motion to local vertices: they turn about `axis` through `origin`, which travels with them
  /// (src/dynamics/rigid_motion.hpp). Adds its parameters, `angular_velocity:NAME` [steps], rad/s, and `velocity:NAME`
  /// [steps, 3], m/s, of one step or several. Throws Error (input) for vertices that are fixed or moved already.
  /// Collective.
  void move(const std::string& name, const std::vector<int>& vertices, std::array<double, 3> axis,
            std::array<double, 3> origin, const std::vector<double>& angular_velocity,
            const std::vector<double>& velocity);

  const TetrahedralMesh& mesh() const { return *mesh_; }
  double dt() const { return dt_; }
  const std::vector<std::unique_ptr<ForceTerm>>& terms() const { return terms_; }
  /// Lumped masses of the owned vertices, kg.
  const Field& mass() const { return mass_.mass(); }

  /// Σ ½ m v², J, over all ranks. Collective.
  double kinetic_energy(const State& state) const;
  /// Σ of the terms' energies less gravity's work from rest, J, over all ranks. Collective.
  double potential_energy(const State& state, int n = 0);

  MPI_Comm comm() const override { return mesh_->comm(); }
  /// `positions` [local vertices, 3], m; `velocities` [owned vertices, 3], m/s.
  State make_state() const override;
  using Model::parameters;
  ParameterSet& parameters() override { return parameters_; }
  void prepare() override;
  void prepare_tangent(const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void prepare_adjoint(ParameterSet& gradient) override;
  /// Error (input) names the first parameter, or term, that has no second derivatives.
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  void prepare_adjoint_tangent(const ParameterSet& direction, ParameterSet& gradient_tangent) override;

 protected:
  MeshModel(std::shared_ptr<const TetrahedralMesh> mesh, double dt);

  bool any_term_uses_velocities() const;
  bool has_motions() const { return !motions_.empty(); }
  /// Whether masses depend on one of the parameters in `set`.
  static bool changes_mass(const ParameterSet& set);
  /// force = Σ f(x, v, p), complete at owned vertices. Collective.
  void compute_force(const Configuration& at, Field& force);
  /// force_tangent = Σ ∂f dx + ∂f dv + ∂f dp, complete at owned vertices; the directions' copies are up to date.
  /// Collective.
  void compute_force_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                             const ParameterSet& direction, Field& force_tangent);
  /// x̄ = Σ (∂f/∂x)ᵀ w, v̄ = Σ (∂f/∂v)ᵀ w, complete at owned vertices, and p̄ += (∂f/∂p)ᵀ w; w's copies are up to date.
  /// Collective.
  void compute_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                             ParameterSet& gradient);
  /// x̄ = Σ d[(∂f/∂x)ᵀ w], v̄ likewise, complete at owned vertices, and p̄ += d[(∂f/∂p)ᵀ w]; see
  /// ForceTerm::add_force_adjoint_tangent. Collective.
  void compute_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                     const ParameterSet& direction, const Field* w, const Field* dw,
                                     const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent);
  /// Sets y and v of vertices that are moved, from their x at t after the beginning of step n to h later; x may be y.
  void apply_motions(int n, double t, double h, const Field& x, Field& y, Field& v) const;
  /// Likewise dy and dv; dx may be dy.
  void apply_motions_tangent(int n, double t, double h, const Field& x, const ParameterSet& direction, const Field& dx,
                             Field& dy, Field& dv) const;
  /// ȳ → x̄ and v̄ → 0 at vertices that are moved; adds this rank's share of the parameters' gradient.
  void apply_motions_adjoint(int n, double t, double h, const Field& x, Field& y_bar, Field& v_bar,
                             ParameterSet& gradient) const;
  /// Masks of the owned vertices: device address, [owned vertices], bit c set where component c is fixed, or moved.
  const std::uint8_t* fixed() const;
  /// A zeroed vector field on local vertices.
  Field local_field(const char* name) const;
  const LumpedMass& lumped_mass() const { return mass_; }
  /// [owned vertices, 3]: where steps gather ∂L/∂m, component by component, if the gradient asked for `changes_mass`.
  Field& mass_gradient() { return mass_gradient_; }
  /// Likewise its derivative along a direction.
  Field& mass_gradient_tangent() { return mass_gradient_tangent_; }
  /// Of the terms alone; Error (input) where one of them, or a parameter that they share, has no second derivatives.
  void begin_terms_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction);

 private:
  struct Mask;
  std::shared_ptr<const TetrahedralMesh> mesh_;
  double dt_;
  std::vector<std::unique_ptr<ForceTerm>> terms_;
  ParameterSet parameters_;
  LumpedMass mass_;
  Field mass_gradient_, mass_gradient_tangent_;
  std::unique_ptr<Mask> mask_;
  std::vector<std::unique_ptr<dynamics::RigidMotion>> motions_;
};

}  // namespace diffsim
