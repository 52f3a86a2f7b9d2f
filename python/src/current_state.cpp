// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Members of the Python class Simulator that describe the current state.

#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "simulator.hpp"
#include "state.hpp"

namespace diffsim::python {
namespace {

nb::object field_of(SimulatorHandle& handle, const std::string& name) {
  return read_values([&]() -> const Field& { return handle.get().state()[name]; });
}

nb::list contact_forces(SimulatorHandle& handle) {
  std::vector<ContactForce> forces;
  {
    const LibraryScope scope;
    Simulator& simulator = handle.get();
    const State& state = simulator.state();
    if (simulator.scene().has_contact_forces())
      forces = simulator.scene().contact_forces(simulator.step_number(), state);
  }
  nb::list made;
  for (const ContactForce& one : forces)
    made.append(nb::make_tuple(one.between[0], one.between[1],
                               to_numpy(std::vector<double>(one.force.begin(), one.force.end()), {3})));
  return made;
}

nb::object contact_state(SimulatorHandle& handle) {
  ContactState state;
  {
    const LibraryScope scope;
    Simulator& simulator = handle.get();
    if (simulator.scene().has_contact())
      state = simulator.scene().contact_state(simulator.step_number(), simulator.state());
  }
  nb::dict made;
  made["min_distance"] = state.min_distance;
  made["active_pairs"] = state.active_pairs;
  made["intersections"] = state.intersections;
  made["friction_power"] = state.friction_power;
  return made;
}

/// Binds contact quantities of the current state.
void bind_contact_quantities(nb::class_<SimulatorHandle>& bound) {
  bound
      .def_prop_ro("contact_forces", &contact_forces,
                   R"(Contact forces in the current state, a list of tuples (body, other, force). Collective.

force: force that `other`, a body or an obstacle, exerts on `body`, with friction, [3], N. The list has all pairs that may
touch. The list is the same on all ranks, and empty without contact.)",
                   nb::sig("def contact_forces(self) -> list[tuple[str, str, numpy.ndarray]]"))
      .def_prop_ro("contact_state", &contact_state,
                   R"(Dict of contact quantities in the current state, the same on all ranks. Collective.

min_distance: smallest gap, m; infinite without pairs. active_pairs: number of pairs with a gap below the barrier
distance. intersections: number of intersections. friction_power: power that friction and damping dissipate, W.)",
                   nb::sig("def contact_state(self) -> dict[str, float]"));
}

}  // namespace

void bind_current_state(nb::class_<SimulatorHandle>& bound) {
  bind_contact_quantities(bound);
  bound
      .def_prop_ro(
          "joint_coordinates",
          [](SimulatorHandle& handle) {
            std::vector<double> q;
            {
              const LibraryScope scope;
              q = handle.get().scene().joint_coordinates(handle.get().state());
            }
            const std::size_t count = q.size();
            return to_numpy(std::move(q), {count});
          },
          "Coordinates of revolute (rad) and prismatic (m) joints, [joints]; NaN for other joints. Collective.",
          nb::sig("def joint_coordinates(self) -> numpy.ndarray"))
      .def_prop_ro(
          "positions", [](SimulatorHandle& handle) { return field_of(handle, "positions"); },
          "Copy of the positions of the current state, [local vertices, 3], in m.",
          nb::sig("def positions(self) -> numpy.ndarray"))
      .def_prop_ro(
          "velocities", [](SimulatorHandle& handle) { return field_of(handle, "velocities"); },
          "Copy of the velocities of the current state, [owned vertices, 3], in m/s.",
          nb::sig("def velocities(self) -> numpy.ndarray"))
      .def_prop_ro(
          "state",
          [](SimulatorHandle& handle) {
            const State* state = nullptr;
            double time = 0.0;
            {
              const LibraryScope scope;
              state = &handle.get().state();
              time = handle.get().time();
            }
            return copy_of(*state, time);
          },
          "Copy of the current state.", nb::sig("def state(self) -> State"))
      .def_prop_ro(
          "time", [](SimulatorHandle& handle) { return handle.get().time(); }, "Time of the current state, s.")
      .def_prop_ro(
          "step_number", [](SimulatorHandle& handle) { return handle.get().step_number(); },
          "Number of steps from the initial state to the current state.")
      .def_prop_ro(
          "parameters", [](SimulatorHandle& handle) { return new ParametersHandle(handle.scene()); },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>(), "Values of all parameters by name.")
      .def_prop_ro(
          "scene", [](SimulatorHandle& handle) { return new SceneHandle(handle.scene()); },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>(),
          "Scene of the simulator, to which loads, motions and contact can be added.");
}

}  // namespace diffsim::python
