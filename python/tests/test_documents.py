# Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
"""Runs the Python programs in the documents."""

import importlib.util
import json
import os
import pathlib
import re

import diffsim
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.setdefault("DIFFSIM_DATA", str(ROOT.parent / "shared/data")))


def blocks(document):
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), re.DOTALL)


def reads_scenes():
    """Return whether this build of the package reads scenes of the runner."""
    try:
        diffsim.SceneFile.from_dict({})
    except diffsim.InputError as error:
        return "does not read scenes" not in str(error)
    return True


# The programs of a page continue those of earlier pages.
PAGES = ["python.md", *(f"python/{name}.md" for name in ("problems", "functions", "arrays", "jax_and_pytorch"))]


def test_programs_of_the_python_pages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a program writes files
    first, *others = [block for page in PAGES for block in blocks(f"docs/{page}")]
    scope = {"__name__": "document"}
    exec(first, scope)
    assert len(scope["gradient"]) == scope["mesh"].num_local_cells
    pytest.importorskip("jax")
    for block in others:
        is_possible = "petsc4py" not in block or importlib.util.find_spec("petsc4py") is not None
        if is_possible and ("SceneFile" not in block or reads_scenes()):
            exec(block, scope)


@pytest.mark.parametrize("notebook", sorted((ROOT / "docs/notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code" and not cell["metadata"].get("tags")]
    if any("jax" in text for text in code):
        pytest.importorskip("jax")
    if any("DIFFSIM_DATA" in text for text in code) and not (DATA / "meshes").exists():
        pytest.skip(f"there are no meshes in {DATA}")
    scope = {"__name__": "notebook"}
    for text in code:
        exec(text, scope)


def test_program_of_readme():
    (program,) = blocks("README.md")
    scope = {"__name__": "document"}
    exec(program, scope)
    assert scope["value"] > 0.0
