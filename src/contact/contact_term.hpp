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

/// Sums of contact forces, N, by two names: the force on the first, a body, that the second, a body or an obstacle,
/// exerts. Bodies are in the order of the mesh, and come before obstacles.
using ForcesBetween = std::map<std::array<std::string, 2>, std::array<double, 3>>;

/// Force term of contact. Its law has four scalar parameters:
///   `barrier_distance` d̂, m;  `barrier_stiffness` κ, Pa;  `friction` µ;  `friction_velocity` ε_v, m/s.
/// A pair of bodies, or of a body and an obstacle, may have its own values of some of these parameters, whose names
/// then have a label: `friction:A|B`. The pair shares the remaining parameters with all pairs. The parameter
/// `thickness`, m, is optional: it may exist for all bodies, for one body or obstacle as `thickness:A`, and for a pair
/// as `thickness:A|B`. Two surfaces are kept apart by ξ, the mean of their thicknesses.
///
/// The energy is the integral of κ ψ(d², d̂, ξ) (contact/barrier.hpp) over the surface in the rest configuration.
/// Friction is Coulomb friction, smoothed below the sliding velocity ε_v (Li et al. 2020, eq. 14):
///   f_t = -µ N s(|u|) u/|u|,  s(y) = 2 y/ε_v - (y/ε_v)² for y < ε_v, 1 above,
/// with the normal force N and the tangential relative velocity u of the same configuration. A term of friction alone
/// (`ContactForces::friction_part`) has the dissipation potential D(x, v) = Σ µ N(x) S(|u|), S' = s, and can be lagged
/// (dynamics/lagged_term.hpp).
class ContactTerm : public ForceTerm {
 public:
  ContactForces forces() const { return forces_; }
  bool has_friction() const {
    return forces_ == ContactForces::barrier_and_friction || forces_ == ContactForces::friction_part;
  }
  bool limits_steps() const override { return forces_ != ContactForces::friction_part; }
  /// Returns true if there is no friction or all µ are zero. With µ = 0 the friction forces and their Jacobian vanish,
  /// but the derivatives with respect to µ do not.
  bool has_energy() const override { return !has_friction() || frictionless_; }
  bool has_symmetric_jacobian() const override { return has_energy(); }
  bool has_dissipation() const override { return forces_ == ContactForces::friction_part; }
  // The next three functions throw Error (input) for a derivative with respect to a friction parameter if the term was
  // made with `ContactForces::barrier`. `begin_adjoint_tangent` also throws Error (input) for the rest shape, with
  // respect to which there are no second derivatives.
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  /// Contact state of the surfaces and of the forces that the term computes. A term of friction alone reports only the
  /// friction power. Collective.
  virtual ContactState state(const Configuration& at, const ParameterSet& parameters) = 0;
  /// Adds this rank's contributions to the forces between bodies and obstacles. Forces of a body on itself are left
  /// out, because they add up to zero. Collective.
  virtual void add_forces_between(const Configuration& at, const ParameterSet& parameters, ForcesBetween& sums) = 0;
  /// Text for messages that names some of the intersections that this rank found in the last call of `state`.
  virtual std::string intersecting() const { return {}; }
  /// Text for messages that names a body or an obstacle that lies entirely inside another one, if this rank found one:
  /// "vertex 17 at (0, 1, 0) is inside obstacle 2". The state must be free of intersections. Collective.
  virtual std::string enclosed(const Configuration& /*at*/, const ParameterSet&) { return {}; }

 protected:
  /// Sets the forces of the term. Derived classes call this function in their constructors.
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
