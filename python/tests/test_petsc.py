# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Options of PETSc, and vectors, matrices and optimisers of petsc4py. The tests also run on two ranks."""

import os
import subprocess
import sys

import diffsim
import diffsim.petsc
import numpy as np
import pytest
from scenes import largest, simulator

STEPS = 5


@pytest.fixture(scope="module")
def petsc4py():
    """Module PETSc of petsc4py, which is initialised after diffsim."""
    diffsim.rank()
    pytest.importorskip("petsc4py", reason="petsc4py is not installed")
    from petsc4py import PETSc

    return PETSc


@pytest.fixture
def options():
    """Function that sets options, which are removed after the test."""
    names = []

    def set_options(**values):
        names.extend(values)
        diffsim.set_petsc_options(values)

    yield set_options
    diffsim.clear_petsc_options(names)


def make_problem(resolution=3):
    """Return a problem with unknown moduli on the cells and gravity, whose values are on the first rank."""
    made, mesh = simulator(resolution=resolution)
    loss = diffsim.SumLoss()
    loss.add(diffsim.TargetPositionLoss(mesh, "y_min", [0.05, -0.02, 0.05], STEPS), noise=1e-2)
    unknowns = [
        diffsim.Unknown("youngs_modulus", logarithmic=True, bounds=(1e3, 1e5)),
        diffsim.Unknown("gravity", start=-9.0),
    ]
    problem = diffsim.InverseProblem(made.scene, STEPS, loss, unknowns)
    problem.add_prior("youngs_modulus", "normal", mean=6e3, deviation=0.5)
    problem.add_prior("gravity", "normal", mean=[0.0, -9.8, 0.0], deviation=0.1)
    return problem, mesh


# ---- options -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, expected",
    [
        ({"ksp_type": "cg", "-x_rtol": 1e-3, "flag": None, "on": True}, "ksp_type=cg x_rtol=0.001 flag on=true"),
        ({"tao": {"type": "nls", "bnk": {"levels": [1, 2]}}}, "tao_type=nls tao_bnk_levels=1,2"),
        ("-a -b 3 --c 'x y'", "a b=3 c=x y"),
        (["scene.yaml", "-shift", "-1.5", "-flag", "-pc_type", "lu", "file"], "shift=-1.5 flag pc_type=lu"),
        (["-eps", "-.5"], "eps=-.5"),
        ({}, ""),
    ],
)
def test_options_are_read_from_dicts_and_command_lines(given, expected):
    from diffsim._petsc_options import _options_of

    made = [name if value is None else f"{name}={value}" for name, value in _options_of(given)]
    assert " ".join(made) == expected


@pytest.mark.parametrize("given", [{"": 1}, {"a b": 1}, {"1x": 1}, {3: 1}, {"a=b": 1}, "ksp_type cg"])
def test_wrong_options_are_refused(given):
    with pytest.raises(diffsim.InputError, match="PETSc option"):
        diffsim.set_petsc_options(given)


def test_options_reach_the_linear_solver_of_new_scenes(options):
    def run():
        simulator(integrator="implicit_euler", resolution=3)[0].rollout(1)

    run()
    options(ksp_type="gmres", pc_type="none", ksp_max_it=1)
    with pytest.raises(diffsim.RunError, match="linear solve failed"):
        run()
    diffsim.clear_petsc_options(["ksp_type", "-pc_type", "ksp_max_it"])
    run()


def test_options_reach_the_optimisers(options):
    problem, _ = make_problem()
    assert problem.minimise(max_iterations=5)["iterations"] == 5
    options(tao_max_it=2)
    assert problem.minimise(max_iterations=5)["iterations"] == 2


def test_options_of_petsc4py_reach_the_solvers(petsc4py):
    problem, _ = make_problem()
    options = petsc4py.Options()
    options["tao_max_it"] = 2
    try:
        assert problem.minimise(max_iterations=5)["iterations"] == 2
    finally:
        del options["tao_max_it"]
    diffsim.set_petsc_options({"some": 3})
    assert options.getInt("some") == 3
    diffsim.clear_petsc_options("some")
    assert not options.hasName("some")


