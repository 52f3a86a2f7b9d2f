// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/device.hpp"
#include "diffsim/dynamics/implicit_model.hpp"
#include "dynamics/invalid_cell.hpp"
#include "dynamics/linear_system.hpp"
#include "dynamics/matrix_share.hpp"
#include "dynamics/newton.hpp"
#include "dynamics/newton_trace.hpp"
#include "dynamics/step_kinematics.hpp"

namespace diffsim {

/// Matrices, solver and work space that steps share.
struct ImplicitModel::Workspace {
  Workspace(const TetrahedralMesh& mesh, const ImplicitOptions& options)
      : linear(mesh, options.linear), invalid_cell("diffsim::dynamics::invalid_cell", 1) {
    Kokkos::deep_copy(invalid_cell, dynamics::nothing_invalid);
  }
  dynamics::LinearSystem linear;
  DeviceArray<std::int32_t> invalid_cell;
  /// The terms whose couplings do not vary; then each of the others.
  std::unique_ptr<dynamics::MatrixShare> common;
  struct Varying {
    ForceTerm* term;
    std::unique_ptr<dynamics::MatrixShare> share;
    Couplings couplings;  // of the configuration at hand
  };
  std::vector<Varying> varying;
  std::vector<dynamics::MatrixShare*> shares() {
    std::vector<dynamics::MatrixShare*> all{common.get()};
    for (const Varying& part : varying) all.push_back(part.share.get());
    return all;
  }
  bool symmetric = true, has_potential = true;
  /// Takes the properties of the terms, and for those whose couplings vary makes room for matrices, if they are others.
  void take(const std::vector<std::unique_ptr<ForceTerm>>& terms);
  double extent = 1.0;  // of the mesh's coordinates, m
};

/// One step: the equation R(y) = 0 at given state and parameters, and its derivatives.
class ImplicitModel::Step : public dynamics::NewtonProblem {
 public:
  Step(ImplicitModel& model, int n, const State& state);

  ImplicitModel& model() { return model_; }
  int number() const { return n_; }
  /// 3 owned vertices.
  int count() const { return count_; }
  double load_factor(const Parameter& load) const { return load.steps() == 1 ? load_factor_ : 1.0; }

  /// The state after the step, from its solution y.
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
  void move(const Field& from, double t, const Field& direction, Field& to) const override;
  double max_step(const Field& from, double from_progress, const Field& to, double to_progress) override;
  /// Name of the pair that cut the last motion, as this rank found; empty if none did.
  const std::string& limiting() const { return limiting_; }
  double progress() const override { return progress_; }
  double progress_goal() const override { return moves_ ? homotopy_ : 1.0; }
  void set_progress(double progress) override { progress_ = moves_ ? progress : 1.0; }

  // ---- homotopy ----

  /// The equation becomes R(y) = (1 - s) R(x_n), and what is prescribed x_n + s (y_p - x_n), what moves by itself
  /// likewise: x_n solves it for s = 0.
  void set_homotopy(double s);

  // ---- friction held ----

  /// Splits the system's terms (System::split) and holds those parts that lag at y: the equation has a potential then,
  /// and where its solution is y, y solves the step's equation, too. nullptr: the equation is the step's again.
  void hold(const Field* y);

  // ---- what derivatives take from the forward step ----

  /// Where forces are evaluated for y; valid until the next call.
  Configuration configuration(const Field& y, std::int32_t* invalid_cell = nullptr);
  /// M (a(y) - λ g), into a field that stays valid until the next call.
  Field& acceleration_of(const Field& y);

  /// J at y as products by the terms' force tangents, where those are asked for.
  dynamics::LinearSystem::Product product_at(const Field& y);

  /// The blocks of J at y: a_y M - x_y ∂f/∂x - v_y ∂f/∂v.
  void assemble(const Field& y, dynamics::Projection projection);

  /// The preconditioner of all steps: of J at rest, without contact, made semidefinite where that needs be. It depends
  /// on the parameters alone, so that what a step computes does not depend on which steps were worked before it.
  void make_reference();

  // ---- derivatives; y is the step's solution, or what Newton's iterations came to ----

