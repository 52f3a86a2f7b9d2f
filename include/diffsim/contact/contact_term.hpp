// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"

namespace diffsim {

/// How a state touches; over all ranks.
struct ContactState {
  double min_distance =
      std::numeric_limits<double>::infinity();  ///< m, less thickness; of what may touch within the range searched
  std::int64_t active_pairs = 0;                ///< nearer than the barrier distance of their law
  std::int64_t intersections = 0;  ///< vertices inside obstacles, edges through triangles, pairs nearer than thickness
  double friction_power = 0.0;     ///< W, -Σ f·u over friction's forces and sliding velocities; 0 without velocities

  void include(const ContactState& other) {
    min_distance = other.min_distance < min_distance ? other.min_distance : min_distance;
    active_pairs += other.active_pairs;
    intersections += other.intersections;
    friction_power += other.friction_power;
  }
  /// Makes the state of this rank's share that of all ranks. Collective.
  void share(MPI_Comm comm);
};

/// Which of contact's forces a term has.
enum class ContactForces {
  barrier,               ///< the barrier's; there is no friction
  barrier_and_friction,  ///< both, of the same configuration
  barrier_part,          ///< the barrier's; another term has friction's
  friction_part,         ///< friction's; another term has the barrier's
};

/// A force term of contact. Its law has four parameters of one number each:
///   `barrier_distance` d̂, m;  `barrier_stiffness` κ, Pa;  `friction` µ;  `friction_velocity` ε_v, m/s.
/// A pair of bodies, or of a body and an obstacle, may have some of them for itself, by names with a label:
/// `friction:A|B`. It shares the others with all pairs. A parameter that need not be there is the `thickness`, m, of
/// bodies, of one body or obstacle `thickness:A`, of a pair `thickness:A|B`: surfaces are kept apart by ξ, half of the
/// thickness of both.
///
/// Energies are integrals of κ ψ(d², d̂, ξ) (contact/barrier.hpp) over the surface at rest; friction is Coulomb's,
/// smoothed below the sliding velocity ε_v: f_t = -µ N s(|u|) u/|u|, s(y) = 2 y/ε_v - (y/ε_v)² for y < ε_v, 1 above (Li
/// et al. 2020, eq. 14), with N the normal force and u the tangential relative velocity of the same configuration. A
/// term of friction alone (`ContactForces::friction_part`) has the dissipation potential D(x, v) = Σ µ N(x) S(|u|),
/// S' = s, and can be made to lag (dynamics/lagged_term.hpp).
class ContactTerm : public ForceTerm {
 public:
  ContactForces forces() const { return forces_; }
  bool has_friction() const {
    return forces_ == ContactForces::barrier_and_friction || forces_ == ContactForces::friction_part;
  }
  bool limits_steps() const override { return forces_ != ContactForces::friction_part; }
  /// Where all µ are zero, friction's forces and their Jacobian are too; derivatives by µ are not.
  bool has_energy() const override { return !has_friction() || frictionless_; }
  bool has_symmetric_jacobian() const override { return has_energy(); }
  bool has_dissipation() const override { return forces_ == ContactForces::friction_part; }
  // Throw Error (input) for a derivative by a parameter of friction where there is none, and for second ones by the
  // rest shape.
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  /// State of the surfaces and of the forces that the term has: of friction alone the power only. Collective.
  virtual ContactState state(const Configuration& at, const ParameterSet& parameters) = 0;
  /// Some of the intersections that this rank found in the last `state`, for messages.
  virtual std::string intersecting() const { return {}; }
  /// Name of a body or an obstacle that is whole inside another, as this rank finds, for messages: "vertex 17 at (0, 1,
  /// 0) is inside obstacle 2". For states without intersections. Collective.
  virtual std::string enclosed(const Configuration& /*at*/, const ParameterSet&) { return {}; }

 protected:
  /// To be called by constructors.
  void set_forces(ContactForces forces) { forces_ = forces; }
  /// To be called by `prepare`, with the names of the parameters µ.
  void note_friction(const ParameterSet& parameters, const std::vector<std::string>& names);

 private:
  void require_derivatives(const ParameterSet& set) const;

  ContactForces forces_ = ContactForces::barrier;
  bool frictionless_ = false;
};

}  // namespace diffsim
