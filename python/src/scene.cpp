// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "scene.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "mesh.hpp"
#include "sensor.hpp"
#include "shared_objects.hpp"

namespace diffsim::python {
namespace {

using Vector = std::array<double, 3>;
using Axes = std::array<bool, 3>;

MPI_Comm comm_of(const SceneHandle& handle) { return handle.shared()->get().mesh()->comm(); }

std::vector<double> per_owned_vertex(const SceneHandle& handle, nb::handle values, const char* what) {
  const auto owned = static_cast<std::size_t>(handle.shared()->get().mesh()->num_owned_vertices());
  return read_on_all_ranks(comm_of(handle), [&] { return doubles_of_shape(values, {owned, 3}, what); });
}

/// Returns the values of an array-like object on every rank. Collective.
std::vector<double> read_numbers(const SceneHandle& handle, nb::handle values, const std::string& what) {
  return read_on_all_ranks(comm_of(handle), [&] { return doubles(values, what).values; });
}

/// Calls body(scene), which changes the scene, in a LibraryScope. `arguments`: arguments of the caller, which must be
/// the same on all ranks; `names`: their names.
template <class Body, class... Arguments>
auto change(SceneHandle& handle, const Body& body, const char* names, const Arguments&... arguments) {
  const LibraryScope scope;
  require_same_on_all_ranks(comm_of(handle), names, arguments...);
  return body(handle.shared()->change());
}

void bind_motions(nb::class_<SceneHandle>& scene) {
  scene
      .def(
          "fix",
          [](SceneHandle& handle, const std::string& region, Axes axes) {
            change(
                handle, [&](DifferentiableScene& of) { of.fix(region, axes); }, "region, axes", region, axes);
            handle.shared()->record().fix(region, axes);
          },
          nb::arg("region"), nb::arg("axes") = Axes{true, true, true},
          "Fix components of the positions of a region's vertices. axes: whether x, y and z are fixed.")
      .def(
          "clamp",
          [](SceneHandle& handle, const std::string& region, Axes axes) {
            change(
                handle, [&](DifferentiableScene& of) { of.clamp(region, axes); }, "region, axes", region, axes);
            handle.shared()->record().fix(region, axes, true);
          },
          nb::arg("region"), nb::arg("axes") = Axes{true, true, true},
          R"(Fix a region's vertices, the slopes of shells along edges of the region, and the tangents of rods.

axes: all True, or True for one axis only, which is the normal of a plane of symmetry.)")
      .def(
          "move",
          [](SceneHandle& handle, const std::string& region, Vector axis, Vector origin, nb::handle angular_velocity,
             nb::handle velocity) {
            const std::vector<double> omega = read_numbers(handle, angular_velocity, "angular_velocity");
            const std::vector<double> v = read_numbers(handle, velocity, "velocity");
            change(
                handle, [&](DifferentiableScene& of) { of.move(region, axis, origin, omega, v); },
                "region, axis, origin, angular_velocity, velocity", region, axis, origin, omega, v);
            handle.shared()->record().move(region, axis, origin);
          },
          nb::arg("region"), nb::arg("axis") = Vector{0.0, 0.0, 1.0}, nb::arg("origin") = Vector{},
          nb::arg("angular_velocity") = 0.0, nb::arg("velocity") = Vector{},
          R"(Move the vertices of a region as a rigid body.

The region rotates at angular_velocity (a number or [steps], rad/s) about `axis` through `origin` (m) and translates at
velocity ([3] or [steps, 3], m/s); origin moves with the region. Adds the parameters angular_velocity:REGION and
velocity:REGION.)")
      .def(
          "set_initial_displacement",
          [](SceneHandle& handle, nb::handle displacement) {
            const std::vector<double> values = per_owned_vertex(handle, displacement, "displacement");
            const LibraryScope scope;
            handle.shared()->change().set_initial_displacement(values);
          },
          nb::arg("displacement"),
          "Set the initial positions to the rest positions plus a displacement, [owned vertices, 3], m.")
      .def(
          "set_initial_velocity",
          [](SceneHandle& handle, nb::handle velocity) {
            const std::vector<double> values = per_owned_vertex(handle, velocity, "velocity");
            const LibraryScope scope;
            handle.shared()->change().set_initial_velocity(values);
          },
          nb::arg("velocity"), "Set the initial velocities, [owned vertices, 3], m/s.");
}

std::string add_nodal_load(SceneHandle& handle, nb::handle load) {
  const auto owned = static_cast<std::size_t>(handle.shared()->get().mesh()->num_owned_vertices());
  std::size_t num_steps = 1;
  const std::vector<double> values = read_on_all_ranks(comm_of(handle), [&] {
    ArrayOf<double> array = doubles(load, "load");
    if (array.shape.size() < 3) return doubles_of_shape(load, {owned, 3}, "load");
    if (array.shape.size() > 3 || array.shape[1] != owned || array.shape[2] != 3)
      throw InputError("load must have the shape [owned vertices, 3] or [steps, owned vertices, 3]");
    num_steps = array.shape[0];
    return std::move(array.values);
  });
  std::string name = change(
      handle, [&](DifferentiableScene& of) { return of.add_nodal_load(values); }, "number of steps of load", num_steps);
  handle.shared()->record().load("nodal_load", "all");
  return name;
}

void bind_loads(nb::class_<SceneHandle>& scene) {
  scene
      .def(
          "add_traction",
          [](SceneHandle& handle, const std::string& region, nb::handle traction) {
            const std::vector<double> values = read_numbers(handle, traction, "traction");
            std::string name = change(
                handle, [&](DifferentiableScene& of) { return of.add_traction(region, values); }, "region, traction",
                region, values);
            handle.shared()->record().load("traction", region);
            return name;
          },
          nb::arg("region"), nb::arg("traction"),
          R"(Add a dead load per rest area to the faces of a region. traction: [3] or [steps, 3], in Pa.

Return the name of the new parameter.)")
      .def(
          "add_pressure",
          [](SceneHandle& handle, const std::string& region, nb::handle pressure) {
            const std::vector<double> values = read_numbers(handle, pressure, "pressure");
            std::string name = change(
                handle, [&](DifferentiableScene& of) { return of.add_pressure(region, values); }, "region, pressure",
                region, values);
            handle.shared()->record().load("pressure", region);
            return name;
          },
          nb::arg("region"), nb::arg("pressure"),
          R"(Add a follower pressure to the faces of a region. pressure: a number or [steps], in Pa.

The pressure acts against the normal, which points out of tetrahedra. Return the name of the new parameter.)")
      .def("add_nodal_load", &add_nodal_load, nb::arg("load"),
           R"(Add forces on vertices. load: [owned vertices, 3] or [steps, owned vertices, 3], in N.

Return the name of the new parameter.)",
           nb::sig("def add_nodal_load(self, load: object) -> str"))
      .def(
          "set_control",
          [](SceneHandle& handle, const std::string& name, nb::handle values) {
            const std::vector<double> entries = read_numbers(handle, values, name);
            change(
                handle, [&](DifferentiableScene& of) { of.set_control(name, entries); }, "parameter, values", name,
                entries);
          },
          nb::arg("parameter"), nb::arg("values"),
          "Give a global parameter one value per step, for example gravity [steps, 3] or damping [steps].");
}

void bind_moment_and_wind(nb::class_<SceneHandle>& scene) {
  scene
      .def(
          "add_moment",
          [](SceneHandle& handle, const std::string& region, nb::handle moment) {
            const std::vector<double> values = read_numbers(handle, moment, "moment");
            std::string name = change(
                handle, [&](DifferentiableScene& of) { return of.add_moment(region, values); }, "region, moment",
                region, values);
            handle.shared()->record().load("moment", region);
            return name;
          },
          nb::arg("region"), nb::arg("moment"),
          R"(Add a moment to each rod segment of a region. moment: [3] or [steps, 3], in N m.

Return the name of the new parameter.)")
      .def(
          "add_wind",
          [](SceneHandle& handle, const std::string& region, nb::handle wind, double drag) {
            const std::vector<double> values = read_numbers(handle, wind, "wind");
            std::string name = change(
                handle, [&](DifferentiableScene& of) { return of.add_wind(region, values, drag); },
                "region, wind, drag", region, values, drag);
            handle.shared()->record().load("wind", region, drag);
            return name;
          },
          nb::arg("region"), nb::arg("wind"), nb::arg("drag"),
          R"(Add the drag of moving air on the faces of a region. wind: velocity of the air, [3] or [steps, 3], in m/s.

drag: air density times drag coefficient, kg/m³. Adds the parameters wind:REGION and wind_drag:REGION. Return the name
of the first parameter.)");
}

void bind_sensors(nb::class_<SceneHandle>& scene) {
  using Point = std::optional<Vector>;
  scene.def(
      "sensor",
      [](SceneHandle& handle, const std::string& type, const std::string& region, Point point, const std::string& body,
         std::optional<std::string> to_region, Point to_point, const std::string& to_body, Vector about, double power,
         const std::optional<std::array<std::string, 2>>& between) {
        std::shared_ptr<Sensor> sensor;
        {
          const LibraryScope scope;
          require_same_on_all_ranks(comm_of(handle),
                                    "type, region, point, body, to_region, to_point, to_body, about, power, between",
                                    type, region, point, body, to_region, to_point, to_body, about, power, between);
          SensorSpec spec{
              .quantity = sensor_quantity_named(type), .place = {region, point, body}, .about = about, .power = power};
          if (between) spec.between = *between;
          if (!to_body.empty() && !to_point) throw InputError("to_body needs to_point");
          if (to_region || to_point) spec.other = SensorPlace{to_region.value_or("all"), to_point, to_body};
          sensor = handle.shared()->use().sensor(spec);
        }
        return new SensorHandle(std::move(sensor), handle.shared());
      },
      nb::arg("type"), nb::kw_only(), nb::arg("region") = "all", nb::arg("point") = nb::none(), nb::arg("body") = "",
      nb::arg("to_region") = nb::none(), nb::arg("to_point") = nb::none(), nb::arg("to_body") = "",
      nb::arg("about") = Vector{}, nb::arg("power") = 8.0, nb::arg("between") = nb::none(),
      R"(Return a sensor. Collective.

type: position, displacement, velocity, acceleration, distance, center_of_mass, momentum, angular_momentum,
kinetic_energy, volume, strain, stress, von_mises, work, reaction, moment, contact_force, friction_force or
contact_pressure. region: name of the region at which the sensor measures. point: rest position of a material point
inside a tetrahedron, [3], m, instead of a region. body: body that contains the point; needed if the mesh has several
bodies. to_region, or to_point and to_body: other end of a distance. about: reference point of moment and
angular_momentum, [3], m. power: exponent of the power mean of von_mises. between: two names of bodies, obstacles or
regions, for contact_force (force of the second side on the first side), friction_force and contact_pressure; the second
name may be all. Create sensors after all constraints and contact have been added.)");
}

void bind_save(nb::class_<SceneHandle>& scene) {
  scene.def(
      "save",
      [](SceneHandle& handle, nb::handle path, std::optional<int> num_steps) {
        const std::string to = read_path(comm_of(handle), path);
        const LibraryScope scope;
        require_same_on_all_ranks(comm_of(handle), "path, num_steps", to, num_steps);
        handle.shared()->record().save(handle.shared()->use(), to, num_steps);
      },
      nb::arg("path"), nb::arg("num_steps") = nb::none(),
      R"(Write the scene, with its present parameters and initial state, as a scene file. Collective.

path: path of the YAML file. Meshes from arrays, surfaces, and values per cell or vertex are written to files whose
names begin with that of the scene file. num_steps: number of steps in the scene file; None for the number in the file
from which the scene was read, or the number of steps of parameters with a value for each step. The scene is created a
second time, and compared. Raises an InputError that names a part, an option or a parameter if no scene file can
describe the scene.)",
      nb::sig("def save(self, path: object, num_steps: int | None = None) -> None"));
}

