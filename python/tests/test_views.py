# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Views: arrays on the library's memory, without copies. Runs on one rank and on several ranks."""

import gc
import pathlib
import subprocess
import sys

import diffsim
import numpy as np
import pytest
from scenes import held_bar, hold_link, loss, resident_bytes, simulator

try:
    from mpi4py import MPI

    WORLD = MPI.COMM_WORLD
except ImportError:
    WORLD = None


TESTS = pathlib.Path(__file__).parent


def made_simulator(**options):
    return simulator(comm=WORLD, **options)


def address(array):
    return array.__array_interface__["data"][0]


def test_numpy_reads_the_memory_of_the_state_without_a_copy():
    made, mesh = made_simulator()
    made.step(3)
    view = made.view("positions")
    first, second = np.asarray(view), np.asarray(made.view("positions"))
    assert address(first) == address(second) != address(made.positions)
    assert np.array_equal(first, made.positions) and np.array_equal(view[...], first)
    assert view.shape == mesh.rest_positions.shape and view.dtype == np.float64 and view.readonly and len(view) == len(first)
    assert np.array_equal(view[1:3, 1], first[1:3, 1])
    velocities = np.asarray(made.view("velocities"))
    assert velocities.shape == (mesh.num_owned_vertices, 3) and np.array_equal(velocities, made.velocities)
    assert not first.flags.writeable and not first.flags.owndata
    with pytest.raises(ValueError):
        first[0, 0] = 1.0
    with pytest.raises(ValueError):
        view[0, 0] = 1.0
    with pytest.raises(ValueError):
        first.setflags(write=True)
    with pytest.raises(diffsim.Error, match="no field 'temperature'"):
        made.view("temperature")


def test_conversions_are_copies():
    made, _ = made_simulator()
    view = made.view("positions")
    for copy in (np.array(view), np.asarray(view, dtype=np.float32), view.__array__(copy=True)):
        assert address(copy) != address(np.asarray(view)) and copy.flags.writeable
        assert np.array_equal(copy, np.asarray(view).astype(copy.dtype))
    with pytest.raises(ValueError, match="without a copy"):
        view.__array__(np.float32, copy=False)
    assert address(view.__array__(np.float64, copy=False)) == address(np.asarray(view))


def test_views_of_parameters_and_gradients_have_their_values():
    made, mesh = made_simulator()
    made.require_gradient(["youngs_modulus", "gravity"])
    made.rollout(4)
    made.backward(loss)
    for name in ("youngs_modulus", "gravity", "damping"):
        view = np.asarray(made.parameters.view(name))
        assert np.array_equal(view, made.parameters[name]) and view.shape == made.parameters[name].shape
        assert address(view) == address(np.asarray(made.scene.parameters.view(name)))
    for name in ("youngs_modulus", "gravity"):
        view = np.asarray(made.gradient_view(name))
        assert np.array_equal(view, made.gradient(name)) and address(view) == address(np.asarray(made.gradient_view(name)))
    for name in ("positions", "velocities"):
        view = made.gradient_view(f"initial_{name}")
        assert view.shape == (mesh.num_owned_vertices, 3)
        assert np.array_equal(np.asarray(view), made.initial_gradient[name])
    with pytest.raises(KeyError):
        made.parameters.view("temperature")
    with pytest.raises(diffsim.InputError):
        made.gradient_view("temperature")


def test_functions_and_trajectories_have_views_of_states():
    made, _ = made_simulator()
    addresses, kept = set(), []

    def observe(n, state):
        view = np.asarray(state.view("positions"))
        assert np.array_equal(view, state.positions) and not view.flags.writeable
        addresses.add(address(view))
        kept.append((state, view))

    trajectory = made.rollout(6, 2, observe)
    assert len(kept) == 7 and len(addresses) < 7  # the library uses the same memory in several steps
    with pytest.raises(diffsim.Error, match="only while"):
        kept[0][0].view("positions")
    for n in (0, 3, 6):
        view = np.asarray(trajectory.view("velocities", n))
        assert np.array_equal(view, trajectory.state(n).velocities)
        assert address(view) == address(np.asarray(trajectory.view("velocities", n)))
    with pytest.raises(diffsim.InputError, match="is a copy.*trajectory.view"):
        trajectory.state(3).view("positions")
    assert made.backward(lambda n, state: loss(n, Viewed(state))) == fresh_backward()
    made.parameters["gravity"] = [0.0, -1.0, 0.0]
    with pytest.raises(diffsim.Error, match="have changed since the rollout"):
        trajectory.view("positions", 3)


