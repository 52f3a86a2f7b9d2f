# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Progress of rollouts, reverse sweeps and optimisations, shown by tqdm or, without tqdm, as lines on stderr."""

import sys
import time

from . import _core

_settings = (False, 0.0)  # whether progress is shown, and the delay of bars in s
_lines = []  # open bars without tqdm, the outermost bar first
_last_line = -1e9  # time of the last line without tqdm, s


class _Switch:
    """Context manager that restores the settings before the call of `show_progress`."""

    def __init__(self, before):
        self._before = before

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _set(*self._before)


def show_progress(on=True, delay=0.5):
    """Show the progress of later computations (on=True), or show no progress (on=False, the initial setting).

    Rollouts, sweeps, evaluations of inverse problems and `minimise` show the number of steps or iterations, the elapsed
    time and the remaining time. delay: time in s after which a computation begins to show its progress. The first rank
    writes to stderr, or into the notebook: bars of the package tqdm if tqdm is installed, otherwise lines. Return a
    context manager, which restores the previous setting at its end.
    """
    switch = _Switch(_settings)
    _set(bool(on), float(delay))
    return switch


def _set(on, delay):
    global _settings
    _settings = (on, delay)
    _core.set_progress(_open if on else None, delay)


def _open(title, total, unit, elapsed):
    """Open a bar for a computation that began `elapsed` seconds ago. total: number of units; 0 if unknown."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(title, total, unit, elapsed)
    return _Bar(tqdm, title, total, unit, elapsed)


def _interval(on_terminal):
    """Return the least time between two outputs, s. A log file or a pipe, as under mpirun, receives few outputs."""
    try:
        return on_terminal if sys.stderr.isatty() else 10.0
    except (AttributeError, OSError, ValueError):  # stderr is None, has no isatty, or is closed
        return 10.0


class _Bar:
    """Bar of tqdm. If tqdm cannot write, for example because stderr is closed, nothing more is shown."""

    _num_open = 0

    def __init__(self, tqdm, title, total, unit, elapsed):
        in_notebook = any(base.__module__ == "tqdm.notebook" for base in tqdm.__mro__)
        interval = 0.1 if in_notebook else _interval(0.1)
        self._bar = None
        try:
            # The bars of parts of a computation disappear at their end.
            leave = _Bar._num_open == 0
            options = {"miniters": 1, "mininterval": interval, "dynamic_ncols": True, "leave": leave}
            self._bar = tqdm(desc=title, total=total or None, unit=unit, **options)
            self._bar.start_t = self._bar.last_print_t = self._bar.start_t - elapsed
        except (AttributeError, OSError, ValueError):
            pass
        _Bar._num_open += 1

    def update(self, done, text):
        try:
            if self._bar is not None:
                if text:
                    self._bar.set_postfix_str(text, refresh=False)
                self._bar.update(done - self._bar.n)
        except (AttributeError, OSError, ValueError):
            self._bar.disable = True
            self._bar = None

    def close(self, done, text, is_complete):
        _Bar._num_open -= 1
        self.update(done, text)
        try:
            if self._bar is not None:
                if is_complete:
                    self._bar.total = done  # `minimise` may need fewer iterations than permitted
                self._bar.close()
        except (AttributeError, OSError, ValueError):
            pass


class _Line:
    """Progress without tqdm: about once per second, a line with the progress of all open computations."""

    def __init__(self, title, total, unit, elapsed):
        self._title, self._total, self._unit = title, total, unit
        self._begin = time.monotonic() - elapsed
        self._done, self._text = 0, ""
        _lines.append(self)

    def update(self, done, text):
        self._done, self._text = done, text
        if time.monotonic() - _last_line >= _interval(1.0):
            _write_line()

    def close(self, done, text, is_complete):
        self._done, self._text = done, text
        if is_complete and done != self._total:
            self._total = 0  # `minimise` may need fewer iterations than permitted
        if _lines[0] is self:
            _write_line()
        _lines.remove(self)

    def __str__(self):
        elapsed = time.monotonic() - self._begin
        of_total = f" of {self._total}" if self._total else ""
        parts = [f"{self._title}: {self._unit} {self._done}{of_total}", f"{_clock(elapsed)} elapsed"]
        if self._total and self._done:
            parts.append(f"{_clock((self._total - self._done) * elapsed / self._done)} remaining")
        return ", ".join([*parts, self._text] if self._text else parts)


def _clock(seconds):
    """Return a time as text, such as 1:02:03 or 2:03."""
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _write_line():
    """Write a line with the progress of all open computations to stderr, if stderr can be written."""
    global _last_line
    _last_line = time.monotonic()
    try:
        print("; ".join(map(str, _lines)), file=sys.stderr, flush=True)
    except (AttributeError, OSError, ValueError):
        pass
