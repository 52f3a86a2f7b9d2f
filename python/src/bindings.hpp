// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

namespace diffsim::python {

namespace nb = nanobind;

class SceneHandle;
class SimulatorHandle;

void bind_bodies(nb::module_& module);
void bind_cameras(nb::module_& module);
void bind_checkpoints(nb::module_& module);
void bind_contact(nb::module_& module);
/// Binds the members of simulators that describe the current state.
void bind_current_state(nb::class_<SimulatorHandle>& simulator);
void bind_errors(nb::module_& module);
/// Binds policies and the function of scenes that adds a feedback.
void bind_feedback(nb::module_& module, nb::class_<SceneHandle>& scene);
/// Binds force terms of Python functions and the function of scenes that adds such a term.
void bind_force_term(nb::module_& module, nb::class_<SceneHandle>& scene);
/// Binds links and the functions of scenes that add a link and a parameter of a link.
void bind_link(nb::module_& module, nb::class_<SceneHandle>& scene);
void bind_losses(nb::module_& module);
void bind_material(nb::module_& module);
void bind_mesh(nb::module_& module);
void bind_mesh_surface(nb::module_& module);
void bind_parameters(nb::module_& module);
void bind_petsc(nb::module_& module);
void bind_problem(nb::module_& module);
void bind_progress(nb::module_& module);
/// Binds functions by which functions in Python report errors of one rank on all ranks.
void bind_rank_checks(nb::module_& module);
void bind_rollout_outputs(nb::module_& module);
void bind_scene(nb::module_& module);
void bind_scene_file(nb::module_& module);
void bind_sensor(nb::module_& module);
/// Binds the functions of a sensor and the function of scenes that makes a sensor of Python functions.
void bind_sensor_functions(nb::module_& module, nb::class_<SceneHandle>& scene);
void bind_simulator(nb::module_& module);
void bind_solver(nb::module_& module);
void bind_state(nb::module_& module);
/// Binds functions of simulators and trajectories that return a value per cell or vertex.
void bind_state_fields(nb::module_& module);
void bind_trajectory(nb::module_& module);
void bind_view(nb::module_& module);

}  // namespace diffsim::python
