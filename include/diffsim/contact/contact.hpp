// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Rotation of an obstacle at a constant rate.
struct Rotation {
  std::array<double, 3> axis = {};    ///< direction of the axis of rotation, of any length; a zero vector: no rotation
  std::array<double, 3> origin = {};  ///< point on the axis of rotation at t = 0, m; moves with the obstacle's velocity
  double angular_velocity = 0.0;      ///< rad/s

  bool turns() const { return axis != std::array<double, 3>{}; }  ///< true if the vector `axis` is not zero
};

/// Obstacle that is a solid half-space, bounded by a plane through `point`. A PlaneObstacle moves at a constant
/// velocity and may rotate.
struct PlaneObstacle {
  std::array<double, 3> point = {};             ///< point on the plane of the obstacle at t = 0, m
  std::array<double, 3> normal{0.0, 1.0, 0.0};  ///< outward normal of the half-space at t = 0, of any length
  std::array<double, 3> velocity = {};          ///< m/s
  std::string label = {};                       ///< obstacle's name; if empty, the index in ContactOptions::planes
  Rotation rotation = {};                       ///< rotation of the half-space; default: no rotation
  std::optional<double> thickness = {};         ///< thickness of the obstacle, m (see BodyThickness); zero if not given
};

/// Obstacle that consists of triangles, moves at a constant velocity and may rotate. Bodies cannot pass through the
/// triangles of a MeshObstacle from either side.
struct MeshObstacle {
  TriangleMesh mesh;                    ///< triangles of the obstacle at t = 0
  std::array<double, 3> velocity = {};  ///< m/s
  /// Name of the obstacle. An empty name stands for the number of plane obstacles plus the obstacle's index in
  /// `ContactOptions::meshes`.
  std::string label = {};
  /// True if the obstacle is a volume, inside which no body may be at t = 0; false if the obstacle is a sheet, which
  /// may be open. If `solid` is not given, the obstacle is a volume if its mesh is closed, and a sheet otherwise.
  std::optional<bool> solid = {};
  Rotation rotation = {};                ///< rotation of the obstacle; default: no rotation
  std::optional<double> thickness = {};  ///< thickness of the obstacle, m (see BodyThickness); zero if not given
};

/// Thickness of a body, which is the initial value of the parameter `thickness:NAME`, where NAME is the name of the
/// body. If a body has a thickness, the surface of the body's mesh represents the middle surface of the body, for
/// example of a sheet. A pair of surfaces with the thicknesses ξ_A and ξ_B has the thickness ξ = (ξ_A + ξ_B)/2. The two
/// surfaces repel each other at distances less than ξ + d̂, with the barrier distance d̂ (`ContactOptions`), and stay
/// farther apart than ξ if their contact law is a barrier.
struct BodyThickness {
  std::string body;    ///< name of a body of the mesh; "body" if the mesh has a single body without a name
  double value = 0.0;  ///< thickness, m
};

/// Scale of the contact surface of an affine or rigid body, for example of a robot's link: the initial value of the
/// parameter `surface_scale:NAME`, where NAME is the name of the body. A surface point with the position X in the rest
/// configuration is replaced by the point c + s (X - c) with the scale s and the centre c. The masses and inertias of
/// the body, the places of its joints, and the surfaces in output files and camera images do not change.
struct SurfaceScale {
  std::string body;    ///< name of an affine or rigid body of the mesh
  double value = 1.0;  ///< scale s
  /// Centre c of the scaling in the rest configuration, m; if not given, the centre of mass of the body.
  std::optional<std::array<double, 3>> centre = {};
};

/// Dependence of the contact pressure on the gap g of two surfaces, with the barrier distance d̂ and the barrier
/// stiffness κ. The gap of two surfaces is their distance minus the thickness ξ of the pair (BodyThickness).
enum class ContactLawKind {
  /// Barrier (Li et al. 2020, Incremental Potential Contact): the pressure tends to infinity as the gap tends to zero,
  /// so the gap remains positive.
  barrier,
  /// Penalty: the pressure is κ (1 - g/d̂)² for g < d̂ and 0 otherwise, finite for all gaps. Bodies can enter planes, and
  /// can come closer than ξ to other surfaces; surfaces of triangles cannot pass through each other.
  penalty,
  /// Impacts of vertices on planes in explicit steps: a vertex that has entered a plane is put back, and the velocity
  /// of the vertex changes at once, with a coefficient of restitution and Coulomb friction. The impulses on all
  /// vertices of an affine or rigid body are computed together. The time of impact within the substep is part of the
  /// derivatives. There is no contact pressure.
  impact,
};
/// Returns the names of the values of ContactLawKind.
constexpr std::array<const char*, 3> contact_laws() { return {"barrier", "penalty", "impact"}; }

