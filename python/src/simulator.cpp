// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "simulator.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "direction.hpp"
#include "loss.hpp"
#include "mesh.hpp"
#include "progress.hpp"
#include "scene.hpp"
#include "shared_objects.hpp"
#include "state.hpp"
#include "sweeps.hpp"
#include "trajectory.hpp"
#include "view.hpp"

namespace diffsim::python {
namespace {

template <class T, class H>
void make(H* self, const MeshHandle& mesh, nb::handle material, const DifferentiableSolver* solver, double density,
          const std::optional<std::string>& device) {
  const MPI_Comm comm = mesh.get().comm();
  const Materials materials = read_on_all_ranks(comm, [&] { return materials_of(material); });
  const DifferentiableSolver options = solver ? *solver : DifferentiableSolver{};
  std::shared_ptr<T> simulator;
  {
    const LibraryScope scope;
    require_same_on_all_ranks(comm, "density, device", density, device);
    simulator =
        share_on_all_ranks(comm, std::make_shared<T>(mesh.shared(), materials, options, density, device.value_or("")));
  }
  auto scene = std::make_shared<SharedScene>(simulator, SceneRecord(mesh.record, options));
  new (self) H(std::move(simulator), std::move(scene));
}

template <class T, class H>
void make_of_scene(H* self, const SceneHandle& scene) {
  std::shared_ptr<T> simulator;
  {
    const LibraryScope scope;
    DifferentiableScene& of = scene.shared()->change();
    simulator = share_on_all_ranks(of.mesh()->comm(), std::make_shared<T>(of));
  }
  new (self) H(std::move(simulator), scene.shared());
}

void step(SimulatorHandle& handle, int count) {
  const LibraryScope scope;
  require_same_on_all_ranks(handle.comm(), "count", count);
  if (count < 0) throw InputError("count is " + std::to_string(count) + "; give a number of steps of at least 0");
  ProgressBar progress("steps", count);
  for (int i = 0; i < count; ++i) {
    call_on_all_ranks(handle.comm(), [&] {
      check_signals();
      progress.update(i);
    });
    Simulator& simulator = handle.get();
    const Sweep sweep(*handle.scene());
    simulator.step();
  }
  call_on_all_ranks(handle.comm(), [&] { progress.update(count); });
}

void fix(SimulatorHandle& handle, nb::handle vertices) {
  std::optional<std::string> region;  // no value for numbers of vertices
  const std::vector<std::int64_t> numbers = read_on_all_ranks(handle.comm(), [&] {
    if (!nb::isinstance<nb::str>(vertices)) return integers(vertices, "vertices").values;
    region = nb::cast<std::string>(vertices);
    return std::vector<std::int64_t>{};
  });
  const LibraryScope scope;
  require_same_on_all_ranks(handle.comm(), "name of a region", region);
  handle.scene()->change();
  if (!region) {
    const TetrahedralMesh& mesh = *handle.scene()->get().mesh();
    int number = 0;  // of the region that set_fixed_vertices defines
    while (mesh.has_region("fixed_vertices_" + std::to_string(number))) ++number;
    region = "fixed_vertices_" + std::to_string(number);
    handle.get().set_fixed_vertices(numbers);
    record_region(handle.scene()->record().mesh(), *region, VertexList{numbers}, "");
  } else {
    handle.get().set_fixed_vertices(*region);
  }
  handle.scene()->record().fix(*region, {true, true, true});
}

/// Makes the results of the last rollout unavailable.
void forget_rollout(SimulatorHandle& handle) {
  handle.last_.reset();
  handle.version_of_rollout_ = -1;
}

void set_state(SimulatorHandle& handle, nb::object arrays, int step) {
  const LibraryScope scope;
  require_same_on_all_ranks(handle.comm(), "step", step);
  if (step < 0) throw InputError("step is " + std::to_string(step) + "; the first step is 0");
  State state = handle.get().scene().initial_state();
  call_on_all_ranks(handle.comm(), [&] {
    if (!nb::hasattr(arrays, "keys"))
      throw InputError("set_state needs a State, a dict of arrays or the path (str) of a trajectory file, not " +
                       nb::cast<std::string>(nb::repr(arrays)));
    for (Field& field : state.fields()) {
      const nb::str name(field.name().c_str());
      if (PySequence_Contains(arrays.attr("keys")().ptr(), name.ptr()) != 1)
        throw InputError("the state has no field '" + field.name() + "'");
      field.from_host(doubles_of_shape(arrays[name], shape_of(field), field.name()));
    }
  });
  handle.get().set_state(state, step);
  forget_rollout(handle);
}

int set_state_of_file(SimulatorHandle& handle, const std::string& trajectory, int step) {
  const LibraryScope scope;
  require_same_on_all_ranks(handle.comm(), "trajectory, step", trajectory, step);
  const int found = handle.get().set_state(trajectory, step);
  forget_rollout(handle);
  return found;
}

/// Returns the steps of a rollout of `num_steps` steps whose first step has the number `first_step`. Throws InputError
/// if a number is negative.
StepRange steps_from(int first_step, int num_steps) {
  if (first_step < 0) throw InputError("first_step is " + std::to_string(first_step) + "; the first step is 0");
  if (num_steps < 0 || num_steps > std::numeric_limits<int>::max() - first_step)
    throw InputError("num_steps is " + std::to_string(num_steps) + "; give a number of steps that is possible");
  return {first_step, first_step + num_steps};
}

/// Throws InputError on all ranks if the steps of a rollout are wrong or not the same on all ranks. Collective; the
/// caller must hold the GIL.
void require_same_steps(MPI_Comm comm, int num_steps, int checkpoint_every, std::optional<int> first_step) {
  const LibraryScope scope;
  require_same_on_all_ranks(comm, "num_steps, checkpoint_every, first_step", num_steps, checkpoint_every, first_step);
  if (first_step) steps_from(*first_step, num_steps);
}

/// Returns the loss in `object` on every rank, see `loss_of`. Collective; the caller must hold the GIL.
std::shared_ptr<Loss> read_loss(const SimulatorHandle& handle, const nb::object& object, bool values_only) {
  return read_on_all_ranks(handle.comm(), [&] { return loss_of(object, handle.scene()->get(), values_only); });
}

TrajectoryHandle* rollout(SimulatorHandle& handle, int num_steps, int checkpoint_every, nb::object observer,
                          std::optional<int> first_step) {
  const double dt = handle.dt();
  const MPI_Comm comm = handle.comm();
  require_same_steps(comm, num_steps, checkpoint_every, first_step);
  handle.has_gradient_ = false;
  const std::shared_ptr<Trajectory> trajectory = run_sweep(handle, [&] {
    ProgressBar progress("rollout", num_steps);
    const StateObserver observe = [&](int n, const State& state) {
      call_on_all_ranks(comm, [&] {
        check_signals();
        progress.update(n - first_step.value_or(0));
        if (observer.is_none()) return;
        const LentState lent(state, n * dt);
        observer(n, lent.object());
      });
    };
    Simulator& simulator = *handle.shared();
    return share_on_all_ranks(
        comm, std::make_shared<Trajectory>(
                  first_step ? simulator.rollout(steps_from(*first_step, num_steps), checkpoint_every, observe)
                             : simulator.rollout(num_steps, checkpoint_every, observe)));
  });
  if (dynamic_cast<const DifferentiableSimulatorHandle*>(&handle)) handle.last_ = trajectory;
  handle.version_of_rollout_ = handle.scene()->version();
  return new TrajectoryHandle(trajectory, handle);
}

double backward(DifferentiableSimulatorHandle& handle, nb::object object) {
  const std::shared_ptr<Loss> loss = read_loss(handle, object, false);
  if (!handle.last_ || handle.version_of_rollout_ != handle.scene()->version())
    throw Error("backward(loss) needs a rollout since the last change of the scene or its parameters");
  const double value = run_sweep(handle, [&] {
    // The forward run is complete: the bar shows the steps of the reverse run only.
    DifferentiableSimulator& simulator = handle.differentiable_in_sweep();
    const int num_steps = handle.last_->num_steps();
    SweepProgress progress("reverse sweep", handle.comm());
    const WatchScope watch(simulator, progress, {.total = num_steps, .earlier = num_steps});
    return simulator.backward(*loss);
  });
  handle.has_gradient_ = true;
  return value;
}

double compute_loss(DifferentiableSimulatorHandle& handle, nb::object object) {
  const std::shared_ptr<Loss> loss = read_loss(handle, object, true);
  if (!handle.last_ || handle.version_of_rollout_ != handle.scene()->version())
    throw Error("compute_loss(loss) needs a rollout since the last change of the scene or its parameters");
  const LibraryScope scope;
  const Sweep sweep(*handle.scene());
  const ParameterSet& parameters = const_cast<DifferentiableScene&>(handle.scene()->get()).parameters();
  double sum = 0.0;
  const StepRange steps = handle.last_->steps();
  for (int n = steps.begin; n <= steps.end; ++n)
    if (loss->observes(n)) sum += loss->value(n, handle.last_->state(n), parameters);
  return sum_over_ranks(sum, handle.comm());
}

void rollout_tangent(DifferentiableSimulatorHandle& handle, int num_steps, nb::dict changes, nb::object observer) {
  const Direction direction = read_direction(handle, changes);
  const double dt = handle.dt();
  const MPI_Comm comm = handle.comm();
  require_same_steps(comm, num_steps, 0, std::nullopt);
  run_sweep(handle, [&] {
    DifferentiableSimulator& simulator = handle.differentiable_in_sweep();
    ProgressBar progress("rollout in forward mode", num_steps);
    simulator.rollout_tangent(num_steps, direction.parameters(simulator.parameters()),
                              direction.initial_state(simulator.scene().initial_state()),
                              [&](int n, const State& state, const State& tangent, const ParameterSet&) {
                                call_on_all_ranks(comm, [&] {
                                  check_signals();
                                  progress.update(n);
                                  if (observer.is_none()) return;
                                  const LentState lent(state, n * dt), lent_tangent(tangent, n * dt);
                                  observer(n, lent.object(), lent_tangent.object());
                                });
                              });
  });
}

nb::dict hessian_product(DifferentiableSimulatorHandle& handle, int num_steps, nb::object object, nb::dict changes,
                         int checkpoint_every, bool linear) {
  require_same_steps(handle.comm(), num_steps, checkpoint_every, std::nullopt);
  const std::shared_ptr<Loss> loss = read_on_all_ranks(handle.comm(), [&] {
    std::shared_ptr<Loss> read = loss_of(object, handle.scene()->get(), false);
    auto* const function = dynamic_cast<PythonLoss*>(read.get());
    if (function && !linear)
      throw InputError(
          "hessian_product needs second derivatives, which a function does not have; use a loss of the library, or "
          "pass linear=True if the loss is linear in the states");
    if (function) function->set_linear();
    return read;
  });
  const Direction direction = read_direction(handle, changes);
  NamedArrays arrays;
  run_sweep(handle, [&] {
    DifferentiableSimulator& simulator = handle.differentiable_in_sweep();
    SweepProgress progress("Hessian product", handle.comm());
    const WatchScope watch(simulator, progress, {2L * num_steps});
    const HessianProduct product =
        simulator.hessian_product(num_steps, checkpoint_every, *loss, direction.parameters(simulator.parameters()),
                                  direction.initial_state(simulator.scene().initial_state()));
    for (const Parameter& parameter : product.parameters) arrays.add(parameter);
    arrays.add_owned(initial_positions_name, product.initial_state["positions"]);
    arrays.add_owned(initial_velocities_name, product.initial_state["velocities"]);
  });
  return arrays.to_dict();
}

double compute_gradient(DifferentiableSimulatorHandle& handle, int num_steps, nb::object object,
                        const std::optional<CheckpointOptions>& checkpoints, std::optional<int> first_step) {
  require_same_steps(handle.comm(), num_steps, 0, first_step);
  const std::shared_ptr<Loss> loss = read_loss(handle, object, false);
  handle.has_gradient_ = false;
  const double loss_of_rollout = run_sweep(handle, [&] {
    handle.last_.reset();
    handle.version_of_rollout_ = -1;
    DifferentiableSimulator& simulator = handle.differentiable_in_sweep();
    const SweepLength length{2L * num_steps};
    SweepProgress progress("gradient", handle.comm());
    const WatchScope watch(simulator, progress, length);
    const CheckpointOptions options = checkpoints.value_or(CheckpointOptions{});
    const int first = first_step.value_or(0);
    const StateObserver observe = [&](int n, const State&) { progress.report(length, n - first); };
    const double value = first_step ? simulator.rollout(steps_from(first, num_steps), options, *loss, observe)
                                    : simulator.rollout(num_steps, options, *loss, observe);
    simulator.backward();
    return value;
  });
  handle.has_gradient_ = true;
  return loss_of_rollout;
}

/// Returns the simulator. Throws InputError if `backward` has not computed a gradient since the last rollout.
const DifferentiableSimulator& with_gradient(DifferentiableSimulatorHandle& handle) {
  if (!handle.has_gradient_)
    throw InputError("there is no gradient yet; call backward(loss) after rollout, or compute_gradient, first");
  return handle.differentiable();
}

nb::object gradient(DifferentiableSimulatorHandle& handle, const std::string& name) {
  return read_values([&]() -> const Parameter& { return with_gradient(handle).gradient().at(name); });
}

ArrayView gradient_view(DifferentiableSimulatorHandle& handle, const std::string& name) {
  const bool by_positions = name == initial_positions_name;
  if (!by_positions && name != initial_velocities_name)
    return view_of([&]() -> const Parameter& { return with_gradient(handle).gradient().at(name); });
  const Field* field = nullptr;
  {
    const LibraryScope scope;
    field = &with_gradient(handle).initial_gradient()[by_positions ? "positions" : "velocities"];
  }
  return ArrayView::of(*field, true);
}

nb::dict initial_gradient(DifferentiableSimulatorHandle& handle) {
  std::vector<std::pair<std::string, std::vector<double>>> values;
  std::vector<std::vector<std::size_t>> shapes;
  {
    const LibraryScope scope;
    for (const Field& field : with_gradient(handle).initial_gradient().fields()) {
      values.emplace_back(field.name(), field.to_host());
      shapes.push_back(shape_of(field));
      if (shapes.back().size() < 2) continue;
      shapes.back()[0] = field.owned();
      values.back().second.resize(field.owned_size());
    }
  }
  nb::dict result;
  for (std::size_t i = 0; i < values.size(); ++i)
    result[values[i].first.c_str()] = to_numpy(std::move(values[i].second), shapes[i]);
  return result;
}

nb::dict statistics(DifferentiableSimulatorHandle& handle) {
  const SweepStatistics counted = handle.differentiable().statistics();
  nb::dict result;
  result["advances"] = counted.advances;
  result["recordings"] = counted.recordings;
  result["stores"] = counted.stores;
  result["restores"] = counted.restores;
  result["forward_seconds"] = counted.forward_seconds;
  result["backward_seconds"] = counted.backward_seconds;
  return result;
}

const char* const init_signature =
    "def __init__(self, mesh: TetrahedralMesh, material: object, solver: DifferentiableSolver | None = None, "
    "density: float = 1000.0, device: str | None = None) -> None";
const char* const init_doc = R"(Create a simulator of a mesh.

material: a DifferentiableMaterial, or a list of materials with their regions. density: kg/m³, for materials of
tetrahedra that give no density. device: cpu, cuda or hip; None for the device for which the library was built.)";

template <class T, class H, class C>
void bind_constructors(C& bound) {
  bound
      .def("__init__", &make<T, H>, nb::arg("mesh"), nb::arg("material"), nb::arg("solver") = nb::none(),
           nb::arg("density") = 1000.0, nb::arg("device") = nb::none(), nb::keep_alive<1, 2>(), init_doc,
           nb::sig(init_signature))
      .def("__init__", &make_of_scene<T, H>, nb::arg("scene"), nb::keep_alive<1, 2>(),
           "Create a simulator of a scene.");
}

/// Binds derivatives in forward mode, products with Hessians, and a reduction that diffsim.jax and diffsim.torch use.
void bind_directional_derivatives(nb::class_<DifferentiableSimulatorHandle, SimulatorHandle>& bound) {
  bound
      .def(
          "on_any_rank",
          [](const DifferentiableSimulatorHandle& handle, bool value) {
            const LibraryScope scope;
            return sum_over_ranks(static_cast<std::int64_t>(value ? 1 : 0), handle.comm()) > 0;
          },
          nb::arg("value"), "Return whether `value` is true on any rank of the mesh. Collective.")
      .def("rollout_tangent", &rollout_tangent, nb::arg("num_steps"), nb::arg("direction"),
           nb::arg("observer") = nb::none(),
           R"(Run steps from the scene's initial state, with the derivatives of the states along a direction.

direction: dict from names of parameters, "initial_positions" and "initial_velocities" to changes, which are broadcast to
the shapes of the parameters or to [owned vertices, 3]. observer(n, state, tangent) is called for each state; `tangent`
has the derivatives of the fields of `state`. Both states are valid only during the call. backward then needs another
rollout.)",
           nb::sig("def rollout_tangent(self, num_steps: int, direction: dict[str, object], "
                   "observer: collections.abc.Callable[[int, State, State], object] | None = None) -> None"))
      .def("hessian_product", &hessian_product, nb::arg("num_steps"), nb::arg("loss"), nb::arg("direction"),
           nb::arg("checkpoint_every") = 10, nb::arg("linear") = false,
           R"(Return the derivative, along a direction, of the gradient of a loss through a rollout.

The rollout has num_steps steps from the scene's initial state. loss: a Loss, or, with linear=True, a function as for
backward whose derivatives do not depend on the states. direction: dict as for rollout_tangent; its parameters must be
selected by require_gradient. The result is a dict with the derivatives of the gradients with respect to the selected
parameters, "initial_positions" and "initial_velocities". backward then needs another rollout.)",
           nb::sig("def hessian_product(self, num_steps: int, loss: object, direction: dict[str, object], "
                   "checkpoint_every: int = 10, linear: bool = False) -> dict[str, numpy.ndarray]"));
}