/// Binds the mesh and the options of contact.
void bind_parts(nb::class_<SceneHandle>& scene) {
  scene
      .def_prop_ro(
          "mesh",
          [](const SceneHandle& handle) {
            auto* mesh = new MeshHandle(handle.shared()->mesh());
            mesh->comm = nb::none();
            mesh->record = handle.shared()->record().mesh();
            return mesh;
          },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>(),
          "Mesh of all bodies. The attribute `comm` of this object is None.")
      .def_prop_ro(
          "contact", [](const SceneHandle& handle) { return handle.shared()->contact(); },
          R"(Copy of the options of contact, or None for a scene without contact.

If a scene file reads the triangles of an obstacle from another file, the copy of this obstacle has no triangles. The
surfaces of bodies of a scene file are left out.)");
}

/// Binds the constructor.
void bind_constructor(nb::class_<SceneHandle>& scene) {
  scene.def(
      "__init__",
      [](SceneHandle* self, const MeshHandle& mesh, nb::handle materials, const DifferentiableSolver* solver) {
        const MPI_Comm comm = mesh.get().comm();
        const Materials list = read_on_all_ranks(comm, [&] { return materials_of(materials); });
        std::shared_ptr<SharedScene> made;
        {
          const LibraryScope scope;
          const DifferentiableSolver options = solver ? *solver : DifferentiableSolver{};
          made = std::make_shared<SharedScene>(
              share_on_all_ranks(comm, std::make_shared<DifferentiableScene>(mesh.shared(), list, options)),
              SceneRecord(mesh.record, options));
        }
        new (self) SceneHandle(std::move(made));
      },
      nb::arg("mesh"), nb::arg("materials"), nb::arg("solver") = nb::none(), nb::keep_alive<1, 2>(),
      "Create a scene. materials: a material or a list; each needs a density. solver: time stepper; None for the "
      "default.",
      nb::sig("def __init__(self, mesh: TetrahedralMesh, materials: object, "
              "solver: DifferentiableSolver | None = None) -> None"));
}

}  // namespace

