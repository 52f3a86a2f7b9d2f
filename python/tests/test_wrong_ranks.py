# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Errors on one rank only, and objects that the ranks release at different times: mpirun -n 2 python -m pytest."""

import gc
import os
import subprocess
import sys
import textwrap

import diffsim
import numpy as np
import pytest
from scenes import loss, simulator

MPI = pytest.importorskip("mpi4py.MPI")
COMM = MPI.COMM_WORLD
several = pytest.mark.skipif(COMM.size == 1, reason="the ranks cannot differ")


def here(wrong, right):
    """Return `wrong` on the last rank and `right` on the other ranks."""
    return wrong if COMM.rank == COMM.size - 1 else right


class Subject:
    """Objects to which the cases of `CASES` pass wrong arguments."""

    def __init__(self):
        self.simulator, self.mesh = simulator(comm=COMM)
        self.scene = self.simulator.scene
        self.simulator.rollout(3)
        self.target = diffsim.TargetPositionLoss(self.mesh, "y_min", [0.0, 0.0, 0.0], 3)
        scene = diffsim.DifferentiableScene(
            self.mesh,
            diffsim.DifferentiableMaterial("neo_hookean", {"density": 1e3, "youngs_modulus": 5e3, "poisson_ratio": 0.4}),
        )
        self.problem_scene = scene
        self.problem = diffsim.InverseProblem(scene, 3, self.target, [diffsim.Unknown("gravity")])
        self.u = self.problem.start()
        self.camera = diffsim.Camera([0.5, 0.05, 0.05], [0.0, 0.05, 0.05], width=4, height=4)

    def unknown(self, name):
        return diffsim.InverseProblem(self.problem_scene, 3, self.target, [diffsim.Unknown(name)])


