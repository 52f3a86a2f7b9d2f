// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python classes for scenes of several bodies: bodies, joints and robots.
#include "bodies.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "converted_file.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/io/read_mesh.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/robot.hpp"
#include "diffsim/simulation/scene.hpp"
#include "mesh.hpp"
#include "scene.hpp"
#include "shared_objects.hpp"

namespace diffsim::python {
namespace {

using Vector = std::array<double, 3>;

/// Directors of a body: the vector that gives the direction of all directors, or no value.
struct Directors {
  std::optional<Vector> across;
};

/// Description of a body, from which a mesh is created later: a function that creates the data of the body on a
/// communicator, the placements of the body, the source of the mesh, and the directors of the segments of rods and
/// beams.
struct Body {
  std::function<MeshData(MPI_Comm)> make;
  std::vector<Placement> placements = {};
  BodyRecord record = {};
  std::optional<Directors> directors = {};

  MeshData operator()(MPI_Comm comm) const {
    MeshData data = make(comm);
    for (const Placement& placement : placements) place(data, placement);
    if (directors) add_directors(comm, data, directors->across);
    return data;
  }
};

template <std::size_t N>
std::vector<std::array<int, N>> cells_of(nb::handle object, const std::string& what, std::size_t num_vertices) {
  const ArrayOf<std::int64_t> array = integers(object, what);
  if (array.shape.size() != 2 || array.shape[1] != N)
    throw InputError(what + " must be an array of shape [n, " + std::to_string(N) + "]");
  std::vector<std::array<int, N>> cells(array.shape[0]);
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    if (array.values[i] < 0 || array.values[i] >= static_cast<std::int64_t>(num_vertices))
      throw InputError(what + ": there is no vertex " + std::to_string(array.values[i]));
    cells[i / N][i % N] = static_cast<int>(array.values[i]);
  }
  return cells;
}

std::vector<Vector> points_of(nb::handle object) {
  const ArrayOf<double> array = doubles(object, "vertices");
  if (array.shape.size() != 2 || array.shape[1] != 3) throw InputError("vertices must be an array of shape [n, 3]");
  std::vector<Vector> points(array.shape[0]);
  for (std::size_t i = 0; i < array.values.size(); ++i) points[i / 3][i % 3] = array.values[i];
  return points;
}

}  // namespace

TriangleMesh surface_of(nb::handle vertices, nb::handle triangles) {
  TriangleMesh surface;
  surface.vertices = points_of(vertices);
  surface.triangles = cells_of<3>(triangles, "triangles", surface.vertices.size());
  return surface;
}

namespace {

/// Returns the body of cells of one kind whose mesh `make` creates from arrays.
template <std::size_t N>
Body body_of(nb::handle vertices, nb::handle cells, const std::string& what,
             MeshData (*make)(MPI_Comm, const std::vector<Vector>&, const std::vector<std::array<int, N>>&)) {
  using Arrays = std::pair<std::vector<Vector>, std::vector<std::array<int, N>>>;
  std::vector<Vector> points = points_of(vertices);
  std::vector<std::array<int, N>> numbers = cells_of<N>(cells, what, points.size());
  const auto arrays = std::make_shared<const Arrays>(std::move(points), std::move(numbers));  // shared by all copies
  return {[arrays, make](MPI_Comm comm) { return make(comm, arrays->first, arrays->second); }, {}, record_arrays()};
}

CellKind kind_of(const std::string& name) {
  for (const CellKind kind : {CellKind::tetrahedron, CellKind::triangle, CellKind::segment, CellKind::point})
    if (name == name_of(kind)) return kind;
  throw InputError("cells is '" + name + "'; give tetrahedra, triangles, segments or points");
}

/// Binds the directors of rods and beams.
void bind_directors(nb::class_<Body>& bound) {
  bound.def(
      "with_directors",
      [](const Body& body, std::optional<Vector> director) {
        Body result = body;
        result.directors = Directors{director};
        result.record = record_with_director(body.record, director);
        return result;
      },
      nb::arg("director") = nb::none(),
      R"(Return a copy of a body of segments, each with a director, for the models rod and beam.

A director is perpendicular to its segment and rotates with the cross-section. director: vector [3] whose component
perpendicular to each segment, after all placements of the body, is the direction of the director; None for directors
without twist along each line of segments.)",
      nb::sig("def with_directors(self, director: collections.abc.Sequence[float] | None = None) -> Body"));
}

