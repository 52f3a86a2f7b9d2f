// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/setup.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "app/inputs.hpp"
#include "app/load_types.hpp"
#include "app/objective_types.hpp"
#include "app/scene_sections.hpp"
#include "app/set_values.hpp"
#include "app/text_file.hpp"
#include "contact/obstacles.hpp"
#include "contact/parameters.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/elastic/impl/elastic_term.hpp"
#include "diffsim/io/read_mesh.hpp"
#include "diffsim/mesh/construction.hpp"
#include "dynamics/time/explicit_model.hpp"
#include "mesh/affine_body.hpp"
#include "mesh/bodies.hpp"
#include "mesh/boundary_mesh.hpp"
#include "mesh/cell_model.hpp"
#include "mesh/directors.hpp"
#include "mesh/elevate.hpp"
#include "mesh/triangle_blocks.hpp"
#include "simulation/contact_groups.hpp"

namespace diffsim::app {
void check_regions(const Scene& scene, const TetrahedralMesh& mesh) {
  for (const MaterialEntry& material : scene.materials) {
    if (!material.region) continue;
    const Region& region = find_region(mesh, *material.region);
    const CellKind kind = material.cells ? material.cells->cells : CellKind::tetrahedron;
    if (sum_over_ranks(static_cast<std::int64_t>(region.cells_of(kind).size()), mesh.comm()) > 0) continue;
    if (material.cells)
      material.region->place.fail("region '" + material.region->name + "' has no " + name_of(kind) +
                                  "; name a group of such cells, a shape that contains whole cells, or all");
    else
      material.region->place.fail("region '" + material.region->name +
                                  "' has no cells; name a volume group, a shape that contains whole cells, or all");
  }
  for (const BoundaryEntry& entry : scene.boundary) {
    find_region(mesh, entry.region);
    if (entry.to) find_region(mesh, *entry.to);
  }
  for (const SensorEntry& sensor : scene.sensors)
    for (const RegionName& region : sensor.regions) find_region(mesh, region);
  for (const ObjectiveEntry& objective : scene.objectives)
    for (const RegionName& region : objective.function->regions()) find_region(mesh, region);
  for (const ParameterEntry& parameter : scene.parameters)
    if (parameter.region) find_region(mesh, *parameter.region);
}

namespace {

bool asked_per_step(const Scene& scene, const std::string& name, const std::string& region = "") {
  return std::any_of(scene.parameters.begin(), scene.parameters.end(), [&](const ParameterEntry& entry) {
    return entry.is_by_step() && entry.name == name && (region.empty() || entry.region->name == region);
  });
}

bool asked(const Scene& scene, const std::string& name) {
  return std::any_of(scene.parameters.begin(), scene.parameters.end(),
                     [&](const ParameterEntry& entry) { return entry.name == name; });
}

/// Creates the material of cells other than tetrahedra. The material has all values that the scene gives. A parameter
/// that is an unknown, but has no value in the scene, is set to the default value or, without a default, to the value
/// in the rest shape. Values are per step if the unknown is per step.
DifferentiableMaterial make_cell_material(const Scene& scene, const MaterialEntry& entry, const TetrahedralMesh& mesh) {
  DifferentiableMaterial material(entry.model, {}, entry.region->name, false, entry.law);
  for (const ParameterSpec& spec : entry.cells->parameters) {
    const std::string name(spec.name);
    const std::optional<CellKind> kind =
        spec.home == ParameterHome::vertices ? std::nullopt : std::optional(entry.cells->cells);
    StepValues values;
    if (const auto given = entry.values.find(name); given != entry.values.end())
      values = load_numbers(mesh, given->second, kind, scene.solver.steps, entry.body);
    else if (!asked(scene, name))
      continue;
    else if (spec.default_value)
      values = load_numbers(mesh, {Array{{}, {*spec.default_value}}, entry.place}, kind, 0);
    else
      values.values = entry.cells->values_at_rest.at(name)(mesh);
    if (values.steps == 1 && asked_per_step(scene, name))
      values.values = repeated(values.values, std::max(scene.solver.steps, 1));
    material.values[name] = std::move(values.values);
  }
  return material;
}

std::vector<DifferentiableMaterial> make_materials(const Scene& scene, const TetrahedralMesh& mesh) {
  std::vector<DifferentiableMaterial> materials;
  for (const MaterialEntry& entry : scene.materials) {
    if (entry.cells) {
      materials.push_back(make_cell_material(scene, entry, mesh));
      continue;
    }
    DifferentiableMaterial material;
    material.model = entry.model;
    if (entry.region) material.region = entry.region->name;
    material.nodal_dilatation = entry.nodal_dilatation;
    for (const auto& [name, numbers] : entry.values) {
      if (const Array* array = numbers.array()) {
        material.values[name] = array->values.at(0);
        continue;
      }
      std::vector<double> values = load_cells(mesh, numbers, entry.body);
      check_cells(mesh, mesh.region(material.region).cells, values, name, numbers.place);
      material.values[name] = std::move(values);
    }
    materials.push_back(std::move(material));
  }
  return materials;
}

/// Control signal for the solver: constant, or one entry per step. A constant signal is repeated for each step if the
/// gradient is requested per step.
struct Control {
  std::vector<double> values;
  bool per_step = false;
};

Control load_control(MPI_Comm comm, const Scene& scene, const Numbers& numbers, bool vector, bool each_step,
                     const std::string& parameter, const std::string& expected) {
  const std::int64_t steps = std::max(scene.solver.steps, 0);
  using Shapes = std::vector<Shape>;
  Array array = load_array(comm, numbers, vector ? Shapes{{3}, {steps, 3}} : Shapes{{}, {steps}}, expected);
  const ParameterSpec spec = spec_of(parameter);
  for (const double value : array.values)
    if (const std::string fault = range_error(spec, value); !fault.empty()) numbers.place.fail(fault);
  const bool constant = array.shape.size() == (vector ? 1 : 0);
  if (constant && each_step && steps > 0) return {repeated(array.values, static_cast<int>(steps)), true};
  return {array.values, !constant};
}

void set_controls(const Scene& scene, DifferentiableScene& solver) {
  const MPI_Comm comm = solver.mesh()->comm();
  const auto set = [&](const std::string& name, const Numbers& numbers, bool vector, const std::string& expected) {
    const Control control = load_control(comm, scene, numbers, vector, asked_per_step(scene, name), name, expected);
    if (control.per_step)
      solver.set_control(name, control.values);
    else
      solver.parameters().at(name).field.from_host(control.values);
  };
  set("gravity", scene.solver.gravity, true, "[3] or [steps, 3]");
  if (has_damping_factor(scene.solver.integrator)) set("damping", scene.solver.damping, false, "a number or [steps]");
  for (const auto& [name, numbers] : scene.signals) set(name, numbers, false, "a number or [steps]");
  for (const MaterialEntry& material : scene.materials) {
    if (material.cells) continue;
    if (material.model == rigid_model) continue;
    const std::optional<ParameterSpec>& spec = elastic_law(material.model).signal;
    const std::string signal = elastic_law(material.model).signal_name();
    if (spec && scene.signals.count(signal) == 0 && asked_per_step(scene, signal))
      solver.set_control(signal, std::vector<double>(static_cast<std::size_t>(std::max(scene.solver.steps, 1)),
                                                     spec->default_value.value_or(1.0)));
  }
}

/// Adds the sum of all nodal loads of the scene to the solver. The sum is an array [owned vertices, 3] or, with loads
/// per step, [steps, owned vertices, 3].
void add_nodal_loads(const Scene& scene, DifferentiableScene& solver) {
  const TetrahedralMesh& mesh = *solver.mesh();
  const auto row = 3 * static_cast<std::size_t>(mesh.num_owned_vertices());
  bool wanted = asked(scene, "nodal_load");
  bool per_step = asked_per_step(scene, "nodal_load");
  std::vector<std::pair<const BoundaryEntry*, VertexVectors>> loads;
  for (const BoundaryEntry& entry : scene.boundary) {
    if (entry.kind != BoundaryEntry::Kind::nodal_load) continue;
    loads.emplace_back(&entry,
                       load_vertices(mesh, entry.load, scene.solver.steps, body_of_region(scene, entry.region.name)));
    per_step = per_step || loads.back().second.steps > 0;
    wanted = true;
  }
  if (!wanted) return;
  const std::size_t rows = per_step ? static_cast<std::size_t>(std::max(scene.solver.steps, 1)) : 1;
  std::vector<double> sum(rows * row, 0.0);
  for (const auto& [entry, load] : loads)
    for (std::size_t n = 0; n < rows; ++n)
      for (const int vertex : mesh.region(entry->region.name).vertices) {
        if (vertex >= mesh.num_owned_vertices()) break;
        for (std::size_t c = 0; c < 3; ++c) {
          const std::size_t i = 3 * static_cast<std::size_t>(vertex) + c;
          sum[n * row + i] += load.values[(load.steps > 0 ? n * row : 0) + i];
        }
      }
  solver.add_nodal_load(sum);
}

void add_move(const Scene& scene, const BoundaryEntry& entry, DifferentiableScene& solver) {
  const auto load = [&](const Numbers& numbers, bool vector, const std::string& name, const std::string& expected) {
    const bool each_step = asked_per_step(scene, name, entry.region.name);
    return load_control(solver.mesh()->comm(), scene, numbers, vector, each_step, name, expected).values;
  };
  const MoveSection& move = entry.move;
  solver.move(entry.region.name, move.axis, move.origin,
              load(move.angular_velocity, false, "angular_velocity", "a number or [steps]"),
              load(move.velocity, true, "velocity", "[3] or [steps, 3]"));
}

void add_load(const Scene& scene, const BoundaryEntry& entry, DifferentiableScene& solver) {
  const LoadType& type = *entry.type;
  const bool each_step = asked_per_step(scene, type.key(), entry.region.name);
  const Control control = load_control(solver.mesh()->comm(), scene, entry.load, type.is_vector(), each_step,
                                       type.key(), type.is_vector() ? "[3] or [steps, 3]" : "a number or [steps]");
  type.add(solver, entry, control.values);
}

void add_boundary(const Scene& scene, DifferentiableScene& solver) {
  for (const BoundaryEntry& entry : scene.boundary)
    at_place(entry.place, [&] {
      if (entry.clamp)
        solver.clamp(entry.region.name, entry.axes);
      else if (entry.kind == BoundaryEntry::Kind::fix)
        solver.fix(entry.region.name, entry.axes);
      if (entry.kind == BoundaryEntry::Kind::move) add_move(scene, entry, solver);
      if (entry.kind == BoundaryEntry::Kind::attach) solver.attach(entry.region.name, entry.to->name, entry.stiffness);
      if (entry.kind == BoundaryEntry::Kind::load) add_load(scene, entry, solver);
    });
  add_nodal_loads(scene, solver);
}

JointDrive load_drive(const Scene& scene, const JointEntry& entry, MPI_Comm comm) {
  const auto load = [&](const Numbers& numbers, const char* name) {
    const std::string parameter = std::string(name) + ":" + entry.joint.name;
    return load_control(comm, scene, numbers, false, asked_per_step(scene, parameter), parameter, "a number or [steps]")
        .values;
  };
  JointDrive drive = entry.drive;
  drive.torque = load(entry.torque, "joint_torque");
  drive.target = load(entry.target, "joint_target");
  return drive;
}

/// Combines the drive that the scene defines for a joint with the drive in the robot's file: the damping and the
/// friction of both drives are added. The limits are those of the scene or, if the scene has no limits, those of the
/// file.
JointDrive together(JointDrive drive, const JointDrive& of_file) {
  drive.damping += of_file.damping;
  drive.friction += of_file.friction;
  if (drive.limit_stiffness > 0.0) return drive;
  drive.limits = of_file.limits;
  drive.limit_stiffness = of_file.limit_stiffness;
  drive.limit_distance = of_file.limit_distance;
  return drive;
}

void add_joints(const Scene& scene, DifferentiableScene& solver) {
  const MPI_Comm comm = solver.mesh()->comm();
  for (const JointEntry& entry : scene.joints)
    at_place(entry.place, [&] {
      solver.join(entry.joint);
      if (entry.is_driven) solver.drive(entry.joint.name, load_drive(scene, entry, comm));
    });
  for (const RobotEntry& robot : scene.robots) {
    Robot rest = *robot.robot;
    for (const JointEntry& entry : scene.drives) rest.drives.erase(entry.joint.name);
    at_place(robot.place, [&] { diffsim::add_joints(solver, rest); });
  }
  for (const JointEntry& entry : scene.drives)
    at_place(entry.place, [&] {
      JointDrive drive = load_drive(scene, entry, comm);
      for (const RobotEntry& robot : scene.robots)
        if (const auto own = robot.robot->drives.find(entry.joint.name); own != robot.robot->drives.end())
          drive = together(drive, own->second);
      solver.drive(entry.joint.name, drive);
    });
}

/// Initial displacements or velocities, [owned vertices, 3]: the values in the body's section `initial`, otherwise
/// those in the scene's section `initial`, otherwise zero. Initial velocities of obstacles are zero. Empty if no
/// section has values.
std::vector<double> load_initial(const Scene& scene, const TetrahedralMesh& mesh,
                                 std::optional<Numbers> InitialSection::*which) {
  std::vector<double> values;
  const std::optional<Numbers>& of_all = scene.initial.*which;
  if (of_all) values = load_vertices(mesh, *of_all, 0).values;
  for (const BodyEntry& body : scene.bodies) {
    const std::optional<Numbers>& of_body = body.initial.*which;
    const bool stays_zero = of_all && which == &InitialSection::velocity && body.kind == BodyEntry::Kind::obstacle;
    if (!of_body && !stays_zero) continue;
    const std::size_t size = 3 * static_cast<std::size_t>(mesh.num_owned_vertices());
    values.resize(size, 0.0);
    const std::vector<double> own =
        of_body ? load_vertices(mesh, *of_body, 0, body.name).values : std::vector<double>(size, 0.0);
    for (const int vertex : mesh.region(body.name + "/all").vertices) {
      if (vertex >= mesh.num_owned_vertices()) break;
      for (std::size_t i = 3 * static_cast<std::size_t>(vertex), c = 0; c < 3; ++c) values[i + c] = own[i + c];
    }
  }
  return values;
}

/// Reads the triangles of a body's contact surface and applies the body's placement.
BodySurface load_surface(MPI_Comm comm, const SurfaceFile& given, const std::string& body, const Placement& placement) {
  BodySurface surface{body, {}};
  require_readable(comm, given.file, given.place);
  at_place(given.place, [&] {
    collectively(comm, [&] { surface.mesh = read_surface(given.file, given.scale); });
    MeshData points;
    for (const auto& x : surface.mesh.vertices) points.coordinates.insert(points.coordinates.end(), x.begin(), x.end());
    place(points, placement);
    for (std::size_t v = 0; v < surface.mesh.vertices.size(); ++v)
      for (std::size_t c = 0; c < 3; ++c) surface.mesh.vertices[v][c] = points.coordinates[3 * v + c];
  });
  return surface;
}

void add_contact(const Scene& scene, DifferentiableScene& solver) {
  ContactOptions contact = scene.contact->options;
  for (const ParameterEntry& entry : scene.parameters)
    for (const ParameterSpec& spec :
         {ContactParameters::friction, ContactParameters::friction_velocity, ContactParameters::contact_damping})
      contact.with_friction = contact.with_friction || entry.spec.name == spec.name;
  for (const MeshFileObstacle& given : scene.contact->files) {
    require_readable(solver.mesh()->comm(), given.file, given.place);
    collectively(solver.mesh()->comm(),
                 [&] { contact.meshes[given.obstacle].mesh = read_surface(given.file, given.scale); });
  }
  const auto add_surface = [&](const std::optional<SurfaceFile>& given, const std::string& body,
                               const Placement& placement) {
    if (given) contact.surfaces.push_back(load_surface(solver.mesh()->comm(), *given, body, placement));
  };
  add_surface(scene.contact->surface, unnamed_body, {});
  for (const BodyEntry& body : scene.bodies) add_surface(body.surface, body.name, body.placement);
  for (std::size_t k = 0; k < contact.pairs.size(); ++k)
    if (const std::string error = pair_error(contact, k, *solver.mesh(), solver.obstacle_bodies()); !error.empty())
      scene.contact->pair_places[k].fail(error);
  at_place(scene.contact->place, [&] { solver.add_contact(contact); });
}

/// Adds the feedbacks of the scene, after all constraints, joints and contact, which sensors depend on.
void add_feedback(const Scene& scene, DifferentiableScene& solver) {
  for (const FeedbackEntry& entry : scene.feedback)
    at_place(entry.place, [&] {
      Feedback feedback{.name = entry.name,
                        .offsets = entry.offsets,
                        .scales = entry.scales,
                        .frequencies = entry.frequencies,
                        .controls = entry.controls};
      for (const std::size_t i : entry.sensors) feedback.sensors.push_back(make_sensor(scene.sensors[i], solver));
      std::size_t outputs = 0;
      for (const std::string& name : entry.controls)
        outputs += static_cast<std::size_t>(solver.parameters().at(name).field.components());
      feedback.policy = make_perceptron(feedback.num_inputs(), outputs, entry.policy);
      solver.add_feedback(feedback);
      if (!entry.weights) return;
      const auto count = static_cast<std::int64_t>(feedback.policy->num_weights());
      const Array weights = load_array(solver.mesh()->comm(), *entry.weights, {{count}}, fmt::format("[{}]", count));
      solver.parameters().at("policy:" + entry.name).field.from_host(weights.values);
    });
}

}  // namespace

void check_cells(const TetrahedralMesh& mesh, const std::vector<int>& cells, const std::vector<double>& values,
                 const std::string& parameter, const Place& place) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t mine = none;
  double value = 0.0;
  const ParameterSpec spec = spec_of(parameter);
  for (const int cell : cells) {
    const auto c = static_cast<std::size_t>(cell);
    const std::int64_t number = mesh.cell_order().file_index()[c];
    if (number >= mine || spec.range.contains(values[c])) continue;
    mine = number;
    value = values[c];
  }
  std::int64_t first = mine;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT64_T, MPI_MIN, mesh.comm()));
  if (first == none) return;
  // Each cell is on one rank only, and all other ranks add zero, so the sum of the bit patterns is the bit pattern of
  // the cell's value, even if the value is NaN.
  std::uint64_t bits = 0;
  if (mine == first) std::memcpy(&bits, &value, sizeof(bits));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &bits, 1, MPI_UINT64_T, MPI_SUM, mesh.comm()));
  std::memcpy(&value, &bits, sizeof(bits));
  place.fail("cell " + cell_name(mesh.bodies(), first) + ": " + range_error(spec, value));
}