class Viewed:
    """State whose arrays are views."""

    def __init__(self, state):
        self.positions = np.asarray(state.view("positions"))
        self.velocities = np.asarray(state.view("velocities"))


def fresh_backward():
    made, _ = made_simulator()
    made.rollout(6)
    return made.backward(loss)


def test_views_keep_memory_that_is_neither_freed_nor_reused():
    made, mesh = made_simulator()
    made.step(2)
    kept = [np.asarray(made.view("positions")), made.view("velocities"), np.asarray(made.parameters.view("youngs_modulus"))]
    expected = [made.positions, made.velocities, made.parameters["youngs_modulus"]]
    del made, mesh
    gc.collect()
    others = [made_simulator()[0] for _ in range(5)]
    for other in others:
        other.step(2)
        other.parameters["youngs_modulus"] = 1e4
    for array, values in zip(kept, expected):
        assert np.array_equal(np.asarray(array), values)
        for other in others:
            assert not np.shares_memory(np.asarray(array), np.asarray(other.view("positions")))


def test_memory_of_an_ended_computation_is_not_reused_while_a_view_exists():
    made, _ = made_simulator()

    def run(direction):
        """Return views of the last tangent, whose memory the library gives up at the end of the rollout."""
        views = {}

        def observe(n, state, tangent):
            for name in ("positions", "velocities"):
                views[name] = np.asarray(tangent.view(name))

        made.rollout_tangent(5, {"gravity": direction}, observe)
        return list(views.values())

    kept = run([1.0, 2.0, 3.0])
    expected = [view.copy() for view in kept]
    later = {address(view) for _ in range(10) for view in run([3.0, 2.0, 1.0])}
    assert not later & {address(view) for view in kept}
    for view, values in zip(kept, expected):
        assert np.array_equal(view, values) and np.abs(view).max() > 0.0


def test_memory_is_freed_with_the_last_array():
    made, _ = made_simulator(resolution=10)

    def work(times):
        for _ in range(times):
            made.reset()  # gives the state other memory
            view = made.view("positions")
            arrays = [np.asarray(view), np.asarray(view), view.__dlpack__(max_version=(1, 0)), view.__dlpack__()]
            with made.parameters.edit("youngs_modulus") as writable:
                arrays.append(np.asarray(writable))
        del arrays, view, writable
        gc.collect()
        return resident_bytes()

    begin = work(50)
    assert work(300) - begin < 3e6  # the positions of 300 states have 10 MB on one rank


def test_an_edit_is_the_assignment():
    results = []
    for use_edit in (False, True):
        made, mesh = made_simulator()
        made.require_gradient(["youngs_modulus", "gravity"])
        owned = mesh.num_owned_vertices
        values = 4e3 + 10.0 * np.arange(mesh.num_local_cells)
        before = np.asarray(made.parameters.view("youngs_modulus"))
        made.rollout(5)
        if use_edit:
            with made.parameters.edit("density") as density:
                density[...] = 1200.0
            with made.parameters.edit("youngs_modulus") as view, made.parameters.edit("gravity") as gravity:
                assert not view.readonly
                array = np.asarray(view)
                assert array.flags.writeable and address(array) == address(before)
                array[:] = values
                view[:2] *= 1.5
                gravity[1] = -5.0
            assert view.readonly and not array.flags.writeable and not np.asarray(view).flags.writeable
            with pytest.raises(ValueError):
                view[0] = 1.0
        else:
            values[:2] *= 1.5
            made.parameters["youngs_modulus"] = values
            made.parameters["gravity"] = [0.0, -5.0, 0.0]
            made.parameters["density"] = 1200.0
        with pytest.raises(diffsim.Error, match="needs a rollout since the last change"):
            made.backward(loss)
        assert np.array_equal(before, made.parameters["youngs_modulus"])
        trajectory = made.rollout(5)
        value = made.backward(loss)
        made_results = [made.gradient("youngs_modulus"), made.gradient("gravity"), trajectory.positions(5)[:owned]]
        made.step(2)
        results.append([np.array(value), *made_results, made.positions])
    for one, other in zip(*results):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("integrator", ["symplectic_euler", "implicit_euler"])