def minimise_design():
    made, mesh = simulator(resolution=3)
    loss = diffsim.TargetPositionLoss(mesh, "y_min", [0.05, -0.02, 0.05], STEPS)
    design = diffsim.MaterialDistribution(filter=0.05)
    density = diffsim.Unknown("youngs_modulus", distribution=design, start=0.5)
    problem = diffsim.InverseProblem(made.scene, STEPS, loss, [density])
    problem.minimise("mma", max_iterations=1, constraints=[diffsim.Constraint("youngs_modulus", at_most=0.3)])


def evaluate_posterior():
    made, mesh = simulator(resolution=2)
    loss = diffsim.SumLoss()
    loss.add(diffsim.TargetPositionLoss(mesh, "y_min", [0.05, -0.02, 0.05], STEPS), noise=1e-2)
    problem = diffsim.InverseProblem(made.scene, STEPS, loss, [diffsim.Unknown("youngs_modulus", logarithmic=True)])
    problem.add_prior("youngs_modulus", "matern", mean=5e3, deviation=0.5, length=0.05)
    try:
        problem.low_rank_posterior(problem.start(), 2, samples=2, gauss_newton=True)
    except diffsim.Error as error:
        if "SLEPc" not in str(error):
            raise
        pytest.skip("this build has no SLEPc")


def run_implicit_step():
    simulator(integrator="implicit_euler", resolution=3)[0].rollout(1)


@pytest.mark.parametrize(
    "option, shown, function",
    [
        ("ksp_view", "KSP Object", run_implicit_step),
        ("tao_view", "Tao Object", lambda: make_problem()[0].minimise(max_iterations=1)),
        ("mma_tao_view", "Tao Object: (mma_)", minimise_design),
        ("filter_ksp_view", "KSP Object: (filter_)", minimise_design),
        ("prior_ksp_view", "KSP Object: (prior_)", evaluate_posterior),
        ("posterior_eps_view", "EPS Object: (posterior_)", evaluate_posterior),
    ],
)
def test_solvers_read_the_options_with_their_prefixes(option, shown, function, options, capfd):
    function()
    assert shown not in capfd.readouterr().out
    options(**{option: None})
    function()
    out = capfd.readouterr().out
    assert (shown in out) == (diffsim.rank() == 0 or option == "mma_tao_view")  # each rank solves MMA's dual problem


# ---- vectors and matrices ------------------------------------------------------------------------------------------


def test_vectors_have_the_layout_of_the_unknowns(petsc4py):
    problem, mesh = make_problem()
    u = diffsim.petsc.create_vector(problem, problem.start())
    assert u.size == mesh.num_cells + 3 and u.local_size == problem.size
    assert u.comm.size == diffsim.num_ranks()
    assert np.array_equal(u.array_r, problem.start())
    assert diffsim.petsc.create_vector(problem).norm() == 0.0
    lower, upper = diffsim.petsc.bounds(problem)
    assert np.array_equal(lower.array_r, problem.bounds()[0]) and np.array_equal(upper.array_r, problem.bounds()[1])
    assert problem.value(u) == problem.value(problem.start())  # methods of problems also accept a Vec


def test_gradients_and_products_are_those_of_the_problem(petsc4py):
    problem, _ = make_problem()
    u = diffsim.petsc.create_vector(problem, problem.start())
    g, y = u.duplicate(), u.duplicate()
    value, expected = problem.gradient(problem.start())
    assert diffsim.petsc.gradient(problem, u, out=g) == value
    assert np.array_equal(g.array_r, expected)
    assert g.norm() > 0.0

    matrix = diffsim.petsc.hessian(problem)
    with pytest.raises(Exception, match="no point|error code"):
        matrix.mult(g, y)
    matrix.getPythonContext().move_to(u)
    matrix.mult(g, y)
    product = problem.hessian_product(problem.start(), expected)
    assert np.array_equal(y.array_r, product) and largest(product) > 0.0
    y.set(0.0)
    diffsim.petsc.hessian(problem, u).multTranspose(g, y)
    assert np.array_equal(y.array_r, product)
    diffsim.petsc.hessian(problem, u, gauss_newton=True).mult(g, y)
    assert np.array_equal(y.array_r, problem.hessian_product(problem.start(), expected, gauss_newton=True))
    assert largest(y.array_r - product) > 1e-6 * largest(product)