/// Binds rotors, bodies from files, and placements.
void bind_body_from_file(nb::class_<Body>& bound) {
  bound.def_static(
      "rotor",
      [] {
        return Body{[](MPI_Comm comm) { return rotor_mesh(comm); }, {}, record_rotor()};
      },
      "Create the rotor of a joint with an armature. The name of the body in the mesh must be `Joint.rotor`.");
  bound
      .def_static(
          "from_file",
          [](const std::string& path, double scale, const std::string& cells, bool affine) {
            if (affine)
              return Body{[path, scale](MPI_Comm comm) {
                            TriangleMesh surface;
                            collectively(comm, [&] { surface = read_surface(path, scale); });
                            return affine_body(comm, std::move(surface));
                          },
                          {},
                          record_file(path, scale, CellKind::triangle, true)};
            return Body{[path, scale, kind = kind_of(cells)](MPI_Comm comm) {
                          const ConvertedFile file(comm, path);
                          return read_mesh_data(comm, file.path(), scale, false, 1, kind);
                        },
                        {},
                        record_mesh_file(path, scale, kind_of(cells))};
          },
          nb::arg("path"), nb::arg("scale") = 1.0, nb::arg("cells") = "tetrahedra", nb::arg("affine") = false,
          R"(Create a body whose mesh file is read when TetrahedralMesh.join creates the mesh.

scale: factor that converts the file's coordinates to m. cells: tetrahedra, triangles, segments or points. affine: if
True, `cells` has no effect, and the triangles of the file are the closed surface of an affine body.)")
      .def(
          "place",
          [](const Body& body, nb::handle scale, Vector axis, double angle, Vector translate) {
            Placement placement{.axis = axis, .angle = angle, .translate = translate};
            const std::vector<double> factors = doubles_of_shape(scale, {3}, "scale");
            std::copy(factors.begin(), factors.end(), placement.scale.begin());
            Body placed = body;
            placed.placements.push_back(placement);
            placed.record = record_placed(body.record, placement);
            return placed;
          },
          nb::arg("scale") = 1.0, nb::arg("axis") = Vector{0.0, 0.0, 1.0}, nb::arg("angle") = 0.0,
          nb::arg("translate") = Vector{},
          R"(Return a copy of the body, placed by x -> R S x + translate.

S: scaling by `scale`, a number or [3]. R: rotation by `angle` (rad) about `axis` through the origin. translate: m.)",
          nb::sig("def place(self, scale: object = 1.0, axis: collections.abc.Sequence[float] = [0.0, 0.0, 1.0], "
                  "angle: float = 0.0, translate: collections.abc.Sequence[float] = [0.0, 0.0, 0.0]) -> Body"));
}

/// Binds bodies that are boxes.
void bind_box(nb::class_<Body>& bound) {
  bound
      .def_static(
          "box",
          [](Vector size, std::array<int, 3> cells) {
            return Body{
                [size, cells](MPI_Comm comm) { return box_mesh(comm, size, cells); }, {}, record_box(size, cells)};
          },
          nb::arg("size"), nb::arg("cells"),
          R"(Create a box of cells[0] × cells[1] × cells[2] bricks with six tetrahedra each.

One corner is the origin, and the opposite corner is `size`, [3], in m.)")
      .def_static(
          "cube",
          [](int resolution, double size) {
            return Body{[resolution, size](MPI_Comm comm) { return cube_mesh(comm, resolution, size); },
                        {},
                        record_box({size, size, size}, {resolution, resolution, resolution})};
          },
          nb::arg("resolution") = 10, nb::arg("size") = 1.0,
          R"(Create the cube [0, size]³, in m, of 6·resolution³ tetrahedra.

The sides of the cube are the regions x_min, …, z_max.)");
}

