# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Options of PETSc's solvers, which need no petsc4py."""

import re
import shlex

from . import _core


def set_petsc_options(options):
    """Set options in PETSc's options database, which the solvers of diffsim and of petsc4py read.

    options: a dict, such as {"ksp_type": "minres"} or the section `petsc` of a scene document, in which None is the
    value of an option without a value; or a str or a list of words, such as sys.argv[1:], in which options begin with -.
    Set the same options on all ranks. A solver reads its options when it is created.
    """
    for name, value in list(_options_of(options)):
        _core.set_petsc_option("-" + name, value)


def clear_petsc_options(names):
    """Remove options, given by a name or a list of names, from PETSc's options database."""
    for name in [_name(name) for name in ([names] if isinstance(names, str) else names)]:
        _core.clear_petsc_option("-" + name)


def _options_of(options):
    """Return pairs (name without -, text or None) of the argument of `set_petsc_options`."""
    if isinstance(options, dict):
        return _options_of_dict(options, "")
    words = shlex.split(options) if isinstance(options, str) else [str(word) for word in options]
    if isinstance(options, str) and words and not _is_option(words[0]):
        raise _core.InputError(f"'{words[0]}' is not a PETSc option; options begin with -, such as '-ksp_type minres'")
    pairs = []
    for before, word in zip([None, *words], words):
        if _is_option(word):
            pairs.append((_name(word), None))
        elif before is not None and _is_option(before):
            pairs[-1] = (pairs[-1][0], word)
    return pairs


def _options_of_dict(options, prefix):
    """Return pairs (name, text or None) of a dict. Names in a nested dict have the key of the dict as a prefix."""
    pairs = []
    for key, value in options.items():
        name = prefix + _name(key)
        if isinstance(value, dict):
            pairs += _options_of_dict(value, name + "_")
        elif isinstance(value, (list, tuple)):
            pairs.append((name, ",".join(_text(item) for item in value)))
        else:
            pairs.append((name, None if value is None else _text(value)))
    return pairs


def _is_option(word):
    """Return whether PETSc reads a word of a command line as the name of an option, not as a negative number."""
    return re.match(r"--?[^\W\d]", word) is not None


def _name(key):
    """Return the name of an option without -. Raise an InputError for a key that is no name."""
    name = key.lstrip("-") if isinstance(key, str) else ""
    if not re.fullmatch(r"[^\W\d][^\s=]*", name):
        raise _core.InputError(f"{key!r} is not the name of a PETSc option; give one, such as 'ksp_type'")
    return name


def _text(value):
    """Return the value of an option as PETSc reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