@pytest.mark.parametrize("method", ["blmvm", "bntr", "nls"])
def test_tao_of_petsc4py_finds_the_minimum(petsc4py, method):
    problem, _ = make_problem(resolution=2)
    expected = problem.minimise("newton_cg", gradient_tolerance=1e-10)
    tao = petsc4py.TAO().create(comm=diffsim.petsc.communicator(problem))
    tao.setType(method)
    u = diffsim.petsc.set_up(tao, problem)
    tao.setTolerances(gatol=1e-300, grtol=0.0, gttol=1e-8)
    tao.setMaximumIterations(200)
    tao.solve()
    assert tao.getConvergedReason() > 0
    assert tao.getObjectiveValue() == pytest.approx(expected["loss"], rel=1e-10)
    assert largest(u.array_r - expected["u"]) <= 1e-4 * largest(expected["u"])
    tao.destroy()


def test_steps_whose_rollout_fails_are_shortened(petsc4py):
    made, mesh = simulator(resolution=2)  # explicit steps, which are not stable for large moduli
    loss = diffsim.TargetPositionLoss(mesh, "y_min", [0.05, 0.0, 0.05], 30)
    unknowns = [diffsim.Unknown("youngs_modulus", group="all", logarithmic=True, start=5e3)]
    problem = diffsim.InverseProblem(made.scene, 30, loss, unknowns)
    assert problem.gradient_or_none(problem.start() + 30.0) is None
    with pytest.raises(diffsim.RunError, match="inverted"):
        problem.gradient(problem.start() + 30.0)
    tao = petsc4py.TAO().create(comm=diffsim.petsc.communicator(problem))
    u = diffsim.petsc.set_up(tao, problem)
    objective = tao.getObjectiveAndGradient()[1][0]
    g = u.duplicate()
    value = objective(tao, u, g)
    assert g.norm() > 0.0
    u.shift(30.0)
    assert objective(tao, u, g) == 2.0 * value and g.norm() == 0.0
    with pytest.raises(diffsim.RunError, match="inverted"):
        diffsim.petsc.set_up(petsc4py.TAO().create(comm=u.comm), problem)
        tao.setObjectiveGradient(type(objective)(problem), None)
        tao.setSolution(u)
        tao.setType("blmvm")
        tao.solve()


def test_an_exception_in_an_evaluation_ends_the_solve(petsc4py):
    problem, _ = make_problem(resolution=2)
    tao = petsc4py.TAO().create(comm=diffsim.petsc.communicator(problem))
    tao.setType("blmvm")
    diffsim.petsc.set_up(tao, problem)

    def fails(tao, x, g):
        raise ZeroDivisionError

    tao.setObjectiveGradient(fails, None)
    with pytest.raises(ZeroDivisionError):
        tao.solve()
    assert problem.value(problem.start()) > 0.0


def test_fields_have_a_global_size_and_an_ordering(petsc4py):
    made, mesh = simulator(resolution=3)
    owned = mesh.num_owned_vertices
    made.rollout(2)
    x = diffsim.petsc.vertex_vector(mesh, made.positions)
    assert x.size == 3 * mesh.num_vertices and x.local_size == 3 * owned and x.block_size == 3
    assert np.array_equal(x.array_r.reshape(-1, 3), made.positions[:owned])
    v = diffsim.petsc.vertex_vector(mesh, made.velocities)
    assert v.norm() > 0.0
    moduli = diffsim.petsc.cell_vector(mesh, made.parameters["youngs_modulus"])
    assert moduli.size == mesh.num_cells and moduli.block_size == 1 and moduli.min()[1] == 5e3

    first = x.owner_range[0] // 3
    found = diffsim.petsc.vertex_ordering(mesh).app2petsc(mesh.global_vertices[:owned].astype(petsc4py.IntType))
    assert np.array_equal(found, first + np.arange(owned))
    first = moduli.owner_range[0]
    numbers = diffsim.petsc.cell_ordering(mesh).petsc2app(np.arange(*moduli.owner_range, dtype=petsc4py.IntType))
    assert np.array_equal(numbers, mesh.global_cells)
    with pytest.raises(diffsim.InputError, match="vertex field"):
        diffsim.petsc.vertex_vector(mesh, np.zeros((mesh.num_vertices + 7, 3)))
    with pytest.raises(diffsim.InputError, match="cell field"):
        diffsim.petsc.cell_vector(mesh, 1.0)


