"""The rendered guide: reference pages for all public parts, tutorials stored without results. `make guide` builds it."""

import json
import re
from pathlib import Path

import pytest

import uqassay as uq

DOCS = Path(__file__).resolve().parents[1] / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.ipynb"))
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")


def test_every_public_room_has_a_page_of_reference():
    rooms = {name for name in uq.__all__ if f"uqassay.{name}" == getattr(getattr(uq, name), "__name__", "")}
    pages = {page.stem for page in (DOCS / "api").glob("*.rst")}
    assert rooms >= {"measures", "losses", "metrics", "calibration", "statistics"}
    assert rooms <= pages


@pytest.mark.parametrize("page", sorted((DOCS / "api").glob("*.rst")), ids=lambda p: p.stem)
def test_pages_of_reference_name_a_module_and_are_in_the_index(page):
    text = page.read_text(encoding="utf-8")
    (module,) = re.findall(r"^\.\. automodule:: (\S+)$", text, flags=re.MULTILINE)
    assert text.splitlines()[0] == module
    named = __import__(module, fromlist=["__all__"])
    assert named.__all__
    excluded = re.findall(r":exclude-members: (.*)", text)
    if module != "uqassay.lab.methods":  # those come from scikit-learn
        assert {name.strip() for line in excluded for name in line.split(",")} <= set(named.__all__) & set(uq.__all__)
    assert f"](api/{page.name})" in INDEX


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda p: p.stem)
def test_tutorials_are_stored_without_results_and_are_in_the_index(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert f"](tutorials/{path.name})" in INDEX
    for target in re.findall(r"\]\((\.\./[^)#]+)", "".join("".join(cell["source"]) for cell in cells)):
        assert (path.parent / target).resolve().exists(), target