/// Contact law of two bodies, of a body with itself, or of a body and an obstacle. A contact law may name a region of a
/// body's surface in place of the body. Each value given in a ContactPair is the initial value of a separate parameter
/// of the pair, for example `friction:A|B`, with the names A and B in the order of `between`. A ContactPair may omit
/// values. All pairs that omit the same value (any value except the thickness) share one parameter, for example
/// `friction`, whose initial value is a member of ContactOptions. If the ContactPair gives no thickness, the thickness
/// of the pair is the mean of the thicknesses of the two surfaces (BodyThickness).
///
/// A region named in a ContactPair consists of those triangles, segments and points of the body's surface that belong
/// to the region. A vertex or an edge that several regions have in common belongs to the region that the list
/// `ContactOptions::pairs` names first. A ContactPair that names a body also applies to the regions of the body. If
/// several ContactPairs apply to the contact of two surfaces, the ContactPair that names the most regions is used;
/// among ContactPairs that name equally many regions, the first in the list `ContactOptions::pairs` is used.
struct ContactPair {
  /// Names of the two surfaces in contact: names of bodies of the mesh ("body" if the mesh has a single body without a
  /// name), names of obstacles, or names of regions. In a mesh of several bodies, a region is named BODY/REGION.
  std::array<std::string, 2> between;
  std::optional<double> barrier_distance = {};   ///< barrier distance d̂, m
  std::optional<double> barrier_stiffness = {};  ///< barrier stiffness κ, Pa
  std::optional<double> friction = {};           ///< Coulomb coefficient µ
  std::optional<double> friction_velocity = {};  ///< sliding velocity ε_v below which friction is smoothed, m/s
  std::optional<double> thickness = {};          ///< thickness ξ, m; replaces the mean thickness of the two surfaces
  /// False if there is no contact: the two surfaces can pass through each other, and the pair's optional values must be
  /// absent.
  bool touch = true;
  std::optional<ContactLawKind> law = {};  ///< kind of the contact law; replaces `ContactOptions::law`
  std::optional<double> damping = {};      ///< damping c of penalty contact, s/m
  std::optional<double> restitution = {};  ///< coefficient of restitution e of impacts

  /// Returns the text A|B, with the two names A and B of `between`. The names of the parameters of a ContactPair end
  /// with :A|B, for example `friction:A|B`.
  std::string label() const { return between[0] + '|' + between[1]; }
  /// Returns the optional values of the ContactPair in the order barrier stiffness κ, barrier distance d̂, Coulomb
  /// coefficient µ, sliding velocity ε_v, damping c, thickness ξ, coefficient of restitution e.
  std::array<std::optional<double>, 7> values() const {
    return {barrier_stiffness, barrier_distance, friction, friction_velocity, damping, thickness, restitution};
  }
};

