// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/contact/contact.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/core/model.hpp"
#include "diffsim/dynamics/integrator.hpp"
#include "diffsim/dynamics/system.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "diffsim/simulation/material.hpp"

namespace diffsim {

class ContactTerm;
class LinkedModel;
class SystemModel;
struct Feedback;
struct SceneContact;
namespace body {
struct JointNodes;
}

/// Body of a scene with several bodies.
struct Body {
  std::string name;     ///< name of the body, which must be valid for `join_bodies`
  MeshData mesh;        ///< this rank's block of the body's mesh, from `cube_mesh`, `solid_mesh`, `read_mesh_data`, …
  Materials materials;  ///< materials of regions of the body; a body without materials is an obstacle and must not
                        ///< contain tetrahedra
  Placement placement = {};  ///< scale, rotation and translation that are applied to `mesh`
  /// True if the body's surface will be in contact (`DifferentiableScene::add_contact`). The member `has_contact` only
  /// affects how the cells are distributed over the ranks.
  bool has_contact = false;
};

/// Returns the computational work per time step of a body's cells, by which the partition balances the ranks.
/// `model`: model of the body's material (`DifferentiableMaterial::model`), or an empty text for an obstacle.
/// `has_contact`: true if the body's surface is in contact. Throws Error (input) if the model is unknown.
///
/// The constructors of scenes that receive a list of Body set the work of each body whose `mesh.work` has the default
/// value. If a body has several materials, the largest work of the materials' models counts.
CellWork work_of_model(const std::string& model, Integrator integrator, bool has_contact);

/// Simulated bodies: a mesh, its materials, constraints, loads and contact, and the time stepper.
///
/// Every scene has the parameter `gravity` [3] (m/s²); a scene with symplectic or explicit Euler has the parameter
/// `damping`. Materials of tetrahedra add the parameter `density` and the parameters of their laws (`youngs_modulus`,
/// …), with one value per tetrahedron, and cell models (`cell_models`) add parameters with one value per cell or
/// vertex. Member functions of DifferentiableScene add parameters such as `nodal_load` [vertices, 3] (N) and
/// `traction:REGION` [3] (Pa).
///
/// Gravity, damping and loads may have one entry per step. All members are collective.
class DifferentiableScene {
 public:
  /// Creates a scene. Every tetrahedron needs exactly one material; every other cell has at most one material. Bodies
  /// without a material are obstacles. Throws Error (input) if there are no materials, if a tetrahedron has no
  /// material, or if a cell has two materials.
  DifferentiableScene(std::shared_ptr<TetrahedralMesh> mesh, std::vector<DifferentiableMaterial> materials,
                      DifferentiableSolver solver = {});
  /// Overload of the constructor for several bodies, which `join_bodies` joins into one mesh. Region R of the body BODY
  /// is called BODY/R in the scene.
  DifferentiableScene(MPI_Comm comm, std::vector<Body> bodies, DifferentiableSolver solver = {});
  ~DifferentiableScene();
  DifferentiableScene(DifferentiableScene&&) noexcept;  ///< a moved-from scene may only be destroyed

