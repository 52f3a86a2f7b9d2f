// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "body/tangent_space.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/device.hpp"
#include "dynamics/linear/linear_system.hpp"
#include "dynamics/linear/matrix_share.hpp"
#include "dynamics/nonlinear/newton.hpp"
#include "dynamics/nonlinear/newton_trace.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "dynamics/time/invalid_cell.hpp"
#include "dynamics/time/step_kinematics.hpp"

namespace diffsim {

/// Matrices, linear solver and temporary arrays that all time steps share.
struct ImplicitModel::Workspace {
  Workspace(const TetrahedralMesh& mesh, const ImplicitOptions& options)
      : linear(mesh, options.linear), invalid_cell("diffsim::dynamics::invalid_cell", 1) {
    Kokkos::deep_copy(invalid_cell, dynamics::nothing_invalid);
  }
  dynamics::LinearSystem linear;
  DeviceArray<std::int32_t> invalid_cell;
  /// Sum of the contributions of the masses, and of all force terms with a constant sparsity pattern, to the Jacobian
  /// of a step.
  std::unique_ptr<dynamics::MatrixShare> common;
  std::size_t num_terms = 0;  // number of the system's terms at the last call of `prepare`
  /// Contribution of a force term with a varying sparsity pattern to the Jacobian of a step.
  struct Varying {
    ForceTerm* term;
    std::unique_ptr<dynamics::MatrixShare> share;
    Couplings couplings;  // last sparsity pattern
  };
  std::vector<Varying> varying;
  std::vector<dynamics::MatrixShare*> shares() {
    std::vector<dynamics::MatrixShare*> all{common.get()};
    for (const Varying& part : varying) all.push_back(part.share.get());
    return all;
  }
  bool symmetric = true, has_potential = true;
  /// Sets `symmetric` to whether all force terms have symmetric Jacobians, and `has_potential` to whether all force
  /// terms have an energy. If the list of force terms with varying sparsity patterns has changed, replaces the entries
  /// of the array `varying` by entries without a matrix, one for each force term with a varying sparsity pattern.
  void take(const std::vector<std::unique_ptr<ForceTerm>>& terms);
  double extent = 1.0;  // largest |coordinate| of the rest shape, m
};

/// Equation R(y) = 0 for the positions y at the end of one time step, for a given state at the beginning and given
/// parameters, with the derivatives of the solution y. The Jacobian of the equation is J = ∂R/∂y.
///
/// With constraints g(y) = 0 of rigid bodies and joints, G = ∂g/∂y and multipliers λ, the equations of a step are g(y)
/// = 0 and R(y) - G(y)ᵀ λ = 0. All iterates y of Newton's method satisfy g(y) = 0, and the residual R is projected onto
/// the tangent space of the constraints. The projected equation has the Jacobian P (J - Σ_k λ_k ∇²g_k) P, where λ_k are
/// the multipliers of the constraints g_k, and P is the orthogonal projection onto the tangent space (ProjectedMatrix).
///
/// The tangent dy of the solution y, and the vector w for the adjoint ȳ of y, are the solutions of
///   tangent:  (J - Λ(λ)) dy - Gᵀ dλ = -dR,   G dy = 0,
///   adjoint:  (J - Λ(λ))ᵀ w + Gᵀ µ = ȳ,      G w = 0,
/// where Λ(λ) = Σ_k λ_k ∇²g_k, dR is the derivative of R at fixed y, dλ is the tangent of the multipliers λ, and µ are
/// the multipliers of the adjoint equation. The solutions dy and w are computed in the tangent space of the
/// constraints; λ, dλ and µ follow from the components of the equations normal to the tangent space.
class ImplicitModel::Step : public dynamics::NewtonProblem {
 public:
  Step(ImplicitModel& model, int n, const State& state);

  ImplicitModel& model() { return model_; }
  int number() const { return n_; }
  /// Number of components of a vector field at this rank's owned vertices: three for each vertex.
  int count() const { return count_; }
  double load_factor(const Parameter& load) const { return load.steps() == 1 ? load_factor_ : 1.0; }

  /// Computes `next`, the state at the end of the step, from the positions y that solve the equation of the step.
  void advance(const Field& y, State& next) const;

  // ---- NewtonProblem ----

  bool has_potential() const override { return work_.has_potential; }
  bool uses_factors() override { return work_.common && work_.linear.factors(); }
  double rounding() const override { return rounding_; }

  dynamics::Evaluation evaluate(const Field& y, Field& residual) override;

