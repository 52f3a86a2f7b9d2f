// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/impl/dual.hpp"
#include "diffsim/dynamics/integrator.hpp"
#include "dynamics/system_model.hpp"

namespace diffsim {

namespace dynamics {
struct ExplicitRule;
class ExplicitRecord;
template <class T>
struct In;
}  // namespace dynamics

/// Explicit dynamics of a System.
///
/// A step of length dt consists of `substeps` substeps of length h = dt/substeps. Each substep applies a
/// Runge-Kutta-Nyström method (src/dynamics/time/explicit_rule.hpp) to ẍ = a(x, ẋ, t) = M⁻¹ f + g, where x are the
/// positions, f are the forces, M is the lumped mass matrix and g is gravity. For example, a substep of symplectic
/// Euler with the damping factor d and the mask m computes v ← m d (v + h a), x ← x + h v with the acceleration a. The
/// mask m is 0 for fixed components of vertices and 1 for all other components. Vertices with a prescribed motion
/// follow the motion during each substep. Impacts of the System change positions and velocities at the end of each
/// substep. Contact terms detect collisions on each vertex's straight path from the start of a substep to each stage
/// and to the end of the substep.
///
/// In reversible mode (`set_reversible`), positions are integer multiples of a power of two s_x ≈ 2⁻⁴⁸ L, and
/// velocities are integer multiples of a power of two s_v ≈ 2⁻⁵² L/h, where L is the largest |coordinate| of the rest
/// shape. The increments of positions and velocities in a substep are rounded to multiples of s_x and s_v, so that sums
/// have no rounding errors (src/dynamics/time/reversible_grid.hpp). In reversible mode, derivatives are the derivatives
/// of the step without rounding, evaluated at the rounded states. Reversible mode requires symplectic Euler and
/// `damping` = 1, and excludes contact, impacts, forces that depend on velocities, prescribed motions, and rigid
/// bodies.
///
/// The constructor of ExplicitModel adds the parameter `damping` [1], initially 1, for symplectic Euler and explicit
/// Euler.
class ExplicitModel : public SystemModel {
 public:
  /// Throws Error (input) for an implicit integrator, and for substeps < 1.
  ExplicitModel(std::shared_ptr<System> system, Integrator integrator, double dt, int substeps);
  ~ExplicitModel() override;

  Integrator integrator() const;
  int substeps() const { return substeps_; }
  bool has_damping() const;

  /// Returns a substep length (s) for which small motions about the rest configuration are stable: `safety` times the
  /// largest substep length that is stable for the oscillators ẍ = -κ' x - γ' ẋ with 0 ≤ κ' ≤ κ and 0 ≤ γ' ≤ γ. The
  /// bound κ of the squared angular frequencies is max_i (Σ_e λ_e)/m_i, where i runs over the vertices, e runs over the
  /// elements at vertex i, m_i is the lumped mass of vertex i, and λ_e is an upper bound or an estimate of the largest
  /// eigenvalue of the stiffness matrix of element e (ForceTerm::add_stiffness_bound). The bound γ of the damping rates
  /// is computed in the same way as κ, from bounds or estimates of the elements' damping
  /// (ForceTerm::add_damping_bound). If κ > 0, returns 0 for explicit Euler and for second-order Runge-Kutta, with
  /// which undamped oscillations grow at any substep length. Returns infinity if κ = γ = 0. Requires `prepare`.
  /// Collective.
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
  /// Updates positions and velocities at the end of substep s of step n, from the force of the last stage and the
  /// accelerations of earlier stages; applies prescribed motions and impacts; and updates ghost positions. If there are
  /// no prescribed motions and no impacts, and reversible mode is off, vertices that are shared with other ranks are
  /// updated first, so that the exchange of ghost positions overlaps with the update of the remaining vertices.
  /// `record`: if not nullptr, receives the state before impacts.
  void end_substep(int n, int s, State& state, dynamics::ExplicitRecord* record);
  /// Computes the tangents of substep s, one of the substeps of `step_tangent`. Ghost values of the positions in
  /// `tangent` are up to date before and after a call of `substep_tangent`. `stages`: if not nullptr, receives the
  /// tangents of the positions, velocities and constraint values of all stages.
  void substep_tangent(int n, int s, const dynamics::ExplicitRecord& recorded, const ParameterSet& direction,
                       State& tangent, dynamics::ExplicitRecord* stages);
  /// Computes dx and dv at the end of substep s, in place, without prescribed motions and impacts. `force`: force of
  /// the last stage, with its tangent.
  void end_substep_tangent(int n, int s, const dynamics::ExplicitRecord& recorded, const ParameterSet& direction,
                           const dynamics::In<Dual<double, 1>>& force, State& tangent);
  /// Returns the configuration at which the force of stage i of substep s of step n was evaluated.
  Configuration configuration(int n, int s, int i, const dynamics::ExplicitRecord& recorded);
  /// Returns true if the force at the first stage of a substep equals the force at the last stage of the previous
  /// substep of the same step.
  bool reuses_forces() const;
  /// Returns true if some force term limits displacements (`ForceTerm::limits_steps`), as contact does.
  bool is_limited() const;

  double largest_rate(void (ForceTerm::*add_bound)(const ParameterSet&, Field&));
  void require_valid(int n);
  /// Throws the same Error on every rank if a position or a velocity is too large for reversible steps (outside the
  /// `ReversibleGrid`). Collective.
  void require_on_grid(int n);
  void require_reversible() const;
  /// Throws the same Error on every rank if, in substep s, the straight path of a vertex between two configurations
  /// passes through an obstacle or another body. Collective.
  void require_free(const Configuration& from, const Configuration& to, int s);
  /// Returns the part of an error message that states why the substep may be unstable, such as "the substep,
  /// dt/substeps = 0.01 s, exceeds 0.002 s, up to which small motions about rest are certain to be stable".
  std::string exceeds(double stable) const;
  /// Returns the part of an error message that recommends stable values, such as "dt: 0.002, or substeps: 5".
  std::string stable_choice(double stable) const;
  double h() const { return dt() / substeps_; }
  /// Time (in seconds) at the beginning of substep s of step n.
  double time_of(int n, int s) const { return dt() * (n + static_cast<double>(s) / substeps_); }
  /// Time (in seconds) of stage i of substep s of step n.
  double time_of(int n, int s, int i) const;

  const dynamics::ExplicitRule& rule_;
  int substeps_;
  std::unique_ptr<Workspace> work_;
  bool reversible_ = false;
  bool records_velocities_ = false;  // for derivatives with respect to damping, and if forces depend on velocities
  bool records_forces_ = false;      // for derivatives with respect to damping and mass
};

}  // namespace diffsim