/// Binds bodies whose vertices and cells are arrays.
void bind_body_of_arrays(nb::class_<Body>& bound) {
  bound
      .def_static(
          "solid", [](nb::handle vertices, nb::handle tets) { return body_of<4>(vertices, tets, "tets", &solid_mesh); },
          nb::arg("vertices"), nb::arg("tets"),
          "Create a body of tetrahedra. vertices: [vertices, 3], in m. tets: vertex numbers, [tetrahedra, 4].",
          nb::sig("def solid(vertices: object, tets: object) -> Body"))
      .def_static(
          "surface",
          [](nb::handle vertices, nb::handle triangles) {
            return body_of<3>(vertices, triangles, "triangles", &surface_mesh);
          },
          nb::arg("vertices"), nb::arg("triangles"),
          R"(Create a body of triangles, for shells and cloth. A body without a material is an obstacle.

vertices: [vertices, 3], in m. triangles: vertex numbers, [triangles, 3].)",
          nb::sig("def surface(vertices: object, triangles: object) -> Body"))
      .def_static(
          "segments",
          [](nb::handle vertices, nb::handle segments) {
            return body_of<2>(vertices, segments, "segments", &segment_mesh);
          },
          nb::arg("vertices"), nb::arg("segments"),
          R"(Create a body of segments, for springs and ropes and, after with_directors, for rods and beams.

vertices: [vertices, 3], in m. segments: vertex numbers, [segments, 2].)",
          nb::sig("def segments(vertices: object, segments: object) -> Body"))
      .def_static(
          "affine",
          [](nb::handle vertices, nb::handle triangles) {
            const auto surface = std::make_shared<const TriangleMesh>(surface_of(vertices, triangles));
            return Body{[surface](MPI_Comm comm) { return affine_body(comm, *surface); },
                        {},
                        record_affine([surface](MPI_Comm comm) {
                          return surface_mesh(comm, surface->vertices, surface->triangles);
                        })};
          },
          nb::arg("vertices"), nb::arg("triangles"),
          R"(Create an affine body from its closed surface. The body is rigid if its material has the model "rigid".

vertices: [vertices, 3], in m. triangles: vertex numbers, [triangles, 3].)",
          nb::sig("def affine(vertices: object, triangles: object) -> Body"));
}

void bind_body(nb::module_& module) {
  nb::class_<Body> bound(module, "Body", R"(Body of a scene with several bodies, for TetrahedralMesh.join.

Arrays must be the same on all ranks.)");
  bind_box(bound);
  bind_body_of_arrays(bound);
  bind_body_from_file(bound);
  bind_directors(bound);
}

void bind_joint(nb::module_& module) {
  nb::class_<Joint>(module, "Joint", "Joint between two rigid bodies, or between a rigid body and the world.")
      .def(
          "__init__",
          [](Joint* self, const std::string& name, const std::string& kind, const std::string& body,
             const std::string& other, Vector point, Vector axis, double armature, const std::string& follows,
             double ratio, double coordinate) {
            new (self) Joint{.name = name,
                             .kind = joint_kind(kind),
                             .body = body,
                             .other = other,
                             .point = point,
                             .axis = axis,
                             .coordinate = coordinate,
                             .armature = armature,
                             .follows = follows,
                             .ratio = ratio};
          },
          nb::arg("name"), nb::arg("kind"), nb::arg("body"), nb::arg("other") = "", nb::arg("point") = Vector{},
          nb::arg("axis") = Vector{0.0, 0.0, 1.0}, nb::arg("armature") = 0.0, nb::arg("follows") = "",
          nb::arg("ratio") = 1.0, nb::arg("coordinate") = 0.0,
          R"(Create a joint.

kind: fixed, revolute, prismatic, spherical, universal or planar. body, other: names of the two bodies; an empty `other`
means the world. point (m) and axis are given for the rest positions of the bodies; a scene that joins the joint has the parameters
joint_point:NAME and joint_axis:NAME, except for fixed joints, and for the axis of a spherical joint. armature: inertia of a motor's rotor
with respect to the coordinate of a revolute (kg m²) or prismatic (kg) joint. A joint with an armature needs a body
Body.rotor() with the name `rotor` in the mesh, and adds the parameter joint_armature:NAME. follows: name of a joint
whose coordinate this joint follows: the coordinate changes by ratio times the change of that joint's coordinate. A
joint that follows another joint adds the parameter joint_ratio:NAME. coordinate: coordinate of the joint at the rest
positions, rad or m.)")
      .def_ro("name", &Joint::name, "Name of the joint.")
      .def_prop_ro(
          "kind", [](const Joint& joint) { return joint_kinds()[static_cast<std::size_t>(joint.kind)]; },
          "Kind of the joint.")
      .def_ro("body", &Joint::body, "Name of the first body.")
      .def_ro("other", &Joint::other, "Name of the other body; empty for the world.")
      .def_ro("coordinate", &Joint::coordinate, "Coordinate of the joint at the rest positions, rad or m.")
      .def_ro("armature", &Joint::armature, "Inertia of the rotor, kg m² or kg; 0 without a rotor.")
      .def_ro("follows", &Joint::follows, "Name of the joint that this joint follows; empty if it follows none.")
      .def_ro("ratio", &Joint::ratio, "Ratio of the changes of the two coordinates.")
      .def_prop_ro("rotor", &Joint::rotor, "Name of the body that represents the rotor.");
}

