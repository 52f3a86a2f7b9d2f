// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Stresses and strains of tetrahedra, and contact forces and reactions of vertices, of simulators and trajectories.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "simulator.hpp"
#include "trajectory.hpp"

namespace diffsim::python {
namespace {

/// Quantity with a value per cell or vertex in a state of a scene.
struct StateField {
  const char* name;
  const char* meaning;  ///< noun phrase with the shape and the unit
  std::vector<double> (*values)(DifferentiableScene& scene, int n, const State& state);
  std::vector<std::size_t> (*shape)(const TetrahedralMesh& mesh);
};

std::vector<std::size_t> matrices(const TetrahedralMesh& mesh) {
  return {static_cast<std::size_t>(mesh.num_cells()), 3, 3};
}

std::vector<std::size_t> vectors(const TetrahedralMesh& mesh) {
  return {static_cast<std::size_t>(mesh.num_owned_vertices()), 3};
}

const StateField state_fields[] = {
    {"cell_stresses",
     "the mean Cauchy stress of each tetrahedron, [local cells, 3, 3], Pa, without viscous stresses; NaN for rigid "
     "bodies and for materials with nodal dilatation",
     [](DifferentiableScene& scene, int n, const State& state) { return scene.cell_stresses(n, state); }, &matrices},
    {"cell_strains", "the mean Green–Lagrange strain of each tetrahedron, [local cells, 3, 3]",
     [](DifferentiableScene& scene, int, const State& state) { return scene.cell_strains(state); }, &matrices},
    {"vertex_contact_forces",
     "the sum of the contact forces, with friction and without impacts, on each vertex, [owned vertices, 3], N",
     [](DifferentiableScene& scene, int n, const State& state) { return scene.vertex_contact_forces(n, state); },
     &vectors},
    {"vertex_reactions", "the force that fixes or moves each vertex, [owned vertices, 3], N; zero in free components",
     [](DifferentiableScene& scene, int n, const State& state) { return scene.vertex_reactions(n, state); }, &vectors},
};

void bind_field(nb::class_<SimulatorHandle>& simulator, nb::class_<TrajectoryHandle>& trajectory,
                const StateField& field) {
  const std::string name = field.name, meaning = field.meaning;
  simulator.def(
      field.name,
      [field](SimulatorHandle& handle) {
        std::vector<double> values;
        {
          const LibraryScope scope;
          Simulator& of = handle.get();
          values = field.values(of.scene(), of.step_number(), of.state());
        }
        return to_numpy(std::move(values), field.shape(*handle.scene()->get().mesh()));
      },
      ("Return " + meaning + ", in the current state. Collective.").c_str(),
      nb::sig(("def " + name + "(self) -> numpy.ndarray").c_str()));
  trajectory.def(
      field.name,
      [field](const TrajectoryHandle& handle, int n) {
        std::vector<double> values;
        {
          const LibraryScope scope;
          const State& state = handle.state(n);
          values = field.values(handle.scene()->use(), n, state);
        }
        return to_numpy(std::move(values), field.shape(*handle.scene()->get().mesh()));
      },
      nb::arg("n"), ("Return " + meaning + ", in the state after n steps. Collective.").c_str(),
      nb::sig(("def " + name + "(self, n: int) -> numpy.ndarray").c_str()));
}

}  // namespace

void bind_state_fields(nb::module_& module) {
  auto simulator = nb::borrow<nb::class_<SimulatorHandle>>(module.attr("Simulator"));
  auto trajectory = nb::borrow<nb::class_<TrajectoryHandle>>(module.attr("Trajectory"));
  for (const StateField& field : state_fields) bind_field(simulator, trajectory, field);
}

}  // namespace diffsim::python
