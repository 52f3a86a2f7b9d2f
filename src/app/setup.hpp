// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::app {

// Conversion of a scene to the library's objects. All functions are collective; errors name the location in the scene
// file.

/// Reads the URDF files of a scene's robots, and adds the materials of the robots' links to the scene. `with_surfaces`:
/// true to read the surfaces of the links' shapes, which contact needs. Returns warnings about parts of the URDF files
/// that have no effect.
std::vector<std::string> load_robots(MPI_Comm comm, Scene& scene, bool with_surfaces);

/// Reads or generates the meshes of all bodies, and joins the meshes.
MeshData load_mesh(MPI_Comm comm, const Scene& scene);
/// Reads or generates the mesh of one body, but does not move the mesh to the body's placement in the scene. If the
/// scene defines the body's surface as the boundary of tetrahedra, returns the tetrahedra.
MeshData load_source(MPI_Comm comm, const MeshSection& section);
/// Partitions the mesh, defines the scene's regions, and checks the regions that the scene names (`check_regions`).
std::shared_ptr<TetrahedralMesh> make_mesh(MPI_Comm comm, const Scene& scene, MeshData data);
std::shared_ptr<TetrahedralMesh> make_mesh(MPI_Comm comm, const Scene& scene);

/// Throws InputError if the region of a material, a boundary condition, an attachment, a sensor, an objective or a
/// parameter is not in the mesh or is empty, or if the region of a material has no cells of the material's kind.
void check_regions(const Scene& scene, const TetrahedralMesh& mesh);

/// Creates a solver with materials only, without boundary conditions, loads and contact. The stable substep of an
/// explicit integrator can be computed with a solver that has only materials.
DifferentiableScene make_body(const Scene& scene, std::shared_ptr<TetrahedralMesh> mesh,
                              Integrator integrator = Integrator::symplectic_euler);
/// Creates a solver with materials, boundary conditions, loads, joints, contact, initial values and feedback.
/// `check_apart`: whether bodies that intersect or touch at the start are an error.
DifferentiableScene make_solver(const Scene& scene, std::shared_ptr<TetrahedralMesh> mesh, bool check_apart = true);

/// Creates the sensor that `entry`, an entry of the scene's section `sensors`, defines. Throws InputError, with the
/// location of the sensor in the scene file, if the sensor cannot be created for the simulated bodies, for example
/// because a region does not exist.
std::shared_ptr<Sensor> make_sensor(const SensorEntry& entry, DifferentiableScene& solver);
/// Creates a loss whose value is the sensor value that `entry` defines; the sign of the value is reversed for an
/// objective that is maximised.
std::unique_ptr<Loss> make_sensor_value(const SensorValueEntry& entry, const Scene& scene, DifferentiableScene& solver);
/// Creates the loss of the scene, the sum of the scene's objectives.
std::unique_ptr<SumLoss> make_loss(const Scene& scene, DifferentiableScene& solver);
/// Returns the path of the scene's first file of observations that does not exist, or an empty text if all files of
/// observations exist. Collective.
std::string missing_observations(MPI_Comm comm, const Scene& scene);

/// Creates the scene's unknowns and the start values of the unknowns, in the order of `scene.parameters`. `solver` must
/// have been created by `make_solver`. Throws InputError if the start value of an unknown is not admissible or is
/// outside the unknown's bounds, or if two unknowns change the same values of a parameter.
std::vector<Unknown> make_unknowns(const Scene& scene, DifferentiableScene& solver);

/// Converts `numbers`, an array or a dataset that the scene gives, to values of the Unknown `unknown`, in the layout of
/// Unknown::start: [values, components], or a single value. `numbers` may have the shapes that the key `initial` of the
/// parameter `entry` allows.
std::vector<double> load_unknown(const Scene& scene, const TetrahedralMesh& mesh, const ParameterEntry& entry,
                                 const Numbers& numbers, const Unknown& unknown, int components);

/// Throws InputError at the location `place` in the scene file if an entry of `values` is not finite, for example
/// because a dataset has no value for a cell (`load_cells`).
void require_finite(MPI_Comm comm, const std::vector<double>& values, const ParameterEntry& entry, const Place& place);

/// Adds the scene's priors to `problem`.
void add_priors(const Scene& scene, const TetrahedralMesh& mesh, InverseProblem& problem);

/// Throws InputError at the location `place` in the scene file if the value of a cell in `cells`, a list of indices of
/// local cells, is outside the range of the parameter `parameter`. Of all cells on all ranks whose values are outside
/// the parameter's range, the error message names the first cell in the order of the mesh file. `values` has one value
/// per local cell, [cells].
void check_cells(const TetrahedralMesh& mesh, const std::vector<int>& cells, const std::vector<double>& values,
                 const std::string& parameter, const Place& place);

}  // namespace diffsim::app
