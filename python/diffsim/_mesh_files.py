# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Conversion of mesh files that the package meshio reads to Gmsh's format 4.1, which the library reads.

`TetrahedralMesh.from_file` calls `convert` on the first rank.
"""

import os
import struct

import numpy as np

# Suffixes of the formats that are read with meshio.
SUFFIXES = (
    ".inp .bdf .nas .fem .vtk .xdmf .xmf .cgns .mesh .meshb .su2 .avs .ugrid .node .ele .vol .tec .f3grid .mdpa .h5m .xml"
).split()

# Dimension, number of Gmsh's element type, and number of nodes of meshio's cell types.
CELL_TYPES = {
    "vertex": (0, 15, 1),
    "line": (1, 1, 2),
    "line3": (1, 8, 3),
    "triangle": (2, 2, 3),
    "triangle6": (2, 9, 6),
    "tetra": (3, 4, 4),
    "tetra10": (3, 11, 10),
}

# Integer arrays on cells whose values alone are names of regions, as for VTU files.
REGION_ARRAYS = ["region", "CellEntityIds", "gmsh:physical", "cell_tags", "medit:ref", "nastran:ref"]


class _Refusal(Exception):
    """Reason why a file cannot be converted."""


def needs_meshio(path):
    """Return whether a mesh file is read with meshio: by the suffix, or because the file is an .msh file of ANSYS."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix != ".msh" or not os.path.isfile(path):
        return suffix in SUFFIXES
    try:
        with open(path, "rb") as file:
            return file.read(64).lstrip().startswith(b"(")
    except OSError:  # the library reports the error
        return False


def convert(path, target):
    """Write the mesh in the file `path` to the file `target`. Return the reason if this is not possible, else ""."""
    try:
        _write(target, _read(path))
        return ""
    except _Refusal as refusal:
        return f"{path}: {refusal}"


def _read(path):
    """Return the meshio.Mesh in a file."""
    if not os.path.isfile(path):
        raise _Refusal("cannot be opened; there is no such file")
    try:
        import meshio
    except ImportError:
        raise _Refusal(
            "files of this format are read with the Python package meshio, which is not installed; run `pip install meshio`"
        ) from None
    try:
        if path.lower().endswith(".msh"):
            return meshio.read(path, file_format="ansys")
        return meshio.read(path)
    except ImportError as error:
        raise _Refusal(
            f"meshio needs the Python package {error.name} for this file; run `pip install {error.name}`"
        ) from None
    except SystemExit:  # meshio ends the program if all of its readers refuse a file
        raise _Refusal("meshio cannot read the file; see the messages of meshio") from None
    except Exception as error:
        raise _Refusal(f"meshio cannot read the file ({type(error).__name__}: {error})") from None


class _Groups:
    """Names of the groups of elements of each dimension."""

    def __init__(self):
        self.names = [[], [], [], []]

    def column(self, dimension, name):
        """Return the index of a group; add the group if there is none of this name."""
        names = self.names[dimension]
        name = name.replace('"', "'").replace("\n", " ")
        if name not in names:
            names.append(name)
        return names.index(name)


def _value_groups(name, values, is_region_array):
    """Return a list of (name of a group, mask) for the values of an integer array, as for VTU files."""
    different = np.unique(values)
    if name.startswith("vtk") or len(different) > 1000:
        return []
    return [(str(value) if is_region_array else f"{name}={value}", values == value) for value in different.tolist()]


def _integers(values):
    """Return whether an array has one integer per row."""
    values = np.asarray(values)
    return values.ndim == 1 and values.dtype.kind in "iu"


def _members(mesh, block, region_array):
    """Return a list of (name of a group, mask of the cells of a block)."""
    count = len(mesh.cells[block].data)
    members = []
    for name, sets in mesh.cell_sets.items():
        if block < len(sets) and sets[block] is not None and len(sets[block]) > 0:
            mask = np.zeros(count, dtype=bool)
            mask[np.asarray(sets[block], dtype=np.int64)] = True
            members.append((name, mask))
    for name, arrays in mesh.cell_data.items():
        if _integers(arrays[block]):
            members += _value_groups(name, np.asarray(arrays[block]), name == region_array)
    return members


