// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/model.hpp"
#include "diffsim/dynamics/implicit_options.hpp"
#include "diffsim/dynamics/parameters.hpp"
#include "diffsim/dynamics/system_model.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/simulation/contact.hpp"
#include "diffsim/simulation/material.hpp"

namespace diffsim {

class ContactTerm;
struct ContactState;

struct SolverOptions {
  double dt = 0.01;  ///< s
  int substeps = 4;  ///< explicit integrators
  /// Factor on velocities per substep: symplectic_euler and explicit_euler.
  double damping = *DynamicsParameters::damping.default_value;
  std::array<double, 3> gravity{0.0, -9.8, 0.0};  ///< m/s²
  std::string integrator = "symplectic_euler";    ///< one of `explicit_integrators`, or of `ImplicitOptions`
  ImplicitOptions implicit{};                     ///< whose `integrator` is the one above
};

/// Bodies that deform: a mesh, its materials, what holds and loads it, and the time stepper that moves it.
///
/// Parameters, by name: `youngs_modulus`, `poisson_ratio`, … of the laws and `density`, one value a tetrahedron; those
/// of models of other cells (`cell_models`), one value a cell or a vertex; `gravity`
/// [3]; `damping`; `nodal_load` [vertices, 3], N; `traction:REGION` [3], Pa; the last two and gravity and damping may
/// have one entry a step. `damping` is there with symplectic and explicit Euler. Collective, as everything here.
class DifferentiableSolver {
 public:
  /// Every tetrahedron needs exactly one material, other cells at most one: vertices of those without are obstacles.
  /// Error (input) names a cell that has none or two.
  DifferentiableSolver(std::shared_ptr<TetrahedralMesh> mesh, std::vector<DifferentiableMaterial> materials,
                       SolverOptions options = {});
  ~DifferentiableSolver();
  DifferentiableSolver(DifferentiableSolver&&) noexcept;