  double find_gap(const Field& y, Field& gap) override;

  dynamics::LinearReport find_direction(const Field& y, const Field& residual, const Field* gap, double tolerance,
                                        dynamics::Projection projection, Field& direction) override;

  bool has_contact() const override;

  double dot(const Field& x, const Field& y) const override;
  double largest(const Field& x) const override;
  bool move(const Field& from, double t, const Field& direction, Field& to) const override;
  bool has_constraints() const override { return model_.system_->constraints() != nullptr; }
  double max_step(const Field& from, double from_progress, const Field& to, double to_progress) override;
  /// Name of the contact pair that limited the motion on this rank in the last call of `max_step`; empty if no contact
  /// pair limited the motion.
  const std::string& limiting() const { return limiting_; }
  double progress() const override { return progress_; }
  double progress_goal() const override { return moves_ ? homotopy_ : 1.0; }
  void set_progress(double progress) override { progress_ = moves_ ? progress : 1.0; }

  /// Changes the positions y so that they satisfy the constraints of rigid bodies and joints, if the system has
  /// constraints. Throws Error if the positions y are too far from positions that satisfy the constraints.
  void satisfy_constraints(Field& y) const;

  // ---- homotopy ----

  /// Replaces the equation R(y) = 0 of the step by R(y) = (1 - s) R(x_n) with 0 ≤ s ≤ 1, and the prescribed positions
  /// y_p by x_n + s (y_p - x_n), where R is the residual and x_n are the positions at the beginning of the step. After
  /// `set_homotopy(s)`, moving obstacles (`ForceTerm::moves`) complete only the fraction s of their motion in the step.
  /// For s = 0, the solution of the equation R(y) = (1 - s) R(x_n) is y = x_n.
  void set_homotopy(double s);

  // ---- frozen friction ----

  /// Replaces friction by lagged friction (System::split), which is evaluated at the fixed positions `y` instead of at
  /// the solution of the step. The residual with friction at fixed positions is the gradient of a potential. If the
  /// solution of the equation with friction at the fixed positions `y` equals `y`, `y` also solves the original
  /// equation of the step. If the argument `y` is nullptr, restores the original equation of the step.
  void hold(const Field* y);

  // ---- parts of the forward step that derivatives use ----

  /// Returns the configuration (positions, velocities, time) at which forces are evaluated for the positions y at the
  /// end of the step. The returned configuration refers to fields that the next call of `configuration` overwrites.
  Configuration configuration(const Field& y, std::int32_t* invalid_cell = nullptr);
  /// Returns M (a(y) - λ g), with masses M, accelerations a, load factor λ and gravity g, in a field that the next call
  /// of `acceleration_of` overwrites.
  Field& acceleration_of(const Field& y);

  /// Returns a function that computes products J(y) x of the Jacobian J from the tangents of the force terms, without
  /// an assembled matrix. Returns nullptr if `LinearOptions::matrix_free` is false.
  dynamics::LinearSystem::Product product_at(const Field& y);

  /// Assembles the contributions to the Jacobian J(y) = a_y M - ∂f/∂x - v_y ∂f/∂v in the matrices
  /// `Workspace::shares`, with masses M and forces f, where v_y and a_y are the derivatives of velocities v and
  /// accelerations a with respect to y (TimeRule).
  void assemble(const Field& y, dynamics::Projection projection);

  /// Sets up the preconditioner that all steps share (`LinearSystem::set_reference`), from the Jacobian J in the rest
  /// configuration without contact and without lagged force terms (`ForceTerm::lags`). If the Krylov method does not
  /// converge with this preconditioner, sets up the preconditioner again, from the projection of J to a positive
  /// semidefinite matrix. The preconditioner depends on the parameters only, so that the result of a step does not
  /// depend on steps that were computed before. `make_reference` does nothing if the sparsity pattern of a force term
  /// varies or if the system has constraints.
  void make_reference();

  // ---- derivatives; y is the solution of the step, or the last Newton iterate ----

  void tangent(const Field& y, const ParameterSet& direction, State& tangent);
  /// Adjoint of the step. `solution`: if not nullptr, receives the solution w of the adjoint equation of the step,
  /// which is Jᵀ w = ȳ without constraints, with the adjoint ȳ of the solution y of the step.
  void adjoint(const Field& y, State& adjoint, ParameterSet& gradient, Field* solution = nullptr);
  /// Derivative of the results of `adjoint` along the change `tangent` of the states and the change `direction` of the
  /// parameters. `w`: the vector that an earlier call of `adjoint` stored in the argument `solution`. Replaces
  /// `adjoint_tangent`, the derivative of the adjoint of the state at the end of the step, by the derivative of the
  /// adjoint of the state at the beginning of the step.
  void adjoint_tangent(const Field& y, const Field& w, const StepTangent& tangent, const ParameterSet& direction,
                       State& adjoint_tangent, ParameterSet& gradient_tangent);