def _blocks(mesh, groups):
    """Return the blocks of elements that the library reads: (dimension, element type, nodes [n, k], masks {group: [n]})."""
    region_array = next((name for name in REGION_ARRAYS if name in mesh.cell_data), None)
    made = []
    for index, block in enumerate(mesh.cells):
        if block.type not in CELL_TYPES:
            if getattr(block, "dim", 3) == 3 and len(block.data) > 0:
                raise _Refusal(f"the file has cells of the type {block.type}; give a mesh of tetrahedra")
            continue
        dimension, number, _ = CELL_TYPES[block.type]
        nodes = np.asarray(block.data, dtype=np.int64)
        if number == 11:
            nodes = nodes[:, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]]  # meshio has the order of VTK; Gmsh exchanges the last nodes
        members = _members(mesh, index, region_array)
        masks = {groups.column(dimension, name): mask for name, mask in members}
        made.append((dimension, number, nodes, masks))
    members = [
        (name, np.isin(np.arange(len(mesh.points)), np.asarray(points, dtype=np.int64)))
        for name, points in mesh.point_sets.items()
    ]
    for name, values in mesh.point_data.items():
        if _integers(values):
            members += _value_groups(name, np.asarray(values), False)
    if members:
        points = np.flatnonzero(np.any([mask for _, mask in members], axis=0))
        masks = {groups.column(0, name): mask[points] for name, mask in members}
        made.append((0, 15, points[:, None], masks))
    return made


class _Entities:
    """Entities of Gmsh's format: one for each set of groups to which an element belongs."""

    def __init__(self):
        self.tags = [{}, {}, {}, {}]  # tags by the sorted groups, for each dimension

    def tag(self, dimension, groups):
        """Return the tag of the entity whose elements are in the groups, a tuple of indices."""
        tags = self.tags[dimension]
        return tags.setdefault(groups, len(tags) + 1)

    def runs(self, dimension, num, masks):
        """Return the runs of consecutive elements with the same groups, a list of (entity, first, last + 1)."""
        if num == 0:
            return []
        columns = sorted(masks)
        table = np.column_stack([masks[column] for column in columns]) if columns else np.zeros((num, 0), dtype=bool)
        starts = np.concatenate([[0], np.flatnonzero(np.any(table[1:] != table[:-1], axis=1)) + 1, [num]])
        return [
            (self.tag(dimension, tuple(columns[k] for k in np.flatnonzero(table[first]))), first, end)
            for first, end in zip(starts[:-1].tolist(), starts[1:].tolist())
        ]


def _entity_bytes(entities):
    """Return the section of the entities."""
    parts = [struct.pack("=4Q", *(len(tags) for tags in entities.tags))]
    for dimension, tags in enumerate(entities.tags):
        for groups, tag in tags.items():
            box = [0.0] * (3 if dimension == 0 else 6)  # the library does not use the position or the bounding box
            parts.append(struct.pack(f"=i{len(box)}dQ", tag, *box, len(groups)))
            parts.append(struct.pack(f"={len(groups)}i", *(group + 1 for group in groups)))
            if dimension > 0:
                parts.append(struct.pack("=Q", 0))
    return b"".join(parts)


def _write(target, mesh):
    """Write a meshio.Mesh in Gmsh's binary format 4.1."""
    points = np.asarray(mesh.points, dtype=np.float64)
    points = np.column_stack([points, np.zeros((len(points), 3 - points.shape[1]))])
    groups, entities = _Groups(), _Entities()
    elements, count = [], 0
    for dimension, number, nodes, masks in _blocks(mesh, groups):
        for entity, first, end in entities.runs(dimension, len(nodes), masks):
            tags = np.arange(count, count + end - first) + 1
            count += end - first
            elements.append(struct.pack("=3iQ", dimension, entity, number, end - first))
            elements.append(np.column_stack([tags, nodes[first:end] + 1]).astype(np.uint64).tobytes())
    num_blocks = len(elements) // 2
    names = [f'{d} {k + 1} "{name}"\n' for d in range(4) for k, name in enumerate(groups.names[d])]
    numbers = np.arange(len(points), dtype=np.uint64) + np.uint64(1)
    with open(target, "wb") as file:
        file.write(b"$MeshFormat\n4.1 1 8\n" + struct.pack("=i", 1) + b"\n$EndMeshFormat\n")
        file.write(f"$PhysicalNames\n{len(names)}\n{''.join(names)}$EndPhysicalNames\n".encode())
        file.write(b"$Entities\n" + _entity_bytes(entities) + b"\n$EndEntities\n")
        file.write(b"$Nodes\n" + struct.pack("=4Q", 1, len(points), 1, len(points)))
        file.write(struct.pack("=3iQ", 3, 1, 0, len(points)) + numbers.tobytes() + points.tobytes() + b"\n$EndNodes\n")
        file.write(b"$Elements\n" + struct.pack("=4Q", num_blocks, count, 1, count))
        file.write(b"".join(elements) + b"\n$EndElements\n")