  /// Fixes those components of the positions of a region's vertices for which `axes` is true.
  void fix(const std::string& region, std::array<bool, 3> axes = {true, true, true});
  /// Fixes the vertices of a region, the slope of shells along edges between two of these vertices, and the tangents of
  /// rods at these vertices. If `axes` is true for only one axis, the plane normal to this axis is a plane of symmetry:
  /// the clamped edges stay in the plane, and the shell behind the plane is the mirror image of the shell in front of
  /// the plane. Throws Error (input) if `axes` is true for two axes or for none.
  void clamp(const std::string& region, std::array<bool, 3> axes = {true, true, true});
  /// Moves the vertices of a region as a rigid body that rotates about `axis` through `origin` at `angular_velocity`
  /// ([1] or [steps], rad/s) and translates at `velocity` ([3] or [steps, 3], m/s); `origin` moves with the rigid body.
  /// Adds the parameters `angular_velocity:REGION` and `velocity:REGION`.
  void move(const std::string& region, std::array<double, 3> axis, std::array<double, 3> origin,
            const std::vector<double>& angular_velocity, const std::vector<double>& velocity);
  /// Adds a joint between a rigid body and another rigid body or the world. A body is rigid if its material is the
  /// model `rigid`, which requires an affine body. Adds the parameters of System::join, such as `joint_point:NAME`,
  /// where NAME is the joint's name, which no other joint may have. A joint with an armature needs a body with the name
  /// `Joint::rotor()` in the mesh. Throws Error (input) if `joint` has an armature that is not allowed, or an armature
  /// but no rotor in the mesh. The first time step throws Error (input) if a body of a joint does not exist or is not
  /// rigid, or if the constraints of the scene's joints are linearly dependent.
  void join(const Joint& joint);
  /// Adds the forces of a JointDrive (torque, spring to a target, damping, friction and limits) to a revolute or
  /// prismatic joint. Adds the parameters `joint_torque:NAME`, `joint_target:NAME`, `joint_stiffness:NAME`,
  /// `joint_damping:NAME`, `joint_friction:NAME` and `joint_limit_stiffness:NAME`, where NAME is the joint's name. The
  /// torque and the target of a JointDrive each have one value, or one value per step. Throws Error (input) for a name
  /// that no joint has, for a joint that is neither revolute nor prismatic, for a joint that already has a drive, and
  /// for invalid values in `drive`.
  void drive(const std::string& joint, const JointDrive& drive);
  /// Returns the coordinates of all joints in `state`, in the order of the calls of `join`. Coordinates of revolute
  /// joints are in rad and in the interval (q₀ - π, q₀ + π] with q₀ = `Joint::coordinate`. Coordinates of prismatic
  /// joints are in m. The coordinate of a joint that is neither revolute nor prismatic is NaN.
  std::vector<double> joint_coordinates(const State& state);
  /// Adds a traction, a load per rest area with constant direction, to the boundary faces of tetrahedra and the
  /// triangles of a region. `traction`: one vector [3] or one vector per step [steps, 3] (Pa). Returns the name of the
  /// traction parameter.
  std::string add_traction(const std::string& region, const std::vector<double>& traction);
  /// Adds a follower pressure to the boundary faces of tetrahedra and the triangles of a region. `pressure`: one value
  /// [1] or one value per step [steps] (Pa). A follower pressure acts in the direction opposite to the current normal
  /// of each face or triangle. The normal of a boundary face points out of the tetrahedron; the corners of a triangle
  /// are ordered counterclockwise about the normal of the triangle. Returns the name of the pressure parameter.
  std::string add_pressure(const std::string& region, const std::vector<double>& pressure);
  /// Adds a moment to each rod segment of a region (a segment with a director). `moment`: one vector [3] or one vector
  /// per step [steps, 3] (N m). Returns the name of the moment parameter. Throws Error (input) if no segment of the
  /// region has a director.
  std::string add_moment(const std::string& region, const std::vector<double>& moment);
  /// Attaches each vertex of a region by a spring to the material point of the region `to` that has the same rest
  /// position as the vertex (attach/attachment.hpp). `stiffness`: spring constant (N/m). Returns the name of the
  /// parameter that contains the spring constant. Adds the parameter `attachment_place:REGION` [owned vertices, 3],
  /// which contains, for each vertex of the region, the coordinates ξ, in a cell of `to`, of the material point to
  /// which the vertex is attached (src/attach/anchor.hpp).
  std::string attach(const std::string& region, const std::string& to, double stiffness);
  /// Adds the drag of moving air on the faces of a region (`make_wind`). `wind`: velocity of the air, [3] or [steps, 3]
  /// (m/s). `drag`: air density times drag coefficient (kg/m³). Adds the parameters `wind:REGION`, which contains the
  /// air velocity, and `wind_drag:REGION`, which contains `drag`. Returns the name `wind:REGION`.
  std::string add_wind(const std::string& region, const std::vector<double>& wind, double drag);
  /// Adds forces on vertices. `load`: one force per owned vertex, [owned vertices, 3] or [steps, owned vertices, 3]
  /// (N). Returns the name of the parameter that contains the forces.
  std::string add_nodal_load(const std::vector<double>& load);
  /// Adds contact of bodies with obstacles and with each other. Call `add_contact` at most once, after gravity is set.
  /// Contact between different bodies of a mesh is included, except between the bodies of a ContactPair in
  /// `options.pairs` with `touch` = false. Throws Error (input) for invalid values in `options`.
  ///
  /// Adds the parameter `friction`; `barrier_distance`, `barrier_stiffness` and `friction_velocity` unless all contact
  /// laws are impacts; `contact_damping` if a contact law is a penalty; and `restitution` if a contact law is an
  /// impact. Impacts need an explicit integrator, and bodies with impacts must have no joints. Adds the parameter
  /// `thickness` if `options` contains a thickness for all bodies, and `thickness:NAME` for each body or obstacle with
  /// a separate thickness. For each obstacle, adds the parameters `obstacle_position:LABEL` [3] and
  /// `obstacle_velocity:LABEL` [3], and `obstacle_angular_velocity:LABEL` [1] if the obstacle rotates. For each value
  /// that a ContactPair in `options.pairs` gives, adds a parameter, for example `friction:A|B` for a ContactPair
  /// between A and B.
  void add_contact(const ContactOptions& options);
  bool has_contact() const { return contact_ != nullptr; }  ///< true after `add_contact`
  /// Returns true if the scene has contact forces: after `add_contact`, unless all contact is by impacts.
  bool has_contact_forces() const { return !contacts_.empty(); }
  /// Throws Error (input) if surfaces touch or intersect in the initial state (ContactState), if a vertex with the
  /// contact law `impact` is inside a plane, or if a body is inside another body or an obstacle; the message names some
  /// of these bodies and obstacles. A Simulator calls `require_apart` before the first step from the initial state.
  /// Programs that call `DifferentiableScene::step` directly must also call `require_apart`.
  void require_apart();
  /// Returns the smallest gap, the numbers of active contact pairs and of intersections, and the friction power in
  /// `state`, the state after n steps, without impacts.
  ContactState contact_state(int n, const State& state);
  /// Returns the contact forces, with friction and without impacts, between every two bodies and between every body and
  /// every obstacle. `state`: state after n steps. The returned pairs (A, B) are sorted by A and then by B, where the
  /// order is: bodies of the mesh, plane obstacles, mesh obstacles. `contact_forces` omits pairs of two obstacles
  /// (bodies without a material are obstacles) and pairs with rotors of joints. Collective, with the same result on
  /// every rank.
  std::vector<ContactForce> contact_forces(int n, const State& state);
  /// Returns the mean Cauchy stress σ of each of this rank's tetrahedra, [local cells, 3, 3] (Pa): σ = (1/v) ∫ P Fᵀ dV
  /// with the current volume v, the first Piola–Kirchhoff stress P of the elastic law and the deformation gradient F.
  /// The stress does not include viscous stresses. Rigid bodies, and cells with `nodal_dilatation`, have NaN. `state`:
  /// state after n steps. Collective.
  std::vector<double> cell_stresses(int n, const State& state);
  /// Returns the mean Green–Lagrange strain ½ (FᵀF - 1) of each of this rank's tetrahedra in `state`, [local cells, 3,
  /// 3]; zero up to rounding errors for rigid bodies.
  std::vector<double> cell_strains(const State& state);
  /// Returns the sum of the contact forces, with friction and without impacts, on each owned vertex, [owned vertices,
  /// 3] (N). `state`: state after n steps. Collective.
  std::vector<double> vertex_contact_forces(int n, const State& state);
  /// Returns the reaction of each owned vertex, [owned vertices, 3] (N): the force that fixes or moves the vertex, as
  /// in sensors of the type `reaction`; zero in components that are free. `state`: state after n steps. Collective.
  std::vector<double> vertex_reactions(int n, const State& state);
  /// Returns a sensor, for example of the reaction of a region or of the position of a point. The sensor must not
  /// outlive the scene. Call `sensor` after all constraints, joints and contact have been added: a sensor of a reaction
  /// does not include vertices that are fixed or moved by later calls. Throws Error (input) for an unknown region, body
  /// or obstacle, and for a quantity that is not available at `SensorSpec::place`.
  std::shared_ptr<Sensor> sensor(const SensorSpec& spec);
  /// Adds a feedback: a policy that computes the values of some parameters from sensors before each step. Adds the
  /// parameter `policy:NAME` [1, weights] with the policy's initial weights, where NAME is the name of the feedback.
  /// Throws Error (input) if members of `feedback` are missing or contradict each other, or if `feedback` computes a
  /// parameter that another Feedback or Link computes or that cannot have a value for each step.
  void add_feedback(const Feedback& feedback);
  /// Adds forces on groups of vertices that functions of the program compute on the host. `vertices`: numbers in the
  /// mesh file of the vertices of the groups, [groups, k], the same on all ranks. A group is processed by a rank on
  /// which all vertices of the group are local; if the vertices of a group have a common cell, there is such a rank.
  /// Returns the indices of the groups that this rank processes. Throws Error (input) if the ranks pass different
  /// lists, for a list that does not consist of groups of k > 0 vertices, for a number that is not a vertex, and for a
  /// group that no rank can process. Collective.
  std::vector<std::size_t> add_force(std::unique_ptr<GroupForce> force, const std::vector<std::int64_t>& vertices,
                                     int k);
  /// Adds a Link, a function of the state that computes the values of some parameters before each step
  /// (core/model.hpp). Throws Error (input) if `link` computes a parameter that another Link or Feedback computes or
  /// that cannot have a value for each step. Throws Error (input) if the first Link or Feedback of a scene is added
  /// after a call of `model()`, because this Link or Feedback replaces the Model of the scene.
  void add_link(std::shared_ptr<Link> link);
  /// Returns a barrier stiffness κ (Pa) that suits the stiffness and the weight of the bodies: the largest of up to
  /// four values κ₁ to κ₄. These values are computed from d̂ = `barrier_distance` and from sums or means over all
  /// bodies that are not obstacles; for κ₁ and κ₄, affine bodies are excluded, too. With κ = κ₁, the barrier at the gap
  /// d̂/2 is as stiff as the surface of the bodies. With κ = κ₂, the barrier at the gap d̂/2, on a tenth of the
  /// surface, carries the weight of the bodies. With κ = κ₃, for affine bodies only, the barrier energy at the gap
  /// d̂/10, on a tenth of the surface, equals the kinetic energy of the body after a fall by the cube root of the
  /// body's volume. With κ = κ₄, only for bodies thinner than a third of the width of their triangles, the barrier
  /// between two crossing edges at the gap 0.03 d̂ is as stiff as a vertex of the surface. If affine bodies can touch
  /// each other or obstacles of triangles, the result is at least the κ for which two crossing edges at the gap d̂/10
  /// repel each other with the mean weight of an affine body.
  ///
  /// `add_contact` uses the result of `adaptive_stiffness` if `ContactOptions::adaptive_stiffness` is true.
  /// `thickness`: thickness ξ of the contact (m); the barrier is softer for ξ > 0. `mesh_obstacles`: number of
  /// obstacles of triangles that are no bodies of the mesh. Throws Error (input) if all bodies are affine and none of
  /// them has weight.
  double adaptive_stiffness(double barrier_distance, double thickness = 0.0, std::size_t mesh_obstacles = 0);
  /// Gives a global parameter one entry per step, for example `gravity` [steps, 3] or `damping` [steps].
  void set_control(const std::string& parameter, const std::vector<double>& values);
  /// Sets the initial positions to the rest positions plus `displacement` [owned vertices, 3] (m).
  void set_initial_displacement(const std::vector<double>& displacement);
  /// Sets the initial velocities [owned vertices, 3] (m/s).
  void set_initial_velocity(const std::vector<double>& velocity);