/// Binds the bodies, materials, joints and warnings of a robot.
void bind_parts_of_robot(nb::class_<Robot>& bound) {
  bound
      .def_prop_ro(
          "bodies",
          [](const Robot& robot) {
            std::map<std::string, Body> bodies;
            for (const NamedMesh& body : robot.bodies)
              bodies.emplace(body.name, Body{[data = body.data](MPI_Comm) { return data; }, {}, record_arrays()});
            return bodies;
          },
          "Bodies by name, for TetrahedralMesh.join.")
      .def_ro("materials", &Robot::materials, "Rigid materials, one for each body that is not a rotor.")
      .def_prop_ro(
          "joints",
          [](const Robot& robot) {
            std::vector<std::string> names;
            for (const Joint& joint : robot.joints) names.push_back(joint.name);
            return names;
          },
          "Names of the joints.")
      .def(
          "initial_velocity",
          [](const Robot& robot, const MeshHandle& mesh) {
            std::vector<double> values(3 * static_cast<std::size_t>(mesh.get().num_owned_vertices()), 0.0);
            const std::size_t count = values.size() / 3;
            {
              const LibraryScope scope;
              add_velocities(mesh.get(), robot, values);
            }
            return to_numpy(std::move(values), {count, 3});
          },
          nb::arg("mesh"),
          "Return the initial velocities of the mesh's vertices, [owned vertices, 3], m/s; 0 outside the robot. "
          "Collective.",
          nb::sig("def initial_velocity(self, mesh: TetrahedralMesh) -> numpy.ndarray"))
      .def_ro("warnings", &Robot::warnings, "Warnings about parts of the URDF file that have no effect.");
}

void bind_robot(nb::module_& module) {
  nb::class_<Robot> bound(module, "Robot", R"(Rigid links and joints of a robot.

The link LINK of robot NAME is the body NAME.LINK, and the joint JOINT is called NAME/JOINT.)");
  bound.def_static(
      "from_urdf",
      [](const std::string& path, const std::string& name, bool fixed_base,
         const std::map<std::string, double>& coordinates, const std::map<std::string, double>& velocities, Vector axis,
         double angle, Vector translate, bool with_surfaces, const std::map<std::string, double>& armatures,
         nb::object comm) {
        const MPI_Comm on = communicator(comm);
        const RobotOptions options{fixed_base,    coordinates,
                                   velocities,    {.axis = axis, .angle = angle, .translate = translate},
                                   with_surfaces, armatures};
        const LibraryScope scope;
        return read_robot(on, path, name, options);
      },
      nb::arg("path"), nb::arg("name"), nb::kw_only(), nb::arg("fixed_base") = true,
      nb::arg("coordinates") = std::map<std::string, double>{}, nb::arg("velocities") = std::map<std::string, double>{},
      nb::arg("axis") = Vector{0.0, 0.0, 1.0}, nb::arg("angle") = 0.0, nb::arg("translate") = Vector{},
      nb::arg("with_surfaces") = false, nb::arg("armatures") = std::map<std::string, double>{},
      nb::arg("comm") = nb::none(),
      R"(Read a robot from a URDF file. Collective.

fixed_base: whether the base link is part of the world. coordinates: initial coordinates (rad or m) by names of joints
in the file; default 0. velocities: initial velocities (rad/s or m/s) by names of joints, for `initial_velocity`;
default 0. The base is rotated by `angle` (rad) about `axis` through the origin, and then moved by `translate` (m).
with_surfaces: whether to read collision shapes, for contact. armatures: inertias of rotors (kg m² or kg) by names of
joints; the rotors are further bodies of the robot.)");
  bind_parts_of_robot(bound);
}

