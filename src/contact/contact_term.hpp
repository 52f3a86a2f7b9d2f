// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "contact/parameters.hpp"
#include "diffsim/contact/contact.hpp"
#include "diffsim/core/force_term.hpp"

namespace diffsim {

/// Contact forces that a contact term computes.
enum class ContactForces {
  barrier,               ///< normal forces only; the contact has neither friction nor damping
  barrier_and_friction,  ///< normal forces, friction and damping, all evaluated at the same configuration
  barrier_part,          ///< normal forces only; another term computes friction and damping
  friction_part,         ///< friction and damping only; another term computes the normal forces
};

/// Map from two names {A, B} to the sum of the contact forces (N) that the body or obstacle B exerts on the body A. If
/// A and B are both bodies, A comes before B in the mesh's list of bodies.
using ForcesBetween = std::map<std::array<std::string, 2>, std::array<double, 3>>;

/// Force term of contact. The contact law has four scalar parameters:
///   `barrier_distance` d̂ (m), `barrier_stiffness` κ (Pa), `friction` µ, `friction_velocity` ε_v (m/s);
/// a contact law that is a penalty (ContactLawKind) has a fifth parameter, `contact_damping` c (s/m). Two surfaces A
/// and B, each of a body, a region of a body or an obstacle, may have separate values of some of these parameters; the
/// name of a parameter that applies only to contact between A and B ends with :A|B, for example `friction:A|B`. For two
/// surfaces without a separate value, the parameter without a suffix applies, for example `friction`. The parameter
/// `thickness` (m) is optional: `thickness` may exist for all bodies, for one body or obstacle as `thickness:A`, and
/// for a pair as `thickness:A|B`. The contact thickness ξ of two surfaces is the thickness of the pair or, by default,
/// the mean of the thicknesses of the two surfaces. A barrier keeps the distance of two surfaces greater than ξ.
///
/// The contact energy is the integral of κ ψ(d², d̂, ξ) over the surface in the rest configuration, with the barrier
/// stiffness κ, the barrier ψ (contact/barrier.hpp) or penalty ψ (contact/penalty.hpp), the distance d to other
/// surfaces, the barrier distance d̂ and the thickness ξ. Friction is Coulomb friction, smoothed below the sliding
/// velocity ε_v (Li et al. 2020, eq. 14):
///   f_t = -µ N s(|u|) u/|u|,  s(y) = 2 y/ε_v - (y/ε_v)² for y < ε_v, else 1,
/// with the Coulomb coefficient µ, the normal force N and the tangential relative velocity u, where N and u are
/// evaluated at the same configuration. A term of friction and damping alone (`ContactForces::friction_part`) has the
/// dissipation potential D(x, v) = Σ µ N(x) S(|u|), summed over the points in contact, with the function S of
/// `friction_potential` (contact/friction.hpp), the normal force N and the sliding velocity u. For a penalty, D also
/// contains Σ N(x) P(c dd/dt)/c with the function P of `damping_potential` (contact/penalty.hpp). A term of friction
/// and damping alone can be evaluated at the positions at the beginning of a time step (dynamics/lagged_term.hpp).
class ContactTerm : public ForceTerm {
 public:
  ContactForces forces() const { return forces_; }
  bool has_friction() const {
    return forces_ == ContactForces::barrier_and_friction || forces_ == ContactForces::friction_part;
  }
  bool limits_steps() const override { return forces_ != ContactForces::friction_part; }
  /// Returns true if the contact forces have an energy: if there is neither friction nor damping, or if all friction
  /// coefficients µ and dampings c are zero. With µ = c = 0, the forces of friction and damping and their Jacobians
  /// vanish, but their derivatives with respect to µ and c do not.
  bool has_energy() const override { return !has_friction() || conserves_energy_; }
  bool has_symmetric_jacobian() const override { return has_energy(); }
  bool has_dissipation() const override { return forces_ == ContactForces::friction_part; }
  // `prepare_tangent`, `begin_adjoint` and `begin_adjoint_tangent` throw Error (input) for a derivative with respect to
  // a friction parameter if the term's forces are `ContactForces::barrier`. `begin_adjoint_tangent` also throws Error
  // (input) for the rest shape, because contact terms have no second derivatives with respect to the rest shape.
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override;
  /// Returns the smallest gap, the numbers of active pairs and intersections, and the friction power at the
  /// configuration `at`, over all ranks (see ContactState). If the forces of the contact term are `friction_part`,
  /// `state` computes only the friction power. Collective.
  virtual ContactState state(const Configuration& at, const ParameterSet& parameters) = 0;
  /// Adds, to the map `sums`, this rank's contributions to the contact forces between bodies and obstacles at the
  /// configuration `at`. Forces of a body on itself are omitted, because the sum of these forces is zero. Collective.
  virtual void add_forces_between(const Configuration& at, const ParameterSet& parameters, ForcesBetween& sums) = 0;
  /// Returns text for an error message that names some of the intersections that this rank found in the last call of
  /// `state`.
  virtual std::string intersecting() const { return {}; }
  /// Returns text for an error message that names a body or an obstacle that lies entirely inside another body or
  /// obstacle, for example "vertex 17 at (0, 1, 0) is inside obstacle 2". Returns an empty text if this rank found no
  /// body or obstacle inside another body or obstacle. The configuration `at` must be free of intersections.
  /// Collective.
  virtual std::string enclosed(const Configuration& /*at*/, const ParameterSet&) { return {}; }

 protected:
  /// Selects the contact forces that this contact term computes. Derived classes call `set_forces` in their
  /// constructors.
  void set_forces(ContactForces forces) { forces_ = forces; }
  /// Records whether all friction coefficients µ and dampings c of the contact laws `laws` are zero. Derived classes
  /// call `record_dissipation` in their function `prepare`.
  void record_dissipation(const ParameterSet& parameters, const std::vector<ContactLawNames>& laws);

 private:
  void require_derivatives(const ParameterSet& set) const;

  ContactForces forces_ = ContactForces::barrier;
  bool conserves_energy_ = false;
};

}  // namespace diffsim