MeshData load_source(MPI_Comm comm, const MeshSection& section) {
  if (const auto* path = std::get_if<std::string>(&section.source)) {
    require_readable(comm, *path, section.place);
    return read_mesh_data(comm, *path, section.scale, section.allow_coincident_vertices, section.order,
                          section.cells.value_or(CellKind::tetrahedron));
  }
  if (const auto* shape = std::get_if<TriangleMesh>(&section.source)) {
    MeshData data = triangle_blocks(comm, *shape);
    for (double& coordinate : data.coordinates) coordinate *= section.scale;
    return data;
  }
  BoxMesh box = std::get<BoxMesh>(section.source);
  for (double& length : box.size) length *= section.scale;
  const int rank = rank_of(comm), ranks = num_ranks(comm);
  MeshData data;
  at_place(section.place, [&] { collectively(comm, [&] { data = box_mesh(box.size, box.cells, rank, ranks); }); });
  if (section.order == 2) elevate(comm, data);
  return data;
}

namespace {

/// Returns the work per time step of a body whose cells have the given CellModel; nullptr for tetrahedra and obstacles.
CellWork work_of(const Scene& scene, const CellModel* cells) {
  return work_of_model(cells ? cells->name : "", scene.solver.integrator, scene.contact.has_value());
}

MeshData load_mesh(MPI_Comm comm, const MeshSection& section) {
  MeshData data = load_source(comm, section);
  return section.boundary ? boundary_mesh(comm, std::move(data)) : data;
}

}  // namespace

