// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python classes of contact: obstacles, pairs with separate values, and options.

#include "diffsim/contact/contact.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "bodies.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/io/read_mesh.hpp"

namespace diffsim::python {
namespace {

using Triple = std::array<double, 3>;

void bind_rotation(nb::module_& module) {
  nb::class_<Rotation>(module, "Rotation", "Rotation of an obstacle at a constant rate.")
      .def(
          "__init__",
          [](Rotation* self, Triple axis, double angular_velocity, Triple origin) {
            new (self) Rotation{.axis = axis, .origin = origin, .angular_velocity = angular_velocity};
          },
          nb::arg("axis"), nb::arg("angular_velocity"), nb::arg("origin") = Triple{},
          "Create a rotation. axis: of any length. angular_velocity: rad/s. origin: point on the axis at time 0, m.")
      .def_rw("axis", &Rotation::axis, "Axis of rotation; zero for no rotation.")
      .def_rw("origin", &Rotation::origin, "Point on the axis at time 0, m; moves with the obstacle's velocity.")
      .def_rw("angular_velocity", &Rotation::angular_velocity, "Angular velocity, rad/s.");
}

void bind_plane(nb::module_& module) {
  nb::class_<PlaneObstacle>(module, "PlaneObstacle", "Half-space bounded by a plane that moves at a constant velocity.")
      .def(
          "__init__",
          [](PlaneObstacle* self, Triple point, Triple normal, Triple velocity, const std::string& label,
             const std::optional<Rotation>& rotation, std::optional<double> thickness) {
            new (self) PlaneObstacle{.point = point,
                                     .normal = normal,
                                     .velocity = velocity,
                                     .label = label,
                                     .rotation = rotation.value_or(Rotation{}),
                                     .thickness = thickness};
          },
          nb::arg("point") = Triple{}, nb::arg("normal") = Triple{0.0, 1.0, 0.0}, nb::arg("velocity") = Triple{},
          nb::arg("label") = "", nb::arg("rotation") = nb::none(), nb::arg("thickness") = nb::none(),
          R"(Create the obstacle.

point: m. normal: points to the free side. velocity: m/s. label: empty for the index. rotation: of the half-space; None
for no rotation. thickness: m; None for no thickness.)")
      .def_rw("point", &PlaneObstacle::point, "Point of the plane, m.")
      .def_rw("normal", &PlaneObstacle::normal, "Normal, which points to the free side.")
      .def_rw("velocity", &PlaneObstacle::velocity, "Velocity, m/s.")
      .def_rw("label", &PlaneObstacle::label, "Name of the obstacle; if empty, the index of the plane in the list.")
      .def_rw("rotation", &PlaneObstacle::rotation, "Rotation of the half-space.")
      .def_rw("thickness", &PlaneObstacle::thickness, "Thickness, m, or None.");
}

MeshObstacle mesh_obstacle(TriangleMesh mesh, Triple velocity, const std::string& label, std::optional<bool> solid,
                           const std::optional<Rotation>& rotation, std::optional<double> thickness) {
  return {.mesh = std::move(mesh),
          .velocity = velocity,
          .label = label,
          .solid = solid,
          .rotation = rotation.value_or(Rotation{}),
          .thickness = thickness};
}

/// Binds the triangles `T::mesh` as arrays. `vertices`: description of the vertices.
template <class T>
void bind_triangles(nb::class_<T>& bound, const char* vertices) {
  bound
      .def_prop_ro(
          "vertices",
          [](const T& of) {
            std::vector<double> values;
            for (const Triple& point : of.mesh.vertices) values.insert(values.end(), point.begin(), point.end());
            return to_numpy(std::move(values), {of.mesh.vertices.size(), 3});
          },
          vertices, nb::sig("def vertices(self) -> numpy.ndarray"))
      .def_prop_ro(
          "triangles",
          [](const T& of) {
            std::vector<int> corners;
            for (const auto& triangle : of.mesh.triangles)
              corners.insert(corners.end(), triangle.begin(), triangle.end());
            return to_numpy(std::move(corners), {of.mesh.triangles.size(), 3});
          },
          "Copy of the vertex numbers of the triangles, [m, 3].", nb::sig("def triangles(self) -> numpy.ndarray"));
}

TriangleMesh surface_of_file(const std::string& path, double scale) {
  const LibraryScope scope;
  return read_surface(path, scale);
}

void bind_surface(nb::module_& module) {
  nb::class_<BodySurface> bound(module, "BodySurface",
                                R"(Triangles that represent a body in contact, in place of the boundary of its cells.

The vertices move with the cells that contain them at rest, or with the nearest cells.)");
  bound
      .def(
          "__init__",
          [](BodySurface* self, const std::string& body, nb::handle vertices, nb::handle triangles) {
            new (self) BodySurface{body, surface_of(vertices, triangles)};
          },
          nb::arg("body"), nb::arg("vertices"), nb::arg("triangles"),
          R"(Create the surface.

body: name of a body of tetrahedra; "body" if the mesh has one body without a name. vertices: in the rest configuration,
[n, 3], m. triangles: vertex numbers, [m, 3]. Both arrays must be the same on all ranks.)",
          nb::sig("def __init__(self, body: str, vertices: object, triangles: object) -> None"))
      .def_static(
          "from_file",
          [](const std::string& body, const std::string& path, double scale) {
            return BodySurface{body, surface_of_file(path, scale)};
          },
          nb::arg("body"), nb::arg("path"), nb::arg("scale") = 1.0,
          "Read the triangles of a file. scale: factor that converts the file's coordinates to m. Every rank reads "
          "the file.")
      .def_ro("body", &BodySurface::body, "Name of the body.");
  bind_triangles(bound, "Copy of the vertices in the rest configuration, [n, 3], m.");
}

void bind_mesh_obstacle(nb::module_& module) {
  nb::class_<MeshObstacle> bound(module, "MeshObstacle", R"(Obstacle of triangles that moves at a constant velocity.

No body passes through the triangles, from either side.)");
  bound
      .def(
          "__init__",
          [](MeshObstacle* self, nb::handle vertices, nb::handle triangles, Triple velocity, const std::string& label,
             std::optional<bool> solid, const std::optional<Rotation>& rotation, std::optional<double> thickness) {
            new (self) MeshObstacle(
                mesh_obstacle(surface_of(vertices, triangles), velocity, label, solid, rotation, thickness));
          },
          nb::arg("vertices"), nb::arg("triangles"), nb::arg("velocity") = Triple{}, nb::arg("label") = "",
          nb::arg("solid") = nb::none(), nb::arg("rotation") = nb::none(), nb::arg("thickness") = nb::none(),
          R"(Create the obstacle.

vertices: [n, 3], m. triangles: vertex numbers, [m, 3]. Both arrays must be the same on all ranks. velocity: m/s. label:
empty for the number of planes plus the index of the obstacle. solid: whether the obstacle is a volume, inside which no
body may start; None for a volume if the triangles are closed. rotation: None for no rotation. thickness: m; None for no
thickness.)",
          nb::sig("def __init__(self, vertices: object, triangles: object, "
                  "velocity: collections.abc.Sequence[float] = [0.0, 0.0, 0.0], label: str = '', "
                  "solid: bool | None = None, rotation: Rotation | None = None, thickness: float | None = None) "
                  "-> None"))
      .def_static(
          "from_file",
          [](const std::string& path, double scale, Triple velocity, const std::string& label,
             std::optional<bool> solid, const std::optional<Rotation>& rotation, std::optional<double> thickness) {
            return mesh_obstacle(surface_of_file(path, scale), velocity, label, solid, rotation, thickness);
          },
          nb::arg("path"), nb::arg("scale") = 1.0, nb::arg("velocity") = Triple{}, nb::arg("label") = "",
          nb::arg("solid") = nb::none(), nb::arg("rotation") = nb::none(), nb::arg("thickness") = nb::none(),
          "Read the triangles of a file. scale: factor that converts the file's coordinates to m. Every rank reads "
          "the file.")
      .def_rw("velocity", &MeshObstacle::velocity, "Velocity, m/s.")
      .def_rw("label", &MeshObstacle::label, "Name of the obstacle, or empty.")
      .def_rw("solid", &MeshObstacle::solid, "Whether the obstacle is a volume; None for a volume if closed.")
      .def_rw("rotation", &MeshObstacle::rotation, "Rotation of the triangles.")
      .def_rw("thickness", &MeshObstacle::thickness, "Thickness, m, or None.");
  bind_triangles(bound, "Copy of the vertices at time 0, [n, 3], m.");
}

