# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Functions that several campaigns share: scenes of small problems, and runs of diffsim under mpiexec. The module needs
only Python's standard library."""

import argparse
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

    def difference(self, reference, output="out"):
        """Returns the largest relative difference of an entry of the loss and of the gradients between two outputs, and
        where the difference is. Differences are relative to the largest value of the dataset in `reference`. Datasets of
        zeros or of different sizes, values that are not finite and files that cannot be compared count as an infinite
        difference."""
        names = ",".join(parameters_of(self.scene.read_text()))
        files = [str(self.folder / folder / "gradient.h5") for folder in (reference, output)]
        run = subprocess.run([self.options.compare, "0", names, *files], capture_output=True, text=True, timeout=60)
        found = re.findall(r"^\S+ (/.*): (\S+)$", run.stdout, re.MULTILINE)
        if run.returncode not in (0, 1) or len(found) != 2 + names.count(","):
            return float("inf"), run.stderr.strip() or run.stdout.strip()
        return max((float(off), dataset) for dataset, off in found)

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


def parameters_of(scene):
    """Returns the names of the parameters in the text of a scene."""
    return re.findall(r'{name: "?([^",}]+)', scene)


def complaints(err):
    """Returns the messages of diffsim about damaged or missing files. Messages of mpiexec about other files are ignored."""
    words = re.compile(r"damaged|cut short|cannot be read|No such file")
    return [line for line in err.splitlines() if line.startswith("diffsim: ") and words.search(line)]
