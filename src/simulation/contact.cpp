// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/contact.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "contact/barrier.hpp"
#include "contact/body_impact.hpp"
#include "contact/embedded_surface.hpp"
#include "contact/inside.hpp"
#include "contact/parameters.hpp"
#include "contact/plane_contact.hpp"
#include "contact/plane_impact.hpp"
#include "contact/surface_contact.hpp"
#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/scene.hpp"
#include "dynamics/lagged_term.hpp"
#include "dynamics/system_model.hpp"
#include "mesh/affine_body.hpp"
#include "mesh/bodies.hpp"
#include "mesh/closed_surface.hpp"
#include "simulation/contact_groups.hpp"
#include "simulation/contact_terms.hpp"

namespace diffsim {
namespace {

/// Returns the volume (m³) of this rank's cells, except affine bodies. `x`: positions of the vertices.
double volume_of_cells(const TetrahedralMesh& mesh, const std::vector<double>& x) {
  const auto nodes = static_cast<std::size_t>(mesh.nodes_per_cell());
  double sum = 0.0;
  for (std::size_t c = 0; c < static_cast<std::size_t>(mesh.num_cells()); ++c) {
    if (mesh.affine_body(static_cast<int>(c))) continue;
    double e[3][3];
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t i = 0; i < 3; ++i)
        e[k][i] = x[3 * static_cast<std::size_t>(mesh.cells()[nodes * c + k + 1]) + i] -
                  x[3 * static_cast<std::size_t>(mesh.cells()[nodes * c]) + i];
    sum += (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6.0;
  }
  return sum;
}

/// Returns the size (m) of the affine body of each owned vertex, which is the cube root of the body's volume. The size
/// is 0 for vertices of other bodies.
std::vector<double> sizes_of_affine_bodies(const TetrahedralMesh& mesh) {
  std::vector<double> of_body;
  for (const MeshBody& body : mesh.bodies()) of_body.push_back(body.affine ? std::cbrt(body.affine->volume) : 0.0);
  std::vector<double> sizes(static_cast<std::size_t>(mesh.num_owned_vertices()), 0.0);
  for (std::size_t v = 0; v < sizes.size() && !of_body.empty(); ++v)
    sizes[v] = of_body[static_cast<std::size_t>(body_of_vertex(mesh.bodies(), mesh.vertex_order().file_index()[v]))];
  return sizes;
}

/// Returns the total surface area (m²) of all affine bodies.
double area_of_affine_bodies(const TetrahedralMesh& mesh) {
  double sum = 0.0;
  for (const MeshBody& body : mesh.bodies())
    if (body.affine) sum += surface_area(body.affine->surface);
  return sum;
}

/// Pressure -∂ψ/∂d and stiffness d̂ ∂²ψ/∂d² of a barrier energy ψ(d) with thickness ξ, relative to the values for ξ =
/// 0. The distance is d = ξ + part · d̂.
struct Softening {
  double pressure, slope;
  Softening(double part, double distance, double thickness) {
    const auto at = [&](double xi, double& p, double& s) {
      const double d = xi + part * distance;
      const contact::Barrier psi(d * d, distance, xi);
      p = 2.0 * d * psi.gradient;
      s = 2.0 * psi.gradient + 4.0 * d * d * psi.hessian;
    };
    double thin_pressure, thin_slope;
    at(0.0, thin_pressure, thin_slope);
    at(thickness, pressure, slope);
    pressure /= thin_pressure;
    slope /= thin_slope;
  }
};

constexpr double touching = 0.1;  // part of the surface that is in contact when an adaptive barrier carries the weight

/// Area of the surface (m²), Σ weight · size (J) and Σ weight (N) of all affine bodies.
struct AffineSums {
  double area, fall, weight;
};
/// Returns the barrier stiffness κ (Pa) that stops affine bodies, which only the barrier stops; 0 without affine
/// bodies. `softening`: relative pressure of the barrier at the gap d̂/10 due to the thickness. `obstacles`: number of
/// obstacles that consist of triangles.
double stiffness_of_affine_bodies(const TetrahedralMesh& mesh, const AffineSums& sums, double d_hat, double softening,
                                  std::size_t obstacles) {
  if (!(sums.area > 0.0)) return 0.0;
  // At the gap d̂/10, the barrier's energy per area is 4.51 κ d̂. On a tenth of the surface, this energy must equal the
  // energy of a fall by the body's size.
  const double by_fall = sums.fall / (touching * sums.area) / (4.51 * d_hat);
  std::size_t count = 0;
  for (const MeshBody& body : mesh.bodies()) count += body.affine ? 1 : 0;
  if (count + obstacles < 2) return by_fall;
  // Stiff bodies may touch at crossing edges only. At the gap d̂/10, the force between two crossing edges is 5.36 κ d̂²,
  // which must be the mean weight of an affine body.
  const double weight = sums.weight / static_cast<double>(count);
  return std::max(by_fall, weight / (5.36 * d_hat * d_hat * softening));
}

/// Throws Error (input) for a thickness outside the parameter's range, or for a thickness of an unknown body.
void require_thicknesses(const ContactOptions& options, const TetrahedralMesh& mesh) {
  const auto require = [](const std::string& name, double value) {
    if (const std::string fault = range_error(ContactParameters::thickness, value); !fault.empty())
      throw Error("thickness of " + name + ": " + fault, ErrorKind::input);
  };
  const std::vector<std::string> bodies = body_names(mesh.bodies());
  if (options.thickness) require("bodies", *options.thickness);
  for (const BodyThickness& given : options.thicknesses) {
    if (std::find(bodies.begin(), bodies.end(), given.body) == bodies.end())
      throw Error("thickness of '" + given.body + "': there is no such body; give the name of a body",
                  ErrorKind::input);
    require(given.body, given.value);
  }
  for (const PlaneObstacle& plane : options.planes) require("an obstacle", plane.thickness.value_or(0.0));
  for (const MeshObstacle& obstacle : options.meshes) require("an obstacle", obstacle.thickness.value_or(0.0));
}

/// Returns the largest thickness ξ (m) of all pairs.
double largest_thickness(const ContactOptions& options) {
  double body = options.thickness.value_or(0.0);
  for (const BodyThickness& given : options.thicknesses) body = std::max(body, given.value);
  double most = body;
  for (const PlaneObstacle& plane : options.planes) most = std::max(most, 0.5 * (body + plane.thickness.value_or(0.0)));
  for (const MeshObstacle& mesh : options.meshes) most = std::max(most, 0.5 * (body + mesh.thickness.value_or(0.0)));
  for (const ContactPair& pair : options.pairs) most = std::max(most, pair.thickness.value_or(0.0));
  return most;
}

/// Returns true if the shared contact law or that of a pair is of the given kind.
bool has_law(const ContactOptions& options, ContactLawKind kind) {
  return options.law == kind || std::any_of(options.pairs.begin(), options.pairs.end(),
                                            [&](const ContactPair& pair) { return pair.law == kind; });
}
/// Returns true if contact has a law with a contact pressure, that is, a law other than `impact`.
bool has_pressure(const ContactOptions& options) {
  return has_law(options, ContactLawKind::barrier) || has_law(options, ContactLawKind::penalty);
}

/// Returns true if contact has forces of friction or of damping.
bool has_dissipation(const ContactOptions& options) {
  return options.with_friction || options.friction > 0.0 || options.damping > 0.0 ||
         std::any_of(options.pairs.begin(), options.pairs.end(),
                     [](const ContactPair& pair) { return pair.friction > 0.0 || pair.damping > 0.0; });
}

/// Throws Error (input) for options outside their ranges, and for pairs that cannot be in contact. `obstacle_bodies`:
/// bodies of the mesh that are obstacles.
void require_valid(const ContactOptions& options, const TetrahedralMesh& mesh,
                   const std::vector<std::size_t>& obstacle_bodies) {
  const auto require = [](const ParameterSpec& spec, double value) {
    if (const std::string fault = range_error(spec, value); !fault.empty())
      throw Error(std::string(spec.name) + ": " + fault, ErrorKind::input);
  };
  using Spec = ContactParameters;
  require(Spec::barrier_distance, options.barrier_distance);
  if (!options.adaptive_stiffness) require(Spec::barrier_stiffness, options.barrier_stiffness);
  require(Spec::friction, options.friction);
  require(Spec::friction_velocity, options.friction_velocity);
  require(Spec::contact_damping, options.damping);
  require(Spec::restitution, options.restitution);
  if (options.restitution > 0.0 && !has_law(options, ContactLawKind::impact))
    throw Error("restitution of contact needs the contact law impact", ErrorKind::input);
  if (options.damping > 0.0 && !has_law(options, ContactLawKind::penalty))
    throw Error("damping of contact needs the contact law penalty", ErrorKind::input);
  if (options.adaptive_stiffness && options.law == ContactLawKind::penalty)
    throw Error("adaptive stiffness of contact is that of a barrier; for a penalty, give barrier_stiffness, Pa",
                ErrorKind::input);
  require_thicknesses(options, mesh);
  for (const SurfaceScale& scale : options.scales)
    if (const std::string fault = range_error(ContactParameters::surface_scale, scale.value); !fault.empty())
      throw Error("surface_scale of body '" + scale.body + "': " + fault, ErrorKind::input);
  for (std::size_t k = 0; k < options.pairs.size(); ++k)
    if (const std::string fault = pair_error(options, k, mesh, obstacle_bodies); !fault.empty())
      throw Error("contact of " + options.pairs[k].between[0] + " with " + options.pairs[k].between[1] + ": " + fault,
                  ErrorKind::input);
  if (const auto& [a, b] = ContactGroups(options, mesh, obstacle_bodies).impact_of_surfaces(); !a.empty())
    throw Error(
        "contact of " + a + " with " + b +
            ": the contact law impact is for vertices and planes only; give the pair the law barrier or penalty, "
            "or touch: false",
        ErrorKind::input);
}

/// Helper that adds the parameters of contact to a scene.
class ParameterAdder {
 public:
  ParameterAdder(ParameterSet& parameters, MPI_Comm comm) : parameters_(parameters), comm_(comm) {}