ContactLawKind law_of(const std::string& name) {
  const auto names = contact_laws();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw Error("law: '" + name + "' is none of 'barrier', 'penalty' and 'impact'", ErrorKind::input);
  return static_cast<ContactLawKind>(found - names.begin());
}
std::string name_of(ContactLawKind law) { return contact_laws()[static_cast<std::size_t>(law)]; }

void bind_pair(nb::module_& module) {
  using Given = std::optional<double>;
  nb::class_<ContactPair>(module, "ContactPair",
                          R"(Separate values of contact for two bodies, a body with itself, or a body and an obstacle.

Each given value becomes a parameter of the pair, for example `friction:A|B`. For a value that is None, the value of
ContactOptions is used.)")
      .def(
          "__init__",
          [](ContactPair* self, const std::string& first, const std::string& second, Given barrier_distance,
             Given barrier_stiffness, Given friction, Given friction_velocity, Given thickness, bool touch,
             const std::optional<std::string>& law, Given damping, Given restitution) {
            new (self) ContactPair{.between = {first, second},
                                   .barrier_distance = barrier_distance,
                                   .barrier_stiffness = barrier_stiffness,
                                   .friction = friction,
                                   .friction_velocity = friction_velocity,
                                   .thickness = thickness,
                                   .touch = touch,
                                   .law = law ? std::optional(law_of(*law)) : std::nullopt,
                                   .damping = damping,
                                   .restitution = restitution};
          },
          nb::arg("first"), nb::arg("second"), nb::kw_only(), nb::arg("barrier_distance") = nb::none(),
          nb::arg("barrier_stiffness") = nb::none(), nb::arg("friction") = nb::none(),
          nb::arg("friction_velocity") = nb::none(), nb::arg("thickness") = nb::none(), nb::arg("touch") = true,
          nb::arg("law") = nb::none(), nb::arg("damping") = nb::none(), nb::arg("restitution") = nb::none(),
          R"(Create the pair.

first, second: names of bodies ("body" if there is one body without a name), labels of obstacles, or names of regions.
barrier_distance: m. barrier_stiffness: Pa. friction: friction coefficient. friction_velocity: m/s. thickness: m;
replaces the mean of the thicknesses of both sides. touch: False if the two sides pass through each other; the other
values must then be None. law: "barrier", "penalty" or "impact". damping: of a penalty, s/m. restitution: coefficient of
restitution of impacts.)")
      .def_ro("between", &ContactPair::between, "Names of the two sides.")
      .def_rw("barrier_distance", &ContactPair::barrier_distance, "Gap below which the two sides repel each other, m.")
      .def_rw("barrier_stiffness", &ContactPair::barrier_stiffness, "Barrier stiffness, Pa.")
      .def_rw("friction", &ContactPair::friction, "Friction coefficient.")
      .def_rw("friction_velocity", &ContactPair::friction_velocity,
              "Slip velocity below which friction is smoothed, m/s.")
      .def_rw("thickness", &ContactPair::thickness, "Thickness, m, or None.")
      .def_rw("damping", &ContactPair::damping, "Damping of a penalty, s/m.")
      .def_rw("restitution", &ContactPair::restitution, "Coefficient of restitution of impacts.")
      .def_prop_ro(
          "law", [](const ContactPair& pair) { return pair.law ? std::optional(name_of(*pair.law)) : std::nullopt; },
          "Kind of the contact law, \"barrier\", \"penalty\" or \"impact\", or None.")
      .def_rw("touch", &ContactPair::touch, "Whether the two sides touch each other.")
      .def_prop_ro("label", &ContactPair::label, "Name A|B of the pair, which ends the names of its parameters.");
}

