// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/dynamics/integrator.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::python {
namespace {

Gravity gravity_of(nb::handle object) {
  const ArrayOf<double> array = doubles(object, "gravity");
  if (array.values.size() == 1) return {array.values[0]};
  if (array.values.size() == 3) return {array.values[0], array.values[1], array.values[2]};
  throw InputError("gravity must be a number, the acceleration along y, or a vector of three numbers");
}

void bind_options(nb::module_& module) {
  nb::class_<NewtonOptions>(module, "NewtonOptions", "Options of Newton's method for an implicit step.")
      .def(nb::init<>(), "Create the default options.")
      .def_rw("tolerance", &NewtonOptions::tolerance, "Relative tolerance of the residual.")
      .def_rw("linear_tolerance", &NewtonOptions::linear_tolerance,
              "Relative tolerance of the linear system of each iteration; 0 for an adaptive tolerance.")
      .def_rw("max_iterations", &NewtonOptions::max_iterations, "Maximum number of iterations.")
      .def_rw("max_stalled", &NewtonOptions::max_stalled, "Maximum number of successive iterations without progress.")
      .def_rw("max_cuts", &NewtonOptions::max_cuts, "Maximum number of times that the load of a step is halved.");
  nb::class_<LinearOptions>(module, "LinearOptions", "Options of the linear systems of an implicit step.")
      .def(nb::init<>(), "Create the default options.")
      .def_rw("tolerance", &LinearOptions::tolerance, "Relative tolerance of the linear systems for derivatives.")
      .def_rw("direct_below", &LinearOptions::direct_below,
              "Largest number of unknowns for which a matrix is factored; larger systems are solved by Krylov methods.")
      .def_rw("matrix_free", &LinearOptions::matrix_free,
              "Whether Krylov methods compute matrix products from the force terms, without the assembled matrix.")
      .def_rw("fast_paths", &LinearOptions::fast_paths,
              "Whether matrices of 3×3 blocks use diffsim's products and smoothers instead of PETSc's.");
  nb::class_<ImplicitOptions>(module, "ImplicitOptions", "Options of implicit integrators.")
      .def(nb::init<>(), "Create the default options.")
      .def_rw("beta", &ImplicitOptions::beta, "β of the integrator newmark.")
      .def_rw("gamma", &ImplicitOptions::gamma, "γ of the integrator newmark.")
      .def_rw("spectral_radius", &ImplicitOptions::spectral_radius,
              "Spectral radius ρ∞ of the integrator generalised_alpha, in [0, 1].")
      .def_rw("ramp_steps", &ImplicitOptions::ramp_steps,
              "Number of steps over which gravity and dead loads grow to their full value.")
      .def_rw("held_iterations", &ImplicitOptions::held_iterations,
              "Maximum number of Newton iterations that are stored for derivatives without use_implicit_diff.")
      .def_rw("newton", &ImplicitOptions::newton, "Options of Newton's method.")
      .def_rw("linear", &ImplicitOptions::linear, "Options of the linear systems.");
}

}  // namespace

void bind_solver(nb::module_& module) {
  bind_options(module);
  using Solver = DifferentiableSolver;
  nb::class_<Solver>(module, "DifferentiableSolver", "Time stepper: time step, integrator and their options.")
      .def(
          "__init__",
          [](Solver* self, double dt, nb::handle gravity, double damping, int substeps, bool use_implicit_diff,
             const std::string& integrator, const ImplicitOptions* implicit) {
            new (self) Solver{.dt = dt,
                              .substeps = substeps,
                              .damping = damping,
                              .gravity = gravity_of(gravity),
                              .integrator = integrator_named(integrator),
                              .implicit = implicit ? *implicit : ImplicitOptions{},
                              .use_implicit_diff = use_implicit_diff};
          },
          nb::arg("dt") = 0.01, nb::arg("gravity") = -9.8, nb::arg("damping") = 0.99, nb::arg("substeps") = 4,
          nb::arg("use_implicit_diff") = true, nb::arg("integrator") = "symplectic_euler",
          nb::arg("implicit") = nb::none(),
          R"(Create a time stepper.

dt: time step, s. gravity: acceleration along y, or a vector, m/s². damping: factor of the velocities in each substep of
symplectic_euler and explicit_euler. substeps: number of substeps per step of explicit integrators. use_implicit_diff:
whether implicit steps are differentiated as solutions of their equation; if False, Newton's iterations are
differentiated as executed. integrator: symplectic_euler, explicit_euler, velocity_verlet, runge_kutta_2, runge_kutta_4,
implicit_euler, bdf2, newmark, generalised_alpha or quasi_static. implicit: options of implicit integrators.)",
          nb::sig("def __init__(self, dt: float = 0.01, gravity: object = -9.8, damping: float = 0.99, "
                  "substeps: int = 4, use_implicit_diff: bool = True, integrator: str = 'symplectic_euler', "
                  "implicit: ImplicitOptions | None = None) -> None"))
      .def_rw("dt", &Solver::dt, "Time step, s.")
      .def_rw("substeps", &Solver::substeps, "Number of substeps per step of explicit integrators.")
      .def_rw("damping", &Solver::damping,
              "Factor of the velocities in each substep of symplectic_euler and explicit_euler.")
      .def_prop_rw(
          "integrator", [](const Solver& solver) { return name_of(solver.integrator); },
          [](Solver& solver, const std::string& name) { solver.integrator = integrator_named(name); },
          "Name of the integrator.")
      .def_rw("implicit", &Solver::implicit, "Options of implicit integrators.")
      .def_rw("use_implicit_diff", &Solver::use_implicit_diff,
              "Whether implicit steps are differentiated as solutions of their equation.")
      .def_prop_rw(
          "gravity",
          [](const Solver& solver) {
            return to_numpy(std::vector<double>(solver.gravity.begin(), solver.gravity.end()), {3});
          },
          [](Solver& solver, nb::handle gravity) { solver.gravity = gravity_of(gravity); },
          "Copy of the gravitational acceleration, [3], in m/s².", nb::sig("def gravity(self) -> numpy.ndarray"),
          nb::for_setter(nb::sig("def gravity(self, value: object) -> None")))
      .def("__repr__", [](const Solver& solver) {
        return nb::str("DifferentiableSolver(dt={}, substeps={}, damping={}, integrator={!r})")
            .format(solver.dt, solver.substeps, solver.damping, name_of(solver.integrator));
      });
}

}  // namespace diffsim::python
