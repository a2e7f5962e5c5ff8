"""The guide is true: its commands run, its links lead somewhere, its tables are those of the docstrings.

The Python examples are doctests of their own (`--doctest-glob=*.md`).
"""

import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli import main
from uqassay.lab.papers.gain.run import slice_of

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
N, K = 150, 3
CALIBRATION = uq.assay.__kwdefaults__["calibration"]

TRAINING = (
    "uqassay demo",
    "uqassay bench",
    "uqassay reproduce credal-calibration --table",
    "uqassay reproduce unified --",
    "uqassay reproduce disentanglement --",
)  # commands that train models


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def shell_lines(page: Path) -> list[str]:
    """Every line of the shell examples, with those that a backslash continues in one."""
    text = "".join(blocks(page, "sh")).replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the files that the examples name."""
    g = np.random.default_rng(3)
    y = g.integers(0, K, N)
    logits = 1.5 * np.eye(K)[y] + g.normal(size=(N, K))

    def softmax(z):
        return np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)

    def network():
        return softmax(logits + 0.3 * g.normal(size=(N, K)))

    members = softmax(logits[:, None] + 0.5 * g.normal(size=(N, 5, K)))
    ids = np.arange(1000, 1000 + N)
    sets = np.vstack([np.eye(K), np.ones(K)]).astype(bool)
    beliefs = np.column_stack([0.9 * members.mean(axis=1), np.full(N, 0.97)])
    beliefs[0] = 0.5, 0.4, 0.3, 0.9  # no belief function
    arrays = {
        "ensemble": {"probs": members},
        "softmax": {"probs": network()},
        "ensemble_out": {"probs": softmax(0.5 * g.normal(size=(60, 5, K)))},
        "softmax_out": {"probs": softmax(0.5 * g.normal(size=(60, K)))},
        "edl": {"alpha": 1 + 20 * members.mean(axis=1)},
        "beliefs": {"beliefs": beliefs, "focal_sets": sets},
        **{f"run{r}": {"probs": network()} for r in (1, 2, 3)},
    }
    more = np.random.default_rng(4)
    for tag in ("", "2"):  # a model without and with more data
        for name, noise in (("before", 1.5), ("after", 0.3)):
            doubt = noise * more.random((N, 1, 1)) * more.normal(size=(N, 5, K))
            arrays[f"{name}{tag}"] = {"probs": softmax(2 * np.eye(K)[y][:, None] + doubt + doubt[:, :1])}
    for name, held in arrays.items():
        rows = {} if name.endswith("_out") else {"ids": ids}
        np.savez(tmp_path / f"{name}.npz", **held, **rows, class_names=np.array(["cat", "dog", "fox"]))
    for name, array in {
        "labels": y,
        "labels2": y,
        "logits": logits,
        "passes": members.swapaxes(0, 1),
        "votes": g.multinomial(10, members.mean(axis=1)),
        "site": np.arange(N) % 2,
    }.items():
        np.save(tmp_path / f"{name}.npy", array)
    rows = [f"{i},{i // 3}" for i in ids[::-1]]
    (tmp_path / "patients.csv").write_text("id,group\n" + "\n".join(rows) + "\n")
    counts = [",".join(map(str, row)) for row in g.multinomial(10, members.mean(axis=1)) + 1]
    (tmp_path / "counts.csv").write_text("proba_cat,proba_dog,proba_fox\n" + "\n".join(counts) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- shell examples --------------------------------------------------------------------------------------------------


QUESTIONS = sorted(path.name for path in (ROOT / "docs").glob("does-it-know-*.md"))


def with_commands(*, slow: bool) -> list[str]:
    """Pages with commands, but for those of `QUESTIONS`; those that train models are slow."""

    def trains(lines):
        return any(line.startswith(TRAINING) for line in lines)

    shown = {name: shell_lines(page) for name, page in zip(NAMES, PAGES, strict=True)}
    return [
        name
        for name, lines in shown.items()
        if any(line.startswith("uqassay ") for line in lines)
        and trains(lines) == slow
        and name.removeprefix("docs/") not in QUESTIONS
    ]


@pytest.fixture
def little_work(monkeypatch, coarse_pages):
    """Few instances, steps and members in what is trained, in this process, and pages without calibration tests."""
    monkeypatch.setitem(uq.assay.__kwdefaults__, "calibration", ())
    monkeypatch.setattr("uqassay.lab.bench.runner.processes_of", lambda *_: 0)  # each process would load PyTorch
    monkeypatch.setattr("uqassay.lab.papers.gain.run.slice_of", lambda *of: replace(slice_of(*of), limit=4_000))
    monkeypatch.setattr("uqassay.lab.papers.ranking.grid.EPOCHS", 10)
    monkeypatch.setattr("uqassay.lab.papers.figure_files.DPI", 50)
    for name, number in {"N_TREES": 5, "N_NETWORKS": 2, "COMMON_MEMBERS": 2}.items():
        monkeypatch.setattr(f"uqassay.lab.demo.{name}", number)


def run_examples(page, capsys):
    for line in shell_lines(page):
        words = shlex.split(line, comments=True)
        if words[:1] != ["uqassay"]:
            continue
        stated = re.search(r"# exit code (\d)$", line)
        code = main(words[1:])
        told = capsys.readouterr()
        assert code == (int(stated[1]) if stated else 0), f"{line}\n{told.err}"
        assert bool(told.err) == (code != 0), f"{line}\n{told.err}"


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("name", with_commands(slow=False))
def test_shell_examples_run(name, here, capsys, monkeypatch):
    if name == "README.md":
        monkeypatch.setitem(uq.assay.__kwdefaults__, "calibration", CALIBRATION)
    run_examples(ROOT / name, capsys)


@pytest.mark.slow
@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("name", with_commands(slow=True))
def test_shell_examples_run_where_models_are_trained(name, here, capsys):
    run_examples(ROOT / name, capsys)


@pytest.mark.usefixtures("little_work", "here")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if "unsure" in name else ()) for name in QUESTIONS]
)
def test_the_example_runs_and_prints_the_columns_that_are_explained(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    explained = re.search(r"^\| column \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)", text, flags=re.M)[1]
    columns = [column for row in explained.splitlines() for column in row.split("|")[1].replace("`", "").split(",")]
    (command,) = shell_lines(ROOT / "docs" / name)
    assert main(shlex.split(command, comments=True)[1:]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert len(columns) >= 4
    missing = [one for one in columns if not re.search(rf"\s{re.escape(one.strip())}(\s|$)", printed.out)]
    assert missing == []


def workflow():
    """The shell script of the workflow that docs/scripts.md shows."""
    yaml = pytest.importorskip("yaml")
    (text,) = blocks(ROOT / "docs" / "scripts.md", "yaml")
    return yaml.safe_load(text)["jobs"]["judge"]["steps"][-1]["run"]


def test_the_command_of_the_workflow_runs(here, capsys):
    script = workflow().replace("\\\n", " ")
    (line,) = (line for line in script.splitlines() if line.lstrip().startswith("uqassay "))
    argv = shlex.split(line.partition(" || ")[0])[1:]
    assert main(argv) in (0, 1, 3)
    assert Path("summary.md").read_text(encoding="utf-8").startswith("## Uncertainty of DE and EDL")
    capsys.readouterr()


@pytest.mark.parametrize(("code", "ends"), [(0, 0), (1, 1), (2, 2), (3, 0)])
def test_the_workflow_ends_by_the_checks(code, ends, tmp_path):
    """With a stand-in for uqassay that ends with this code; bad input leaves no summary."""
    stand_in = tmp_path / "uqassay"
    stand_in.write_text(f"#!/bin/sh\n[ {code} = 2 ] || echo '## Uncertainty' > summary.md\nexit {code}\n")
    stand_in.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "GITHUB_STEP_SUMMARY": str(tmp_path / "step.md")}
    ran = subprocess.run(
        ["bash", "-e", "-c", workflow()], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == ends, ran.stderr
    assert ("::warning::" in ran.stdout) == (code == 3)
    assert (tmp_path / "step.md").exists() == (code != 2)


def test_the_command_line_page_shows_every_command():
    from uqassay.cli.commands import COMMANDS

    assert {line.split()[1] for line in shell_lines(ROOT / "docs" / "command-line.md")} == set(COMMANDS)


@pytest.mark.parametrize("name", NAMES)
def test_make_targets_and_scripts_exist(name):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    text = (ROOT / name).read_text(encoding="utf-8")
    assert {match.split()[1] for match in re.findall(r"make [a-z]+(?=[\s`]*$|`)", text, flags=re.M)} <= targets
    for script in re.findall(r"python ([\w/]+\.py)", text):
        assert (ROOT / script).is_file(), script


# ---- pages -----------------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """The anchors that headings get: lower case, no punctuation, hyphens for spaces."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    page = ROOT / name
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