def test_an_edit_has_an_effect_from_the_next_step_on(integrator):
    results = []
    for change in ("none", "edit", "assignment"):
        made, _ = made_simulator(integrator=integrator)
        made.step(2)
        if change == "edit":
            with made.parameters.edit("density") as density:
                density[...] = 2000.0
        elif change == "assignment":
            made.parameters["density"] = 2000.0
        made.step(2)
        results.append(made.positions)
    assert np.array_equal(results[1], results[2]) and not np.array_equal(results[0], results[1])


def test_an_edit_updates_copies_on_other_ranks():
    made, mesh = made_simulator(resolution=4)
    owned = mesh.num_owned_vertices
    with made.parameters.edit("rest_positions") as view:
        view[:owned] *= 1.25
        view[owned:] = np.nan
    other, _ = made_simulator(resolution=4)
    values = np.asarray(other.parameters.view("rest_positions")).copy()
    values[:owned] *= 1.25
    other.parameters["rest_positions"] = values
    assert np.array_equal(made.parameters["rest_positions"], other.parameters["rest_positions"])
    assert np.isfinite(made.parameters["rest_positions"]).all()
    made.step(3), other.step(3)
    assert np.array_equal(made.positions, other.positions)


def test_blocks_of_edit_refuse_wrong_values_and_uses():
    made, _ = made_simulator()
    with pytest.raises(diffsim.InputError, match="youngs_modulus: "):
        with made.parameters.edit("youngs_modulus") as view:
            view[0] = -1.0
    made.parameters["youngs_modulus"] = 5e3
    with pytest.raises(ZeroDivisionError):
        with made.parameters.edit("youngs_modulus") as view:
            view[0] = -1.0
            1 / 0
    made.parameters["youngs_modulus"] = 5e3
    uses = (made.step, made.reset, lambda: made.view("positions"), lambda: made.rollout(1), lambda: made.scene.fix("x_min"))
    with made.parameters.edit("youngs_modulus") as view:
        for use in (*uses, lambda: made.parameters.__setitem__("gravity", 0.0)):
            with pytest.raises(diffsim.InputError, match="end the block first"):
                use()
    with pytest.raises(diffsim.InputError, match="must not use its own simulator"):
        made.rollout(1, 10, lambda n, state: made.parameters.edit("gravity").__enter__())
    block = made.parameters.edit("gravity")
    with block:
        with pytest.raises(diffsim.InputError, match="is open"):
            block.__enter__()
    with pytest.raises(diffsim.InputError, match="is not open"):
        block.__exit__(None, None, None)
    block.__enter__()
    del block  # ends the block
    with pytest.raises(KeyError):
        made.parameters.edit("temperature")
    made.step()
    scene, mesh = held_bar(WORLD)
    scene.add_link(hold_link(mesh))
    with pytest.raises(diffsim.InputError, match="computes 'nodal_load'"):
        scene.parameters.edit("nodal_load")


