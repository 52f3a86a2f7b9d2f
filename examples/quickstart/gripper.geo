// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A gripper: a stiff arm with a mount, a hole and a palm, and two soft fingers of different length. Metres.
// The outline lies in the x-z plane; gravity acts along y, the thin direction. Makes gripper.msh:
//   gmsh -3 gripper.geo -o gripper.msh

SetFactory("OpenCASCADE");

thickness = 0.032;
size = 0.0105;
size_at_hole = 0.0085;
soft_from = 0.200; // fingers: x beyond this
hole_x = 0.085;
hole_radius = 0.013;

// Corners of the outline, and the radii they are rounded with.
x[] = {0, 0.022, 0.034, 0.130, 0.168, 0.232, 0.274, 0.256, 0.222, 0.188, 0.188, 0.248, 0.304, 0.318, 0.258, 0.168, 0.130, 0.034, 0.022, 0};
z[] = {-0.050, -0.050, -0.031, -0.031, -0.070, -0.070, -0.040, -0.020, -0.040, -0.036, 0.036, 0.042, 0.014, 0.038, 0.072, 0.072, 0.031, 0.031, 0.050, 0.050};
r[] = {0, 0.006, 0.016, 0.040, 0.024, 0.040, 0.0115, 0.0115, 0.030, 0.020, 0.020, 0.040, 0.0125, 0.0125, 0.050, 0.024, 0.040, 0.016, 0.006, 0};

n = #x[];
first[] = {};
last[] = {};
arcs[] = {};
For i In {0 : n - 1}
  before = (i + n - 1) % n;
  after = (i + 1) % n;
  If (r[i] == 0)
    p = newp;
    Point(p) = {x[i], -thickness / 2, z[i], size};
    first[] += p;
    last[] += p;
  Else
    // Unit vectors to the neighbours; the arc touches both sides at `along` from the corner.
    ax = x[before] - x[i]; az = z[before] - z[i]; a = Sqrt(ax * ax + az * az); ax = ax / a; az = az / a;
    bx = x[after] - x[i]; bz = z[after] - z[i]; b = Sqrt(bx * bx + bz * bz); bx = bx / b; bz = bz / b;
    half = Acos(ax * bx + az * bz) / 2;
    along = r[i] / Tan(half);
    out = r[i] / Sin(half) / (2 * Cos(half));
    p = newp;
    Point(p) = {x[i] + along * ax, -thickness / 2, z[i] + along * az, size};
    c = newp;
    Point(c) = {x[i] + out * (ax + bx), -thickness / 2, z[i] + out * (az + bz), size};
    q = newp;
    Point(q) = {x[i] + along * bx, -thickness / 2, z[i] + along * bz, size};
    arc = newl;
    Circle(arc) = {p, c, q};
    first[] += p;
    last[] += q;
    arcs[] += arc;
  EndIf
EndFor
outline[] = {};
arc = 0;
For i In {0 : n - 1}
  If (r[i] > 0)
    outline[] += arcs[arc];
    arc += 1;
  EndIf
  side = newl;
  Line(side) = {last[i], first[(i + 1) % n]};
  outline[] += side;
EndFor
rim = newll;
Curve Loop(rim) = outline[];
face = news;
Plane Surface(face) = {rim};
body[] = Extrude {0, thickness, 0} { Surface{face}; };

hole = newv;
Cylinder(hole) = {hole_x, -thickness, 0, 0, 2 * thickness, 0, hole_radius};
drilled[] = BooleanDifference{ Volume{body[1]}; Delete; }{ Volume{hole}; Delete; };
beyond = newv;
Box(beyond) = {soft_from, -thickness, -1, 1, 2 * thickness, 2};
fingers[] = BooleanIntersection{ Volume{drilled[]}; }{ Volume{beyond}; };
arm[] = BooleanDifference{ Volume{drilled[]}; Delete; }{ Volume{beyond}; Delete; };
BooleanFragments{ Volume{arm[], fingers[]}; Delete; }{}

e = 1e-4;
Physical Volume("stiff") = Volume In BoundingBox{-e, -1, -1, soft_from + e, 1, 1};
Physical Volume("soft") = Volume In BoundingBox{soft_from - e, -1, -1, 1, 1, 1};
Physical Surface("clamp") = Surface In BoundingBox{-e, -1, -1, e, 1, 1};

Mesh.MeshSizeMax = size;
Mesh.MeshSizeFromPoints = 0;
Field[1] = Cylinder;
Field[1].VIn = size_at_hole;
Field[1].VOut = size;
Field[1].Radius = 1.9 * hole_radius;
Field[1].XCenter = hole_x;
Field[1].YAxis = 2 * thickness;
Field[1].ZAxis = 0;
Background Field = 1;
Mesh.Optimize = 1;
Mesh.OptimizeNetgen = 1;
Mesh.MshFileVersion = 4.1;
