"""What a release rests on: citation, contribution, security, issue forms, workflows; and the package without extras."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import uqassay as uq
from uqassay.files import EXTRAS
from uqassay.lab.papers.register import PAPERS

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
SCHEMAS = {
    "vendor.github-workflows": WORKFLOWS,
    "vendor.github-issue-forms": [path for path in FORMS if path.name != "config.yml"],
    "vendor.github-issue-config": [path for path in FORMS if path.name == "config.yml"],
    "vendor.citation-file-format": [ROOT / "CITATION.cff"],
}


def test_the_citation_has_this_version_and_the_papers():
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)[1]
    assert (cited["version"], newest, cited["license"]) == (uq.__version__, uq.__version__, "Apache-2.0")
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


def jobs_of(path):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


def scripts():
    """Every script of a workflow, with its expressions of GitHub replaced."""
    for path in WORKFLOWS:
        for name, job in jobs_of(path).items():
            for step in job.get("steps", []):
                if "run" in step:
                    yield f"{path.name}: {name}", re.sub(r"\$\{\{.*?\}\}", "0", step["run"])


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_follow_their_schema(schema, needs):
    needs("check_jsonschema")
    assert SCHEMAS[schema]
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, SCHEMAS[schema])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wrong_workflow_is_found(needs, tmp_path):
    needs("check_jsonschema")
    text = WORKFLOWS[0].read_text(encoding="utf-8")
    (tmp_path / "wrong.yml").write_text(text.replace("runs-on:", "runs-upon:"), encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", "wrong.yml"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_scripts_of_workflows_are_shell_and_their_targets_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = list(scripts())
    assert len(found) >= 8
    for where, script in found:
        done = subprocess.run(["bash", "-n", "-c", script], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{where}: {done.stderr}"
        for target in re.findall(r"\bmake ([\w-]+)", script):
            assert re.search(rf"^{target}:", makefile, flags=re.M), f"{where}: no target {target}"
        for path in re.findall(r"(?<![\w/])(?:tests|\.ci)/[\w/.]+", script):
            assert (ROOT / path).exists(), f"{where}: no {path}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_jobs_wait_for_jobs_that_exist_and_take_the_right_to_publish_alone(path):
    jobs = jobs_of(path)
    for name, job in jobs.items():
        needed = job.get("needs", [])
        assert ({needed} if isinstance(needed, str) else set(needed)) <= jobs.keys()
        writes = [right for right, level in job.get("permissions", {}).items() if level == "write"]
        assert not writes or "environment" in job, f"{name} writes {writes} outside an environment"


def test_every_promised_version_of_python_is_tested():
    with (ROOT / "pyproject.toml").open("rb") as stream:
        project = tomllib.load(stream)["project"]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    matrix = jobs_of(ROOT / ".github" / "workflows" / "tests.yml")["core"]["strategy"]["matrix"]
    assert set(promised) <= set(matrix["python"])
    assert project["requires-python"] == f">={promised[0]}"


def test_the_paper_cites_what_its_bibliography_has():
    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    body = re.sub(r"^---\n.*?^---\n|^```.*?^```", "", text, flags=re.M | re.S)
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), flags=re.M)
    assert sorted(entries) == sorted(set(re.findall(r"@(\w+)", body)))
    assert len(body.split()) <= 1000  # two pages
    for name in re.findall(r"\buq\.(\w+)", text):
        assert hasattr(uq, name)


def test_errors_name_extras_that_exist_or_requirements():
    with (ROOT / "pyproject.toml").open("rb") as stream:
        offered = tomllib.load(stream)["project"]["optional-dependencies"]
    assert set(EXTRAS) < set(offered) == {*EXTRAS, "all", "docs", "test"}
    named = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "optional_package":
                named |= {node.args[1].value} if isinstance(node.args[1], ast.Constant) else set()
    assert set(EXTRAS) < named
    assert not [one for one in named - set(EXTRAS) if not re.fullmatch(r"[\w-]+(\[[\w,]+\])?>=[\d.]+", one)]


BARE = """
import sys
sys.modules |= dict.fromkeys(("pyarrow", "polars", "xarray", "safetensors", "zarr", "torch", "sklearn"))
import numpy as np
import uqassay as uq
from uqassay.files import EXTRAS
np.savez("p.npz", probs=[[0.9, 0.1], [0.2, 0.8]], labels=[0, 1])
a = uq.assay({"m": uq.load("p.npz")}, uq.load_labels("p.npz"), calibration=(), n_draws=5)
print(next(row["estimate"] for row in a.rows("findings") if row["metric"] == "accuracy"))
for act in (lambda: uq.load("p.csv"), lambda: uq.load_labels("p.parquet")):
    try:
        act()
    except uq.errors.MissingDependencyError as problem:
        print(problem.parameter, problem.facts["needed"])
"""


def test_without_optional_packages_it_works_and_names_what_installs_them(tmp_path):
    for name in ("p.csv", "p.parquet"):
        (tmp_path / name).write_bytes(b"a,b\n0.9,0.1\n0.2,0.8\n")
    found = subprocess.run([sys.executable, "-c", BARE], cwd=tmp_path, capture_output=True, text=True)
    assert found.stderr == ""
    assert found.stdout.splitlines() == ["1.0", "pyarrow files", "pyarrow files"]
