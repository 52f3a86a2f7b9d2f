# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Vectors, matrices and optimisers of petsc4py for problems and meshes of diffsim.

petsc4py must be built for the PETSc library with which diffsim was built. The program may initialise petsc4py, for
example by petsc4py.init(sys.argv), before or after the first use of diffsim. All functions are collective.
"""

import atexit
import itertools
import weakref

import numpy as np

from . import _core

__all__ = [
    "bounds",
    "cell_ordering",
    "cell_vector",
    "communicator",
    "create_vector",
    "gradient",
    "hessian",
    "set_up",
    "vertex_ordering",
    "vertex_vector",
]

_matrices = weakref.WeakValueDictionary()  # matrices of the type python, with numbers as keys
_numbers = itertools.count()
_checked = None  # module petsc4py.PETSc, after the check of the PETSc library


def communicator(of):
    """Return the communicator of a problem or mesh, for constructors of petsc4py."""
    try:
        from mpi4py import MPI
    except ImportError:
        return _petsc().COMM_WORLD  # without mpi4py, no program passes another communicator
    return MPI.Comm.f2py(of.comm_handle)


def create_vector(problem, values=None):
    """Return a Vec with the layout of the unknowns u of an InverseProblem.

    values: this rank's values, such as problem.start(); by default zeros. Entries of global parameters and of groups are
    on the first rank.
    """
    vector = _petsc().Vec().createMPI((problem.size, None), comm=communicator(problem))
    if values is not None:
        vector.setArray(np.asarray(values, dtype=np.float64))
    return vector


def bounds(problem):
    """Return the lower and the upper bounds of the unknowns as a pair of Vec."""
    lower, upper = problem.bounds()
    return create_vector(problem, lower), create_vector(problem, upper)


def gradient(problem, u, out):
    """Return the loss at the Vec u, and write the gradient into the Vec `out`."""
    value, derivative = problem.gradient(u.getArray(readonly=True))
    out.setArray(derivative)
    return value


def hessian(problem, u=None, gauss_newton=False):
    """Return the Hessian of the loss at the Vec u as a Mat, whose products run one rollout and one reverse sweep.

    gauss_newton: whether the Mat is the Gauss–Newton matrix instead of the Hessian.
    hessian(problem).getPythonContext().move_to(u) moves the Hessian to another point u.
    """
    context = _Hessian(problem, gauss_newton)
    size = (problem.size, None)
    matrix = _petsc().Mat().createPython((size, size), context, comm=communicator(problem))
    matrix.setOption(_petsc().Mat.Option.SYMMETRIC, True)
    matrix.setUp()
    _matrices[next(_numbers)] = matrix
    if u is not None:
        context.move_to(u)
    return matrix


def set_up(tao, problem, gauss_newton=False):
    """Give a TAO the loss, the gradient, the Hessian, the bounds and the start value of a problem. Return the Vec u.

    gauss_newton: whether the TAO uses the Gauss–Newton matrix instead of the Hessian.
    `tao` must have the communicator of the problem: PETSc.TAO().create(comm=diffsim.petsc.communicator(problem)).
    tao.solve() changes the returned Vec to the solution. At a trial point whose rollout fails, the loss is twice the
    largest loss so far and the gradient is zero, so that line searches shorten the step, as in problem.minimise.
    """
    u = create_vector(problem, problem.start())
    tao.setSolution(u)
    tao.setVariableBounds(bounds(problem))
    tao.setObjectiveGradient(_Evaluation(problem), None)
    matrix = hessian(problem, gauss_newton=gauss_newton)
    tao.setHessian(lambda tao, x, *_: matrix.getPythonContext().move_to(x), matrix)
    return u


def vertex_vector(mesh, values):
    """Return a Vec of values at the vertices, such as positions. The block size is the number of values per vertex.

    values: array with a row for each vertex that this rank owns, or for each local vertex; rows of copies are ignored.
    The Vec has the entries of the first rank's owned vertices first, in the order of mesh.global_vertices.
    """
    values = np.asarray(values, dtype=np.float64)
    owned = mesh.num_owned_vertices
    return _field_vector(mesh, values, owned, {owned, mesh.num_local_vertices}, "vertex")


def cell_vector(mesh, values):
    """Return a Vec of values in the cells, such as a gradient. The block size is the number of values per cell.

    values: array with a row for each cell of this rank. The Vec has the entries of the first rank's cells first, in the
    order of mesh.global_cells.
    """
    count = len(mesh.global_cells)
    return _field_vector(mesh, np.asarray(values, dtype=np.float64), count, {count}, "cell")


def vertex_ordering(mesh):
    """Return an AO that maps numbers of vertices in the mesh file to blocks of a `vertex_vector`, and the inverse."""
    return _ordering(mesh, mesh.global_vertices[: mesh.num_owned_vertices])


def cell_ordering(mesh):
    """Return an AO that maps numbers of cells in the mesh file to blocks of a `cell_vector`, and the inverse."""
    return _ordering(mesh, mesh.global_cells)


class _Evaluation:
    """Loss and gradient as TAO calls them. If the rollout at the first point fails, its exception is raised."""

    def __init__(self, problem):
        self._problem = problem
        self._largest = None  # largest loss so far

    def __call__(self, tao, x, g):
        u = x.getArray(readonly=True)
        found = self._problem.gradient(u) if self._largest is None else self._problem.gradient_or_none(u)
        value, derivative = found if found is not None else (2.0 * self._largest, np.zeros(self._problem.size))
        self._largest = max(value, self._largest or value)
        g.setArray(derivative)
        return value


class _Hessian:
    """Context of a Mat of the type python: products with the Hessian or the Gauss–Newton matrix at the last point."""

    def __init__(self, problem, gauss_newton):
        self._problem = problem
        self._gauss_newton = gauss_newton
        self._u = None

    def move_to(self, u):
        self._u = u.getArray(readonly=True).copy()

    def mult(self, matrix, x, y):
        if self._u is None:
            raise _core.InputError("the Hessian has no point; call matrix.getPythonContext().move_to(u) before products")
        product = self._problem.hessian_product(self._u, x.getArray(readonly=True), gauss_newton=self._gauss_newton)
        y.setArray(product)

    def multTranspose(self, matrix, x, y):
        self.mult(matrix, x, y)


@atexit.register
def _release_contexts():
    """Change the type of all matrices of the type python, whose Python code PETSc could call after the interpreter."""
    for matrix in list(_matrices.values()):
        if matrix:
            matrix.setType(_petsc().Mat.Type.SHELL)


def _petsc():
    """Return the module petsc4py.PETSc. The import initialises PETSc, unless PETSc is initialised already."""
    global _checked
    if _checked is not None:
        return _checked
    try:
        from petsc4py import PETSc
    except ImportError as error:
        raise ImportError("diffsim.petsc needs the package petsc4py, built for the PETSc library of diffsim") from error
    # An option that diffsim sets is unknown to another copy of PETSc.
    _core.set_petsc_option("-diffsim_petsc4py", None)
    is_same = PETSc.Options().hasName("diffsim_petsc4py")
    _core.clear_petsc_option("-diffsim_petsc4py")
    if not is_same:
        raise _core.RunError(
            "petsc4py uses another PETSc library than diffsim; set PETSC_DIR to the PETSc of diffsim, and install "
            "petsc4py from its sources"
        )
    _checked = PETSc
    return PETSc


def _field_vector(mesh, values, owned, rows, what):
    """Return a Vec of the first `owned` rows of `values`. rows: permitted numbers of rows."""
    width = int(np.prod(values.shape[1:], dtype=np.int64))
    vector = _petsc().Vec().createMPI((owned * width, None), bsize=width, comm=communicator(mesh))
    if values.ndim == 0 or len(values) not in rows:
        expected = " or ".join(map(str, sorted(rows)))
        raise _core.InputError(f"an array of the shape {values.shape} is not a {what} field; give {expected} rows")
    vector.setArray(values[:owned].ravel())
    return vector


def _ordering(mesh, numbers):
    """Return an AO for entities with the given numbers in the mesh file, in the order of this rank."""
    petsc = _petsc()
    return petsc.AO().createBasic(numbers.astype(petsc.IntType), comm=communicator(mesh))
