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
#include "dynamics/step_equation.hpp"

namespace diffsim {

/// What steps share.
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
  };
  std::vector<Varying> varying;
  std::vector<dynamics::MatrixShare*> shares() {
    std::vector<dynamics::MatrixShare*> all{common.get()};
    for (const Varying& part : varying) all.push_back(part.share.get());
    return all;
  }
  bool symmetric = true, has_potential = true;
  double extent = 1.0;  // of the mesh's coordinates, m
};

/// One step: the equation R(y) = 0 at given state and parameters, and its derivatives.
class ImplicitModel::Step : public dynamics::NewtonProblem, public dynamics::StepEquation {
 public:
  Step(ImplicitModel& model, int n, const State& state);

  const State& state() const override { return state_; }
  double load_factor(const Parameter& load) const override { return load.steps() == 1 ? load_factor_ : 1.0; }

  /// The state after the step, from its solution y.
  void advance(const Field& y, State& next) const;

  // ---- NewtonProblem ----

  bool has_potential() const override { return work_.has_potential; }
  bool solves_exactly() override { return work_.common && work_.linear.factors(); }
  double rounding() const override { return rounding_; }

  dynamics::Evaluation evaluate(const Field& y, Field& residual) override;

  double find_gap(const Field& y, Field& gap) override;

  dynamics::LinearReport find_direction(const Field& y, const Field& residual, const Field& gap, double tolerance,
                                        bool project, Field& direction) override;

  double dot(const Field& x, const Field& y) const override;
  double largest(const Field& x) const override;
  void move(const Field& from, double t, const Field& direction, Field& to) const override;
  double max_step(const Field& from, double from_progress, const Field& to, double to_progress) override;
  /// What cut the last motion, as this rank found; empty if nothing did.
  const std::string& limiting() const { return limiting_; }
  double progress() const override { return progress_; }
  double progress_goal() const override { return moves_ ? homotopy_ : 1.0; }
  void set_progress(double progress) override { progress_ = moves_ ? progress : 1.0; }

  // ---- homotopy ----

  /// The equation becomes R(y) = (1 - s) R(x_n), and what is prescribed x_n + s (y_p - x_n), what moves by itself
  /// likewise: x_n solves it for s = 0.
  void set_homotopy(double s);

  // ---- derivatives ----

  Configuration configuration(const Field& y, std::int32_t* invalid_cell = nullptr) override;

  /// J at y as products by the terms' force tangents, where those are asked for.
  dynamics::LinearSystem::Product product_at(const Field& y);

  /// The blocks of J at y: a_y M - x_y ∂f/∂x - v_y ∂f/∂v.
  void assemble(const Field& y, bool project);

  /// The preconditioner of all steps: of J at rest, without contact, made semidefinite where that needs be. It depends
  /// on the parameters alone, so that what a step computes does not depend on which steps were worked before it.
  void make_reference();

  void linearise(const Field& y) override;

  void solve(const Field& b, Field& x, bool transposed) override;

  void tangent(const Field& y, const ParameterSet& direction, State& tangent);
  /// `w`: if given, gets the solution of the transposed system.
  void adjoint(const Field& y, State& adjoint, ParameterSet& gradient, Field* w = nullptr);

  Field& acceleration_of(const Field& y) override;

 private:
  /// Times of the end state and of forces while what moves by itself is on its way.
  double end_time(double progress) const { return (n_ + progress) * model_.dt(); }
  double time_of_forces(double progress) const { return (n_ + rule_.position.y * progress) * model_.dt(); }

  /// Where forces are evaluated for y, copies up to date.
  Field positions_of(const Field& y) const;

  /// rhs += by how much forces change when what moves by itself goes to its goal.
  void add_forces_of_motion(const Field& y, Field& rhs);

  /// Φ(y) = ½ a_y dᵀM d + dᵀ(M (a - λ g)(x_n) - (1 - s) R(x_n)) + E(x(y))/x_y, d = y - x_n: this rank's share.
  double potential(const Field& y, double energy);

  /// Coordinates are rounded to eps of the mesh's extent; times the stiffness, that is what forces are rounded to.
  void find_rounding();

  /// Patterns that vary are made anew by the first matrix of a step, so that they depend on nothing before it, and then
  /// where they do not serve.
  void make_blocks(const Configuration& at);

  ImplicitModel& model_;
  Workspace& work_;
  const State& state_;
  double load_factor_;
  std::unique_ptr<Field> shift_;  // R(x_n)
  double homotopy_ = 1.0, progress_ = 1.0;
  double rounding_ = 0.0;
  bool patterns_are_of_this_step_ = false;
  std::string limiting_;
  Field position_history_, velocity_history_, inertia_, prescribed_, prescribed_velocities_;
  bool moves_;
  Field positions_, velocities_, force_, acceleration_;
};

}  // namespace diffsim