CASES = {
    "mesh: path": lambda s: diffsim.TetrahedralMesh.from_file(here("no_such_file.msh", "neither_this.msh"), comm=COMM),
    "mesh: resolution": lambda s: diffsim.TetrahedralMesh.create_cube(here(-1, 2), comm=COMM),
    "mesh: cells": lambda s: diffsim.TetrahedralMesh.box([1.0, 1.0, 1.0], [1, 1, here(0, 2)], comm=COMM),
    "mesh: region": lambda s: s.mesh.define_region(here("x_min", "new"), center=[0.0, 0.0, 0.0], radius=0.01),
    "mesh: vertices": lambda s: s.mesh.define_region("new", vertices=here([[0.5]], [0])),
    "mesh: numbers of vertices": lambda s: s.mesh.define_region("new", vertices=here([10**6], [0])),
    "mesh: bodies": lambda s: diffsim.TetrahedralMesh.join({"a": here(3, diffsim.Body.cube(1, 1.0))}, COMM),
    "mesh: names of bodies": lambda s: diffsim.TetrahedralMesh.join({here("", "a"): diffsim.Body.cube(1, 1.0)}, COMM),
    "scene: materials": lambda s: diffsim.DifferentiableScene(s.mesh, here(3, [diffsim.DifferentiableMaterial(5e3, 0.4)])),
    "simulator: density": lambda s: diffsim.Simulator(s.mesh, diffsim.DifferentiableMaterial(5e3, 0.4), None, here(-1.0, 1e3)),
    "fix: region": lambda s: s.scene.fix(here("x_mix", "x_min")),
    "clamp: region": lambda s: s.scene.clamp(here("x_mix", "x_min")),
    "move: velocity": lambda s: s.scene.move("x_min", velocity=here([1.0], [1.0, 0.0, 0.0])),
    "initial velocity": lambda s: s.scene.set_initial_velocity(here(np.ones((2, 2)), np.zeros(3))),
    "initial displacement": lambda s: s.scene.set_initial_displacement(here("a", np.zeros(3))),
    "traction": lambda s: s.scene.add_traction(here("x_mix", "x_min"), [1.0, 0.0, 0.0]),
    "pressure": lambda s: s.scene.add_pressure("x_min", here([], 1.0)),
    "nodal load": lambda s: s.scene.add_nodal_load(here(np.ones((2, 1, 3)), np.zeros(3))),
    "control": lambda s: s.scene.set_control("gravity", here(np.zeros((3, 2)), np.zeros((3, 3)))),
    "sensor: type": lambda s: s.scene.sensor(here("positron", "position")),
    "sensor: region": lambda s: s.scene.sensor("position", region=here("x_mix", "x_min")),
    "parameter of a link": lambda s: s.scene.add_parameter("rate", here(np.ones((2, 2)), 1.0)),
    "parameter: shape": lambda s: s.scene.parameters.__setitem__("gravity", here([1.0, 2.0], [0.0, -9.8, 0.0])),
    "parameter: range": lambda s: s.scene.parameters.__setitem__("youngs_modulus", here(-1.0, 1e3)),
    "attach: region": lambda s: s.scene.attach(here("x_mix", "x_min"), "all", 1.0),
    "fixed vertices": lambda s: s.simulator.set_fixed_vertices(here("x_mix", "x_min")),
    "fixed numbers": lambda s: s.simulator.set_fixed_vertices(here([0.5], [0])),
    "fixed numbers: range": lambda s: s.simulator.set_fixed_vertices(here([10**6], [0])),
    "joint": lambda s: s.scene.join(diffsim.Joint(here("a", "b"), "revolute", "none")),
    "drive": lambda s: s.scene.drive(here("a", "b")),
    "link": lambda s: s.scene.add_link(diffsim.Link([here("gravitas", "gravity")], loss, loss)),
    "force term": lambda s: s.scene.add_force_term(diffsim.ForceTerm([0], loss, loss, parameters=here(["a"], []))),
    "feedback": lambda s: s.scene.add_feedback(here("a", "b"), [], ["gravity"], diffsim.perceptron(1, 3)),
    "contact": lambda s: s.scene.add_contact(diffsim.ContactOptions(planes=[], barrier_distance=here(-1.0, 1e-3))),
    "save: steps": lambda s: s.scene.save("scene.yaml", here(-1, 3)),
    "step: count": lambda s: s.simulator.step(here(-1, 1)),
    "state: step": lambda s: s.simulator.set_state(s.simulator.state, here(-1, 1)),
    "rollout: steps": lambda s: s.simulator.rollout(here(-1, 2)),
    "rollout: first step": lambda s: s.simulator.rollout(2, first_step=here(-1, 1)),
    "backward: loss": lambda s: s.simulator.backward(here(3, loss)),
    "compute_loss: loss": lambda s: s.simulator.compute_loss(here(3, loss)),
    "compute_gradient: steps": lambda s: s.simulator.compute_gradient(here(-2, 2), loss),
    "tangent: steps": lambda s: s.simulator.rollout_tangent(here(-2, 2), {"gravity": 1.0}),
    "Hessian: loss": lambda s: s.simulator.hessian_product(3, here(loss, s.target), {"initial_velocities": 1.0}),
    "require_gradient": lambda s: s.simulator.require_gradient([here("density", "gravity")]),
    "loss: region": lambda s: diffsim.TargetPositionLoss(s.mesh, here("x_mix", "x_min"), [0.0, 0.0, 0.0], 1),
    "loss: observed": lambda s: diffsim.TrackLoss(s.mesh, {1: here(np.ones((2, 2)), s.mesh.rest_positions)}),
    "loss: observed steps": lambda s: diffsim.TrackLoss(s.mesh, {here(-1, 1): s.mesh.rest_positions}),
    "loss: points": lambda s: diffsim.PointTrackLoss(s.mesh, here([1.0], [[0.05] * 3]), {1: [[0.05] * 3]}),
    "loss: effort": lambda s: diffsim.EffortLoss(s.scene, here("gravitas", "gravity"), 3),
    "loss: sensor": lambda s: diffsim.SensorLoss(s.scene.sensor("position"), {1: here([1.0], [0.0, 0.0, 0.0])}),
    "loss: covariance": lambda s: diffsim.SensorLoss(
        s.scene.sensor("position"), {1: [0.0, 0.0, 0.0]}, here(-np.eye(3), np.eye(3))
    ),
    "loss: weights": lambda s: diffsim.SensorValueLoss(s.scene.sensor("volume"), here([1.0, 2.0], 1.0), [1]),
    "loss: mask": lambda s: diffsim.SilhouetteLoss(s.mesh, s.camera, {1: here(np.ones((2, 3)), np.ones((4, 4)))}),
    "loss: depth": lambda s: diffsim.DepthLoss(s.mesh, s.camera, {1: np.ones((4, 4))}, here("x_mix", "all")),
    "problem: unknown": lambda s: s.unknown(here("gravitas", "gravity")),
    "problem: unknowns": lambda s: diffsim.InverseProblem(
        s.problem_scene, 3, s.target, [here(None, diffsim.Unknown("gravity"))]
    ),
    "problem: loss": lambda s: diffsim.InverseProblem(
        s.problem_scene, 3, here(3, s.target), [diffsim.Unknown("gravity")]
    ),
    "problem: u": lambda s: s.problem.gradient(here(np.ones(7), s.u)),
    "problem: set": lambda s: s.problem.set(here(np.ones(7), s.u)),
    "problem: v": lambda s: s.problem.hessian_product(s.u, here(np.ones(7), s.u)),
    "problem: method": lambda s: s.problem.minimise(here("lbgfs", "lbfgs"), max_iterations=1),
    "problem: iterations": lambda s: s.problem.minimise(max_iterations=here(-1, 1)),
    "problem: check": lambda s: s.problem.check(here(np.ones(7), s.u)),
    "problem: physical": lambda s: s.problem.physical(here("gravitas", "gravity"), s.u),
    "problem: prior": lambda s: s.problem.add_prior("gravity", here("norma", "normal"), deviation=1.0),
    "problem: constraint": lambda s: s.problem.minimise(
        "almm", constraints=[diffsim.Constraint(here("gravitas", "gravity"), at_most=1.0)]
    ),
    "problem: loss of a constraint": lambda s: s.problem.minimise(
        "almm", constraints=[diffsim.Constraint(here(3, s.target), at_most=1.0)]
    ),
}


