# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Write the mesh of hook.yaml: python3 make_hook.py hook.msh [number of cells across the section]

The hook is flat. Its centre line is a straight shank and an arc of 200 degrees. Lengths are in metres.
"""

import math
import sys

radius, shank, width, thickness, angle = 0.025, 0.05, 0.014, 0.006, math.radians(200.0)
across = int(sys.argv[2]) if len(sys.argv) > 2 else 4
along = round((shank + radius * angle) / width * across)


def point(i, j, k):
    """Return the position of vertex i along the centre line, j across the section and k along the thickness."""
    s = (shank + radius * angle) * i / along
    offset = width * (j / across - 0.5)
    z = thickness * k
    if s < shank:
        return radius + offset, shank - s, z
    turned = (s - shank) / radius
    return (radius + offset) * math.cos(turned), -(radius + offset) * math.sin(turned), z


def number(i, j, k):
    """Return the number of a vertex, from 1."""
    return 1 + k + 2 * (j + (across + 1) * i)


def tetrahedra(i, j):
    """Yield the six tetrahedra of a cell: one for each order in which a path along edges increases i, j and k."""
    for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)):
        corner = [i, j, 0]
        path = [number(*corner)]
        for axis in order:
            corner[axis] += 1
            path.append(number(*corner))
        # The tetrahedra of the last three orders are mirror images of the others.
        is_even = order in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
        yield path if is_even else [path[1], path[0], path[2], path[3]]


vertices = [point(i, j, k) for i in range(along + 1) for j in range(across + 1) for k in range(2)]
cells = [cell for i in range(along) for j in range(across) for cell in tetrahedra(i, j)]
with open(sys.argv[1], "w") as file:
    file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(vertices)}\n")
    for n, vertex in enumerate(vertices, 1):
        file.write(f"{n} {vertex[0]:.9g} {vertex[1]:.9g} {vertex[2]:.9g}\n")
    file.write(f"$EndNodes\n$Elements\n{len(cells)}\n")
    for n, cell in enumerate(cells, 1):
        file.write(f"{n} 4 2 1 1 {cell[0]} {cell[1]} {cell[2]} {cell[3]}\n")
    file.write("$EndElements\n")