  /// Tangent of the step as executed in `iterations` Newton iterations. Newton iterations that `trace` does not store
  /// are computed again.
  void unrolled_tangent(int iterations, dynamics::NewtonTrace& trace, const Field& y, const ParameterSet& direction,
                        State& tangent);
  /// Adjoint of the step as executed in `iterations` Newton iterations. Newton iterations that `trace` does not store
  /// are computed again.
  void unrolled_adjoint(int iterations, dynamics::NewtonTrace& trace, const Field& y, State& adjoint,
                        ParameterSet& gradient);

 private:
  /// Sets the prescribed components of y and u to the prescribed positions and velocities at the end of the step. Free
  /// components are unchanged.
  void prescribe(Field& y, Field& u) const;
  /// Tangent of `advance`: replaces `tangent`, the derivative of the state at the beginning of the step, by the
  /// derivative of the state at the end, where `dy` and `du` are the derivatives of the solution y and of the
  /// prescribed velocities u.
  void advance_tangent(const Field& dy, const Field& du, const ParameterSet& direction, State& tangent) const;
  /// Adjoint of `advance`: adds the contributions of `advance` to the adjoint ȳ of the solution y and to `gradient`,
  /// the gradient with respect to the parameters, and sets the adjoint ū of the prescribed velocities u. On entry,
  /// `adjoint` is the adjoint of the state after the step. On return, `adjoint` is the contribution of `advance` to s̄,
  /// the adjoint of the state at the beginning of the step; `StepKinematics::evaluate_adjoint` and `prescribe_adjoint`
  /// add the contributions of the residual and of the prescribed components to s̄.
  void advance_adjoint(State& adjoint, Field& y_bar, Field& u_bar, ParameterSet& gradient) const;
  /// Tangent of `prescribe`: sets the prescribed components of `dy` and `du`, the derivatives of the positions y and
  /// velocities u at the end of the step.
  void prescribe_tangent(const State& tangent, const ParameterSet& direction, Field& dy, Field& du) const;
  /// Adjoint of `prescribe`: adds the contributions of `prescribe` to `state_bar`, the adjoint s̄ of the state at the
  /// beginning of the step, and to `gradient`. Zeroes the free components of `y_bar`, the adjoint of the positions y at
  /// the end of the step.
  void prescribe_adjoint(Field& y_bar, Field& u_bar, State& state_bar, ParameterSet& gradient) const;

  /// Computes the residual R(y) without constraint forces. The prescribed components of `residual` are set to zero.
  void find_residual(const Field& y, const Configuration& at, Field& residual);
  /// Sets the matrix of the linear systems to the sum of the matrices that `assemble` has computed at the positions y.
  /// `exact`: true if the last call of `assemble` did not project matrices to positive semidefinite matrices.
  void set_matrix(const Field& y, bool exact);
  /// Assembles the exact Jacobian J at the positions y, and makes J the matrix of the linear systems that later calls
  /// of `solve` solve.
  void linearise(const Field& y);
  /// Returns the free components of the solution x of J x = b, or of Jᵀ x = b if `transposed` is true, with the
  /// Jacobian J of the last call of `linearise`. The returned solution has zeros in the prescribed components and
  /// up-to-date ghost values. Throws Error if the linear solver does not converge.
  Field solve(Field b, bool transposed);

  /// Returns the derivative ḋ of the direction d that Newton's method took from the iterate y. The prescribed
  /// components of ḋ are those of `missing`, the derivative of the difference between the prescribed positions and y.
  /// The free components of ḋ solve J ḋ = -Ṙ - J̇ d, where Ṙ and J̇ are the derivatives of the residual R and of the
  /// Jacobian J = ∂R/∂y. `along`: derivatives of the positions, velocities and accelerations that
  /// `StepKinematics::evaluate` computes from y. `direction`: change of the parameters along which ḋ is computed.
  Field direction_tangent(const Field& y, const Field& d, dynamics::KinematicFields along, const Field& missing,
                          const ParameterSet& direction);
  /// Adjoint of `direction_tangent`: adds the contributions of `direction_tangent` to `y_bar`, `u_bar`, `state_bar` and
  /// `gradient`. `d_bar`: on entry, the adjoint of the direction d of Newton's method; on return, the adjoint of the
  /// difference between the prescribed positions and the iterate y.
  void direction_adjoint(const Field& y, const Field& d, Field& d_bar, Field& y_bar, Field& u_bar, State& state_bar,
                         ParameterSet& gradient);
  /// Returns the data (NewtonIteration) of iteration k of Newton's method. Requires k < `end`. If `trace` no longer
  /// stores iteration k, repeats the first `end` iterations, and stores the last of these iterations in `trace`.
  const dynamics::NewtonIteration& iteration(int k, int end, dynamics::NewtonTrace& trace);