using NumbersByName = std::map<std::string, double>;

NumbersByName thicknesses_of(const ContactOptions& options) {
  NumbersByName all;
  for (const BodyThickness& one : options.thicknesses) all.emplace(one.body, one.value);
  return all;
}

/// Returns a dict from names of bodies to scales or, for scales with a centre, to pairs (scale, centre).
nb::dict scales_of(const ContactOptions& options) {
  nb::dict all;
  for (const SurfaceScale& one : options.scales) {
    const nb::str name(one.body.c_str());
    if (one.centre)
      all[name] = nb::make_tuple(one.value, nb::cast(*one.centre));
    else
      all[name] = one.value;
  }
  return all;
}

/// Reads a dict in the form of `scales_of`.
std::vector<SurfaceScale> read_scales(const nb::dict& scales) {
  std::vector<SurfaceScale> all;
  for (const auto [body, value] : scales) {
    SurfaceScale one{.body = nb::cast<std::string>(body)};
    std::pair<double, Triple> with_centre;
    if (nb::try_cast(value, with_centre)) {
      one.value = with_centre.first;
      one.centre = with_centre.second;
    } else if (!nb::try_cast(value, one.value)) {
      throw InputError("the scale of the surface of '" + one.body + "' must be a number or a pair (scale, centre)");
    }
    all.push_back(std::move(one));
  }
  return all;
}

