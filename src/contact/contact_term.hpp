// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "diffsim/contact/contact.hpp"
#include "diffsim/core/force_term.hpp"

namespace diffsim {

/// Forces of contact that a term computes.
enum class ContactForces {
  barrier,               ///< barrier alone; there is no friction
  barrier_and_friction,  ///< barrier and friction, both evaluated at the same configuration
  barrier_part,          ///< barrier alone; another term computes friction
  friction_part,         ///< friction alone; another term computes the barrier
};

/// Map from two names {A, B} to the sum of the contact forces (N) that the body or obstacle B exerts on the body A. If
/// A and B are both bodies, A comes before B in the mesh's list of bodies.
using ForcesBetween = std::map<std::array<std::string, 2>, std::array<double, 3>>;

/// Force term of contact. The contact law has four scalar parameters:
///   `barrier_distance` d̂ (m), `barrier_stiffness` κ (Pa), `friction` µ, `friction_velocity` ε_v (m/s).
/// A pair of bodies, or of a body and an obstacle, may have separate values of some of these four parameters. The name
/// of such a parameter has a label, for example `friction:A|B`. For the remaining parameters, the pair uses the values
/// common to all pairs. The parameter `thickness` (m) is optional: it may exist for all bodies, for one body or
/// obstacle as `thickness:A`, and for a pair as `thickness:A|B`. Two surfaces stay farther apart than ξ, the mean of
/// their thicknesses.
///
/// The energy is the integral of κ ψ(d², d̂, ξ) over the surface in the rest configuration, with the barrier ψ
/// (contact/barrier.hpp) and the distance d to other surfaces. Friction is Coulomb friction, smoothed below the sliding
/// velocity ε_v (Li et al. 2020, eq. 14):
///   f_t = -µ N s(|u|) u/|u|,  s(y) = 2 y/ε_v - (y/ε_v)² for y < ε_v, else 1,
/// with the normal force N and the tangential relative velocity u, both evaluated at the same configuration. A term of
/// friction alone (`ContactForces::friction_part`) has the dissipation potential D(x, v) = Σ µ N(x) S(|u|), summed over
/// the points in contact, with dS/dy = s. Such a term can be evaluated at the positions at the beginning of a time step
/// (dynamics/lagged_term.hpp).
class ContactTerm : public ForceTerm {
 public:
  ContactForces forces() const { return forces_; }
  bool has_friction() const {
    return forces_ == ContactForces::barrier_and_friction || forces_ == ContactForces::friction_part;
  }
  bool limits_steps() const override { return forces_ != ContactForces::friction_part; }
  /// Returns true if the forces have an energy: if there is no friction, or if all friction coefficients µ are zero.
  /// With µ = 0 the friction forces and their Jacobian vanish, but the derivatives with respect to µ do not.
  bool has_energy() const override { return !has_friction() || frictionless_; }
  bool has_symmetric_jacobian() const override { return has_energy(); }
  bool has_dissipation() const override { return forces_ == ContactForces::friction_part; }
  // `prepare_tangent`, `begin_adjoint` and `begin_adjoint_tangent` throw Error (input) for a derivative with respect to
  // a friction parameter if the term's forces are `ContactForces::barrier`. `begin_adjoint_tangent` also throws Error
  // (input) for the rest shape, because contact terms have no second derivatives with respect to the rest shape.
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  /// Returns the contact quantities at the configuration `at` (see ContactState), over all ranks. A term of friction
  /// alone computes only the friction power. Collective.
  virtual ContactState state(const Configuration& at, const ParameterSet& parameters) = 0;
  /// Adds this rank's contributions to the contact forces between bodies and obstacles, at the configuration `at`, to
  /// `sums`. Forces of a body on itself are omitted, because the sum of these forces is zero. Collective.
  virtual void add_forces_between(const Configuration& at, const ParameterSet& parameters, ForcesBetween& sums) = 0;
  /// Returns text for an error message, which names some of the intersections that this rank found in the last call of
  /// `state`.
  virtual std::string intersecting() const { return {}; }
  /// Returns text for an error message, for example "vertex 17 at (0, 1, 0) is inside obstacle 2". The text names a
  /// body or an obstacle that lies entirely inside another body or obstacle. The text is empty if this rank found no
  /// such body or obstacle. The state must be free of intersections. Collective.
  virtual std::string enclosed(const Configuration& /*at*/, const ParameterSet&) { return {}; }

 protected:
  /// Selects the forces that the term computes. Derived classes call this function in their constructors.
  void set_forces(ContactForces forces) { forces_ = forces; }
  /// Records whether all friction coefficients µ, which are the parameters `names`, are zero. Derived classes call this
  /// function in `prepare`.
  void record_friction(const ParameterSet& parameters, const std::vector<std::string>& names);

 private:
  void require_derivatives(const ParameterSet& set) const;

  ContactForces forces_ = ContactForces::barrier;
  bool frictionless_ = false;
};

}  // namespace diffsim