@pytest.fixture(scope="module")
def subject():
    return Subject()


@several
@pytest.mark.parametrize("case", CASES)
def test_an_error_on_one_rank_is_an_error_on_all(subject, case):
    subject.simulator.rollout(3)
    with pytest.raises((diffsim.Error, KeyError)) as caught:
        CASES[case](subject)
    errors = COMM.allgather(repr(caught.value))
    assert any("InputError" in error or "KeyError" in error for error in errors), errors
    # The objects can be used afterwards.
    assert subject.simulator.rollout(1).num_steps == 1


@several
def test_an_unknown_parameter_on_one_rank_is_an_error_on_all(subject):
    with pytest.raises((KeyError, diffsim.RunError)):
        subject.scene.parameters[here("gravitas", "gravity")] = 1.0
    assert subject.scene.parameters["gravity"].shape == (3,)


def test_ranks_may_collect_garbage_at_different_times():
    """Cycles of objects die on each rank in other iterations, and the ranks create and use new objects meanwhile."""
    random = np.random.default_rng(COMM.rank)
    implicit = diffsim.DifferentiableSolver(integrator="implicit_euler", implicit=diffsim.ImplicitOptions())
    expected = None
    for i in range(12):
        mesh = diffsim.TetrahedralMesh.create_cube(1 + i % 2, comm=COMM)
        made = diffsim.DifferentiableSimulator(mesh, diffsim.DifferentiableMaterial(1e5, 0.3), implicit)
        made.set_fixed_vertices("y_max")
        target = diffsim.TargetPositionLoss(mesh, "y_min", [0.0, 0.0, 0.0], 2)
        trajectory = made.rollout(2)
        value = made.backward(target)
        problem = diffsim.InverseProblem(made.scene, 2, target, [diffsim.Unknown("gravity")])
        cycle = [mesh, made, trajectory, problem]
        cycle.append(cycle)
        del mesh, made, trajectory, problem, target, cycle
        if random.random() < 0.4:
            gc.collect()
        if i % 2 == 0:
            expected = expected or value
            assert value == expected
    gc.collect()
    diffsim.destroy_unused(COMM)


@several
def test_ranks_destroy_only_what_no_rank_uses():
    made, mesh = simulator(comm=COMM)
    other = made if COMM.rank == 0 else None  # only the first rank keeps the simulator
    del made
    gc.collect()
    diffsim.destroy_unused(COMM)
    if other:
        assert other.scene.mesh.num_vertices == mesh.num_vertices
    del other
    diffsim.destroy_unused(COMM)
    made = diffsim.Simulator(mesh, diffsim.DifferentiableMaterial(5e3, 0.4))
    made.step()
    assert np.isfinite(made.positions).all()


def test_a_communicator_can_be_freed_after_its_objects():
    part = COMM.Dup()
    made, mesh = simulator(comm=part)
    made.rollout(1)
    del made, mesh
    gc.collect()
    diffsim.destroy_unused(part)
    part.Free()
    made, _ = simulator(comm=COMM)
    made.rollout(1)


def run(program, ranks=2):
    """Run a program with mpirun, and return its exit code and its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_"))}
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        environment[name] = "1"
    environment["OMPI_MCA_mpi_yield_when_idle"] = "1"
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "-n", str(ranks), sys.executable, "-c", textwrap.dedent(program)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
    )
    return done.returncode, done.stdout


@pytest.mark.skipif(COMM.size > 1 or "OMPI_COMM_WORLD_SIZE" in os.environ, reason="mpirun cannot start mpirun")
@pytest.mark.skipif("Open MPI" not in MPI.Get_library_version(), reason="the test uses options of Open MPI")
def test_uncaught_exceptions_end_all_ranks():
    program = """
        import diffsim
        mesh = diffsim.TetrahedralMesh.create_cube(1)
        diffsim._uncaught.SECONDS = {seconds}
        if {condition}:
            raise ValueError("a fault of the program")
        mesh = diffsim.TetrahedralMesh.create_cube(2)
        print("finished")
        """
    code, output = run(program.format(condition="diffsim.rank() == 1", seconds=0.5))
    assert code != 0 and output.count("ValueError: a fault of the program") == 1 and "finished" not in output
    code, output = run(program.format(condition="True", seconds=60.0))
    assert code != 0 and output.count("ValueError: a fault of the program") == 2 and "MPI_ABORT" not in output
    code, output = run(program.format(condition="False", seconds=60.0))
    assert code == 0 and output.count("finished") == 2