  /// Adds the parameters of the shared contact law and of the laws of single pairs. `stiffness`: barrier stiffness κ
  /// (Pa).
  void add_laws(const ContactOptions& options, double stiffness) const {
    if (has_pressure(options)) {
      add(Spec::barrier_distance, options.barrier_distance);
      add(Spec::barrier_stiffness, stiffness);
    }
    add(Spec::friction, options.friction);
    if (has_pressure(options)) add(Spec::friction_velocity, options.friction_velocity);
    if (has_law(options, ContactLawKind::impact)) add(Spec::restitution, options.restitution);
    if (has_law(options, ContactLawKind::penalty)) add(Spec::contact_damping, options.damping);
    for (const ContactPair& pair : options.pairs) {
      const auto values = pair.values();
      for (std::size_t k = 0; k < values.size(); ++k)
        if (values[k]) add(Spec::of_law()[k], *values[k], pair.label());
    }
  }
  void add_thicknesses_of_bodies(const ContactOptions& options) const {
    if (options.thickness) add(Spec::thickness, *options.thickness);
    for (const BodyThickness& given : options.thicknesses) add(Spec::thickness, given.value, given.body);
  }
  void add_scales(const ContactOptions& options) const {
    for (const SurfaceScale& scale : options.scales) add(Spec::surface_scale, scale.value, scale.body);
  }
  /// Adds the parameters of an obstacle, which is a plane or a mesh. `position`: position of the obstacle, in m.
  template <class Obstacle>
  void add_obstacle(const Obstacle& obstacle, const std::array<double, 3>& position, const std::string& label) const {
    add(Spec::obstacle_position, std::vector<double>(position.begin(), position.end()), label);
    add(Spec::obstacle_velocity, std::vector<double>(obstacle.velocity.begin(), obstacle.velocity.end()), label);
    if (obstacle.rotation.turns()) add(Spec::obstacle_angular_velocity, obstacle.rotation.angular_velocity, label);
    if (obstacle.thickness) add(Spec::thickness, *obstacle.thickness, label);
  }

