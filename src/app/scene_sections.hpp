// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "app/scene.hpp"

namespace diffsim::app {

// The sections of a scene, in the order in which they are read; later ones look at earlier ones.
MeshSection parse_mesh(const Value& value, const Scene& scene);
/// `bodies`, with their materials.
void parse_bodies(const Value& value, Scene& scene);
/// Throws InputError for a mesh of triangles.
void require_tetrahedra(const MeshSection& mesh);
/// The first body of tetrahedra; null where there is none.
const BodyEntry* first_solid(const Scene& scene);
/// Whether `thickness` is a mechanical parameter of the body's cells; where it is one number, it is also that of
/// contact.
bool has_thick_cells(const BodyEntry& body);
std::vector<RegionEntry> parse_regions(const Value& value, const Scene& scene);
/// `body`: the body whose materials they are; empty: of the whole mesh.
void parse_materials(const Value& value, Scene& scene, const std::string& body = {});
/// The material of a body of other cells than tetrahedra. `beside`: the body's mapping, for keys beside `material`.
void parse_cell_material(const Value& value, Scene& scene, const std::string& body, const Mapping& beside,
                         const CellModel& model);
SolverSection parse_solver(const Value* value, const Scene& scene);
/// `body`: the body that it is of; empty: the scene's own section.
InitialSection parse_initial(const Value& value, const Scene& scene, const std::string& body = {}, bool affine = false);
std::vector<BoundaryEntry> parse_boundary(const Value& value, const Scene& scene);
/// Adds the attachments to the scene's boundary.
void parse_attachments(const Value& value, Scene& scene);
ContactSection parse_contact(const Value& value, const Scene& scene);
/// Shapes of obstacles: {center:, radius:} and {from:, to:, radius:}.
TriangleMesh parse_sphere(const Value& value);
TriangleMesh parse_cylinder(const Value& value);
SurfaceFile parse_surface(const Value& value, const Scene& scene);
std::vector<ObjectiveEntry> parse_objectives(const Value& value, const Scene& scene);
std::vector<ParameterEntry> parse_parameters(const Value& value, const Scene& scene);
/// `measure_error`: see Scene.
CheckpointOptions parse_checkpoint(const Value& value, bool& measure_error);
OptimiserOptions parse_optimiser(const Value& value);
OutputSection parse_output(const Value& value, const std::string& integrator);
std::vector<std::pair<std::string, std::string>> parse_petsc(const Value& value);

// What several of them share.
RegionName parse_region_name(const Value& value);
/// Of the key `region`; `all` where it is not given.
RegionName parse_region_or_all(const Mapping& mapping);
/// `path` as seen from the scene's folder.
std::string beside_scene(const std::string& path, const Scene& scene);
/// Numbers, or {file:, dataset:}.
Numbers parse_numbers(const Value& value, const Scene& scene);
/// Throws InputError unless numbers written in the scene have one of the shapes; `expected` names them all in words. -1
/// stands for any extent.
void expect_shape(const Numbers& numbers, const std::vector<Shape>& shapes, const std::string& expected);

}  // namespace diffsim::app