void SharedScene::require_idle() const {
  require_no_sweep();
  if (num_edits_ > 0)
    throw Error("a block of parameters.edit(…) must not use the simulator or the scene; end the block first",
                ErrorKind::input);
}

void SharedScene::require_no_sweep() const {
  if (in_sweep_)
    throw Error(
        "a loss, an observer or a sensor must not use its own simulator or scene, apart from the state that is passed",
        ErrorKind::input);
}

Materials materials_of(nb::handle object) {
  DifferentiableMaterial* one = nullptr;
  if (nb::try_cast(object, one) && one) return *one;
  Materials materials;
  if (!nb::isinstance<nb::sequence>(object))
    throw InputError("a material must be a DifferentiableMaterial or a list of them");
  for (const nb::handle item : object) {
    if (!nb::try_cast(item, one) || !one) throw InputError("a list of materials contains something else");
    materials.push_back(*one);
  }
  return materials;
}

void bind_scene(nb::module_& module) {
  nb::class_<SceneHandle> scene(module, "DifferentiableScene",
                                R"(Simulated bodies: mesh, materials, constraints, loads, contact and time stepper.

Every member function is collective. Add loads and contact before the first step.)");
  bind_constructor(scene);
  scene
      .def_prop_ro(
          "parameters", [](const SceneHandle& handle) { return new ParametersHandle(handle.shared()); },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>(), "Values of all parameters by name.")
      .def_prop_ro(
          "rest_positions",
          [](const SceneHandle& handle) {
            const auto& x = handle.shared()->get().mesh()->rest_positions();
            return to_numpy(x, {x.size() / 3, 3});
          },
          "Copy of the rest positions of the mesh, [local vertices, 3], in m.",
          nb::sig("def rest_positions(self) -> numpy.ndarray"))
      .def(
          "add_contact",
          [](SceneHandle& handle, const ContactOptions& options) {
            const LibraryScope scope;
            require_same_on_all_ranks(comm_of(handle),
                                      "barrier_distance, barrier_stiffness, friction, numbers of planes, meshes and "
                                      "pairs",
                                      options.barrier_distance, options.barrier_stiffness, options.friction,
                                      options.planes.size(), options.meshes.size(), options.pairs.size());
            handle.shared()->change().add_contact(options);
            handle.shared()->set_contact(options);
            handle.shared()->record().contact(options);
          },
          nb::arg("options"), "Add contact. Call this function at most once, after gravity is set.")
      .def(
          "stable_substep",
          [](SceneHandle& handle) {
            const LibraryScope scope;
            return handle.shared()->change().stable_substep();
          },
          "Return a substep (s) at which small motions about rest are stable; infinity for implicit integrators.");
  bind_save(scene);
  bind_motions(scene);
  bind_loads(scene);
  bind_moment_and_wind(scene);
  bind_sensors(scene);
  bind_parts(scene);
  bind_feedback(module, scene);
  bind_link(module, scene);
  bind_force_term(module, scene);
  bind_sensor_functions(module, scene);
}

}  // namespace diffsim::python