 private:
  using Spec = ContactParameters;
  void add(const ParameterSpec& spec, double value, const std::string& label = {}) const {
    add(spec, std::vector<double>{value}, label);
  }
  void add(const ParameterSpec& spec, const std::vector<double>& values, const std::string& label = {}) const {
    parameters_.add(spec, Entities::one_for_all(comm_), 1, label).field.from_host(values);
  }

  ParameterSet& parameters_;
  MPI_Comm comm_;
};

/// Helper that adds contact terms to a system. If friction is lagged, each contact has a separate second term for the
/// friction.
struct TermAdder {
  System& system;
  bool friction, lagged_friction;
  EmbeddedSurface surface;
  std::vector<ContactTerm*>& contacts;          ///< terms with normal forces that `add` has added
  std::vector<ContactTerm*>& lagged_frictions;  ///< friction terms of the lagged terms that `add` has added

  using Make = std::function<std::unique_ptr<ContactTerm>(ContactForces)>;
  /// Adds the terms that `make` creates. The system stores a copy of `make`, so `make` must capture its data by value.
  void add(const Make& make) const {
    const auto made = [make, on = surface](ContactForces forces) {
      std::unique_ptr<ContactTerm> term = make(forces);
      return on.map ? make_mapped_contact(std::move(term), on) : std::move(term);
    };
    const bool lagged = friction && lagged_friction;
    std::unique_ptr<ContactTerm> term = made(lagged     ? ContactForces::barrier_part
                                             : friction ? ContactForces::barrier_and_friction
                                                        : ContactForces::barrier);
    contacts.push_back(term.get());
    if (!friction) {
      system.add_term(std::move(term));
    } else if (!lagged) {
      system.add_term(std::move(term), [made] {
        std::vector<std::unique_ptr<ForceTerm>> parts;
        parts.push_back(made(ContactForces::barrier_part));
        parts.push_back(make_lagged_term(made(ContactForces::friction_part)));
        return parts;
      });
    } else {
      system.add_term(std::move(term));
      term = made(ContactForces::friction_part);
      lagged_frictions.push_back(term.get());
      system.add_term(make_lagged_term(std::move(term)));
    }
  }
};

/// Adds the parameters and terms of contact with planes. `mesh`: mesh of the bodies. Collective.
void add_planes(const ContactOptions& options, const ContactGroups& groups,
                const std::shared_ptr<const TetrahedralMesh>& mesh, const ParameterAdder& parameters,
                const TermAdder& terms) {
  const std::vector<int> dimensions = dimensions_in_contact(*terms.surface.mesh);
  std::vector<PlaneOfImpact> impacts;
  for (std::size_t k = 0; k < options.planes.size(); ++k) {
    const PlaneObstacle& plane = options.planes[k];
    const std::string label = groups.plane(k);
    parameters.add_obstacle(plane, plane.point, label);
    const PlaneShape shape{label, plane.normal, plane.rotation.axis, plane.rotation.origin};
    for (PlaneLaw law : groups.laws_of_plane(k)) {
      if (law.parameters.is_impact()) impacts.push_back({shape, law});
      for (const int dimension : dimensions) {
        law.dimension = dimension;
        if (law.parameters.is_impact()) {
          terms.system.add_impact(make_plane_impact(mesh, shape, law));
          continue;
        }
        terms.add([mesh = terms.surface.mesh, shape, law](ContactForces forces) {
          return make_plane_contact(mesh, shape, forces, law);
        });
      }
    }
  }
  if (auto of_bodies = make_body_impacts(mesh, terms.system.rigid_cells(), impacts, options.scales))
    terms.system.add_impact(std::move(of_bodies));
}

/// Adds the parameters and the term of contact between the surfaces of bodies and of obstacles that are meshes.
/// Collective.
void add_surfaces(const ContactOptions& options, const ContactGroups& groups, MPI_Comm comm,
                  const ParameterAdder& parameters, const TermAdder& terms) {
  for (std::size_t k = 0; k < options.meshes.size(); ++k)
    parameters.add_obstacle(options.meshes[k], {0.0, 0.0, 0.0}, groups.mesh(k));
  const SurfaceContactOptions surfaces = surface_options(options, groups, comm);
  terms.add([mesh = terms.surface.mesh, surfaces](ContactForces forces) -> std::unique_ptr<ContactTerm> {
    SurfaceContactOptions with_forces = surfaces;
    with_forces.forces = forces;
    return std::make_unique<SurfaceContact>(mesh, with_forces);
  });
}

}  // namespace

double DifferentiableScene::adaptive_stiffness(double barrier_distance, double thickness, std::size_t mesh_obstacles) {
  integrator_->prepare();
  const Field& rest = parameters().at("rest_positions").field;
  std::vector<double> areas = contact::RestAreas(*mesh_).areas(rest);
  // Contact of a line acts on a strip of width d̂/2. Contact of an isolated point acts on a patch of area (d̂/2)².
  for (std::size_t v = 0; v < areas.size(); ++v)
    for (int d = contact::surface_dimension(*mesh_, mesh_->vertex_order().file_index()[v]); d < 2; ++d)
      areas[v] *= 0.5 * barrier_distance;
  Field bound("stiffness", mesh_->vertex_entities(), 3);
  for (const auto& term : system().terms()) term->add_stiffness_bound(parameters(), bound);
  mesh_->vertex_exchange().add_to_owners(bound);
  const std::vector<double> stiffness = bound.to_host(), mass = system().mass().to_host();
  // Entry 0: stiffness of the surface's vertices. Entry 1: area of the surface. Entry 2: mass of all bodies. Entry 3:
  // number of the surface's vertices. Entry 4: volume. Entry 5: area of the affine bodies. Entry 6: Σ mass · size of
  // the affine bodies. Entry 7: mass of the affine bodies. Entries 0, 1, 3 and 4 exclude affine bodies.
  double sums[8] = {0.0, 0.0, 0.0, 0.0, volume_of_cells(*mesh_, rest.to_host()), 0.0, 0.0, 0.0};
  const std::vector<double> affine = sizes_of_affine_bodies(*mesh_);
  for (std::size_t v = 0; v < areas.size(); ++v) {
    if (!(stiffness[3 * v] > 0.0 || affine[v] > 0.0)) continue;  // vertex of an obstacle
    sums[2] += mass[v];
    sums[6] += mass[v] * affine[v];
    sums[7] += affine[v] > 0.0 ? mass[v] : 0.0;
    if (affine[v] > 0.0) continue;
    sums[0] += areas[v] > 0.0 ? stiffness[3 * v] : 0.0;
    sums[1] += areas[v];
    sums[3] += areas[v] > 0.0 ? 1.0 : 0.0;
  }
  if (is_first_rank(mesh_->comm())) sums[5] = area_of_affine_bodies(*mesh_);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 8, MPI_DOUBLE, MPI_SUM, mesh_->comm()));
  const std::vector<double> gravity = parameters().at("gravity").field.to_host();
  const double g = std::hypot(gravity[0], gravity[1], gravity[2]);
  // At the gap d̂/2, the barrier's pressure is 4.33 κ, and the barrier's stiffness per area is 15.1 κ/d̂. A thickness
  // reduces the pressure and the stiffness.
  const Softening half(0.5, barrier_distance, thickness), nearest(0.03, barrier_distance, thickness);
  const double pressure = 4.33 * half.pressure, slope = 15.1 * half.slope;
  const double by_weight = sums[2] * g / (touching * (sums[1] + sums[5])) / pressure;
  const double by_fall = stiffness_of_affine_bodies(*mesh_, {sums[5], sums[6] * g, sums[7] * g}, barrier_distance,
                                                    Softening(0.1, barrier_distance, thickness).pressure,
                                                    obstacle_bodies().size() + mesh_obstacles);
  if (sums[5] > 0.0 && !(sums[1] > 0.0)) {
    if (by_fall > 0.0) return std::max(by_weight, by_fall);
    throw Error(
        "adaptive stiffness of contact: affine bodies without weight do not determine the contact pressure; give "
        "barrier_stiffness, Pa",
        ErrorKind::input);
  }
  const double by_areas = std::max(barrier_distance * sums[0] / sums[1] / slope, std::max(by_weight, by_fall));
  // A body much thinner than the width of its triangles folds until edges cross. The barrier energy of two crossing
  // edges has the factor κ d̂²/4, regardless of the width of the triangles. At the gap 0.03 d̂, the stiffness of this
  // barrier is 552 κ d̂, which must reach the stiffness of a vertex.
  constexpr double slender = 1.0 / 3.0;
  const double edge_slope = 552.0 * nearest.slope;
  const double height = 2.0 * sums[4] / sums[1], width = std::sqrt(sums[1] / sums[3]);
  const double by_edges = sums[0] / sums[3] / (edge_slope * barrier_distance);
  return height < slender * width ? std::max(by_areas, by_edges) : by_areas;
}