/// Binds the members of ContactOptions.
void bind_values_of_options(nb::class_<ContactOptions>& bound) {
  bound.def_rw("barrier_distance", &ContactOptions::barrier_distance, "Gap below which surfaces repel each other, m.")
      .def_rw("barrier_stiffness", &ContactOptions::barrier_stiffness, "Barrier stiffness, Pa.")
      .def_rw("adaptive_stiffness", &ContactOptions::adaptive_stiffness,
              "Whether add_contact computes the barrier stiffness.")
      .def_prop_ro(
          "law", [](const ContactOptions& options) { return name_of(options.law); },
          "Kind of the contact law, \"barrier\", \"penalty\" or \"impact\".")
      .def_rw("damping", &ContactOptions::damping, "Damping of a penalty, s/m.")
      .def_rw("restitution", &ContactOptions::restitution, "Coefficient of restitution of impacts.")
      .def_rw("friction", &ContactOptions::friction, "Friction coefficient.")
      .def_rw("friction_velocity", &ContactOptions::friction_velocity,
              "Slip velocity below which friction is smoothed, m/s.")
      .def_rw("thickness", &ContactOptions::thickness,
              "Thickness of bodies without an entry in `thicknesses`, m, or None.")
      .def_rw("with_friction", &ContactOptions::with_friction, "Whether friction terms exist even if friction is 0.")
      .def_rw("lagged_friction", &ContactOptions::lagged_friction,
              "Whether friction uses the normal forces at the beginning of the step.")
      .def_rw("max_pairs", &ContactOptions::max_pairs, "Maximum number of candidate pairs of a kind on a rank, or 0.")
      .def_rw("surfaces", &ContactOptions::surfaces, "Copy of the list of surfaces that replace boundaries of bodies.")
      .def_rw("self_contact", &ContactOptions::self, "Whether bodies touch themselves.")
      .def_rw("planes", &ContactOptions::planes, "Copy of the list of planes that are obstacles.")
      .def_rw("meshes", &ContactOptions::meshes, "Copy of the list of obstacles of triangles.")
      .def_rw("pairs", &ContactOptions::pairs, "Copy of the list of pairs with separate values.")
      .def_prop_ro("thicknesses", &thicknesses_of, "Thicknesses of individual bodies by name, m.")
      .def_prop_ro("surface_scales", &scales_of,
                   "Scales of the surfaces of affine and rigid bodies by name, or pairs (scale, centre).");
}

