#!/usr/bin/env python3
# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Identifies the stiffness field of a bar from observed positions of the surface and one force, with errors of 1 %.

The script compares results with and without a prior, with one and two experiments, and with two optimisers.

    tests/campaigns/stiffness_field.py --diffsim build/bin/diffsim --scratch /tmp/field [--bricks 16,8,8]

The bar of 0.4 × 0.1 × 0.1 m is clamped at one end. In the first experiment the other end is pulled by 20 mm, in the
second experiment the other end is moved sideways by 30 mm. The true Young's modulus has a maximum and a minimum inside
the bar. The unknowns are the moduli of all cells. The table contains the relative L2 error of the modulus, the loss,
the wall time and the processor time. The script needs numpy and h5py.
"""

import argparse
import json
import pathlib
import resource
import shlex
import shutil
import subprocess
import sys
import time

import h5py
import numpy as np

SIZE = np.array([0.4, 0.1, 0.1])
EXPERIMENTS = {"pull": [0.02, 0.0, 0.0], "bend": [0.0, -0.03, 0.0]}
NOISE = 0.01


def centres(bricks):
    """Return for each cell the centre of the brick that contains the cell, [cells, 3], m."""
    nx, ny, nz = bricks
    z, y, x = np.meshgrid(*(np.arange(n) + 0.5 for n in (nz, ny, nx)), indexing="ij")
    points = np.stack([x.ravel() / nx, y.ravel() / ny, z.ravel() / nz], axis=1) * SIZE
    return np.repeat(points, 6, axis=0)


def true_modulus(bricks):
    x = centres(bricks)

    def place(centre, width):
        return np.exp(-(((x - centre) / width) ** 2).sum(axis=1))

    return 1e5 * np.exp(1.0 * place([0.28, 0.05, 0.05], [0.06, 0.05, 0.05]) - 0.8 * place([0.12, 0.07, 0.03], [0.05, 0.05, 0.05]))


def scene(bricks, material, more, experiments):
    text = (
        f"mesh: {{box: {{size: {SIZE.tolist()}, cells: {list(bricks)}}}}}\n"
        f"material: {{model: neo_hookean, density: 1000, youngs_modulus: {material}, poisson_ratio: 0.3}}\n"
        "solver: {integrator: quasi_static, dt: 1, steps: 1, gravity: [0, 0, 0]}\n" + more + "experiments:\n"
    )
    for name, objective in experiments.items():
        text += (
            f"  - name: {name}\n    boundary: [{{region: x_min, fix: [x, y, z]}}, "
            f"{{region: x_max, move: {{velocity: {EXPERIMENTS[name]}}}}}]\n{objective}"
        )
    return text


def processor_seconds():
    """Return the processor time of all completed child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(options, command, name):
    begin, used = time.perf_counter(), processor_seconds()
    words = [*shlex.split(options.launcher), str(options.diffsim), command, f"{name}.yaml", "--output", name]
    done = subprocess.run(words, cwd=options.scratch, capture_output=True, text=True)
    report = options.scratch / name / "report.json"
    if done.returncode not in (0, 1) or (command == "invert" and not report.exists()):
        sys.exit(f"{name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(report.read_text()) if report.exists() else {}, time.perf_counter() - begin, processor_seconds() - used


def observe(options, random):
    """Write files with the positions of the surface and the force, with random errors. Return the text of the objective
    of each experiment."""
    objectives = {}
    for name in EXPERIMENTS:
        with h5py.File(options.scratch / "truth" / name / "trajectory.h5") as file:
            rest, x = file["/positions"][0], file["/positions"][-1]
            force = file["/reaction/x_max"][-1]
        surface = np.flatnonzero((np.abs(rest) < 1e-9).any(axis=1) | (np.abs(rest - SIZE) < 1e-9).any(axis=1))
        moved = np.sqrt(((x - rest) ** 2).sum(axis=1).mean())
        deviation, of_force = NOISE * moved, NOISE * np.linalg.norm(force)
        with h5py.File(options.scratch / f"{name}.h5", "w") as file:
            file["/step"] = np.array([1])
            file["/vertices"] = surface
            file["/positions"] = (x[surface] + deviation * random.normal(size=(len(surface), 3)))[None]
            file["/reaction"] = (force + of_force * random.normal(size=3))[None]
        objectives[name] = (
            f"    objective:\n      - {{type: track, observations: {name}.h5, noise: {deviation:.6e}}}\n"
            f"      - {{type: reaction, region: x_max, observations: {name}.h5, noise: {of_force:.6e}}}\n"
        )
    return objectives


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--diffsim", type=pathlib.Path, required=True)
    parser.add_argument("--launcher", default="", help="for example 'mpirun -n 2'")
    parser.add_argument("--scratch", type=pathlib.Path, required=True)
    parser.add_argument("--bricks", default="16,8,8", help="bricks of six cells along x, y and z")
    parser.add_argument("--iterations", type=int, default=600, help="of L-BFGS with the prior")
    parser.add_argument("--plain-iterations", type=int, default=60, help="without the prior: more iterations fit the errors")
    options = parser.parse_args()
    options.diffsim, options.scratch = options.diffsim.resolve(), options.scratch.resolve()
    shutil.rmtree(options.scratch, ignore_errors=True)
    options.scratch.mkdir(parents=True)
    bricks = tuple(int(n) for n in options.bricks.split(","))
    truth = true_modulus(bricks)
    with h5py.File(options.scratch / "modulus.h5", "w") as file:
        file["/youngs_modulus"] = truth
    (options.scratch / "truth.yaml").write_text(
        scene(bricks, "{file: modulus.h5, dataset: /youngs_modulus}", "output: {fields: [positions, reactions]}\n", dict.fromkeys(EXPERIMENTS, ""))
    )
    run(options, "simulate", "truth")
    objectives = observe(options, np.random.default_rng(1))
    print(f"{6 * np.prod(bricks)} cells\n")
    print("| experiments | prior | optimiser | relative L2 error of E | loss | iterations | gradients | products | s | processor s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    prior = "priors: [{parameter: youngs_modulus, type: matern, mean: 1.0e+5, deviation: 0.5, length: 0.15}]\n"
    optimisers = {
        "lbfgs": "{{method: lbfgs, max_iterations: {}, gradient_tolerance: 1.0e-3}}",
        "gauss_newton": "{{method: newton_cg, hessian: gauss_newton, max_iterations: 30, gradient_tolerance: 1.0e-3}}",
    }
    for experiments in (["pull"], ["bend"], ["pull", "bend"]):
        for with_prior in (False, True):
            for method in optimisers if with_prior and experiments != ["bend"] else ["lbfgs"]:
                name = "_".join([*experiments, "prior" if with_prior else "plain", method])
                more = (
                    "parameters: [{name: youngs_modulus, per: cell, bounds: [1.0e+3, 1.0e+7]}]\n"
                    f"optimiser: {optimisers[method].format(options.iterations if with_prior else options.plain_iterations)}\n"
                    + ("petsc: {tao_bnk_ksp_rtol: 0.1}\n" if method == "gauss_newton" else "")
                    + (prior if with_prior else "")
                )
                (options.scratch / f"{name}.yaml").write_text(
                    scene(bricks, "1.0e+5", more, {key: objectives[key] for key in experiments})
                )
                report, seconds, processor = run(options, "invert", name)
                with h5py.File(options.scratch / name / "parameters.h5") as file:
                    found = file["/parameters/youngs_modulus"][:]
                error = np.linalg.norm(found - truth) / np.linalg.norm(truth)
                print(
                    f"| {' and '.join(experiments)} | {'Matérn' if with_prior else 'none'} | {method} | {error:.3f} | {report['loss']:.6g} | "
                    f"{report['iterations']} | {report['evaluations']} | {report.get('hessian_products', 0)} | {seconds:.0f} | {processor:.0f} |",
                    flush=True,
                )
    start = np.linalg.norm(1e5 - truth) / np.linalg.norm(truth)
    print(f"\nThe uniform start value has the error {start:.3f}.")


if __name__ == "__main__":
    main()