class DLPackOnly:
    """Array that other packages can read by DLPack only."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arguments_are_arrays_of_any_package():
    made, mesh = made_simulator()
    values = 4e3 + np.arange(mesh.num_local_cells, dtype=np.float64)
    kinds = [values, DLPackOnly(values), memoryview(values), made.parameters.view("youngs_modulus")]
    kinds += [values[::-1][::-1], list(values)]
    for package in ("torch", "jax.numpy"):
        try:
            module = __import__(package, fromlist=["asarray"])
        except ImportError:
            continue
        if package == "jax.numpy":
            import jax

            jax.config.update("jax_enable_x64", True)
        kinds.append(module.asarray(values))
    made.parameters["youngs_modulus"] = values
    for kind in kinds:
        if not isinstance(kind, diffsim.ArrayView):
            made.parameters["youngs_modulus"] = 1.0
        made.parameters["youngs_modulus"] = kind
        assert np.array_equal(made.parameters["youngs_modulus"], values), type(kind)
    with pytest.raises(diffsim.InputError, match="youngs_modulus"):
        made.parameters["youngs_modulus"] = DLPackOnly(np.zeros(3))
    with pytest.raises(diffsim.InputError, match="youngs_modulus"):
        made.parameters["youngs_modulus"] = "much"


def test_numpy_reads_views_by_dlpack():
    made, _ = made_simulator()
    view = made.view("positions")
    assert view.__dlpack_device__() == (1, 0)
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        array = np.from_dlpack(view)
        assert address(array) == address(np.asarray(view)) and not array.flags.writeable
        with made.parameters.edit("youngs_modulus") as writable:
            assert np.from_dlpack(writable).flags.writeable
        copy = np.from_dlpack(view, copy=True)
        assert address(copy) != address(array) and copy.flags.writeable and np.array_equal(copy, array)
    assert not hasattr(view, "__cuda_array_interface__")


def test_pytorch_reads_and_writes_the_memory():
    torch = pytest.importorskip("torch")
    made, mesh = made_simulator()
    made.step()
    view = made.view("positions")
    tensor = torch.from_dlpack(view)
    assert tensor.data_ptr() == address(np.asarray(view)) and tensor.dtype == torch.float64
    assert np.array_equal(tensor.numpy(), made.positions)
    with made.parameters.edit("youngs_modulus") as writable:
        moduli = torch.from_dlpack(writable)
        moduli.mul_(2.0)
    assert np.array_equal(made.parameters["youngs_modulus"], np.full(mesh.num_local_cells, 1e4))
    expected = made.positions
    del made, mesh, view
    gc.collect()
    assert np.array_equal(tensor.numpy(), expected)


def test_jax_reads_the_memory():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    made, _ = made_simulator()
    made.step()
    view = made.view("positions")
    array = jax.dlpack.from_dlpack(view)
    assert np.array_equal(np.asarray(array), made.positions) and array.dtype == np.float64
    # JAX shares memory that is aligned to 64 bytes and copies other memory.
    assert array.unsafe_buffer_pointer() == address(np.asarray(view)) or address(np.asarray(view)) % 64 != 0
    expected = made.positions
    del made, view
    gc.collect()
    assert np.array_equal(np.asarray(array), expected)


START = """
import atexit, gc, sys
import numpy as np
import diffsim
from scenes import simulator
made, mesh = simulator()
trajectory = made.rollout(2)
view = made.view("positions")
"""

ENDS = {
    "views": "keep = [view, made.parameters.view('gravity'), trajectory.view('velocities', 1)]",
    "arrays": "keep = [np.asarray(view), made]; sys.modules['kept'] = keep",
    "only an array": "array = np.asarray(view); del made, mesh, trajectory, view; gc.collect()",
    "cycle": "keep = [np.asarray(view)]; keep.append(keep); view = None",
    "later handlers": """
array, expected = np.asarray(view), made.positions
atexit._run_exitfuncs()
others = [np.full(array.shape, np.nan) for _ in range(1000)]
assert np.array_equal(array, expected)
array = None
""",
    "use after the exit": """
atexit._run_exitfuncs()
for use in (lambda: np.asarray(view), lambda: view.__dlpack__(), lambda: made.view("positions")):
    try:
        use()
    except diffsim.RunError as error:
        assert "finalised" in str(error)
    else:
        sys.exit(3)
print(view.shape, view, view.__dlpack_device__())
""",
    "open block": "block = made.parameters.edit('gravity'); opened = np.asarray(block.__enter__())",
    "dlpack": "keep = np.from_dlpack(view); capsule = view.__dlpack__(max_version=(1, 0))",
    "torch": "import torch; keep = torch.from_dlpack(view)",
    "jax": "import jax; jax.config.update('jax_enable_x64', True); keep = jax.dlpack.from_dlpack(view)",
}


@pytest.mark.skipif(WORLD is not None and WORLD.size > 1, reason="MPI does not permit programs that start programs")
@pytest.mark.parametrize("end", ENDS)
def test_a_process_with_live_views_ends_well(end):
    if end in ("torch", "jax"):
        pytest.importorskip(end)
    code = START + ENDS[end] + "\nprint('done')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=TESTS)
    assert (done.returncode, done.stderr) == (0, "") and "done" in done.stdout
