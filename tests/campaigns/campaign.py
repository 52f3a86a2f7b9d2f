# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Functions that several campaigns share: scenes of small problems, and runs of diffsim under mpiexec. The module needs
only Python's standard library."""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

SCENE = """\
mesh: {{box: {{size: [1, 0.3, 0.2], cells: [8, 3, 2]}}}}
material: {{model: neo_hookean, density: 900, youngs_modulus: 2.0e4, poisson_ratio: 0.35}}
solver: {{dt: 0.004, steps: {steps}, substeps: 3}}
boundary: [{{region: x_min, fix: [x, y, z]}}]
objective:
  - {{type: target_position, region: x_max, target: [0.9, 0.2, 0.1], step: last}}
  - {{type: target_position, region: x_max, target: [0.9, 0.2, 0.1], step: 100}}
parameters: [{{name: youngs_modulus, per: cell}}, {{name: gravity}}, {{name: damping}}, {{name: density, per: cell}}]
checkpoint: {{schedule: two_level, every: 50, snapshots: 5, store: tiered, directory: {directory}, interval: {interval}}}
"""

# A crate falls onto a beam, and the beam bends until it touches a floor. All contacts have friction.
TOUCHING = """\
bodies:
  beam: {{mesh: {{box: {{size: [0.8, 0.1, 0.3], cells: [8, 2, 3]}}}},
          material: {{model: neo_hookean, density: 900, youngs_modulus: 2.0e4, poisson_ratio: 0.35}}}}
  crate: {{mesh: {{box: {{size: [0.2, 0.2, 0.2], cells: [3, 3, 3]}}}}, initial: {{velocity: [0.3, -0.4, 0.1]}},
           placement: {{translate: [0.3, 0.115, 0.05], rotate: {{axis: [0, 1, 0], angle: 0.2}}}},
           material: {{model: stable_neo_hookean, density: 700, youngs_modulus: 4.0e4, poisson_ratio: 0.3}}}}
boundary: [{{region: beam/x_min, fix: [x, y, z]}}]
contact:
  barrier_distance: 0.02
  barrier_stiffness: 1.0e4
  friction: 0.3
  friction_velocity: 0.05
  obstacles: [{{plane: {{point: [0, -0.03, 0], normal: [0, 1, 0]}}, name: floor}}]
  pairs: [{{between: [crate, beam], friction: 0.5}}]
objective: {{type: target_position, region: crate/all, target: [0.5, 0.2, 0.1]}}
parameters: [{{name: youngs_modulus, per: region}}, {{name: friction}}, {{name: "friction:crate|beam"}}, {{name: gravity}},
             {{name: "obstacle_position:floor"}}]
"""
# Name: (text of the scene, permitted relative difference between gradients on different numbers of ranks). The difference is
# due to rounding errors or to the tolerance of the linear solver.
SCENES = {
    "solid": (SCENE, 1e-11),
    "contact": (TOUCHING + "solver: {{dt: 0.002, steps: {steps}, substeps: 8}}\n"
                "checkpoint: {{schedule: two_level, every: 10, snapshots: 5, store: tiered, directory: {directory}, "
                "interval: {interval}}}\n", 1e-11),
    "implicit_contact": (TOUCHING + "solver: {{integrator: bdf2, dt: 0.01, steps: {steps}}}\n"
                         "checkpoint: {{schedule: two_level, every: 5, snapshots: 3, store: tiered, directory: {directory}, "
                         "interval: {interval}}}\n", 1e-8),
}


def arguments(description):
    sys.stdout.reconfigure(line_buffering=True)  # so that each line appears at once in a log file
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--diffsim", required=True, help="the program")
    parser.add_argument("--mpiexec", default="mpiexec --oversubscribe --bind-to none -n", help="up to the number of ranks")
    parser.add_argument("--scratch", default="campaign", help="a folder to work in, made anew")
    parser.add_argument("--ranks", default="2,3")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scene", choices=SCENES, default="solid")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--interval", type=float, default=0.02)
    return parser


class Bench:
    """A scratch folder that contains a scene."""

    def __init__(self, options, directory=None):
        self.options = options
        self.folder = pathlib.Path(options.scratch).resolve()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.checkpoints = pathlib.Path(directory or self.folder / "checkpoints")
        self.scene = self.folder / "scene.yaml"
        self.scene.write_text(SCENES[options.scene][0].format(steps=options.steps, directory=self.checkpoints, interval=options.interval))

    def start(self, ranks, *words, output="out"):
        # The run is a separate process group, so that a signal to the group leaves no process behind.
        return subprocess.Popen(
            shlex.split(self.options.mpiexec) + [str(ranks), self.options.diffsim, "gradient", str(self.scene), "--output",
                                                 str(self.folder / output), *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"})

    def run(self, ranks, *words, output="out", timeout=120):
        """Runs `diffsim gradient` with the extra arguments `words` to its end. Returns exit code, standard output,
        standard error and seconds."""
        begin = time.monotonic()
        process = self.start(ranks, *words, output=output)
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err, time.monotonic() - begin

    def gradient(self, output="out"):
        return (self.folder / output / "gradient.h5").read_bytes()

    def report(self, output="out"):
        return json.loads((self.folder / output / "report.json").read_text())

    def clear(self):
        for path in self.checkpoints.glob("*"):
            path.unlink()

    def phase(self):
        return "reverse" if any(self.checkpoints.glob("adjoint_*.h5")) else "forward"


def ranks_of(process, program):
    """Returns the process ids of the ranks that mpiexec has started."""
    found = []
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    try:
        for pid in children.read_text().split():
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if os.path.realpath(os.fsdecode(words[0])) == os.path.realpath(program):
                found.append(int(pid))
    except OSError:
        pass
    return found


def difference(one, other):
    """Returns the largest relative difference between two reports in the loss and the norm of the gradient."""
    return max(abs(one[key] - other[key]) / abs(other[key]) for key in ("loss", "gradient_norm"))


def complaints(err):
    """Returns the messages of diffsim about damaged or missing files. Messages of mpiexec about other files are ignored."""
    words = re.compile(r"damaged|cut short|cannot be read|No such file")
    return [line for line in err.splitlines() if line.startswith("diffsim: ") and words.search(line)]