MeshData load_mesh(MPI_Comm comm, const Scene& scene) {
  if (scene.bodies.empty() && scene.robots.empty()) {
    MeshData data = load_mesh(comm, scene.mesh);
    data.work = work_of(scene, nullptr);
    return data;
  }
  std::vector<NamedMesh> bodies;
  for (const BodyEntry& body : scene.bodies) {
    bodies.push_back({body.name, load_mesh(comm, body.mesh)});
    if (body.affine)
      at_place(body.mesh.place,
               [&] { bodies.back().data = affine_body(comm, gather_triangles(comm, bodies.back().data)); });
    at_place(body.place, [&] {
      place(bodies.back().data, body.placement);
      if (body.cells && body.cells->has_directors) add_directors(comm, bodies.back().data, body.director);
    });
    bodies.back().data.work = work_of(scene, body.cells);
  }
  for (const RobotEntry& entry : scene.robots)
    for (NamedMesh link : entry.robot->bodies) {
      link.data.work = work_of(scene, nullptr);
      bodies.push_back(std::move(link));
    }
  for (const JointEntry& entry : scene.joints)
    if (entry.joint.armature > 0.0) bodies.push_back({entry.joint.rotor(), rotor_mesh(comm)});
  MeshData joined;
  at_place(scene.bodies.empty() ? scene.robots.front().place : scene.bodies.front().place,
           [&] { joined = join_bodies(comm, std::move(bodies)); });
  return joined;
}

