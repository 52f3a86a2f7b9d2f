# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""End of programs on several ranks after an exception that the program does not catch."""

import sys

from . import _core

SECONDS = 5.0  # time in which the other ranks must fail, too


def end_all_ranks_after_exceptions():
    """Make uncaught exceptions end the program on all ranks.

    Without this function, a rank with an uncaught exception would end, and the other ranks would wait for it forever. An
    exception before the first use of the library on a rank ends this rank only.
    """
    show = sys.excepthook

    def show_and_end(kind, value, traceback):
        show(kind, value, traceback)
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        _core.abort_unless_all_ranks_arrive(SECONDS)

    sys.excepthook = show_and_end
