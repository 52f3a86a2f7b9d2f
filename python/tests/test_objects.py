# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Lifetimes of objects, exceptions, interrupts, threads, memory use, and the additional time of Python functions."""

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time

import diffsim
import numpy as np
import pytest
from scenes import largest, loss, resident_bytes, simulator


def run(code):
    """Run a program in a separate process and return its standard output."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "MPI" not in done.stderr and "rror" not in done.stderr, done.stderr
    return done.stdout


def test_objects_are_destroyed_in_any_order():
    order = random.Random(1)
    for _ in range(1000):
        mesh = diffsim.TetrahedralMesh.create_cube(1, 0.1)
        material = diffsim.DifferentiableMaterial(5e3, 0.4)
        solver = diffsim.DifferentiableSolver(dt=0.005, substeps=1)
        made = diffsim.DifferentiableSimulator(mesh, material, solver)
        trajectory = made.rollout(1)
        made.backward(loss)
        objects = [mesh, material, solver, made, trajectory, made.scene, made.parameters, trajectory.state(0)]
        arrays = [made.positions, made.gradient("youngs_modulus")]
        views = [made.view("positions"), made.parameters.view("youngs_modulus"), made.gradient_view("youngs_modulus")]
        views += [trajectory.view("velocities", 0), made.gradient_view("initial_positions")]
        arrays += [np.asarray(view) for view in views]
        objects += [trajectory.positions(1), mesh.rest_positions, *views, made.parameters.edit("gravity")]
        kept = [array.copy() for array in arrays]
        order.shuffle(views)
        views = views[:2]  # the other views are destroyed with the objects
        del mesh, material, solver, made, trajectory
        order.shuffle(objects)
        while objects:
            objects.pop()
        other, _ = simulator(resolution=1)  # uses memory that the objects have given up
        other.rollout(1)
        other.backward(loss)
        for array, copy in zip(arrays, kept):
            assert np.array_equal(array, copy)
        order.shuffle(arrays)
        while arrays:
            arrays.pop()


def test_a_trajectory_outlives_the_names_of_its_simulator():
    made, mesh = simulator()
    trajectory = made.rollout(8, 3)
    expected = trajectory.positions(4)
    trajectory.positions(8)
    del made, mesh
    gc.collect()
    assert np.array_equal(trajectory.positions(4), expected)


def test_exceptions_of_a_loss_pass_unchanged():
    made, _ = simulator()
    error = ZeroDivisionError("in a loss")

    def fails(n, state):
        raise error

    made.rollout(4)
    with pytest.raises(ZeroDivisionError) as caught:
        made.backward(fails)
    assert caught.value is error
    with pytest.raises(ZeroDivisionError):
        made.rollout(4, 10, fails)
    assert made.time == 0.0
    made.rollout(4)
    after = made.backward(loss), made.gradient("youngs_modulus")
    fresh, _ = simulator()
    fresh.rollout(4)
    assert after[0] == fresh.backward(loss) and np.array_equal(after[1], fresh.gradient("youngs_modulus"))


def test_errors_are_of_the_documented_classes():
    assert issubclass(diffsim.InputError, diffsim.Error) and issubclass(diffsim.RunError, diffsim.Error)
    made, mesh = simulator()
    with pytest.raises(diffsim.InputError, match="y_max"):
        made.set_fixed_vertices("y_maxx")
    unstable = diffsim.Simulator(mesh, diffsim.DifferentiableMaterial(1e9, 0.4), diffsim.DifferentiableSolver(dt=0.1))
    with pytest.raises(diffsim.RunError):
        unstable.step(100)
    for wrong in (lambda n, state: 1.0, lambda n, state: "much", lambda n, state: (1.0, None)):
        made.rollout(2)
        with pytest.raises(diffsim.InputError, match="a loss must return"):
            made.backward(wrong)
    made.rollout(2)
    with pytest.raises(diffsim.InputError, match="positions has 3 entries"):
        made.backward(lambda n, state: (1.0, {"positions": np.zeros(3)}))
    made.rollout(2)
    with pytest.raises(diffsim.Error, match="temperature"):
        made.backward(lambda n, state: (1.0, {"temperature": np.zeros(3)}))
    with pytest.raises(diffsim.Error):
        made.rollout(2, 0)
    with pytest.raises(diffsim.InputError, match="must be a function"):
        made.backward(3)
    made.rollout(2)
    made.backward(loss)
    with pytest.raises(diffsim.Error):
        made.backward(loss)


def test_a_loss_must_not_use_its_simulator_and_a_state_ends_with_its_call():
    made, _ = simulator()
    made.rollout(2)
    for use in (made.step, made.reset, lambda: made.positions, lambda: made.rollout(1), lambda: made.scene.fix("x_min")):
        made.rollout(2)
        with pytest.raises(diffsim.Error, match="must not use its own simulator"):
            made.backward(lambda n, state: use())
    states = []
    made.rollout(2, 10, lambda n, state: states.append((state, state.positions)))
    assert np.array_equal(states[0][0].positions, states[0][1])
    with pytest.raises(diffsim.Error, match="only while"):
        states[0][0].velocities


@pytest.mark.parametrize(
    "call", ["rollout", "backward", "backward of the library", "compute_gradient", "hessian_product", "step"]
)
def test_an_interrupt_stops_between_steps(call):
    made, mesh = simulator(resolution=3)
    steps = 100000
    if call.startswith("backward"):
        steps = 20000
        made.rollout(steps, 100)
    of_library = diffsim.TargetPositionLoss(mesh, "y_min", [0.0, 0.0, 0.0], steps)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        if call == "rollout":
            made.rollout(steps, 100)
        elif call == "step":
            made.step(steps)
        elif call == "compute_gradient":
            made.compute_gradient(steps, of_library, diffsim.CheckpointOptions("uniform", every=100))
        elif call == "hessian_product":
            made.hessian_product(steps, of_library, {"youngs_modulus": 1.0}, 100)
        else:
            made.backward(of_library if call == "backward of the library" else lambda n, state: None)
    assert time.perf_counter() - begin < 2.0
    if call == "step":
        assert 0 < made.step_number < steps
        made.step()
        made.reset()
    assert made.time == 0.0
    made.rollout(4)
    value = made.backward(loss)
    fresh, _ = simulator(resolution=3)
    fresh.rollout(4)
    assert fresh.backward(loss) == value
    assert np.array_equal(fresh.gradient("youngs_modulus"), made.gradient("youngs_modulus"))


def test_other_threads_are_refused_but_may_drop_objects():
    made, mesh = simulator()
    trajectory = made.rollout(3)
    objects, errors = [made, mesh, trajectory, made.view("positions"), np.asarray(made.view("velocities"))], []

    def work():
        for use in (made_of[0].step, simulator, lambda: made_of[0].rollout(3)):
            try:
                use()
            except diffsim.RunError as error:
                errors.append(str(error))
        made_of.clear()
        objects.clear()
        gc.collect()

    made_of = [made]
    del made, mesh, trajectory
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(errors) == 3 and "thread in which it was first used" in errors[0]
    made, _ = simulator()
    made.rollout(3)
    assert made.backward(loss) > 0.0


def test_the_gil_is_released_in_a_rollout():
    made, _ = simulator(resolution=6)
    counted = 0
    stop = threading.Event()

    def count():
        nonlocal counted
        while not stop.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    made.step(1)
    made.rollout(30)
    elapsed = time.perf_counter() - begin
    stop.set()
    thread.join()
    assert counted > 0.05 * elapsed / 0.001


def test_memory_does_not_grow():
    made, _ = simulator()

    def work(times):
        for _ in range(times):
            trajectory = made.rollout(5, 2)
            made.backward(loss)
            made.gradient("youngs_modulus")
            trajectory.state(1)
        gc.collect()
        return resident_bytes()

    begin = work(200)
    assert work(1000) - begin < 2e6


def test_simulators_leave_no_memory():
    def work(times):
        for _ in range(times):
            made, _ = simulator()
            trajectory = made.rollout(2)
            assert "gravity" in made.parameters and "gravity" in trajectory.scene.parameters
            assert made.scene.mesh.num_vertices == 27
        del made, trajectory
        gc.collect()
        return resident_bytes()

    begin = work(100)
    assert work(300) - begin < 4e6


USE = "m = diffsim.TetrahedralMesh.create_cube(2); s = diffsim.Simulator(m, diffsim.DifferentiableMaterial(1e5, 0.4)); s.step(); "


@pytest.mark.parametrize(
    "code",
    [
        "import diffsim; print('done')",
        "import diffsim; " + USE + "print('done')",
        "import diffsim; " + USE + "keep = [s, m]; keep.append(keep); print('done')",
        "import diffsim, atexit; " + USE + "atexit.register(lambda: print('done', s.time))",
    ],
)
def test_a_process_ends_well(code):
    assert "done" in run(code)


@pytest.mark.parametrize("code", ["from mpi4py import MPI; import diffsim; ", "import diffsim; diffsim.rank(); from mpi4py import MPI; "])
def test_mpi4py_may_start_first_or_later(code):
    pytest.importorskip("mpi4py")
    use = USE.replace("create_cube(2)", "create_cube(2, comm=MPI.COMM_WORLD)")
    assert "done" in run(code + use + "print('done', MPI.Is_initialized())")


def test_a_communicator_must_be_one():
    with pytest.raises(diffsim.InputError, match="mpi4py"):
        diffsim.TetrahedralMesh.create_cube(1, comm=3)


def test_python_adds_little_time():
    made, mesh = simulator(resolution=6)
    steps = 20
    native = diffsim.TargetPositionLoss(mesh, "y_min", [0.0, 0.0, 0.0], steps)
    region = mesh.region("y_min")

    def in_python(n, state):
        if n != steps:
            return None
        x = state.positions
        offset = x[region].mean(axis=0)
        derivative = np.zeros_like(x)
        derivative[region] = offset / len(region)
        return 0.5 * offset @ offset, {"positions": derivative}

    # The test measures processor time, because other programs may use the processor. Runs with a loss in C++ and in Python
    # alternate, and the fastest run of each kind is compared.
    in_library = with_python = float("inf")
    for _ in range(12):
        begin = time.process_time()
        made.rollout(steps)
        made.backward(native)
        middle = time.process_time()
        made.rollout(steps)
        made.backward(in_python)
        in_library = min(in_library, middle - begin)
        with_python = min(with_python, time.process_time() - middle)
    print(f"rollout and gradient of {steps} steps, {mesh.num_cells} cells: {in_library:.4f} s, in Python {with_python:.4f} s")
    assert with_python < in_library + steps * 200e-6