  /// Holds the vertices of a region where they are, along the axes given.
  void fix(const std::string& region, std::array<bool, 3> axes = {true, true, true});
  /// Holds the vertices of a region, and the surface's direction there: sides of shells between two of them do not
  /// turn.
  /// With one of the axes, such sides are in a plane of symmetry across it: they stay in that plane, and the shell goes
  /// on beyond it as its mirror image.
  void clamp(const std::string& region, std::array<bool, 3> axes = {true, true, true});
  /// Moves the vertices of a region rigidly: they turn about `axis` through `origin`, which travels with them, at
  /// `angular_velocity` [1] or [steps], rad/s, and `velocity` [3] or [steps, 3], m/s. Adds the parameters
  /// `angular_velocity:REGION` and `velocity:REGION`.
  void move(const std::string& region, std::array<double, 3> axis, std::array<double, 3> origin,
            const std::vector<double>& angular_velocity, const std::vector<double>& velocity);
  /// A dead load on the rest area of a region's faces, of tetrahedra or triangles, Pa: [3], or [steps, 3]. Returns the
  /// parameter's name.
  std::string add_traction(const std::string& region, const std::vector<double>& traction);
  /// A pressure against the normal of a region's faces as they move, Pa: [1], or [steps]. The normal points out of
  /// tetrahedra; a triangle's is that around which its corners turn counterclockwise. Returns the parameter's name.
  std::string add_pressure(const std::string& region, const std::vector<double>& pressure);
  /// A moment on each segment of a region, N m: [3], or [steps, 3]. The segments have directors, as rods do. Returns
  /// the parameter's name.
  std::string add_moment(const std::string& region, const std::vector<double>& moment);
  /// Attaches each vertex of a region to where it is at rest in the cells of the region `to` (attach/attachment.hpp),
  /// by a spring, N/m. Returns the name of the stiffness; `attachment_place:REGION` is the other parameter.
  std::string attach(const std::string& region, const std::string& to, double stiffness);
  /// Drag of moving air on a region's faces (`make_wind`): its velocity, m/s, [3], or [steps, 3], and the density times
  /// the drag coefficient, kg/m³. Returns the name of the velocity; `wind_drag:REGION` is the other parameter.
  std::string add_wind(const std::string& region, const std::vector<double>& wind, double drag);
  /// Forces on vertices, N: [owned vertices, 3], or [steps, owned vertices, 3]. Returns the parameter's name.
  std::string add_nodal_load(const std::vector<double>& load);
  /// Makes bodies touch obstacles and each other. Error (input) for values that make no sense. Parameters:
  /// `barrier_distance`, `barrier_stiffness`, `friction`, `friction_velocity`, and, by an obstacle's label,
  /// `obstacle_position:LABEL` [3], `obstacle_velocity:LABEL` [3] and, of those that turn,
  /// `obstacle_angular_velocity:LABEL` [1]; the first four also for pairs that have values of their own, as
  /// `friction:A|B`. Bodies of a mesh of several touch each other. Once, after the materials and gravity.
  void add_contact(const ContactOptions& options);
  bool has_contact() const { return !contacts_.empty(); }
  /// Throws Error (input), naming some pairs, if x[0] touches or intersects anything, or is inside. Rollouts of a
  /// simulator begin with it; who steps by hand calls it.
  void require_apart();
  /// How step n's state, of this body, touches.
  ContactState contact_state(int n, const State& state);
  /// A κ, Pa, with which the barrier is as stiff at half of d̂ as the body's surface is, or with which a tenth of that
  /// carries the body's weight there, whichever is more; of a body thinner than a third of its triangles' width, also
  /// one with which crossing edges are as stiff as a vertex at 3 % of d̂. `add_contact` takes it where κ is to be
  /// adaptive. `thickness`: ξ by which surfaces are kept apart, m; beyond that the barrier is softer.
  double adaptive_stiffness(double barrier_distance, double thickness = 0.0);
  /// Gives `gravity` [steps, 3] or `damping` [steps] one entry a step.
  void set_control(const std::string& parameter, const std::vector<double>& values);
  /// [owned vertices, 3], added to the rest positions, m.
  void set_initial_displacement(const std::vector<double>& displacement);
  /// [owned vertices, 3], m/s.
  void set_initial_velocity(const std::vector<double>& velocity);

  const std::shared_ptr<TetrahedralMesh>& mesh() const { return mesh_; }
  const std::vector<DifferentiableMaterial>& materials() const { return materials_; }
  /// Bodies without a material, by their places in the mesh's list: obstacles.
  const std::vector<std::size_t>& obstacle_bodies() const { return obstacle_bodies_; }
  Model& model();
  SystemModel& integrator();
  /// System that the integrator steps: inertias, force terms, motions and parameters, to be added to before the first
  /// step.
  System& system();
  bool is_implicit() const;
  ParameterSet& parameters() { return model().parameters(); }

  State initial_state() const;
  /// Sets `state` to a frame of a trajectory file: of step `step`, or the last one for -1, with prescribed motions
  /// where they are then. Returns the frame's step. Throws InputError where the file has no such frame, or lacks a
  /// field that steps begin with.
  int read_frame(const std::string& trajectory, int step, State& state) const;
  /// state n → state n+1. Call `model().prepare()` first, and again after parameters changed.
  void step(int n, State& state);
  /// The largest dt/substeps that small motions are sure to be stable with, s, infinite for implicit integrators; calls
  /// `prepare`.
  double stable_substep();

 private:
  void set_materials();
  void set_elastic_materials(const std::vector<DifferentiableMaterial>& materials);

  std::shared_ptr<TetrahedralMesh> mesh_;
  std::vector<DifferentiableMaterial> materials_;
  std::vector<std::size_t> obstacle_bodies_;
  std::unique_ptr<SystemModel> integrator_;
  std::vector<ContactTerm*> contacts_;          // among the integrator's terms
  std::vector<ContactTerm*> lagged_frictions_;  // friction that lags, within other terms
  std::vector<double> initial_positions_;       // [owned vertices, 3]; empty: those at rest
  std::vector<double> initial_velocities_;      // likewise; empty: zero
};

}  // namespace diffsim