/// Binds the gradient of a rollout whose checkpoints have options.
void bind_compute_gradient(nb::class_<DifferentiableSimulatorHandle, SimulatorHandle>& bound) {
  bound.def("compute_gradient", &compute_gradient, nb::arg("num_steps"), nb::arg("loss"),
            nb::arg("checkpoints") = nb::none(), nb::arg("first_step") = nb::none(),
            R"(Run steps from the scene's initial state, compute the gradient of a loss, and return the loss.

loss: as for backward. checkpoints: CheckpointOptions, for example with checkpoints on a disk; None stores every step in
memory. first_step: as for rollout. gradient and initial_gradient then return the gradients; backward needs another
rollout.)",
            nb::sig("def compute_gradient(self, num_steps: int, loss: object, "
                    "checkpoints: CheckpointOptions | None = None, first_step: int | None = None) -> float"));
}

void bind_differentiable(nb::module_& module) {
  using H = DifferentiableSimulatorHandle;
  nb::class_<H, SimulatorHandle> bound(
      module, "DifferentiableSimulator",
      "Simulator that computes gradients of losses through rollouts. All members are collective.");
  bind_constructors<DifferentiableSimulator, H>(bound);
  bound
      .def("backward", &backward, nb::arg("loss"),
           R"(Compute the gradient of the loss Σ ℓ(n, x[n]) over the states of the last rollout, and return the loss.

loss: a Loss, or a function. loss(n, state) returns None if ℓ does not depend on state n, otherwise (value,
derivatives). value is this rank's contribution to ℓ. derivatives is a dict from names of fields to arrays of the
fields' shapes; only the entries of owned vertices are used. Call backward at most once for each rollout.)",
           nb::sig("def backward(self, loss: object) -> float"))
      .def("compute_loss", &compute_loss, nb::arg("loss"),
           "Return the loss of the last rollout, without derivatives. loss: as for backward, or a function that "
           "returns a number.",
           nb::sig("def compute_loss(self, loss: object) -> float"))
      .def(
          "require_gradient",
          [](H& handle, const std::vector<std::string>& names) {
            const LibraryScope scope;
            require_same_on_all_ranks(handle.comm(), "parameters", names);
            handle.differentiable().require_gradient(names);
            handle.has_gradient_ = false;
            handle.last_.reset();
            handle.version_of_rollout_ = -1;
          },
          nb::arg("parameters"),
          "Select the parameters whose gradients backward computes. Call this function before a rollout.")
      .def("gradient", &gradient, nb::arg("parameter"),
           "Return a copy of the gradient with respect to a parameter; the shape is that of the parameter. Raise an "
           "InputError unless `backward` has computed the gradient of the last rollout.",
           nb::sig("def gradient(self, parameter: str) -> numpy.ndarray"))
      .def(
          "gradient_view", &gradient_view, nb::arg("name"),
          "Return a view of the library's memory of the gradient with respect to a parameter, to \"initial_positions\" "
          "or to \"initial_velocities\".",
          nb::sig("def gradient_view(self, name: str) -> ArrayView"))
      .def_prop_ro(
          "gradient_names", [](H& handle) { return handle.differentiable().gradient().names(); },
          "Names of the parameters whose gradients backward computes.")
      .def_prop_ro("initial_gradient", &initial_gradient,
                   R"(Gradients with respect to the state at which the rollout started, by field name.

positions and velocities: [owned vertices, 3].)",
                   nb::sig("def initial_gradient(self) -> dict[str, numpy.ndarray]"))
      .def_prop_ro(
          "has_rollout",
          [](const H& handle) { return handle.last_ && handle.version_of_rollout_ == handle.scene()->version(); },
          "Whether a rollout has been run, and the scene and its parameters have not changed since.")
      .def_prop_ro(
          "num_sweeps", [](const H& handle) { return handle.num_sweeps_; },
          "Number of rollouts and other sweeps so far.")
      .def_prop_ro("statistics", &statistics, "Counts of steps and checkpoints, and times in s, of the last sweep.");
  bind_compute_gradient(bound);
  bind_directional_derivatives(bound);
}

}  // namespace