def test_the_index_leads_to_every_page():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", text)) == {p.name for p in PAGES[1:]} - {"index.md"}


@pytest.mark.parametrize("name", NAMES)
def test_every_python_example_is_a_doctest(name):
    for block in blocks(ROOT / name, "python"):
        assert block.startswith(">>> "), block
        assert block.endswith("\n\n"), f"a blank line must end what is expected:\n{block}"


def test_pages_are_short_and_pictures_small():
    lengths = {page.name: len(page.read_text(encoding="utf-8").splitlines()) for page in PAGES}
    most = {"reproduction.md": 400, "house.md": 400}  # five papers with their tables; every file
    assert {name: n for name, n in lengths.items() if n > most.get(name, 225)} == {}
    assert lengths[PAGES[0].name] <= 80
    assert all(picture.stat().st_size < 200_000 for picture in (ROOT / "docs" / "pictures").iterdir())


def test_coverage_and_error_rates_are_those_of_the_pages_of_tables():
    """Every row of three sizes on the page about intervals stands in a page that names the measuring commands."""

    def rows_of(page):
        table = [line.split("|")[2:-1] for line in (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()]
        stripped = [tuple(cell.strip() for cell in cells) for cells in table]
        return [c for c in stripped if c and all(re.fullmatch(r"\d+\.\d(?: / \d+\.\d)*", cell) for cell in c)]

    tables = [page.name for page in PAGES if page.name.startswith("coverage-")]
    rows, measured = rows_of("intervals-and-tests.md"), {row for name in tables for row in rows_of(name)}
    assert len(rows) == 8
    assert [cells for cells in rows if cells not in measured] == []


def test_the_kinds_of_prediction_are_all_described():
    text = (ROOT / "docs" / "predictions.md").read_text(encoding="utf-8")
    public = {name: getattr(uq.predictions, name) for name in uq.predictions.__all__}
    kinds = {name for name, each in public.items() if isinstance(each, type) and issubclass(each, uq.Prediction)}
    assert len(kinds) == 11  # the eight kinds and their three base classes
    for kind in kinds - {"Prediction", "Drawn", "Box"}:
        assert f"`{kind}(" in text