void DifferentiableScene::add_contact(const ContactOptions& options) {
  if (contact_) throw Error("the scene already has contact; give all obstacles at once", ErrorKind::input);
  require_valid(options, *mesh_, obstacle_bodies());
  const double stiffness =
      options.adaptive_stiffness && has_pressure(options)
          ? adaptive_stiffness(options.barrier_distance, largest_thickness(options), options.meshes.size())
          : options.barrier_stiffness;
  const ParameterAdder adder(parameters(), mesh_->comm());
  adder.add_laws(options, stiffness);
  const bool friction = has_dissipation(options);
  const ContactGroups groups(options, *mesh_, obstacle_bodies());
  adder.add_thicknesses_of_bodies(options);
  for (std::size_t k = 0; k < options.planes.size(); ++k) obstacles_.push_back(groups.plane(k));
  for (std::size_t k = 0; k < options.meshes.size(); ++k) obstacles_.push_back(groups.mesh(k));
  EmbeddedSurface surface{mesh_, nullptr};
  const bool embeds = !options.surfaces.empty() || has_affine_bodies(mesh_->bodies());
  if (!options.surfaces.empty() && has_law(options, ContactLawKind::impact))
    throw Error("the contact law impact is not available for separate surfaces; use the law penalty or barrier",
                ErrorKind::input);
  if (embeds)
    surface = embed_surfaces(*mesh_, options.surfaces, groups.regions(), options.scales);
  else if (!options.scales.empty())
    throw Error("surface_scale of body '" + options.scales.front().body + "': the scene has no affine or rigid body",
                ErrorKind::input);
  adder.add_scales(options);
  contact_ = std::make_shared<const SceneContact>(SceneContact{options, surface, obstacle_bodies(), friction});
  const TermAdder terms{system(), friction, options.lagged_friction, surface, contacts_, lagged_frictions_};
  add_planes(options, groups, mesh_, adder, terms);
  if (!has_pressure(options) || (!options.self && options.meshes.empty() && mesh_->bodies().size() < 2)) return;
  add_surfaces(options, groups, mesh_->comm(), adder, terms);
}

