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

/// Matrices, linear solver and workspace shared by all steps.
struct ImplicitModel::Workspace {
  Workspace(const TetrahedralMesh& mesh, const ImplicitOptions& options)
      : linear(mesh, options.linear), invalid_cell("diffsim::dynamics::invalid_cell", 1) {
    Kokkos::deep_copy(invalid_cell, dynamics::nothing_invalid);
  }
  dynamics::LinearSystem linear;
  DeviceArray<std::int32_t> invalid_cell;
  /// Sum of the contributions to the Jacobian J by the masses and by all force terms with a constant sparsity pattern.
  std::unique_ptr<dynamics::MatrixShare> common;
  std::size_t num_terms = 0;  // number of the system's terms at the last call of `prepare`
  /// Contribution to J of a force term with a varying sparsity pattern.
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
  /// Sets `symmetric` and `has_potential` from the terms. Resets `varying` if the list of terms with varying sparsity
  /// patterns has changed.
  void take(const std::vector<std::unique_ptr<ForceTerm>>& terms);
  double extent = 1.0;  // largest |coordinate| of the rest shape, m
};

/// Equation R(y) = 0 for the positions y at the end of one step, for a given state and given parameters, with the
/// derivatives of the solution y. J = ∂R/∂y.
///
/// With constraints g(y) = 0 of rigid bodies and joints, G = ∂g/∂y and multipliers λ, the equations are R(y) - G(y)ᵀ λ
/// = 0 and g(y) = 0. Newton's method works on the manifold of the constraints: iterates satisfy g(y) = 0, R is
/// projected onto the tangent space of the constraints, and the projected equation has the Jacobian P (J - Σ_k λ_k
/// ∇²g_k) P, where P is the orthogonal projection onto the tangent space (ProjectedMatrix). Derivatives of the
/// constrained equations:
///
///   tangent:  (J - Λ(λ)) dy - Gᵀ dλ = -dR,   G dy = 0,   Λ(λ) = Σ_k λ_k ∇²g_k
///   adjoint:  (J - Λ(λ))ᵀ w + Gᵀ µ = ȳ,      G w = 0
///
/// dR is the derivative of R at fixed y, and ȳ is the adjoint of y. The equations are solved for dy and w in the
/// tangent space; λ, dλ and µ follow from the components normal to the tangent space.
class ImplicitModel::Step : public dynamics::NewtonProblem {
 public:
  Step(ImplicitModel& model, int n, const State& state);

  ImplicitModel& model() { return model_; }
  int number() const { return n_; }
  /// Number of owned components: three for each owned vertex.
  int count() const { return count_; }
  double load_factor(const Parameter& load) const { return load.steps() == 1 ? load_factor_ : 1.0; }

  /// Computes the state after the step from the solution y.
  void advance(const Field& y, State& next) const;

  // ---- NewtonProblem ----

  bool has_potential() const override { return work_.has_potential; }
  bool solves_exactly() override { return work_.common && work_.linear.factors(); }
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
  /// Name of the contact pair because of which the last call of `max_step` returned a value below 1 on this rank; empty
  /// if there is no such pair.
  const std::string& limiting() const { return limiting_; }
  double progress() const override { return progress_; }
  double progress_goal() const override { return moves_ ? homotopy_ : 1.0; }
  void set_progress(double progress) override { progress_ = moves_ ? progress : 1.0; }

  /// Moves y onto the constraints of rigid bodies and joints, if there are any. Throws Error if that is impossible.
  void satisfy_constraints(Field& y) const;

  // ---- homotopy ----

  /// Replaces the equation R(y) = 0 by R(y) = (1 - s) R(x_n) and the prescribed positions y_p by x_n + s (y_p - x_n),
  /// where x_n are the positions at the beginning of the step. Moving obstacles (`ForceTerm::moves`) complete the
  /// fraction s of their motion in the step. For s = 0 the solution is x_n.
  void set_homotopy(double s);

  // ---- frozen friction ----

  /// Replaces friction by lagged friction (System::split) that is evaluated at the fixed positions `y` instead of the
  /// solution. The equation with friction at fixed positions has a potential. If the solution of this equation equals
  /// `y`, then `y` also solves the equation of the step. If `y` is nullptr, restores the equation of the step.
  void hold(const Field* y);

  // ---- parts of the forward step that derivatives use ----