  const std::shared_ptr<TetrahedralMesh>& mesh() const { return mesh_; }  ///< mesh of all bodies
  /// Materials of the scene. In a scene of several bodies, region R of body BODY is called BODY/R in the materials.
  const std::vector<DifferentiableMaterial>& materials() const { return materials_; }
  /// Indices in `mesh()->bodies()` of the bodies that are obstacles: bodies without a material, except rotors of
  /// joints.
  const std::vector<std::size_t>& obstacle_bodies() const { return obstacle_bodies_; }
  /// Returns the Model of the scene: the time stepper together with the added Links and Feedbacks.
  Model& model();
  SystemModel& time_stepper() { return *integrator_; }  ///< time stepper of the scene, without Links and Feedbacks
  double dt() const;                                    ///< s
  /// System that the time stepper advances: inertias, force terms, prescribed motions and parameters. Only force terms
  /// and fixed components may be added to the System after the first step; after an addition, the next call of `step`
  /// calls `Model::prepare` again.
  System& system();
  bool is_implicit() const;                                     ///< true if the integrator is implicit
  ParameterSet& parameters() { return system().parameters(); }  ///< parameters of the scene

  State initial_state() const;  ///< copy of the initial state
  /// Sets `state` to a frame of a trajectory file: the frame of step `step` or, if `step` is -1, the last frame. Fields
  /// of `state` that describe prescribed motions, such as the origin of a rotation, are set to the values at the step
  /// of the frame. Returns the step number of the frame that was read. Throws InputError if the trajectory file belongs
  /// to another mesh, has no frame of step `step`, or lacks a field that the time stepper needs. Throws Error (input)
  /// if a Link or Feedback computes the velocity of a region that rotates, unless the frame of step 0 is read.
  int read_frame(const std::string& trajectory, int step, State& state) const;
  /// Advances `state` from state n to state n+1. In the first call, and if the scene may have changed since the last
  /// call (`changed_since`), `step` first calls `Model::prepare`.
  void step(int n, State& state);
  /// Returns a number that changes with each operation that may have changed a parameter's value on this rank
  /// (`Field::revision`), and with each change of the System's inertias, force terms and fixed components
  /// (`System::revision`).
  std::uint64_t revision();
  /// Returns true if the scene may have changed on any rank since the call of `revision` that returned `earlier` on
  /// this rank. Collective.
  bool changed_since(std::uint64_t earlier);
  /// Returns a substep length dt/substeps (s) at which small motions about the rest shape are stable, with a safety
  /// factor of 0.8 (ExplicitModel::stable_substep), or infinity for implicit integrators. Calls `prepare`.
  double stable_substep();

