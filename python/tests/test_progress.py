# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Progress of long computations, with and without tqdm. The tests also run on two ranks."""

import io
import os
import signal
import sys
import threading
import time

import diffsim
import numpy as np
import pytest
from diffsim import _progress
from scenes import loss, simulator

STEPS = 12


class Recorder:
    """Bars of one test. Each bar is a dict of the arguments of `open`, the list `done` and the text at its end."""

    def __init__(self):
        self.bars, self.depth, self.open_bars = [], [], 0

    def open(self, title, total, unit, elapsed):
        recorder, bar = self, {"title": title, "total": total, "unit": unit, "done": [], "closed": False}
        self.bars.append(bar)
        self.depth.append(self.open_bars)
        self.open_bars += 1
        assert elapsed >= 0.0

        class Bar:
            def update(self, done, text):
                assert not bar["closed"]
                bar["done"].append(done)

            def close(self, done, text, is_complete):
                assert not bar["closed"]
                bar.update(done=[*bar["done"], done], text=text, closed=True, complete=is_complete)
                recorder.open_bars -= 1

        return Bar()

    def ends(self):
        """Return the titles, totals and last counts of all bars, in the order in which the bars were opened."""
        assert all(bar["closed"] and bar["complete"] and bar["done"] == sorted(bar["done"]) for bar in self.bars)
        return [(bar["title"], bar["total"], bar["done"][-1]) for bar in self.bars]


@pytest.fixture
def recorder(monkeypatch):
    made = Recorder()
    monkeypatch.setattr(_progress, "_open", made.open)
    with diffsim.show_progress(delay=0.0):
        yield made


@pytest.fixture
def without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(_progress, "_last_line", -1e9)


class Terminal(io.StringIO):
    """Stream that stands for stderr on a terminal."""

    def isatty(self):
        return True


def on_first_rank(bars):
    return bars if diffsim.rank() == 0 else []


def target(mesh, steps=STEPS):
    return diffsim.TargetPositionLoss(mesh, "y_min", [0.05, -0.02, 0.05], steps)


def make_problem(steps=STEPS):
    made, mesh = simulator()
    unknown = diffsim.Unknown("youngs_modulus", group="all", logarithmic=True, start=4e3, bounds=(1e3, 1e5))
    return diffsim.InverseProblem(made.scene, steps, target(mesh, steps), [unknown])


def direction():
    return {"youngs_modulus": 1.0}