  /// Returns the time (s) at which forces are evaluated if obstacles have completed the fraction `progress` of their
  /// motion in the step.
  double end_time(double progress) const { return (n_ + progress) * model_.dt(); }

  /// Returns the positions y at the end of the step with ghost values up to date.
  Field positions_of(const Field& y) const;

  /// Adds to `rhs` the first-order change of the forces, at fixed positions y, while obstacles move from the fraction
  /// `progress()` to the fraction `progress_goal()` of the obstacles' motion in the step.
  void add_forces_of_motion(const Field& y, Field& rhs);

  /// Returns this rank's contribution to the incremental potential
  ///   Φ(y) = ½ a_y dᵀM d + dᵀ(M (a - λ g)(x_n) - (1 - s) R(x_n)) + E(y) + D(x_n, v(y))/v_y,
  /// where x_n are the positions at the beginning of the step, d = y - x_n, a_y and v_y are the derivatives of
  /// accelerations a and velocities v with respect to y, M are masses, g is gravity, λ is the load factor, R is the
  /// residual, s is the fraction of `set_homotopy`, E is the energy and D is the dissipation potential.
  /// `energy`: energy E of the force terms. `dissipation`: dissipation potential D of the force terms.
  double potential(const Field& y, double energy, double dissipation);

  /// Returns the rounding error of positions (m): machine precision ε times the largest |coordinate| of the rest shape.
  double rounding_of_positions() const { return 2.2e-16 * work_.extent; }
  /// Sets `rounding_`, a bound r (N) on the rounding error of the forces: r = ε · extent · (Σ K_ii²)^½, with the
  /// machine precision ε and the largest |coordinate| `extent` of the rest shape. The sum is over the owned vertices of
  /// all ranks and over the matrices `Workspace::shares`, where K_ii are the diagonal entries of a rank's contribution
  /// to one of these matrices. With constraints g_k and multipliers λ_k, `set_matrix` replaces r by (r² + q²)^½ with q
  /// = ε · extent · ‖Σ_k λ_k ∇²g_k‖.
  void find_rounding();

  /// Creates the sparsity patterns of the matrices in `Workspace::common` and `Workspace::varying`. Varying sparsity
  /// patterns are rebuilt for the first matrix of a time step, so that the sparsity patterns do not depend on earlier
  /// time steps. For later matrices of a time step, a varying sparsity pattern is rebuilt only if the pattern lacks
  /// pairs of vertices that interact in the configuration `at`.
  void make_blocks(const Configuration& at);

  ImplicitModel& model_;
  Workspace& work_;
  int n_, count_;
  dynamics::StepKinematics kinematics_;
  const dynamics::TimeRule& rule_ = kinematics_.rule();
  const State& state_;
  double load_factor_;
  std::unique_ptr<Field> shift_;  // R(x_n)
  double homotopy_ = 1.0, progress_ = 1.0;
  double rounding_ = 0.0;
  bool patterns_are_of_this_step_ = false;
  std::string limiting_;
  Field start_positions_;  // empty unless there are lagged terms
  Field held_positions_;   // positions at which lagged terms are frozen; empty if none are frozen
  double held_time_ = 0.0;
  Field velocity_history_, inertia_, prescribed_, prescribed_velocities_;
  bool moves_;
  Field positions_, velocities_, force_, acceleration_;
  /// Tangent space of the constraints at the positions y of the last call of `set_matrix`; empty without constraints.
  /// `multipliers_`: multipliers λ of the constraint forces at these positions. `adjoint_multipliers_`: multipliers µ
  /// of the adjoint equation, from the last call of `adjoint` with a `solution` other than nullptr.
  std::optional<body::TangentSpace> tangent_space_;
  body::Multipliers multipliers_, adjoint_multipliers_;
};

}  // namespace diffsim