std::shared_ptr<TetrahedralMesh> make_mesh(MPI_Comm comm, const Scene& scene) {
  return make_mesh(comm, scene, load_mesh(comm, scene));
}

std::shared_ptr<TetrahedralMesh> make_mesh(MPI_Comm comm, const Scene& scene, MeshData data) {
  const BodyEntry* const solid = first_solid(scene);
  const std::optional<int> degree = solid ? solid->mesh.quadrature_degree : scene.mesh.quadrature_degree;
  auto mesh = std::make_shared<TetrahedralMesh>(comm, std::move(data), degree);
  for (const RegionEntry& region : scene.regions)
    at_place(region.place, [&] {
      mesh->define_region(region.name, region.shape, region.body);
      if (!region.body.empty()) mesh->define_region(region.body + "/" + region.name, region.shape, region.body);
    });
  for (const RobotEntry& entry : scene.robots)
    for (std::size_t b = 0; b < entry.robot->materials.size(); ++b) {  // the bodies that follow are rotors
      const std::string& body = entry.robot->bodies[b].name;  // defines the region ROBOT/LINK for the body ROBOT.LINK
      mesh->define_region(entry.name + "/" + body.substr(entry.name.size() + 1), VertexList{{0, 1, 2, 3}}, body);
    }
  check_regions(scene, *mesh);
  return mesh;
}

