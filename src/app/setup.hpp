// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/inverse/unknown.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/simulation/solver.hpp"

namespace diffsim::app {

// From a scene to the library's objects. All collective; errors name the place in the scene.

/// Reads or makes the mesh.
MeshData load_mesh(MPI_Comm comm, const Scene& scene);
/// Reads or makes the mesh of one body as its file or shape gives it: without placement, tetrahedra whole where the
/// body is their boundary.
MeshData load_source(MPI_Comm comm, const MeshSection& section);
/// Partitions it, defines the scene's regions, and checks every region that the scene names.
std::shared_ptr<TetrahedralMesh> make_mesh(MPI_Comm comm, const Scene& scene, MeshData data);
std::shared_ptr<TetrahedralMesh> make_mesh(MPI_Comm comm, const Scene& scene);

/// Body with materials only, on which the stable substep of an explicit integrator depends.
DifferentiableSolver make_body(const Scene& scene, std::shared_ptr<TetrahedralMesh> mesh,
                               const std::string& integrator = "symplectic_euler");
/// The body with what holds, loads and moves it.
DifferentiableSolver make_solver(const Scene& scene, std::shared_ptr<TetrahedralMesh> mesh);

/// The scene's objectives, summed.
std::unique_ptr<SumLoss> make_loss(const Scene& scene, const TetrahedralMesh& mesh);
/// The first observations file that is not there; empty if there is none. Collective.
std::string missing_observations(MPI_Comm comm, const Scene& scene);

/// The scene's parameters, parallel to `scene.parameters`, with the values to begin with; the solver is one of
/// `make_solver`. Throws InputError where these values are not possible or outside the bounds.
std::vector<Unknown> make_unknowns(const Scene& scene, DifferentiableSolver& solver);

/// The first of this mesh's cells (file order, over all ranks) of `region` whose value has a fault, told as InputError
/// at `place`; no error if all are good. `values`: [cells].
void check_cells(const TetrahedralMesh& mesh, const std::vector<int>& cells, const std::vector<double>& values,
                 const std::string& parameter, const Place& place);

}  // namespace diffsim::app
