// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The extension module diffsim._core.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "runtime.hpp"
#include "shared_objects.hpp"

namespace diffsim::python {
namespace {

/// Binds functions of the whole program: its ranks, its back end, and its end.
void bind_program(nb::module_& module) {
  module.def("finalise", &finalise_runtime, "Release all objects of the library and finalise MPI, PETSc and Kokkos.");
  module.def(
      "rank",
      [] {
        const LibraryScope scope;
        return runtime().rank();
      },
      "Return the rank of this process in MPI_COMM_WORLD.");
  module.def(
      "num_ranks",
      [] {
        const LibraryScope scope;
        return runtime().size();
      },
      "Return the number of ranks in MPI_COMM_WORLD.");
  module.def(
      "back_end", [] { return diffsim::back_end(); },
      "Return the name of the Kokkos back end on which kernels run: OpenMP, Serial, Cuda, ….");
  module.def(
      "abort_unless_all_ranks_arrive",
      [](double seconds) {
        if (!all_ranks_arrive(seconds)) MPI_Abort(MPI_COMM_WORLD, 1);
      },
      nb::arg("seconds"), nb::call_guard<nb::gil_scoped_release>(),
      "End the processes of all ranks with exit code 1, unless all ranks call this function within `seconds`.");
  module.def(
      "destroy_unused",
      [](nb::handle comm) {
        const MPI_Comm on = communicator(comm);
        const LibraryScope scope;
        destroy_unused(on);
      },
      nb::arg("comm") = nb::none(), "Destroy the objects of a communicator that are unused on all ranks. Collective.",
      nb::sig("def destroy_unused(comm: object | None = None) -> None"));
}

}  // namespace
}  // namespace diffsim::python

NB_MODULE(_core, module) {
  using namespace diffsim::python;
  module.doc() = "Differentiable mechanics: simulation of deformable bodies, and exact gradients.";
  // Caches of other packages may refer to functions of simulators until the process ends. `finalise` releases the
  // simulators.
  nb::set_leak_warnings(false);
  bind_errors(module);
  bind_view(module);
  bind_state(module);
  bind_mesh(module);
  bind_mesh_surface(module);
  bind_material(module);
  bind_solver(module);
  bind_parameters(module);
  bind_sensor(module);
  bind_contact(module);
  bind_checkpoints(module);
  bind_scene(module);
  bind_bodies(module);
  bind_losses(module);
  bind_cameras(module);
  bind_petsc(module);
  bind_progress(module);
  bind_simulator(module);
  bind_rank_checks(module);
  bind_rollout_outputs(module);
  bind_state_fields(module);
  bind_problem(module);
  bind_scene_file(module);

  bind_program(module);
  // `finalise` is called before the interpreter destroys modules, when all objects of the library can still be
  // released.
  nb::module_::import_("atexit").attr("register")(module.attr("finalise"));
}