DifferentiableScene make_body(const Scene& scene, std::shared_ptr<TetrahedralMesh> mesh, Integrator integrator) {
  std::vector<DifferentiableMaterial> materials = make_materials(scene, *mesh);
  DifferentiableSolver options;
  options.dt = scene.solver.dt;
  options.substeps = scene.solver.substeps;
  options.integrator = integrator;
  options.implicit = scene.solver.implicit;
  std::unique_ptr<DifferentiableScene> solver;
  at_place(scene.materials.front().place,
           [&] { solver = std::make_unique<DifferentiableScene>(std::move(mesh), std::move(materials), options); });
  return std::move(*solver);
}

std::shared_ptr<Sensor> make_sensor(const SensorEntry& entry, DifferentiableScene& solver) {
  std::shared_ptr<Sensor> sensor;
  at_place(entry.place, [&] { sensor = solver.sensor(entry.spec); });
  return sensor;
}

DifferentiableScene make_solver(const Scene& scene, std::shared_ptr<TetrahedralMesh> mesh, bool check_apart) {
  DifferentiableScene solver = make_body(scene, std::move(mesh), scene.solver.integrator);
  set_controls(scene, solver);
  add_boundary(scene, solver);
  add_joints(scene, solver);
  if (scene.contact) add_contact(scene, solver);
  if (const auto x = load_initial(scene, *solver.mesh(), &InitialSection::displacement); !x.empty())
    solver.set_initial_displacement(x);
  std::vector<double> v = load_initial(scene, *solver.mesh(), &InitialSection::velocity);
  for (const BodyEntry& body : scene.bodies)
    if (body.initial.angular_velocity)
      add_rigid_velocity(*solver.mesh(), body.name, {}, *body.initial.angular_velocity, v);
  for (const RobotEntry& robot : scene.robots) add_velocities(*solver.mesh(), *robot.robot, v);
  if (!v.empty()) solver.set_initial_velocity(v);
  for (const SensorEntry& sensor : scene.sensors) make_sensor(sensor, solver);  // refuses sensors that cannot exist
  add_feedback(scene, solver);
  set_values(scene, solver);
  if (scene.contact && check_apart) at_place(scene.contact->place, [&] { solver.require_apart(); });
  return solver;
}

}  // namespace diffsim::app
