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

/// Reads the files of a scene's robots, and adds the materials of the robots' links to the scene. `with_surfaces`: if
/// true, the surfaces of the links' shapes are read, too, for contact. Returns warnings about parts of the files that
/// have no effect.
std::vector<std::string> load_robots(MPI_Comm comm, Scene& scene, bool with_surfaces);

/// Reads or generates the mesh of all bodies.
MeshData load_mesh(MPI_Comm comm, const Scene& scene);
/// Reads or generates the mesh of one body, without the body's placement. If the body is the boundary of tetrahedra,
/// returns the tetrahedra.
MeshData load_source(MPI_Comm comm, const MeshSection& section);
/// Partitions the mesh, defines the scene's regions, and checks every region that the scene names.
std::shared_ptr<TetrahedralMesh> make_mesh(MPI_Comm comm, const Scene& scene, MeshData data);
std::shared_ptr<TetrahedralMesh> make_mesh(MPI_Comm comm, const Scene& scene);

/// Throws InputError if a region that the scene names is not in the mesh or is empty, or if the region of a material
/// has no cells of the material's kind.
void check_regions(const Scene& scene, const TetrahedralMesh& mesh);

/// Creates a solver with materials only, without boundary conditions, loads and contact. The materials suffice to
/// compute the stable substep of an explicit integrator.
DifferentiableScene make_body(const Scene& scene, std::shared_ptr<TetrahedralMesh> mesh,
                              Integrator integrator = Integrator::symplectic_euler);
/// Creates a solver with materials, boundary conditions, loads, contact and initial values.
DifferentiableScene make_solver(const Scene& scene, std::shared_ptr<TetrahedralMesh> mesh);

/// Creates a sensor of the scene. Throws InputError, with the location of the sensor in the scene file, if the
/// simulated bodies do not have the sensor, for example because a region does not exist.
std::shared_ptr<Sensor> make_sensor(const SensorEntry& entry, DifferentiableScene& solver);
/// Creates a loss whose value is the sensor's value of SensorValueEntry, multiplied by -1 for an objective that is
/// maximised.
std::unique_ptr<Loss> make_sensor_value(const SensorValueEntry& entry, const Scene& scene, DifferentiableScene& solver);
/// Creates the sum of the scene's objectives.
std::unique_ptr<SumLoss> make_loss(const Scene& scene, DifferentiableScene& solver);
/// Returns the first observations file that does not exist; empty if all exist. Collective.
std::string missing_observations(MPI_Comm comm, const Scene& scene);

/// Creates the scene's unknowns, in the order of `scene.parameters`, with their start values. `solver` must be a result
/// of `make_solver`. Throws InputError if a start value is not admissible or outside the bounds.
std::vector<Unknown> make_unknowns(const Scene& scene, DifferentiableScene& solver);

/// Converts `numbers` of the scene to values of an unknown, [unknowns, components], in the layout of Unknown::start.
/// `numbers` may have the shapes that the key `initial` of the parameter `entry` allows.
std::vector<double> load_unknown(const Scene& scene, const TetrahedralMesh& mesh, const ParameterEntry& entry,
                                 const Numbers& numbers, const Unknown& unknown, int components);

/// Throws InputError at `place` if a value is not finite. Values of cells that a dataset does not cover are NaN.
void require_finite(MPI_Comm comm, const std::vector<double>& values, const ParameterEntry& entry, const Place& place);

/// Adds the scene's priors to `problem`.
void add_priors(const Scene& scene, const TetrahedralMesh& mesh, InverseProblem& problem);

/// Throws InputError at `place` if the value of some of `cells`, indices of local cells, is outside the parameter's
/// range. The message names the first such cell of all ranks, in the order of the mesh file. `values` has one value per
/// local cell, [cells].
void check_cells(const TetrahedralMesh& mesh, const std::vector<int>& cells, const std::vector<double>& values,
                 const std::string& parameter, const Place& place);

}  // namespace diffsim::app