void bind_options_of_contact(nb::module_& module) {
  const ContactOptions defaults;
  nb::class_<ContactOptions> bound(module, "ContactOptions", "Contact of bodies with obstacles and with each other.");
  bound.def(
      "__init__",
      [](ContactOptions* self, double barrier_distance, double barrier_stiffness, bool adaptive_stiffness,
         double friction, double friction_velocity, std::optional<double> thickness, bool with_friction,
         bool lagged_friction, bool self_contact, std::vector<PlaneObstacle> planes, std::vector<MeshObstacle> meshes,
         std::vector<ContactPair> pairs, const NumbersByName& thicknesses, const std::string& law, double damping,
         const nb::dict& surface_scales, double restitution, std::vector<BodySurface> surfaces,
         std::int64_t max_pairs) {
        ContactOptions made{.barrier_distance = barrier_distance,
                            .barrier_stiffness = barrier_stiffness,
                            .adaptive_stiffness = adaptive_stiffness,
                            .friction = friction,
                            .friction_velocity = friction_velocity,
                            .thickness = thickness,
                            .scales = read_scales(surface_scales),
                            .surfaces = std::move(surfaces),
                            .with_friction = with_friction,
                            .lagged_friction = lagged_friction,
                            .self = self_contact,
                            .max_pairs = max_pairs,
                            .planes = std::move(planes),
                            .meshes = std::move(meshes),
                            .pairs = std::move(pairs),
                            .law = law_of(law),
                            .damping = damping,
                            .restitution = restitution};
        for (const auto& [body, value] : thicknesses) made.thicknesses.push_back({body, value});
        new (self) ContactOptions(std::move(made));
      },
      nb::arg("barrier_distance") = defaults.barrier_distance,
      nb::arg("barrier_stiffness") = defaults.barrier_stiffness,
      nb::arg("adaptive_stiffness") = defaults.adaptive_stiffness, nb::arg("friction") = defaults.friction,
      nb::arg("friction_velocity") = defaults.friction_velocity, nb::arg("thickness") = nb::none(),
      nb::arg("with_friction") = defaults.with_friction, nb::arg("lagged_friction") = defaults.lagged_friction,
      nb::arg("self_contact") = defaults.self, nb::arg("planes") = std::vector<PlaneObstacle>{},
      nb::arg("meshes") = std::vector<MeshObstacle>{}, nb::arg("pairs") = std::vector<ContactPair>{},
      nb::arg("thicknesses") = NumbersByName{}, nb::arg("law") = name_of(defaults.law),
      nb::arg("damping") = defaults.damping, nb::arg("surface_scales") = nb::dict(),
      nb::arg("restitution") = defaults.restitution, nb::arg("surfaces") = std::vector<BodySurface>{},
      nb::arg("max_pairs") = defaults.max_pairs,
      R"(Create options.

barrier_distance: gap below which surfaces repel each other, m. barrier_stiffness: Pa. adaptive_stiffness: whether
add_contact computes barrier_stiffness from the stiffness and weight of the bodies. friction: friction coefficient.
friction_velocity: slip velocity below which friction is smoothed, m/s. thickness: thickness of the bodies, m.
with_friction: whether friction terms exist even if friction is 0, for gradients. lagged_friction: whether friction uses
the normal forces at the beginning of the step. self_contact: whether bodies touch themselves. planes, meshes:
obstacles. pairs: values for single pairs. thicknesses: dict from names of bodies to thicknesses, m. law: "barrier";
"penalty", a finite pressure barrier_stiffness (1 - gap/barrier_distance)²; or "impact", sudden changes of the velocities
of vertices that meet planes, in explicit steps. restitution: coefficient of restitution of impacts. damping: of a penalty, s/m; the pressure of
surfaces that approach is multiplied by 1 - damping times the rate of the gap. surface_scales: dict from names of affine
or rigid bodies to scales of their contact surfaces about their centres of mass, or to pairs (scale, centre in m).
surfaces: triangles that replace the boundaries of bodies. max_pairs: maximum number of candidate pairs of a kind on a
rank; 0 for the default.)");
  bind_values_of_options(bound);
}

}  // namespace

void bind_contact(nb::module_& module) {
  bind_rotation(module);
  bind_plane(module);
  bind_mesh_obstacle(module);
  bind_surface(module);
  bind_pair(module);
  bind_options_of_contact(module);
}

}  // namespace diffsim::python