/// Sets the work of each body, from the models of the bodies' materials by name of the body. Bodies without a model are
/// solids, rigid bodies or obstacles. Throws InputError if there is no body of a name in `models`.
void set_work(std::vector<NamedMesh>& bodies, const std::map<std::string, std::string>& models, Integrator integrator,
              bool contact) {
  for (NamedMesh& body : bodies) {
    const auto model = models.find(body.name);
    body.data.work = work_of_model(model == models.end() ? "" : model->second, integrator, contact);
  }
  for (const auto& [name, model] : models)
    if (std::none_of(bodies.begin(), bodies.end(), [&](const NamedMesh& body) { return body.name == name; }))
      throw InputError("models: there is no body '" + name + "'; give the models of bodies in `bodies`");
}

void bind_join(nb::module_& module) {
  nb::borrow<nb::class_<MeshHandle>>(module.attr("TetrahedralMesh"))
      .def_static(
          "join",
          [](const nb::dict& bodies, nb::object comm, const std::map<std::string, std::string>& models, bool contact,
             const DifferentiableSolver* solver) {
            const MPI_Comm on = communicator(comm);
            const auto named = read_on_all_ranks(on, [&] {
              std::vector<std::pair<std::string, Body>> read;
              for (const auto [name, body] : bodies) {
                Body* one = nullptr;
                if (!nb::try_cast(body, one) || !one) throw InputError("the values of `bodies` must be Body objects");
                read.emplace_back(nb::cast<std::string>(name), *one);
              }
              return read;
            });
            std::shared_ptr<TetrahedralMesh> mesh;
            {
              const LibraryScope scope;
              std::vector<std::string> names;
              for (const auto& [name, body] : named) names.push_back(name);
              require_same_on_all_ranks(on, "names of bodies, models, contact", names, models, contact);
              std::vector<NamedMesh> parts;
              for (const auto& [name, body] : named) parts.push_back({name, body(on)});
              set_work(parts, models, (solver ? *solver : DifferentiableSolver{}).integrator, contact);
              mesh = share_on_all_ranks(on, std::make_shared<TetrahedralMesh>(on, join_bodies(on, std::move(parts))));
            }
            auto* handle = new MeshHandle(std::move(mesh));
            handle->comm = std::move(comm);
            std::vector<NamedRecord> records;
            for (const auto& [name, body] : named) records.push_back({name, body.record, body.make});
            handle->record = record_mesh(records);
            return handle;
          },
          nb::arg("bodies"), nb::arg("comm") = nb::none(), nb::kw_only(),
          nb::arg("models") = std::map<std::string, std::string>{}, nb::arg("contact") = false,
          nb::arg("solver") = nb::none(),
          R"(Create the mesh of several bodies, from a dict that maps names to Body objects. Collective.

The vertices and cells are in the order of the bodies. Region R of a body is called BODY/R; BODY/all is the whole
body. The other arguments only affect the distribution of the cells over the ranks, which balances the computational
work. models: dict from names of bodies to the models of the bodies' materials, such as "shell"; needed for bodies of
triangles, segments and points that are not obstacles. contact: whether the scene will have contact. solver: time
stepper of the scene; None for the default.)",
          nb::sig("def join(bodies: dict, comm: object | None = None, *, models: dict[str, str] = {}, "
                  "contact: bool = False, solver: DifferentiableSolver | None = None) -> TetrahedralMesh"))
      .def_prop_ro(
          "body_names",
          [](const MeshHandle& mesh) {
            std::vector<std::string> names;
            for (const MeshBody& body : mesh.get().bodies()) names.push_back(body.name);
            return names;
          },
          "Names of the bodies; empty for a mesh of one body without a name.");
}

/// Binds attachments of bodies.
void bind_attachment(nb::class_<SceneHandle>& scene) {
  scene.def(
      "attach",
      [](SceneHandle& handle, const std::string& region, const std::string& to, double stiffness) {
        const LibraryScope scope;
        require_same_on_all_ranks(handle.shared()->get().mesh()->comm(), "region, to, stiffness", region, to,
                                  stiffness);
        std::string name = handle.shared()->change().attach(region, to, stiffness);
        handle.shared()->record().attach(region, to, stiffness);
        return name;
      },
      nb::arg("region"), nb::arg("to"), nb::arg("stiffness"),
      R"(Attach each vertex of a region by a spring to the point of the region `to` with the same rest position.

stiffness: spring constant, N/m. Return the name of the stiffness parameter.)");
}