/// Options of contact (`DifferentiableScene::add_contact`). The barrier distance, the barrier stiffness, the
/// coefficients of friction and restitution, the friction velocity, the damping, the thicknesses and the scales in
/// ContactOptions are the initial values of parameters. The gap of two surfaces is their distance minus the thickness ξ
/// of the pair.
struct ContactOptions {
  double barrier_distance = 1e-3;  ///< barrier distance d̂ (m); surfaces with a gap less than d̂ repel each other
  double barrier_stiffness = 1e6;  ///< stiffness κ of the barrier, Pa; not used if `adaptive_stiffness` is true
  /// True if the barrier stiffness κ is computed once, from the stiffness and the weight of the bodies
  /// (`DifferentiableScene::adaptive_stiffness`). Gradients treat the barrier stiffness κ as an independent parameter,
  /// although an adaptive κ depends on the stiffness and the weight of the bodies.
  bool adaptive_stiffness = false;
  double friction = 0.0;  ///< Coulomb coefficient µ
  /// Sliding velocity ε_v (m/s) below which friction is smoothed: the friction force increases from 0 without sliding
  /// to its full value at the sliding velocity ε_v.
  double friction_velocity = 1e-5;
  /// Thickness (m) of those bodies of the mesh that have no entry in `thicknesses`; not used for obstacles. A given
  /// thickness is the initial value of the parameter `thickness`; otherwise, the parameter `thickness` does not exist.
  std::optional<double> thickness = {};
  std::vector<BodyThickness> thicknesses = {};  ///< thicknesses of individual bodies
  std::vector<SurfaceScale> scales = {};        ///< scales of the contact surfaces of individual bodies
  /// Surfaces that replace the boundaries of bodies' tetrahedra in the computation of contact.
  std::vector<BodySurface> surfaces = {};
  /// True if friction terms exist even if all Coulomb coefficients µ and dampings c are 0, for gradients with respect
  /// to µ and c. If `with_friction` is false, friction terms exist only if any µ > 0 or any c > 0.
  bool with_friction = false;
  /// True if friction uses the normal forces and contact points at the beginning of the time step, but the velocities
  /// that the time step computes (dynamics/lagged_term.hpp). Implicit steps with lagged friction have an incremental
  /// potential. The error of lagged friction relative to friction without lag is O(dt).
  bool lagged_friction = false;
  /// True if contact of each body with itself is included, in addition to contact between different bodies.
  bool self = false;
  /// Maximum number of candidate pairs of each kind (point–triangle, edge–edge, and edge–triangle for the search for
  /// intersections) on a rank. If `max_pairs` is 0, the maximum is 2²⁸, or less if the point–triangle and edge–edge
  /// pairs of all ranks of a machine would otherwise take more than half of the machine's free memory.
  std::int64_t max_pairs = 0;
  std::vector<PlaneObstacle> planes = {};  ///< half-spaces
  std::vector<MeshObstacle> meshes = {};   ///< obstacles that consist of triangles
  std::vector<ContactPair> pairs = {};     ///< contact laws of individual pairs of surfaces, and pairs without contact
  ContactLawKind law = ContactLawKind::barrier;  ///< kind of the contact law of all pairs without their own `law`
  /// Damping c (s/m) of penalties, the initial value of the parameter `contact_damping`, which exists if any contact
  /// law is a penalty. The pressure is multiplied by a factor that is 1 - c dg/dt while the gap g decreases (Hunt and
  /// Crossley 1975), and that decreases smoothly to 0 at dg/dt = 1/c while g increases (docs/contact.md).
  double damping = 0.0;
  /// Coefficient of restitution e of impacts, in [0, 1], the initial value of the parameter `restitution`, which exists
  /// if any contact law is an impact.
  double restitution = 0.0;
};

/// Sum of the contact forces (N) that the body or obstacle `between[1]` exerts on the body `between[0]`.
struct ContactForce {
  std::array<std::string, 2> between;  ///< name of a body, and name of another body or of an obstacle
  std::array<double, 3> force{};       ///< N
};

/// Contact quantities of a state, combined over all ranks. A pair in a ContactState consists of a point and a triangle,
/// of two edges, or of a vertex and a plane, and has the law `barrier` or `penalty`. The gap of a pair is the pair's
/// distance minus the pair's thickness ξ.
struct ContactState {
  /// Smallest gap (m) of all vertex–plane pairs, and of the point–triangle and edge–edge pairs that the collision
  /// search has found; infinite if there are no pairs. The collision search finds every pair whose gap is less than the
  /// pair's barrier distance d̂.
  double min_distance = std::numeric_limits<double>::infinity();
  /// Number of pairs whose gap is smaller than the pair's barrier distance d̂.
  std::int64_t active_pairs = 0;
  /// Number of intersections: vertices and planes with the law `barrier` whose gap is not positive; edges and triangles
  /// with a common point; and, if any pair has a thickness, point–triangle and edge–edge pairs whose gap (law
  /// `barrier`) or distance (law `penalty`) is less than 10⁻¹² times the pair's barrier distance d̂.
  std::int64_t intersections = 0;
  /// Power -Σ f·u (W) that friction and the damping of penalties dissipate, with the forces f of friction and damping
  /// and the relative velocities u; 0 if the state has no velocities.
  double friction_power = 0.0;

  /// Combines this state with the ContactState `other` of another contact term: computes the minimum of the two values
  /// `min_distance`, and the sums of all other members.
  void include(const ContactState& other) {
    min_distance = other.min_distance < min_distance ? other.min_distance : min_distance;
    active_pairs += other.active_pairs;
    intersections += other.intersections;
    friction_power += other.friction_power;
  }
  /// Combines the ContactStates of all ranks: computes the minimum of `min_distance`, and the sums of all other
  /// members. Collective.
  void share(MPI_Comm comm);
};

}  // namespace diffsim