CALLS = {
    "rollout": (lambda made, mesh: made.rollout(STEPS), [("rollout", STEPS, STEPS)]),
    "step": (lambda made, mesh: made.step(STEPS), [("steps", STEPS, STEPS)]),
    "backward": (
        lambda made, mesh: (made.rollout(STEPS), made.backward(loss)),
        [("rollout", STEPS, STEPS), ("reverse sweep", STEPS, STEPS)],
    ),
    "compute_gradient": (
        lambda made, mesh: made.compute_gradient(STEPS, loss, diffsim.CheckpointOptions("uniform", every=5)),
        [("gradient", 2 * STEPS, 2 * STEPS)],
    ),
    "rollout_tangent": (
        lambda made, mesh: made.rollout_tangent(STEPS, direction()),
        [("rollout in forward mode", STEPS, STEPS)],
    ),
    "hessian_product": (
        lambda made, mesh: made.hessian_product(STEPS, target(mesh), direction(), 5),
        [("Hessian product", 2 * STEPS, 2 * STEPS)],
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_simulators_report_each_step(call, recorder):
    function, expected = CALLS[call]
    function(*simulator())
    assert recorder.ends() == on_first_rank(expected)


def test_problems_report_each_step(recorder):
    problem = make_problem()
    u = problem.start()
    problem.value(u)
    problem.gradient(u)
    problem.hessian_product(u, np.ones_like(u))
    assert recorder.ends() == on_first_rank(
        [("value", STEPS, STEPS), ("gradient", 2 * STEPS, 2 * STEPS), ("Hessian product", 2 * STEPS, 2 * STEPS)]
    )


@pytest.mark.parametrize("method", ["lbfgs", "newton_cg", "adam", "mma"])
def test_iterations_are_reported_with_loss_and_gradient(method, recorder):
    result = make_problem().minimise(method, max_iterations=4)
    if diffsim.rank() != 0:
        assert not recorder.bars
        return
    outer = [bar for bar, depth in zip(recorder.bars, recorder.depth) if depth == 0 and bar["unit"] == "iteration"]
    assert len(outer) == 1 and outer[0]["title"] == f"minimise: {method}" and outer[0]["total"] == 4
    last = result["history"][-1]
    assert outer[0]["done"][-1] == last[0]
    assert outer[0]["text"] == f"loss {last[1]:.4e}, gradient norm {last[2]:.2e}"
    inner = [end for end in recorder.ends() if end[0] == "evaluation"]
    assert len(inner) >= result["evaluations"] and set(inner) == {("evaluation", 2 * STEPS, 2 * STEPS)}


def test_windows_have_no_known_number_of_steps(recorder):
    result = make_problem().minimise("newton_cg", max_iterations=1, gauss_newton=True, windows=2)
    assert result["iterations"] > 0
    assert {bar["total"] for bar in recorder.bars if bar["unit"] == "step"} == set(on_first_rank([0]))
    recorder.ends()


def test_nothing_is_shown_by_default(monkeypatch, capfd):
    def refuse(*arguments):
        raise AssertionError("a bar was opened")

    monkeypatch.setattr(_progress, "_open", refuse)
    make_problem().gradient(make_problem().start())
    with diffsim.show_progress(delay=0.0):
        with diffsim.show_progress(False):
            simulator()[0].rollout(2)
    simulator()[0].rollout(2)  # the context manager has restored the setting
    assert capfd.readouterr() == ("", "")


def test_the_switch_works_without_with(recorder):
    made, _ = simulator()
    with diffsim.show_progress(False):
        made.rollout(2)
    assert not recorder.bars
    made.rollout(2)  # the context manager has restored the setting
    assert len(recorder.bars) == len(on_first_rank([1]))
    recorder.bars.clear()
    diffsim.show_progress(False)
    made.rollout(2)
    assert not recorder.bars
    diffsim.show_progress(delay=100.0)
    made.rollout(2)
    assert not recorder.bars  # the rollout took less time than the delay
    diffsim.show_progress(True, 0.0)
    made.rollout(2)
    assert len(recorder.bars) == len(on_first_rank([1]))
    diffsim.show_progress(False)


def test_results_are_bitwise_the_same():
    def results():
        made, mesh = simulator()
        value = made.compute_gradient(STEPS, target(mesh))
        return [value, made.gradient("youngs_modulus"), made.positions, make_problem().minimise("newton_cg")["history"]]

    expected = results()
    with diffsim.show_progress(delay=0.0):
        found = results()
    assert all(np.array_equal(a, b) for a, b in zip(found, expected))


def test_tqdm_draws_the_bars(capfd):
    pytest.importorskip("tqdm")
    with diffsim.show_progress(delay=0.0):
        simulator()[0].rollout(STEPS)
        make_problem().minimise(max_iterations=3)
    out, error = capfd.readouterr()
    assert not out
    if diffsim.rank() != 0:
        assert not error
        return
    assert f"rollout: 100%|" in error and f" {STEPS}/{STEPS} [" in error
    assert "minimise: lbfgs:" in error and "gradient norm" in error


def test_the_bar_of_a_converged_minimisation_is_full(capfd):
    pytest.importorskip("tqdm")
    with diffsim.show_progress(delay=0.0):
        result = make_problem().minimise("newton_cg", max_iterations=50)
    assert result["converged"] and result["iterations"] < 50
    error = capfd.readouterr().err
    assert (f" {result['iterations']}/{result['iterations']} [" in error) == (diffsim.rank() == 0)


def test_an_exception_closes_the_bars_of_tqdm():
    tqdm = pytest.importorskip("tqdm.auto").tqdm

    def fails(n, state):
        assert len(tqdm._instances) == len(on_first_rank([1]))
        if n == 5:
            raise ZeroDivisionError

    made, _ = simulator()
    with diffsim.show_progress(delay=0.0), pytest.raises(ZeroDivisionError):
        made.rollout(STEPS, 10, fails)
    assert len(tqdm._instances) == 0


def test_lines_replace_tqdm(without_tqdm, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    made, _ = simulator()
    with diffsim.show_progress(delay=0.0):
        made.rollout(STEPS, 10, lambda n, state: time.sleep(0.2))
    lines = terminal.getvalue().splitlines()
    if diffsim.rank() != 0:
        assert not lines
        return
    assert 3 <= len(lines) <= 5  # one at the start, one per second, and one at the end
    assert lines[0] == "rollout: step 0 of 12, 0:00 elapsed"
    assert lines[-1] == "rollout: step 12 of 12, 0:02 elapsed, 0:00 remaining"
    assert lines[1].startswith("rollout: step 5 of 12, 0:01 elapsed, 0:01 remaining")


def test_a_line_has_all_open_computations(without_tqdm, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    problem = make_problem()
    monkeypatch.setattr(_progress, "_interval", lambda on_terminal: 0.0)
    with diffsim.show_progress(delay=0.0):
        result = problem.minimise(max_iterations=3, observer=lambda *_: time.sleep(0.1))
    lines = terminal.getvalue().splitlines()
    if diffsim.rank() == 0:
        assert lines[0].startswith("minimise: lbfgs: iteration 0 of 3, ")
        assert any(line.startswith("minimise: lbfgs: iteration 1 of 3, ") and "; evaluation: " in line for line in lines)
        last = result["history"][-1]
        assert lines[-1].endswith(f"loss {last[1]:.4e}, gradient norm {last[2]:.2e}")
    assert not _progress._lines


def test_a_file_receives_few_lines(without_tqdm, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with diffsim.show_progress(delay=0.0):
        simulator()[0].rollout(STEPS, 10, lambda n, state: time.sleep(0.1))
    assert len(stream.getvalue().splitlines()) == len(on_first_rank([1, 2]))  # at the start and at the end


def select(module, request):
    """Let `show_progress` use tqdm, or lines without tqdm. Skip the test if tqdm is not installed."""
    if module == "lines":
        request.getfixturevalue("without_tqdm")
    else:
        pytest.importorskip("tqdm")


@pytest.mark.parametrize("module", ["tqdm", "lines"])
def test_a_closed_stderr_does_not_end_a_computation(module, monkeypatch, request):
    select(module, request)
    closed = Terminal()
    closed.close()
    monkeypatch.setattr(closed.__class__, "isatty", lambda self: True)
    monkeypatch.setattr(sys, "stderr", closed)
    with diffsim.show_progress(delay=0.0):
        assert simulator()[0].rollout(STEPS).num_steps == STEPS


@pytest.mark.parametrize("stderr", [None, object()], ids=["none", "without_isatty"])
@pytest.mark.parametrize("module", ["tqdm", "lines"])
def test_a_missing_stderr_does_not_end_a_computation(module, stderr, monkeypatch, request):
    select(module, request)
    monkeypatch.setattr(sys, "stderr", stderr)
    with diffsim.show_progress(delay=0.0):
        assert simulator()[0].rollout(STEPS).num_steps == STEPS


@pytest.mark.parametrize("module", ["tqdm", "lines"])
def test_an_error_of_stderr_does_not_end_a_computation(module, monkeypatch, request):
    select(module, request)

    class Full(Terminal):
        def write(self, text):
            if len(self.getvalue()) > 20:
                raise OSError("no space left")
            return super().write(text)

    stream = Full()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_progress, "_interval", lambda on_terminal: 0.0)
    with diffsim.show_progress(delay=0.0):
        made, _ = simulator()
        assert made.rollout(STEPS, 10, lambda n, state: time.sleep(0.06)).num_steps == STEPS
    assert bool(stream.getvalue()) == (diffsim.rank() == 0)


@pytest.mark.parametrize("call", ["rollout", "value", "gradient", "hessian_product", "minimise", "check"])
def test_an_interrupt_closes_the_bars(call, recorder):
    made, _ = simulator()
    problem = make_problem({"value": 200000, "check": 5000}.get(call, 20000))
    u = problem.start()
    if diffsim.rank() == 0:  # only the first rank receives the signal
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt if diffsim.rank() == 0 else diffsim.RunError):
        if call == "rollout":
            made.rollout(200000, 1000)
        elif call == "hessian_product":
            problem.hessian_product(u, u)
        else:
            getattr(problem, call)(*([] if call in ("minimise", "check") else [u]))
    assert time.perf_counter() - begin < 3.0
    assert all(bar["closed"] for bar in recorder.bars)
    if call != "check":  # `check` begins with rollouts in forward mode, which show no bars, and has many sweeps
        assert bool(recorder.bars) == (diffsim.rank() == 0)
        assert all(bar["done"][-1] < bar["total"] and not bar["complete"] for bar in recorder.bars)
    if call != "rollout":
        again = make_problem()
        assert again.gradient(again.start())[0] > 0.0


def test_experiments_of_a_problem_report_their_steps(recorder):
    document = {
        "mesh": {"box": {"size": [0.4, 0.1, 0.1], "cells": [4, 1, 1]}},
        "material": {"model": "neo_hookean", "density": 1000, "youngs_modulus": 2e4, "poisson_ratio": 0.3},
        "solver": {"dt": 0.01, "steps": 6},
        "boundary": [{"region": "x_min", "fix": ["x", "y", "z"]}],
        "objective": [{"type": "target_position", "region": "x_max", "target": [0.4, -0.01, 0.05]}],
        "parameters": [{"name": "youngs_modulus"}],
        "experiments": [{"name": "a"}, {"name": "b", "solver": {"dt": 0.01, "steps": 4}}],
    }
    try:
        problem = diffsim.SceneFile.from_dict(document).problem()
    except diffsim.InputError as error:
        if "not available" not in str(error):
            raise
        pytest.skip("this build does not read scenes of the runner")
    problem.gradient(problem.start())
    assert [end[2] for end in recorder.ends()] == on_first_rank([12, 8])
