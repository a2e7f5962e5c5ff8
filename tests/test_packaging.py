"""Files around the package say what the package is: citation, contribution, security; and what it is without extras."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import uqassay as uq
from uqassay.lab.papers.register import PAPERS

ROOT = Path(__file__).resolve().parents[1]


def test_the_citation_has_this_version_and_the_papers():
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["license"]) == (uq.__version__, "Apache-2.0")
    first = [paper["authors"][0] for paper in cited["references"] if paper["notes"].startswith("lens")]
    assert len(first) == len(PAPERS)
    for author, paper in zip(first, PAPERS, strict=True):
        assert "family-names" not in author or author["family-names"] in paper.title


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md"])
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / name).read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), target


def test_commands_of_the_contribution_guide_are_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    assert set(re.findall(r"make ([a-z-]+)", text)) <= made


@pytest.mark.parametrize("form", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda p: p.stem)
def test_forms_of_issues_have_fields_with_labels(form):
    yaml = pytest.importorskip("yaml")
    held = yaml.safe_load(form.read_text(encoding="utf-8"))
    if form.stem == "config":
        assert held == {"blank_issues_enabled": True}
        return
    assert {"name", "description", "body"} <= set(held)
    assert all(field["attributes"]["label"] and field["id"] for field in held["body"])


BARE = """
import sys
sys.modules |= dict.fromkeys(("pandas", "pyarrow", "polars", "xarray", "safetensors", "zarr", "rich", "typer"))
import numpy as np
import uqassay as uq
np.savez("p.npz", probs=[[0.9, 0.1], [0.2, 0.8]], labels=[0, 1])
a = uq.assay({"m": uq.load("p.npz")}, uq.load_labels("p.npz"), calibration=(), n_draws=5)
print(next(row["estimate"] for row in a.rows("findings") if row["metric"] == "accuracy"))
for act in (lambda: uq.load("p.csv"), lambda: uq.load_labels("p.parquet"), a.findings):
    try:
        act()
    except uq.errors.MissingDependencyError as problem:
        print(problem.parameter, problem.facts["extra"])
"""


def test_without_optional_packages_it_works_and_names_their_extras(tmp_path):
    for name in ("p.csv", "p.parquet"):
        (tmp_path / name).write_bytes(b"a,b\n0.9,0.1\n0.2,0.8\n")
    found = subprocess.run([sys.executable, "-c", BARE], cwd=tmp_path, capture_output=True, text=True)
    assert found.stderr == ""
    assert found.stdout.splitlines() == ["1.0", "pyarrow files", "pyarrow files", "pandas tables"]