 private:
  Model& current_model();
  void prepare_if_changed();
  /// Sets the positions and velocities of the joints' rotors (`Joint::armature`) in `state`. Collective.
  void turn_rotors(State& state) const;
  void set_materials();
  void set_elastic_materials(const std::vector<DifferentiableMaterial>& materials);
  /// Returns elastic force terms of the tetrahedra of `region`, one for each elastic material with tetrahedra in the
  /// region. The returned elastic terms are not added to the System. Throws Error (input) for a rigid material and for
  /// a material with nodal dilatation. Collective.
  std::vector<std::unique_ptr<ForceTerm>> elastic_terms(const Region& region) const;
  /// Returns this rank's tetrahedra for whose materials `elastic_terms` is available, as local indices in ascending
  /// order.
  std::vector<int> cells_with_stress() const;

  std::shared_ptr<TetrahedralMesh> mesh_;
  std::vector<DifferentiableMaterial> materials_;
  std::vector<std::size_t> obstacle_bodies_;
  std::unique_ptr<SystemModel> integrator_;
  std::unique_ptr<LinkedModel> linked_;          // nullptr without links
  bool has_given_model_ = false;                 // true after the first call of `model`
  std::uint64_t prepared_ = 0;                   // `revision` at the last call of `prepare`; 0 before the first call
  std::vector<std::string> obstacles_;           // labels of plane obstacles, then of mesh obstacles
  std::shared_ptr<const SceneContact> contact_;  // nullptr before `add_contact`
  std::vector<ContactTerm*> contacts_;           // owned by the system
  std::vector<ContactTerm*> lagged_frictions_;   // friction terms that lagged terms of the system own
  std::shared_ptr<const std::vector<std::optional<body::JointNodes>>> joint_nodes_;  // nullptr until used
  std::vector<double> initial_positions_;   // [owned vertices, 3]; empty: rest positions
  std::vector<double> initial_velocities_;  // [owned vertices, 3]; empty: zero
};

}  // namespace diffsim
