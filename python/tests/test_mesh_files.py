# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Mesh files that are read with meshio. Tests that need meshio are skipped without meshio."""

import sys

import diffsim
import numpy as np
import pytest
from diffsim import _mesh_files

ABAQUS = """\
*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 0, 1, 0
4, 0, 0, 1
5, 1, 1, 1
*ELEMENT, TYPE=C3D4, ELSET=first
1, 1, 2, 3, 4
*ELEMENT, TYPE=C3D4, ELSET=second
2, 2, 3, 4, 5
*ELSET, ELSET=both
1, 2
*NSET, NSET=foot
1, 2, 3
*NSET, NSET=tip
3, 5
"""


def in_file(numbers, local):
    """Return the sorted numbers in the mesh file of local vertices or cells."""
    return sorted(numbers[local].tolist())


def test_sets_of_an_abaqus_file_are_regions(tmp_path):
    pytest.importorskip("meshio")
    path = tmp_path / "part.inp"
    path.write_text(ABAQUS)
    mesh = diffsim.TetrahedralMesh.from_file(str(path), scale=0.5)
    assert (mesh.num_vertices, mesh.num_cells, mesh.order) == (5, 2, 1)
    order = np.argsort(mesh.global_vertices)
    assert np.array_equal(mesh.rest_positions[order], 0.5 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]))
    corners = mesh.global_vertices[mesh.cells][np.argsort(mesh.global_cells)]
    assert corners.tolist() == [[0, 1, 2, 3], [1, 2, 3, 4]]
    cells = {name: in_file(mesh.global_cells, mesh.region_cells(name)) for name in ("first", "second", "both")}
    assert cells == {"first": [0], "second": [1], "both": [0, 1]}
    assert in_file(mesh.global_vertices, mesh.region("foot")) == [0, 1, 2]
    assert in_file(mesh.global_vertices, mesh.region("tip")) == [2, 4]
    joined = diffsim.TetrahedralMesh.join({"part": diffsim.Body.from_file(str(path)), "cube": diffsim.Body.cube(1)})
    assert in_file(joined.global_vertices, joined.region("part/tip")) == [2, 4]


def test_second_order_cells_and_integer_arrays_of_a_vtk_file(tmp_path):
    meshio = pytest.importorskip("meshio")
    box = diffsim.TetrahedralMesh.box([1.0, 0.5, 0.25], [2, 1, 1], order=2)
    x, cells = box.rest_positions, box.cells
    material = np.arange(len(cells)) % 2 + 5
    path = str(tmp_path / "curved.vtk")
    meshio.write_points_cells(path, x, [("tetra10", cells)], cell_data={"part": [material]}, file_format="vtk", binary=True)
    for order in (1, 2):
        mesh = diffsim.TetrahedralMesh.from_file(path, order=order)
        assert (mesh.order, mesh.num_cells) == (order, len(cells))
        numbers = mesh.global_vertices[mesh.cells][np.argsort(mesh.global_cells)]
        assert np.array_equal(numbers, cells[:, : (4, 10)[order - 1]])
        assert in_file(mesh.global_cells, mesh.region_cells("part=6")) == np.flatnonzero(material == 6).tolist()


def test_triangles_of_sets_are_faces(tmp_path):
    meshio = pytest.importorskip("meshio")
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    data = [np.array([7]), np.array([8, 9])]
    cells = [("tetra", [[0, 1, 2, 3]]), ("triangle", [[0, 2, 1], [1, 2, 3]])]
    path = str(tmp_path / "faces.mesh")
    meshio.write_points_cells(path, points, cells, cell_data={"medit:ref": data})
    mesh = diffsim.TetrahedralMesh.from_file(path)
    assert in_file(mesh.global_vertices, mesh.region("9")) == [1, 2, 3]
    assert in_file(mesh.global_cells, mesh.region_cells("7")) == [0]


def test_files_that_meshio_cannot_read_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "part.inp"
    with pytest.raises(diffsim.InputError, match="part.inp: cannot be opened; there is no such file"):
        diffsim.TetrahedralMesh.from_file(str(path))
    path.write_text(ABAQUS)
    monkeypatch.setitem(sys.modules, "meshio", None)
    with pytest.raises(diffsim.InputError, match="meshio, which is not installed; run `pip install meshio`"):
        diffsim.TetrahedralMesh.from_file(str(path))
    monkeypatch.undo()
    pytest.importorskip("meshio")
    path.write_text(ABAQUS.replace("C3D4", "C3D8").replace("1, 1, 2, 3, 4\n", "1, 1, 2, 3, 4, 5, 1, 2, 3\n"))
    with pytest.raises(diffsim.InputError, match="part.inp: "):
        diffsim.TetrahedralMesh.from_file(str(path))
    wrong = tmp_path / "wrong.vtk"
    wrong.write_text("no mesh")
    with pytest.raises(diffsim.InputError, match="wrong.vtk: meshio cannot read the file"):
        diffsim.TetrahedralMesh.from_file(str(wrong))


def test_formats_are_known_by_suffix_or_contents(tmp_path):
    fluent = tmp_path / "fluent.msh"
    fluent.write_text('(0 "mesh of ANSYS")\n')
    gmsh = tmp_path / "gmsh.msh"
    gmsh.write_text("$MeshFormat\n")
    names = [str(fluent), str(gmsh), "a.INP", "a.vtu", "a.h5", "missing.msh"]
    assert [_mesh_files.needs_meshio(name) for name in names] == [True, False, True, False, False, False]