  void tangent(const Field& y, const ParameterSet& direction, State& tangent);
  /// `solution`: if given, gets the w that solves Jᵀ w = ȳ.
  void adjoint(const Field& y, State& adjoint, ParameterSet& gradient, Field* solution = nullptr);
  /// Derivative of `adjoint`, which has solved Jᵀ w = ȳ just before: `adjoint_tangent` becomes that of the old state.
  void adjoint_tangent(const Field& y, const Field& w, const StepTangent& tangent, const ParameterSet& direction,
                       State& adjoint_tangent, ParameterSet& gradient_tangent);

  /// Tangent and adjoint of `iterations` iterations of Newton's method, of which `trace` holds some.
  void unrolled_tangent(int iterations, dynamics::NewtonTrace& trace, const Field& y, const ParameterSet& direction,
                        State& tangent);
  void unrolled_adjoint(int iterations, dynamics::NewtonTrace& trace, const Field& y, State& adjoint,
                        ParameterSet& gradient);

 private:
  /// Sets y and u to the positions and velocities that are prescribed for the end of the step, and leaves free
  /// components as they are.
  void prescribe(Field& y, Field& u) const;
  /// Tangent of `advance`.
  void advance_tangent(const Field& dy, const Field& du, const ParameterSet& direction, State& tangent) const;
  /// Adjoint of `advance`: `adjoint` becomes that of the old state as far as the new one takes it from there; adds to ȳ
  /// and the gradient, sets ū. `prescribe_adjoint` completes it.
  void advance_adjoint(State& adjoint, Field& y_bar, Field& u_bar, ParameterSet& gradient) const;
  /// Tangent of `prescribe`.
  void prescribe_tangent(const State& tangent, const ParameterSet& direction, Field& dy, Field& du) const;
  /// Adjoint of `prescribe`: adds to s̄ and the gradient. ȳ of free components is dropped.
  void prescribe_adjoint(Field& y_bar, Field& u_bar, State& state_bar, ParameterSet& gradient) const;

  /// Takes the exact J at y for the `solve` calls that follow.
  void linearise(const Field& y);
  /// Solution of J x = b, or Jᵀ x = b, in the free components: zero in the others, copies up to date. Throws Error
  /// where it cannot be solved.
  Field solve(Field b, bool transposed);

  /// Derivative ḋ of the direction d that Newton's method took from y: `missing` in the prescribed components; in the
  /// free ones J ḋ = -Ṙ - J̇ d. `along`: derivatives of x, v, a at y.
  Field direction_tangent(const Field& y, const Field& d, dynamics::KinematicFields along, const Field& missing,
                          const ParameterSet& direction);
  /// Adjoint of `direction_tangent`: adds to ȳ, ū, s̄ and the gradient. d̄ becomes the adjoint of `missing`.
  void direction_adjoint(const Field& y, const Field& d, Field& d_bar, Field& y_bar, Field& u_bar, State& state_bar,
                         ParameterSet& gradient);
  /// Iteration k < `end`. Where the trace does not hold it, the first `end` iterations are taken again.
  const dynamics::NewtonIteration& iteration(int k, int end, dynamics::NewtonTrace& trace);

  /// Times of the end state and of forces while what moves by itself is on its way.
  double end_time(double progress) const { return (n_ + progress) * model_.dt(); }
  double time_of_forces(double progress) const { return (n_ + rule_.position.y * progress) * model_.dt(); }

  /// Where forces are evaluated for y, copies up to date.
  Field positions_of(const Field& y) const;

  /// rhs += by how much forces change when what moves by itself goes to its goal.
  void add_forces_of_motion(const Field& y, Field& rhs);

  /// Φ(y) = ½ a_y dᵀM d + dᵀ(M (a - λ g)(x_n) - (1 - s) R(x_n)) + E(x(y))/x_y + D(x_n, v(y))/v_y, d = y - x_n: this
  /// rank's share.
  double potential(const Field& y, double energy, double dissipation);

  /// Coordinates are rounded to eps of the mesh's extent; times the stiffness, that is what forces are rounded to.
  void find_rounding();

  /// Patterns that vary are made anew by the first matrix of a step, so that they depend on nothing before it, and then
  /// where they do not serve.
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
  Field start_positions_;  // empty unless a term lags
  Field held_positions_;   // of terms that lag, while they are held; else empty
  double held_time_ = 0.0;
  Field position_history_, velocity_history_, inertia_, prescribed_, prescribed_velocities_;
  bool moves_;
  Field positions_, velocities_, force_, acceleration_;
};

}  // namespace diffsim
