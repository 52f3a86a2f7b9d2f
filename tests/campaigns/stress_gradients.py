#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Compares gradients in the scenes of stress.py, over a few of the hardest steps of each scene, with finite differences
of the loss.

    python3 tests/campaigns/stress.py           --diffsim build/bin/diffsim --scratch /tmp/stress
    python3 tests/campaigns/stress_gradients.py --diffsim build/bin/diffsim --runs /tmp/stress --scratch /tmp/gradients

Each gradient is computed for a window of --steps steps. The window begins at a stored frame of the scene's run under
--runs: at frame --begin or, by default, at the frame whose next --steps steps took the largest number of Newton
iterations. The loss is half of the mean of |x - x̂|² over the vertices of all deformable bodies, where x are the
positions at the end of the window. The targets x̂ are these positions for the unperturbed parameters, displaced by a
smooth pattern. The parameters youngs_modulus, barrier_stiffness and friction have one value each for the whole scene;
friction is omitted in scenes without friction. Each derivative is compared with central differences of second and
fourth order for several step sizes h, relative to the value of the parameter. The table contains the difference of
fourth order for the h at which the two orders agree best; this choice does not depend on the gradient. Times are from
runs with the solver's default tolerances. With --products, the table also contains the dot products of `diffsim check
--products`. The script needs NumPy, h5py and PyYAML.
"""

import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys

import h5py
import numpy
import yaml

from stress import SCENES

PARAMETERS = ["youngs_modulus", "barrier_stiffness", "friction"]
PATTERN = 0.02  # displacement of the targets from the final positions, relative to the scene's size


def numbers(value):
    """Returns a copy of a YAML tree in which strings such as 1e+07 are converted to numbers; YAML 1.1 reads them as
    strings."""
    if isinstance(value, dict):
        return {key: numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [numbers(item) for item in value]
    if isinstance(value, str) and re.fullmatch(r"[-+]?[0-9.]+e[-+]?[0-9]+", value):
        return float(value)
    return value


def group_of(name):
    return f"bodies/{name}/" if name else ""


def is_obstacle(body):
    return body.get("kind") == "obstacle"


def surface_of(cells):
    """Returns the surface triangles of a mesh: the cells if the cells are triangles, otherwise the faces that belong to
    one tetrahedron."""
    if cells.shape[1] == 3:
        return cells
    faces = {}
    for a, b, c, d in cells:
        for face in ((a, c, b), (a, b, d), (a, d, c), (b, c, d)):
            faces.setdefault(tuple(sorted(face)), []).append(face)
    return [found[0] for found in faces.values() if len(found) == 1]


class Window:
    """A scene whose initial state is a frame of an earlier run."""

    def __init__(self, name, options):
        self.options = options
        self.folder = options.scratch / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.scene = numbers(yaml.safe_load(SCENES[name](self.folder, options.data)))
        self.steps = options.steps
        self.run = options.runs / name / "out"
        with h5py.File(self.run / "trajectory.h5") as run:
            self.frames = run["step"][:]
            self.begin, self.newton_before = self.choose()
            self.take_state(run)
        if self.value("friction") == 0.0:  # without friction, friction is not among the parameters
            for key in ("friction", "friction_velocity"):
                self.scene["contact"].pop(key, None)
        solver = self.scene["solver"]
        for entry in self.scene.get("boundary", []):
            table = entry.get("move", {}).get("table")
            if table:  # motions given by velocities are not shifted, because they continue from the present positions
                table["times"] = [t - self.begin * solver["dt"] for t in table["times"]]
        solver["steps"] = self.steps
        self.target = None

    def bodies(self):
        return self.scene.get("bodies", {"": self.scene})

    def solids(self):
        return [name for name, body in self.bodies().items() if not is_obstacle(body)]

    def choose(self):
        """Returns the frame --begin or, by default, the stored frame whose next steps took the largest number of Newton
        iterations, and the number of these iterations."""
        table = self.run / "steps.csv"
        rows = list(csv.DictReader(open(table))) if table.exists() else []
        taken = {int(row["step"]): int(float(row["newton_iterations"])) for row in rows}
        sum_after = lambda frame: sum(taken.get(frame + n, 0) for n in range(1, self.steps + 1))
        begin = self.options.begin
        if begin is None:
            begin = max((int(f) for f in self.frames if f + self.steps <= self.frames[-1]), key=sum_after)
        return begin, sum_after(begin)

    def take_state(self, run):
        frame = int(numpy.flatnonzero(self.frames == self.begin)[0])
        with h5py.File(self.folder / "start.h5", "w") as start:
            for name, body in self.bodies().items():
                group = group_of(name)
                x = run[group + "positions"][frame]
                if is_obstacle(body):
                    self.place_obstacle(name, body, x, run[group + "mesh/cells"][:])
                    continue
                start[group + "displacement"] = x - run[group + "mesh/vertices"][:]
                start[group + "velocity"] = run[group + "velocities"][frame]
                body["initial"] = {key: {"file": "start.h5", "dataset": f"/{group}{key}"} for key in ("displacement", "velocity")}
            ends = [run[group_of(name) + "positions"][frame] for name in self.solids()]
        self.size = float(max(numpy.ptp(numpy.concatenate(ends), axis=0)))

    def place_obstacle(self, name, body, x, cells):
        """Writes the surface of an obstacle at the positions x to a file, because obstacles have no initial
        displacement."""
        with open(self.folder / f"{name}.obj", "w") as out:
            out.writelines("v " + " ".join(repr(float(c)) for c in p) + "\n" for p in x)
            out.writelines("f " + " ".join(str(int(v) + 1) for v in f) + "\n" for f in surface_of(cells))
        body["mesh"] = {"file": f"{name}.obj"}
        body.pop("placement", None)

    def value(self, parameter):
        if parameter == "youngs_modulus":
            return self.bodies()[self.solids()[0]]["material"]["youngs_modulus"]
        return self.scene["contact"].get(parameter, 0.0)

    def with_value(self, parameter, value):
        scene = json.loads(json.dumps(self.scene))
        if parameter == "youngs_modulus":
            for body in scene.get("bodies", {"": scene}).values():
                if not is_obstacle(body):
                    body["material"]["youngs_modulus"] = value
        elif parameter:
            scene["contact"][parameter] = value
        return scene

    def write(self, scene, file, tight):
        if tight:
            scene["solver"]["newton"] = {"tolerance": self.options.newton}
            scene["solver"]["linear"] = {"tolerance": self.options.linear, "direct_below": self.options.direct_below}
        scene["output"] = {"directory": "out", "every": self.steps, "log": "steps.csv"}
        (self.folder / file).write_text(yaml.safe_dump(scene, default_flow_style=None, width=1000))

    def execute(self, command, file, *more):
        done = subprocess.run([str(self.options.diffsim), command, file, *more], cwd=self.folder, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=self.options.limit)
        (self.folder / "log.txt").write_text(done.stdout)
        if done.returncode != 0 and command != "check":
            raise RuntimeError(f"{command}: " + (re.search(r"error: (.*)", done.stdout) or [0, done.stdout[-300:]])[1])
        return json.loads((self.folder / "out" / "report.json").read_text())

    def end(self, parameter=None, value=None, tight=True):
        """Returns the positions [vertices, 3] at the end of the window for a value of a parameter, and the report of
        the run."""
        self.write(self.with_value(parameter, value), "forward.yaml", tight)
        report = self.execute("simulate", "forward.yaml")
        with h5py.File(self.folder / "out" / "trajectory.h5") as out:
            return numpy.concatenate([out[group_of(name) + "positions"][-1] for name in self.solids()]), report

    def make_target(self, x):
        """Writes the targets x̂: x plus a sine wave in each component, with a wavelength of about the scene's size."""
        phase = 2.0 * numpy.pi / self.size * x @ numpy.array([[1.0, 0.3, 0.7], [0.4, 1.1, 0.2], [0.6, 0.5, 0.9]])
        self.target = x + PATTERN * self.size * numpy.sin(phase + numpy.array([0.5, 1.5, 2.5]))
        with h5py.File(self.folder / "target.h5", "w") as out:
            out["step"], first = [self.steps], 0
            with h5py.File(self.folder / "start.h5") as start:
                for name in self.solids():
                    count = len(start[group_of(name) + "velocity"])
                    out[group_of(name) + "positions"] = self.target[None, first:first + count]
                    first += count

    def loss(self, x):
        return 0.5 * float(numpy.sum((x - self.target)**2)) / len(x)

    def loss_difference(self, x, y):
        """Returns loss(x) - loss(y) without cancellation."""
        return 0.5 * float(numpy.sum((x - y) * (x + y - 2.0 * self.target))) / len(x)

    def asking(self, parameters):
        scene = self.with_value(None, None)
        scene["objective"] = [{"type": "track", "observations": "target.h5", "steps": [self.steps]}]
        scene["parameters"] = [{"name": name, "per": "global"} for name in parameters]
        scene["checkpoint"] = {"schedule": "all"}
        return scene

    def gradient(self, parameters, tight=True):
        self.write(self.asking(parameters), "gradient.yaml", tight)
        report = self.execute("gradient", "gradient.yaml")
        with h5py.File(self.folder / "out" / "gradient.h5") as out:
            return {name: float(out["gradient/" + name][()]) for name in parameters}, float(out["loss"][()]), report

    def products(self, parameters):
        self.write(self.asking(parameters), "check.yaml", True)
        report = self.execute("check", "check.yaml", "--products")
        return {name: report["checks"][name]["dot_product_error"] for name in parameters}


def differences(window, parameter, x0, sizes):
    """Yields (h, second-order difference quotient, fourth-order difference quotient) of the loss with respect to the
    parameter. Final positions that two values of h share are computed once."""
    at = window.value(parameter)
    ends = {0.0: x0}

    def end(shift):
        if shift not in ends:
            ends[shift] = window.end(parameter, at + shift)[0]
        return ends[shift]

    of = lambda a, b: window.loss_difference(end(a), end(b))
    for size in sizes:
        h = size * at
        one, two = of(h, -h) / (2.0 * h), of(2.0 * h, -2.0 * h) / (4.0 * h)
        yield size, one, (4.0 * one - two) / 3.0


def measure(name, options):
    window = Window(name, options)
    where = f"{name}, {window.begin} to {window.begin + window.steps}"
    parameters = [p for p in options.parameters.split(",") if window.value(p) != 0.0]
    x, plain = window.end(tight=False)
    iterations, forward = plain["implicit"]["newton_iterations"], plain["wall_seconds"]["forward"]
    print(f"# {where}: {window.newton_before} Newton iterations in the run, {iterations} in the window, {forward:.2f} s", flush=True)
    x0, tightened = window.end()
    print(f"#   tightened {tightened['implicit']['newton_iterations']} iterations, {tightened['wall_seconds']['forward']:.2f} s, "
          f"ends differ by {numpy.abs(x - x0).max():.1e} m, cuts {tightened['implicit']['cuts']}, "
          f"moved {numpy.abs(x0 - window_start(window)).max():.2e} m", flush=True)
    window.make_target(x0)
    loose, _, timed = window.gradient(parameters, tight=False)
    gradient, loss, report = window.gradient(parameters)
    wall = timed["wall_seconds"]
    adjoint = wall["backward"] / window.steps
    print(f"#   gradient: forward {wall['forward']:.2f} s, backward {wall['backward']:.2f} s; a step back takes "
          f"{adjoint / (forward / iterations):.2f} Newton iterations; loss {loss!r}, here {window.loss(x0)!r}; "
          f"indefinite {report['implicit']['indefinite']}", flush=True)
    products = window.products(parameters) if options.products else {}
    rows = []
    for parameter in parameters:
        g, best = gradient[parameter], None
        for h, second, fourth in differences(window, parameter, x0, [float(s) for s in options.sizes.split(",")]):
            errors = [abs(d - g) / abs(g) if g else abs(d) for d in (second, fourth)]
            print(f"#   {parameter}: gradient {g:.12e}; h {h:g}: order 2 {second:.12e} ({errors[0]:.1e}), "
                  f"order 4 {fourth:.12e} ({errors[1]:.1e})", flush=True)
            if best is None or abs(second - fourth) < best[0]:
                best = (abs(second - fourth), errors[1], h)
        effect = abs(loose[parameter] - g) / abs(g) if g else abs(loose[parameter])
        product = f"{products[parameter]:.1e}" if products else ""
        rows.append(f"| {where} | {parameter} | {g:.6e} | {best[1]:.1e} | {best[2]:g} | {effect:.1e} | {product} | "
                    f"{iterations / window.steps:.1f} | {wall['backward'] / forward:.2f} | "
                    f"{adjoint / (forward / iterations):.2f} |")
    return rows


def window_start(window):
    with h5py.File(window.run / "trajectory.h5") as run:
        frame = int(numpy.flatnonzero(window.frames == window.begin)[0])
        return numpy.concatenate([run[group_of(name) + "positions"][frame] for name in window.solids()])


def main():
    sys.stdout.reconfigure(line_buffering=True)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diffsim", type=pathlib.Path, required=True)
    parser.add_argument("--runs", type=pathlib.Path, required=True, help="--scratch of stress.py, with NAME/out in it")
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, help="folder with Armadillo13K.msh")
    parser.add_argument("--only", help="names of scenes, with commas between")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--begin", type=int, help="frame that the window begins with")
    parser.add_argument("--parameters", default=",".join(PARAMETERS))
    parser.add_argument("--sizes", default="1e-4,1e-5,1e-6", help="steps h of the differences")
    parser.add_argument("--newton", type=float, default=1e-13, help="Newton's tolerance where differences are taken")
    parser.add_argument("--linear", type=float, default=1e-13, help="tolerance of the derivatives' linear systems there")
    parser.add_argument("--direct-below", type=int, default=5000, help="unknowns that are factored there")
    parser.add_argument("--products", action="store_true", help="dot products of the tangent with the adjoint too")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds a run")
    options = parser.parse_args()
    for key in ("diffsim", "runs", "scratch", "data"):
        path = getattr(options, key)
        setattr(options, key, path.resolve() if path else None)
    rows = []
    for name in options.only.split(",") if options.only else SCENES:
        if not (options.runs / name / "out" / "trajectory.h5").exists():
            continue
        try:
            rows += measure(name, options)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            rows.append(f"| {name} | {error} |")
    print("| scene, steps | parameter | gradient | against differences, relative | h | effect of the default tolerances | "
          "dot products | Newton iterations a step | backward / forward | a step back, Newton iterations |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