def test_communicators_of_mpi4py_are_used(petsc4py):
    mpi = pytest.importorskip("mpi4py.MPI")
    made, mesh = simulator(comm=mpi.COMM_SELF)
    assert diffsim.petsc.vertex_vector(mesh, made.positions).comm.size == 1
    assert diffsim.petsc.communicator(mesh).size == 1


# ---- initialisation and finalisation -------------------------------------------------------------------------------

PROGRAM = """
import atexit, sys
sys.argv = ["program", "-tao_max_it", "2", "-given", "7"]
def use_petsc4py():
    global PETSc, vector
    import petsc4py
    petsc4py.init(sys.argv)
    from petsc4py import PETSc
    vector = PETSc.Vec().createMPI(4)
    vector.set(1.0)
def use_diffsim():
    global problem
    import diffsim
    mesh = diffsim.TetrahedralMesh.create_cube(2, 0.1)
    jelly = diffsim.DifferentiableMaterial(5e3, 0.4)
    made = diffsim.DifferentiableSimulator(mesh, jelly, diffsim.DifferentiableSolver(dt=0.005, substeps=4))
    made.set_fixed_vertices("y_max")
    loss = diffsim.TargetPositionLoss(mesh, "y_min", [0.05, -0.02, 0.05], 3)
    unknown = diffsim.Unknown("youngs_modulus", group="all", logarithmic=True)
    problem = diffsim.InverseProblem(made.scene, 3, loss, [unknown])
    return diffsim
"""
ORDERS = {
    "petsc4py first": "use_petsc4py(); use_diffsim()",
    "diffsim first": "diffsim = use_diffsim(); use_petsc4py(); diffsim.set_petsc_options(sys.argv[1:])",
    "diffsim imported first": "import diffsim; use_petsc4py(); use_diffsim()",
}
BEGINS = {
    "mpi4py first": "from mpi4py import MPI",
    "no mpi4py": "import sys; sys.modules['mpi4py'] = sys.modules['mpi4py.MPI'] = None",
    "mpi4py later": "",
}
CHECKS = """
print(problem.minimise(max_iterations=9)["iterations"], PETSc.Options().getInt("given"))
import diffsim.petsc
# The following objects exist until the end.
matrix = diffsim.petsc.hessian(problem)
tao = PETSc.TAO().create()
u = diffsim.petsc.set_up(tao, problem)
atexit.register(lambda: print("end", vector.norm()))
"""


@pytest.mark.skipif(diffsim.num_ranks() > 1, reason="starts other programs that use MPI")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("begin", BEGINS)
def test_petsc_may_be_initialised_in_both_orders(order, begin, petsc4py):
    if begin == "mpi4py first":
        pytest.importorskip("mpi4py")
    program = BEGINS[begin] + PROGRAM + ORDERS[order] + CHECKS
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2", "7", "end", "2.0"]
    assert done.stderr == ""


def test_bounds_are_observed(petsc4py):
    made, mesh = simulator(resolution=2)
    loss = diffsim.TargetPositionLoss(mesh, "y_min", [0.05, -0.02, 0.05], STEPS)
    unknown = diffsim.Unknown("gravity", start=[0.0, -9.0, 0.0], bounds=(-9.5, 1.0))
    problem = diffsim.InverseProblem(made.scene, STEPS, loss, [unknown])
    tao = petsc4py.TAO().create(comm=diffsim.petsc.communicator(problem))
    tao.setType("blmvm")
    u = diffsim.petsc.set_up(tao, problem)
    tao.solve()
    assert u.min()[1] == -9.5


@pytest.mark.skipif(diffsim.num_ranks() > 1, reason="starts other programs that use MPI")
def test_a_missing_petsc4py_is_reported():
    program = """
import sys
sys.modules["petsc4py"] = None
import diffsim, diffsim.petsc
mesh = diffsim.TetrahedralMesh.create_cube(1, 0.1)
try:
    diffsim.petsc.cell_ordering(mesh)
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert "needs the package petsc4py" in done.stdout, done.stderr
