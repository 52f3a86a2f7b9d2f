// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/dynamics/system_model.hpp"

namespace diffsim {

namespace dynamics {
struct ExplicitRule;
class ExplicitRecord;
}  // namespace dynamics

/// Names of the explicit integrators: explicit_euler, symplectic_euler, velocity_verlet, runge_kutta_2, runge_kutta_4.
std::vector<std::string> explicit_integrators();
bool is_explicit_integrator(const std::string& name);
/// Whether the integrator has the damping factor on velocities: both Euler methods.
bool has_damping_factor(const std::string& integrator);

/// Explicit dynamics of a System.
///
/// A step of dt is `substeps` substeps of h = dt/substeps of a Runge-Kutta-Nyström method
/// (src/dynamics/explicit_rule.hpp) for ẍ = a(x, ẋ, t) = M⁻¹ f + g, with lumped masses M and gravity g. Symplectic
/// Euler, with the damping factor d, is
///
///   v ← m d (v + h a(x, v)),   x ← x + h v
///
/// m is 0 for fixed components of vertices and 1 elsewhere, so gradients flow through everything but those. Vertices
/// that are moved follow their motion over each h. Contact is looked after on the way to every stage.
///
/// Reversible, positions and velocities are whole multiples of powers of two, about 2⁻⁴⁸ of the mesh's extent and
/// 2⁻⁵² of that per substep, and so are their increments: sums are exact (src/dynamics/reversible_grid.hpp).
/// Derivatives are those of the motion without this rounding, at the states with it. Of symplectic Euler only; not with
/// damping other than 1, contact, forces that depend on velocities, or prescribed motions.
///
/// Parameters of its own, besides the System's: `damping` [1] of both Euler methods, 1 as it is made.
class ExplicitModel : public SystemModel {
 public:
  /// Throws Error (input) for an integrator that is not one of `explicit_integrators`, and for substeps < 1.
  ExplicitModel(std::shared_ptr<System> system, const std::string& integrator, double dt, int substeps);
  ~ExplicitModel() override;

  const std::string& integrator() const;
  int substeps() const { return substeps_; }
  bool has_damping() const;

  /// Largest h = dt/substeps that small motions about rest are sure to stay stable with, s: `safety` times that of an
  /// oscillator with κ = max_i (Σ_e λ_e)_i / m_i, λ_e the largest eigenvalue of each element's stiffness at vertex i,
  /// and γ the same of the terms' damping. 0 for explicit Euler and Runge-Kutta of order 2, with which undamped
  /// oscillations grow at any h. Needs `prepare`. Collective.
  double stable_substep(double safety = 0.8);

  void prepare() override;
  void set_reversible(bool wanted) override;
  void step_back(int n, State& state, Record& record) override;
  void prepare_tangent(const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  std::unique_ptr<Record> make_record() const override;
  std::size_t record_bytes() const override;
  void step(int n, State& state, Record* record) override;
  void step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) override;
  void step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  void step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent, const ParameterSet& direction,
                            const AdjointPair& pair) override;

 private:
  struct Workspace;
  template <class T>
  class Reverse;

  void substep(int n, int s, State& state, dynamics::ExplicitRecord* record);
  /// Updates x and v by the last stage's force, components that other ranks wait for first, and sends the copies.
  void end_substep(int n, int s, State& state);
  /// Substep s of `step_tangent`; copies of dx are up to date before and after. `stages`: gets dX_i and dV_i.
  void substep_tangent(int n, int s, const dynamics::ExplicitRecord& recorded, const ParameterSet& direction,
                       State& tangent, dynamics::ExplicitRecord* stages);
  /// Where the force of stage i of substep s was evaluated.
  Configuration configuration(int n, int s, int i, const dynamics::ExplicitRecord& recorded);
  /// Whether the first force of a substep is the last of the substep before it, of the same step.
  bool reuses_forces() const;
  /// Whether some term forbids motions through it.
  bool is_limited() const;

  double largest_rate(void (ForceTerm::*add_bound)(const ParameterSet&, Field&));
  void require_valid(int n);
  /// Throws the same Error on every rank if a vertex is beyond the grid of reversible steps. Collective.
  void require_on_grid(int n);
  void require_reversible() const;
  /// Throws the same Error on every rank if substep s passes through something. Collective.
  void require_free(const Configuration& from, const Configuration& to, int s);
  /// "the substep, dt/substeps = 0.01 s, exceeds 0.002 s, below which motions about rest are stable".
  std::string exceeds(double stable) const;
  /// "dt: 0.002, or substeps: 5".
  std::string stable_choice(double stable) const;
  double h() const { return dt() / substeps_; }
  /// s, at the beginning of substep s, and of stage i of it.
  double time_of(int n, int s) const { return dt() * (n + static_cast<double>(s) / substeps_); }
  double time_of(int n, int s, int i) const;

  const dynamics::ExplicitRule& rule_;
  int substeps_;
  std::unique_ptr<Workspace> work_;
  bool reversible_ = false;
  bool records_velocities_ = false;  // the derivatives by damping, or of forces that depend on velocities, need them
  bool records_forces_ = false;      // the derivatives by damping and mass need them
};

}  // namespace diffsim