void DifferentiableScene::require_apart() {
  const State state = initial_state();
  integrator_->prepare();
  const Configuration at{state["positions"]};
  for (const auto& impact : system().impacts()) {
    const Field& v = state["velocities"];
    const std::string inside = impact->inside({{state["positions"], v, v}, 0, 0.0, dt()}, parameters());
    collectively(mesh_->comm(), [&] {
      if (!inside.empty())
        throw Error("the body is inside an obstacle at the start: " + inside + "; move them apart", ErrorKind::input);
    });
  }
  for (ContactTerm* term : contacts_) {
    const std::int64_t count = term->state(at, parameters()).intersections;
    const std::string pairs = term->intersecting();
    collectively(mesh_->comm(), [&] {
      if (count > 0 && !pairs.empty())
        throw Error("the body touches or intersects at the start, " + std::to_string(count) + " times: " + pairs +
                        "; move them apart",
                    ErrorKind::input);
    });
    const std::string inside = term->enclosed(at, parameters());
    collectively(mesh_->comm(), [&] {
      if (!inside.empty()) throw Error("at the start " + inside + "; move them apart", ErrorKind::input);
    });
  }
}

ContactState DifferentiableScene::contact_state(int n, const State& state) {
  system().prepare_if_changed();
  ContactState result;
  // Contact terms receive the velocities of owned vertices, and request other vertices' velocities from their owners.
  const Configuration at{state["positions"], n, nullptr, &state["velocities"], n * integrator_->dt()};
  for (ContactTerm* term : contacts_) result.include(term->state(at, parameters()));
  for (ContactTerm* term : lagged_frictions_) result.include(term->state(at, parameters()));
  return result;
}

