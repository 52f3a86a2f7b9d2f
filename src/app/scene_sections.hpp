// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/scene.hpp"

namespace diffsim::app {

// Parsers of the sections of a scene, in the order in which the parsers are called. A parser may read from `scene` the
// results of the parsers before it.
MeshSection parse_mesh(const Value& value, const Scene& scene);
/// Parses the section `bodies`, and adds the bodies, robots and materials to `scene`.
void parse_bodies(const Value& value, Scene& scene);
/// Throws InputError unless the cells of the mesh `mesh` are tetrahedra.
void require_tetrahedra(const MeshSection& mesh);
/// Returns the first body of kind `solid`; nullptr if the scene has no body of kind `solid`.
const BodyEntry* first_solid(const Scene& scene);
/// Returns whether the thickness (or the radius, for rods) is a mechanical parameter of the body's cells. If the
/// thickness of the cells is a mechanical parameter and is one number in the scene, the contact thickness of the body
/// has the same value. If the radius of a rod without the key `thickness` is one number in the scene, the contact
/// thickness of the rod is twice the radius.
bool has_thick_cells(const BodyEntry& body);
std::vector<RegionEntry> parse_regions(const Value& value, const Scene& scene);
/// Parses materials and adds the materials to `scene`. `body`: name of the body that has the materials; empty in a
/// scene without `bodies`.
void parse_materials(const Value& value, Scene& scene, const std::string& body = {});
/// Parses the material of a body of cells other than tetrahedra. `beside`: mapping that defines the body; some
/// parameters, such as `thickness`, are keys of this mapping instead of keys of the mapping `material`.
void parse_cell_material(const Value& value, Scene& scene, const std::string& body, const Mapping& beside,
                         const CellModel& model);
SolverSection parse_solver(const Value* value, const Scene& scene);
/// Parses a section `initial`. `body`: name of the body to which the section `initial` belongs; empty for the section
/// `initial` of the scene.
InitialSection parse_initial(const Value& value, const Scene& scene, const std::string& body = {}, bool affine = false);
std::vector<BoundaryEntry> parse_boundary(const Value& value, const Scene& scene);
/// Returns the names of the parameters that scenes define in the section `boundary` or `attach` (`is_of_boundary`).
std::vector<std::string> boundary_parameters();
/// Parses the section `attach`, and adds the attachments to `scene.boundary`.
void parse_attachments(const Value& value, Scene& scene);
std::vector<JointEntry> parse_joints(const Value& value, const Scene& scene);
/// Returns true if `entry`, an entry of the section `boundary`, is the drive of a joint.
bool is_drive(const Value& entry);
/// Parses the drives of joints in the section `boundary`, and adds the drives to `scene.drives`.
void parse_drives(const Value& boundary, Scene& scene);
ContactSection parse_contact(const Value& value, const Scene& scene);
SurfaceFile parse_surface(const Value& value, const Scene& scene);
std::vector<SensorEntry> parse_sensors(const Value& value);
/// Parses the section `feedback`, which defines policies that compute parameters from sensors before each step.
std::vector<FeedbackEntry> parse_feedback(const Value& value, const Scene& scene);
/// Parses the section `values`: values of parameters and of the initial state, which replace the values that follow
/// from the other sections.
std::vector<ValueEntry> parse_replacements(const Value& value, const Scene& scene);
/// Returns the type of a sensor.
const SensorType& type_of(const SensorEntry& sensor);
/// Parses a list with one number for each component of the sensor. The number `.nan` for a component means that this
/// component of the sensor is not compared with a target.
std::vector<double> parse_components(const Value& value, const SensorEntry& sensor);
/// Parses the covariance matrix, [components, components], of the errors of the sensor's components.
std::vector<double> parse_covariance(const Value& value, const SensorEntry& sensor);
/// Returns the keys that `parse_sensor_value` reads.
std::vector<std::string> keys_of_sensor_value();
/// Parses the keys `sensor`, `component`, `step` or `steps`, and `power`, which define a scalar function of a sensor.
SensorValueEntry parse_sensor_value(const Mapping& mapping, const Scene& scene);
std::vector<ObjectiveEntry> parse_objectives(const Value& value, const Scene& scene);
std::vector<ParameterEntry> parse_parameters(const Value& value, const Scene& scene);
/// Parses values of a parameter: one number for all values, or any other form that the key `initial` of the parameter
/// allows, except {region: number}.
Numbers parse_values(const Value& value, const ParameterEntry& entry, const Scene& scene);
/// Returns the index in `scene.parameters` of the parameter whose name (ParameterEntry::label) is the value of the key
/// `parameter`. If several parameters have the same name, the key `region` selects one of these parameters.
std::size_t parse_parameter_index(const Mapping& mapping, const Scene& scene);
std::vector<ConstraintEntry> parse_constraints(const Value& value, const Scene& scene);
PriorFactors parse_prior_factors(const Value& value, const Scene& scene);
std::vector<PriorEntry> parse_priors(const Value& value, const Scene& scene);
/// Parses the section `checkpoint`, and sets the argument `measure_error` to the value of the key `measure_error` if
/// the section has this key.
CheckpointOptions parse_checkpoint(const Value& value, bool& measure_error);
/// Parses the section `optimiser`. Stores the location of the key `shooting`, if given, in `scene.shooting_place`. If
/// the value of the key `uncertainty` is true or a mapping, stores the location of the key in `scene.uncertainty`; if
/// the value is a mapping, also sets `scene.low_rank`.
OptimiserOptions parse_optimiser(const Value& value, Scene& scene);
OutputSection parse_output(const Value& value, Integrator integrator);
std::vector<std::pair<std::string, std::string>> parse_petsc(const Value& value);

// Functions shared by several sections.
/// Parses a list of axes, such as [x, y], and returns three flags: true for each of the axes x, y and z that is in the
/// list.
std::array<bool, 3> parse_axes(const Value& value);
RegionName parse_region_name(const Value& value);
/// Parses the key `region`, the name of a region; returns the region `all` if the key `region` is missing.
RegionName parse_region_or_all(const Mapping& mapping);
/// Converts a `path` that is relative to the folder of the scene file to a path that includes this folder; an absolute
/// `path` is returned unchanged.
std::string beside_scene(const std::string& path, const Scene& scene);
/// Returns true if `name` is the name of an unknown whose values are initial coordinates or rates of joints.
bool is_start_of_joints(const std::string& name);
/// Parses the keys of an unknown whose values are initial coordinates or rates of joints, except `name` and `bounds`.
void parse_start_of_joints(const Mapping& mapping, const Scene& scene, ParameterEntry& entry);
/// Throws InputError if an unknown of initial coordinates or rates of joints excludes another unknown of the scene.
void check_starts_of_joints(const std::vector<ParameterEntry>& parameters);
/// Parses numbers that are written in the scene, or a reference {file:, dataset:} to a dataset.
Numbers parse_numbers(const Value& value, const Scene& scene);
/// Throws InputError if `numbers` are written in the scene and have none of the shapes `shapes`, in which -1 means any
/// extent. `expected`: description of the allowed shapes `shapes`, for the error message.
void expect_shape(const Numbers& numbers, const std::vector<Shape>& shapes, const std::string& expected);

}  // namespace diffsim::app