  /// Returns the configuration (positions, velocities, time) at which forces are evaluated for the positions y at the
  /// end of the step. The result is valid until the next call.
  Configuration configuration(const Field& y, std::int32_t* invalid_cell = nullptr);
  /// Returns M (a(y) - λ g), where λ is the load factor, in a field that is valid until the next call.
  Field& acceleration_of(const Field& y);

  /// Returns a function that computes products J(y) x from the tangents of the force terms, without an assembled
  /// matrix. Returns nullptr if `LinearOptions::matrix_free` is false.
  dynamics::LinearSystem::Product product_at(const Field& y);

  /// Assembles the contributions to J(y) = a_y M - x_y ∂f/∂x - v_y ∂f/∂v in `Workspace::shares`, where x_y, v_y and a_y
  /// are the derivatives of x, v and a with respect to y (TimeRule).
  void assemble(const Field& y, dynamics::Projection projection);

  /// Sets up the preconditioner that all steps share (`LinearSystem::set_reference`), from J in the rest configuration
  /// without contact and lagged terms. If the Krylov method does not converge with this preconditioner, sets up the
  /// preconditioner again, from J projected to a positive semidefinite matrix. The preconditioner depends on the
  /// parameters only, so that the result of a step does not depend on steps that were computed before. Does nothing if
  /// a sparsity pattern varies or if there are constraints.
  void make_reference();

  // ---- derivatives; y is the solution of the step, or the last Newton iterate ----

  void tangent(const Field& y, const ParameterSet& direction, State& tangent);
  /// Adjoint of the step. `solution`: if not nullptr, receives the solution w of Jᵀ w = ȳ, where ȳ is the adjoint of
  /// the solution y of the step.
  void adjoint(const Field& y, State& adjoint, ParameterSet& gradient, Field* solution = nullptr);
  /// Derivative of `adjoint` along `tangent` and `direction`. w: result `solution` of an earlier call of `adjoint`.
  /// Replaces `adjoint_tangent` by the adjoint tangent of the state at the beginning of the step.
  void adjoint_tangent(const Field& y, const Field& w, const StepTangent& tangent, const ParameterSet& direction,
                       State& adjoint_tangent, ParameterSet& gradient_tangent);

  /// Tangent of the step as executed in `iterations` Newton iterations. Iterations that `trace` does not store are
  /// repeated.
  void unrolled_tangent(int iterations, dynamics::NewtonTrace& trace, const Field& y, const ParameterSet& direction,
                        State& tangent);
  /// Adjoint of the step as executed in `iterations` Newton iterations. Iterations that `trace` does not store are
  /// repeated.
  void unrolled_adjoint(int iterations, dynamics::NewtonTrace& trace, const Field& y, State& adjoint,
                        ParameterSet& gradient);

 private:
  /// Sets the prescribed components of y and u to the prescribed positions and velocities at the end of the step. Free
  /// components are unchanged.
  void prescribe(Field& y, Field& u) const;
  /// Tangent of `advance`: replaces `tangent` by the derivative of the state after the step. dy and du: derivatives of
  /// the solution y and of the prescribed velocities u.
  void advance_tangent(const Field& dy, const Field& du, const ParameterSet& direction, State& tangent) const;
  /// Adjoint of `advance`: adds the contributions to ȳ and to the gradient, and sets the adjoint ū of the prescribed
  /// velocities u. On entry, `adjoint` is the adjoint of the state after the step. On return, `adjoint` is the
  /// contribution of `advance` to s̄, the adjoint of the state at the beginning of the step.
  /// `StepKinematics::evaluate_adjoint` and `prescribe_adjoint` add the other contributions to s̄.
  void advance_adjoint(State& adjoint, Field& y_bar, Field& u_bar, ParameterSet& gradient) const;
  /// Tangent of `prescribe`: sets the prescribed components of dy and du.
  void prescribe_tangent(const State& tangent, const ParameterSet& direction, Field& dy, Field& du) const;
  /// Adjoint of `prescribe`: adds the contributions to `state_bar`, the adjoint s̄ of the state at the beginning of the
  /// step, and to the gradient. Zeroes the free components of ȳ.
  void prescribe_adjoint(Field& y_bar, Field& u_bar, State& state_bar, ParameterSet& gradient) const;

  /// Computes R(y) without the constraint forces, zero in prescribed components.
  void find_residual(const Field& y, const Configuration& at, Field& residual);
  /// Sets the matrix of the linear systems to the sum of the matrices that `assemble` has computed at y. `exact`: true
  /// if these matrices are not projected.
  void set_matrix(const Field& y, bool exact);
  /// Assembles the exact J at y and makes J the matrix of later calls of `solve`.
  void linearise(const Field& y);
  /// Returns the solution of J x = b, or of Jᵀ x = b if `transposed`, in the free components. The other components are
  /// zero; ghost values are up to date. Throws Error if the system cannot be solved.
  Field solve(Field b, bool transposed);