std::vector<ContactForce> DifferentiableScene::contact_forces(int n, const State& state) {
  system().prepare_if_changed();
  const Configuration at{state["positions"], std::max(n - 1, 0), nullptr, &state["velocities"], n * integrator_->dt()};
  ForcesBetween sums;
  for (ContactTerm* term : contacts_) term->add_forces_between(at, parameters(), sums);
  for (ContactTerm* term : lagged_frictions_) term->add_forces_between(at, parameters(), sums);
  std::vector<std::string> names = body_names(mesh_->bodies());
  const std::size_t bodies = names.size();
  names.insert(names.end(), obstacles_.begin(), obstacles_.end());
  std::vector<char> is_obstacle(names.size(), 0);
  for (std::size_t k = 0; k < names.size(); ++k)
    is_obstacle[k] = k >= bodies || std::count(obstacle_bodies_.begin(), obstacle_bodies_.end(), k) > 0;
  const auto is_rotor_at = [&](std::size_t k) { return k < mesh_->bodies().size() && is_rotor(mesh_->bodies()[k]); };
  std::vector<ContactForce> forces;
  for (std::size_t a = 0; a < bodies; ++a)
    for (std::size_t b = a + 1; b < names.size(); ++b)
      if ((!is_obstacle[a] || !is_obstacle[b]) && !is_rotor_at(a) && !is_rotor_at(b))
        forces.push_back({{names[a], names[b]}, sums[{names[a], names[b]}]});
  std::vector<double> values;
  for (const ContactForce& of : forces) values.insert(values.end(), of.force.begin(), of.force.end());
  DIFFSIM_MPI(
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, mesh_->comm()));
  for (std::size_t i = 0; i < values.size(); ++i) forces[i / 3].force[i % 3] = values[i];
  return forces;
}

}  // namespace diffsim
