// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/scene.hpp"

namespace diffsim::app {

// Parsers of the sections of a scene, in the order in which the parsers are called. A parser may read from `scene` the
// results of the parsers before it.
MeshSection parse_mesh(const Value& value, const Scene& scene);
/// Parses `bodies` with their materials.
void parse_bodies(const Value& value, Scene& scene);
/// Throws InputError unless the mesh consists of tetrahedra.
void require_tetrahedra(const MeshSection& mesh);
/// Returns the first body of kind `solid`; nullptr if there is none.
const BodyEntry* first_solid(const Scene& scene);
/// Returns whether the thickness (or the radius, for rods) is a mechanical parameter of the body's cells. If this
/// thickness is one number in the scene, the number is also the contact thickness.
bool has_thick_cells(const BodyEntry& body);
std::vector<RegionEntry> parse_regions(const Value& value, const Scene& scene);
/// Parses materials. `body` is the name of the body that has the materials; if empty, the materials are those of the
/// whole mesh.
void parse_materials(const Value& value, Scene& scene, const std::string& body = {});
/// Parses the material of a body of cells other than tetrahedra. `beside` is the mapping of the body: some parameters,
/// such as `thickness`, are keys of this mapping instead of keys of `material`.
void parse_cell_material(const Value& value, Scene& scene, const std::string& body, const Mapping& beside,
                         const CellModel& model);
SolverSection parse_solver(const Value* value, const Scene& scene);
/// Parses initial values. `body` is the name of the body whose section `initial` is parsed; `body` is empty for the
/// section of the scene.
InitialSection parse_initial(const Value& value, const Scene& scene, const std::string& body = {}, bool affine = false);
std::vector<BoundaryEntry> parse_boundary(const Value& value, const Scene& scene);
/// Returns the names of the parameters for which `is_of_boundary` returns true.
std::vector<std::string> boundary_parameters();
/// Parses attachments and adds them to the scene's boundary.
void parse_attachments(const Value& value, Scene& scene);
std::vector<JointEntry> parse_joints(const Value& value, const Scene& scene);
/// Returns whether an entry of `boundary` is the drive of a joint.
bool is_drive(const Value& entry);
/// Parses the drives of joints in `boundary`, and adds them to the scene.
void parse_drives(const Value& boundary, Scene& scene);
ContactSection parse_contact(const Value& value, const Scene& scene);
SurfaceFile parse_surface(const Value& value, const Scene& scene);
std::vector<SensorEntry> parse_sensors(const Value& value);
/// Parses the section `feedback`: policies that compute parameters from sensors before each step.
std::vector<FeedbackEntry> parse_feedback(const Value& value, const Scene& scene);
/// Returns the type of a sensor.
const SensorType& type_of(const SensorEntry& sensor);
/// Parses one number for each component of the sensor. The number `.nan` means that the component is not compared with
/// a target.
std::vector<double> parse_components(const Value& value, const SensorEntry& sensor);
/// Parses a covariance matrix of the errors of the sensor's components, [components, components].
std::vector<double> parse_covariance(const Value& value, const SensorEntry& sensor);
/// Returns the keys that `parse_sensor_value` reads.
std::vector<std::string> keys_of_sensor_value();
/// Parses the keys `sensor`, `component`, `step` or `steps`, and `power`, which define a scalar function of a sensor.
SensorValueEntry parse_sensor_value(const Mapping& mapping, const Scene& scene);
std::vector<ObjectiveEntry> parse_objectives(const Value& value, const Scene& scene);
std::vector<ParameterEntry> parse_parameters(const Value& value, const Scene& scene);
/// Parses values of a parameter: a number for all values, or the forms of the key `initial` except {region: number}.
Numbers parse_values(const Value& value, const ParameterEntry& entry, const Scene& scene);
/// Returns the index of the parameter with the name in the key `parameter`. If several parameters have this name, the
/// key `region` selects one.
std::size_t parse_parameter_index(const Mapping& mapping, const Scene& scene);
std::vector<ConstraintEntry> parse_constraints(const Value& value, const Scene& scene);
PriorFactors parse_prior_factors(const Value& value, const Scene& scene);
std::vector<PriorEntry> parse_priors(const Value& value, const Scene& scene);
/// Parses `checkpoint`. `measure_error` is set to the value of the key of this name.
CheckpointOptions parse_checkpoint(const Value& value, bool& measure_error);
/// Parses `optimiser`. Also sets `scene.shooting_place` and, if the key `uncertainty` is true or a mapping,
/// `scene.uncertainty` and `scene.low_rank`.
OptimiserOptions parse_optimiser(const Value& value, Scene& scene);
OutputSection parse_output(const Value& value, Integrator integrator);
std::vector<std::pair<std::string, std::string>> parse_petsc(const Value& value);

// Functions shared by several sections.
/// Parses a list of axes, such as [x, y]. Entries 0, 1 and 2 of the result are true if x, y and z are in the list.
std::array<bool, 3> parse_axes(const Value& value);
RegionName parse_region_name(const Value& value);
/// Parses the key `region`; returns `all` if the key is missing.
RegionName parse_region_or_all(const Mapping& mapping);
/// Resolves a relative `path` against the scene's folder; an absolute `path` is returned unchanged.
std::string beside_scene(const std::string& path, const Scene& scene);
/// Parses numbers that are written in the scene, or a reference {file:, dataset:} to a dataset.
Numbers parse_numbers(const Value& value, const Scene& scene);
/// Throws InputError unless numbers written in the scene have one of the shapes. `expected` describes all shapes in
/// words. In a shape, -1 means any extent.
void expect_shape(const Numbers& numbers, const std::vector<Shape>& shapes, const std::string& expected);

}  // namespace diffsim::app
