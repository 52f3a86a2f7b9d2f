// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A gripper: a stiff arm with a mount, a palm and a hole, and two soft fingers of different length. Lengths are in
// metres. The outline is in the x-z plane; gravity acts along y, the thin direction. The command that writes
// gripper.msh:
//   gmsh -3 gripper.geo

SetFactory("OpenCASCADE");

thickness = 0.032;
layers = 3;
size = 0.011;
soft_from = 0.138; // the fingers are the part with larger x
hole_x = 0.073;
hole_radius = 0.014;

// Corners of the outline, and the radii with which the corners are rounded.
x[] = {0, 0.0155, 0.0295, 0.056, 0.092, 0.172, 0.238, 0.222, 0.162, 0.111,
       0.111, 0.188, 0.28, 0.294, 0.197, 0.092, 0.056, 0.0295, 0.0155, 0};
z[] = {-0.048, -0.048, -0.034, -0.034, -0.07, -0.07, -0.04, -0.018, -0.04, -0.036,
       0.036, 0.042, 0.011, 0.036, 0.074, 0.072, 0.034, 0.034, 0.048, 0.048};
r[] = {0, 0.014, 0.02, 0.022, 0.024, 0.06, 0.0095, 0.0095, 0.05, 0.018,
       0.018, 0.06, 0.01, 0.01, 0.07, 0.024, 0.022, 0.02, 0.014, 0};

// ---- outline: an arc at each rounded corner, and lines between the corners ---------------------------------------

n = #x[];
starts[] = {}; // first point of the arc at each corner, and last point (ends); both are the corner itself where it is sharp
ends[] = {};
arcs[] = {}; // arc at each corner; 0 if the corner is sharp
y = -thickness / 2;
For i In {0 : n - 1}
  If (r[i] == 0)
    p = newp; Point(p) = {x[i], y, z[i]};
    q = p;
    arc = 0;
  Else
    // a and b are the unit vectors from the corner to its neighbours. The arc touches the sides at the distance `along`
    // from the corner. The centre of the arc is on the bisector, whose direction is a + b.
    before = (i + n - 1) % n;
    after = (i + 1) % n;
    ax = x[before] - x[i]; az = z[before] - z[i]; length = Sqrt(ax * ax + az * az); ax = ax / length; az = az / length;
    bx = x[after] - x[i]; bz = z[after] - z[i]; length = Sqrt(bx * bx + bz * bz); bx = bx / length; bz = bz / length;
    half = Acos(ax * bx + az * bz) / 2;
    along = r[i] / Tan(half);
    centre = r[i] / Sin(half) / (2 * Cos(half));
    p = newp; Point(p) = {x[i] + along * ax, y, z[i] + along * az};
    c = newp; Point(c) = {x[i] + centre * (ax + bx), y, z[i] + centre * (az + bz)};
    q = newp; Point(q) = {x[i] + along * bx, y, z[i] + along * bz};
    arc = newl; Circle(arc) = {p, c, q};
  EndIf
  starts[] += p;
  ends[] += q;
  arcs[] += arc;
EndFor
outline[] = {};
For i In {0 : n - 1}
  If (arcs[i] > 0)
    outline[] += arcs[i];
  EndIf
  side = newl; Line(side) = {ends[i], starts[(i + 1) % n]};
  outline[] += side;
EndFor

// ---- the body -------------------------------------------------------------------------------------------------

rim = newll; Curve Loop(rim) = outline[];
circle = newl; Circle(circle) = {0, 0, 0, hole_radius, 0, 2 * Pi};
Rotate {{1, 0, 0}, {0, 0, 0}, Pi / 2} { Curve{circle}; }
Translate {hole_x, y, 0} { Curve{circle}; }
hole = newll; Curve Loop(hole) = {circle};
face = news; Plane Surface(face) = {rim, hole};

// Cuts the surface along the interface of the two materials.
p = newp; Point(p) = {soft_from, y, -1};
q = newp; Point(q) = {soft_from, y, 1};
cut = newl; Line(cut) = {p, q};
BooleanFragments{ Surface{face}; Delete; }{ Curve{cut}; Delete; }

// Extrusion in layers avoids flat tetrahedra, whose small height would limit the time step.
Extrude {0, thickness, 0} { Surface{:}; Layers{layers}; }

e = 1e-4;
Physical Volume("stiff") = Volume In BoundingBox{-e, -1, -1, soft_from + e, 1, 1};
Physical Volume("soft") = Volume In BoundingBox{soft_from - e, -1, -1, 1, 1, 1};
Physical Surface("clamp") = Surface In BoundingBox{-e, -1, -1, e, 1, 1};

Mesh.MeshSizeMin = size;
Mesh.MeshSizeMax = size;
Mesh.Algorithm = 6;
Mesh.MshFileVersion = 4.1;