  /// Returns the derivative ḋ of the direction d that Newton's method took from y. In prescribed components ḋ is
  /// `missing`, the derivative of the gap (prescribed position minus y); in free components ḋ solves J ḋ = -Ṙ - J̇ d,
  /// where Ṙ and J̇ are the derivatives of R and J. `along`: derivatives of x, v and a at y.
  Field direction_tangent(const Field& y, const Field& d, dynamics::KinematicFields along, const Field& missing,
                          const ParameterSet& direction);
  /// Adjoint of `direction_tangent`: adds the contributions to `y_bar`, `u_bar`, `state_bar` and the gradient. `d_bar`:
  /// adjoint of the direction d on entry, adjoint of `missing` on return.
  void direction_adjoint(const Field& y, const Field& d, Field& d_bar, Field& y_bar, Field& u_bar, State& state_bar,
                         ParameterSet& gradient);
  /// Returns iteration k of Newton's method. Requires k < `end`. If `trace` no longer stores iteration k, repeats the
  /// first `end` iterations and stores the last of these iterations in `trace`.
  const dynamics::NewtonIteration& iteration(int k, int end, dynamics::NewtonTrace& trace);

  /// Returns the time (s) to which the obstacles' positions belong if obstacles have completed the fraction `progress`
  /// of their motion in the step.
  double end_time(double progress) const { return (n_ + progress) * model_.dt(); }
  /// Returns the time (s) at which forces are evaluated if obstacles have completed the fraction `progress` of their
  /// motion in the step.
  double time_of_forces(double progress) const { return (n_ + rule_.position.y * progress) * model_.dt(); }

  /// Returns the positions at which forces are evaluated for y, with ghost values up to date.
  Field positions_of(const Field& y) const;

  /// Adds to `rhs` the first-order change of the forces at y that the remaining motion of obstacles in the step causes.
  void add_forces_of_motion(const Field& y, Field& rhs);

  /// Returns this rank's contribution to the incremental potential
  ///
  ///   Φ(y) = ½ a_y dᵀM d + dᵀ(M (a - λ g)(x_n) - (1 - s) R(x_n)) + E(x(y))/x_y + D(x_n, v(y))/v_y
  ///
  /// with d = y - x_n, the positions x_n at the beginning of the step, the coefficients a_y, x_y and v_y of `assemble`,
  /// the load factor λ, and the fraction s of `set_homotopy`. `energy`: energy E of the force terms. `dissipation`:
  /// dissipation potential D of the force terms.
  double potential(const Field& y, double energy, double dissipation);

  /// Returns the rounding error of positions (m): machine precision ε times the largest |coordinate| of the rest shape.
  double rounding_of_positions() const { return 2.2e-16 * work_.extent; }
  /// Sets `rounding_`, a bound (N) on the rounding error of the forces: ε · extent · (Σ K_ii²)^½, with the machine
  /// precision ε and the largest |coordinate| `extent` of the rest shape. The sum is over the owned vertices of all
  /// ranks and over the matrices `Workspace::shares`; K_ii are the diagonal entries of a rank's contribution to one of
  /// these matrices. With constraints, `set_matrix` replaces this bound r by (r² + q²)^½ with q = ε · extent · ‖Σ_k λ_k
  /// ∇²g_k‖.
  void find_rounding();

  /// Creates the sparsity patterns of `common` and `varying`. Varying patterns are rebuilt for the first matrix of a
  /// time step, so that these patterns do not depend on earlier time steps. Later in the time step, a pattern is
  /// rebuilt only if the pattern lacks pairs of vertices that interact in the configuration `at`.
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
  Field held_positions_;   // positions at which lagged terms are frozen; otherwise empty
  double held_time_ = 0.0;
  Field position_history_, velocity_history_, inertia_, prescribed_, prescribed_velocities_;
  bool moves_;
  Field positions_, velocities_, force_, acceleration_;
  /// Tangent space of the constraints at the positions y of the last matrix; empty without constraints. `multipliers_`:
  /// multipliers λ of the constraint forces at y. `adjoint_multipliers_`: multipliers µ of the last `adjoint`.
  std::optional<body::TangentSpace> tangent_space_;
  body::Multipliers multipliers_, adjoint_multipliers_;
};

}  // namespace diffsim