void drive(SceneHandle& handle, const std::string& joint, nb::handle torque, nb::handle target, double stiffness,
           double damping, double friction, double friction_velocity, std::array<double, 2> limits,
           double limit_stiffness, double limit_distance) {
  const MPI_Comm comm = handle.shared()->get().mesh()->comm();
  const JointDrive given = read_on_all_ranks(comm, [&] {
    return JointDrive{.torque = doubles(torque, "torque").values,
                      .target = doubles(target, "target").values,
                      .stiffness = stiffness,
                      .damping = damping,
                      .friction = friction,
                      .friction_velocity = friction_velocity,
                      .limits = limits,
                      .limit_stiffness = limit_stiffness,
                      .limit_distance = limit_distance};
  });
  const LibraryScope scope;
  require_same_on_all_ranks(comm,
                            "joint, torque, target, stiffness, damping, friction, friction_velocity, limits, "
                            "limit_stiffness, limit_distance",
                            joint, given.torque, given.target, stiffness, damping, friction, friction_velocity, limits,
                            limit_stiffness, limit_distance);
  handle.shared()->change().drive(joint, given);
  handle.shared()->record().drive(joint, given);
}

void bind_joints_of_scene(nb::module_& module) {
  auto scene = nb::borrow<nb::class_<SceneHandle>>(module.attr("DifferentiableScene"));
  scene
      .def(
          "join",
          [](SceneHandle& handle, const Joint& joint) {
            const LibraryScope scope;
            require_same_on_all_ranks(handle.shared()->get().mesh()->comm(), "joint: name, body, other, follows",
                                      joint.name, joint.body, joint.other, joint.follows);
            handle.shared()->change().join(joint);
            handle.shared()->record().join(joint);
          },
          nb::arg("joint"), "Add a joint between a rigid body and another rigid body or the world.")
      .def(
          "drive", &drive, nb::arg("joint"), nb::arg("torque") = 0.0, nb::arg("target") = 0.0,
          nb::arg("stiffness") = 0.0, nb::arg("damping") = 0.0, nb::arg("friction") = 0.0,
          nb::arg("friction_velocity") = JointDrive{}.friction_velocity, nb::arg("limits") = JointDrive{}.limits,
          nb::arg("limit_stiffness") = 0.0, nb::arg("limit_distance") = 0.0,
          R"(Drive a revolute or prismatic joint by torque + stiffness (target - q) - damping dq/dt, friction and limits.

q: coordinate of the joint, rad or m. torque (N m or N) and target (rad or m): a number, or one per step. stiffness:
N m/rad or N/m. damping: N m s/rad or N s/m. friction (N m or N) is constant above friction_velocity (rad/s or m/s).
limits: lower and upper limit of q; a barrier of limit_stiffness (N m or N/m) begins at the distance limit_distance from
a limit (rad or m; 0 means 1 % of the range). Adds the parameters joint_torque:NAME, joint_target:NAME,
joint_stiffness:NAME, joint_damping:NAME, joint_friction:NAME and joint_limit_stiffness:NAME.)",
          nb::sig("def drive(self, joint: str, torque: object = 0.0, target: object = 0.0, stiffness: float = 0.0, "
                  "damping: float = 0.0, friction: float = 0.0, friction_velocity: float = 0.01, "
                  "limits: tuple[float, float] = (-math.inf, math.inf), limit_stiffness: float = 0.0, "
                  "limit_distance: float = 0.0) -> None"))
      .def(
          "add_joints",
          [](SceneHandle& handle, const Robot& robot, bool with_drives) {
            Robot added = robot;
            if (!with_drives) added.drives.clear();
            const LibraryScope scope;
            std::vector<std::string> names;
            for (const Joint& joint : robot.joints) names.push_back(joint.name);
            require_same_on_all_ranks(handle.shared()->get().mesh()->comm(), "names of joints, with_drives", names,
                                      with_drives);
            add_joints(handle.shared()->change(), added);
            if (!added.joints.empty())
              handle.shared()->record().refuse("the robot with the joint '" + added.joints.front().name + "'");
          },
          nb::arg("robot"), nb::arg("with_drives") = true,
          R"(Add the joints of a robot whose bodies are in the mesh.

with_drives: whether to add the damping, friction and limits that the URDF file gives. If False, `drive` can add other
drives.)");
  bind_attachment(scene);
}

}  // namespace

void bind_bodies(nb::module_& module) {
  bind_body(module);
  bind_joint(module);
  bind_robot(module);
  bind_join(module);
  bind_joints_of_scene(module);
}

}  // namespace diffsim::python