void bind_simulator(nb::module_& module) {
  nb::class_<SimulatorHandle> bound(
      module, "Simulator",
      "Simulator that advances bodies step by step, without gradients. All members are collective.");
  bind_constructors<Simulator, SimulatorHandle>(bound);
  bound
      .def("step", &step, nb::arg("count") = 1,
           "Advance the current state by `count` steps. Ctrl-C stops between two steps.")
      .def("rollout", &rollout, nb::arg("num_steps"), nb::arg("checkpoint_every") = 10,
           nb::arg("observer") = nb::none(), nb::arg("first_step") = nb::none(),
           R"(Run steps from the scene's initial state, and return the trajectory.

Every checkpoint_every steps, a checkpoint is stored in memory. observer(n, state) is called for each state; `state` is
valid only during the call. After an exception, such as KeyboardInterrupt, the simulator is at its initial state.

first_step: if given, run the steps first_step, first_step + 1, … of a longer rollout, from the current state. Loads,
losses, the observer and the trajectory then number the states from first_step on.)",
           nb::sig("def rollout(self, num_steps: int, checkpoint_every: int = 10, "
                   "observer: collections.abc.Callable[[int, State], object] | None = None, "
                   "first_step: int | None = None) -> Trajectory"))
      .def(
          "reset",
          [](SimulatorHandle& handle) {
            const LibraryScope scope;
            handle.get().reset();
            forget_rollout(handle);
          },
          "Set the current state to the initial state of the scene, and the step number to 0.")
      .def("set_state", &set_state_of_file, nb::arg("trajectory"), nb::arg("step") = -1,
           "Set the current state to a frame of a trajectory file; step -1 means the last frame. Return the step "
           "number.")
      .def("set_state", &set_state, nb::arg("state"), nb::arg("step") = 0,
           R"(Set the current state and its step number, from which `step` continues. Collective.

state: a State, or a dict of arrays with all fields of a state of the scene.)",
           nb::sig("def set_state(self, state: State | dict[str, object], step: int = 0) -> None"))
      .def("set_fixed_vertices", &fix, nb::arg("vertices"),
           "Fix vertices at their positions from the next step on. vertices: name of a region, or numbers in the mesh "
           "file, the same on all ranks.",
           nb::sig("def set_fixed_vertices(self, vertices: object) -> None"));
  bind_current_state(bound);
  bound.def(
      "view",
      [](SimulatorHandle& handle, const std::string& name) {
        return view_of([&]() -> const Field& { return handle.get().state()[name]; });
      },
      nb::arg("name"), "Return a view of the library's memory of a field of the current state, such as \"positions\".",
      nb::sig("def view(self, name: str) -> ArrayView"));
  bind_trajectory(module);
  bind_differentiable(module);
}

}  // namespace diffsim::python
