"""The disentanglement benchmark by `uqassay bench`: one short option, the page, the table, the sentences, what is refused."""

import json
from contextlib import redirect_stdout
from io import StringIO

import pytest

from uqassay.cli import main
from uqassay.evidence.disentanglement_words import disentanglement_lines
from uqassay.lab.bench.config import BenchConfig, read_config
from uqassay.lab.bench.disentanglement import bench_studies
from uqassay.lab.bench.methods import cells_of
from uqassay.lab.bench.store import Store

pytestmark = pytest.mark.usefixtures("without_calibration", "coarse_pages")

CONDITIONS = [
    *(f"train_share={share},subsets_by_seed=true" for share in (0.2, 0.5, 1)),
    *(f"label_noise={level},subsets_by_seed=true" for level in (0, 0.5, 1)),
]
SMOKE = ["bench", "--dataset", "iris", "--preset", "smoke", "--workers", "0"]
SMALL = [*SMOKE, "--method", "random-forest", *(word for one in CONDITIONS for word in ("--condition", one))]


@pytest.fixture(autouse=True)
def registered(needs):
    needs("torch", "sklearn")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a run of the whole set of conditions, two methods and two seeds, and its lines."""
    pytest.importorskip("torch")
    place = tmp_path_factory.mktemp("set") / "run"
    words = [*SMOKE, "--method", "mc-dropout-gaussian,random-forest", "--param", "mc-dropout-gaussian.n_samples=4"]
    words += [
        "--param",
        "random-forest.n_members=5",
        "--condition",
        "disentanglement",
        "--seeds",
        "2",
        "-o",
        str(place),
    ]
    with redirect_stdout(StringIO()) as out:
        assert main(words) == 0
    return place, out.getvalue().splitlines()


@pytest.fixture
def without_pictures(monkeypatch):
    """Pages without pictures, for tests that look at other things."""
    monkeypatch.setattr("uqassay.report.study_pages.inline_axes", lambda *_, **__: "")


def keys(folder):
    return {one.key for one in Store(folder, create=False).states()}


@pytest.mark.slow
def test_one_word_stands_for_all_conditions_and_the_stored_file_gives_the_same_cells(run, finished, tmp_path):
    folder, _ = finished
    cells = json.loads((folder / "cells.json").read_text())["cells"]
    assert len(cells) == len(keys(folder)) == (7 + 11 + 3) * 2 * 2
    assert 'condition = ["disentanglement"]' in (folder / "config.toml").read_text()
    again = cells_of(BenchConfig(**read_config(folder / "config.toml")))
    assert {cell.key for cell in again} == keys(folder)
    assert run("bench", "-o", folder, "--dry-run", "--json").json()["done"] == len(cells)


@pytest.mark.slow
def test_page_table_and_sentences_are_those_of_the_evidence(finished):
    folder, shown = finished
    (found,) = bench_studies(cells_of(BenchConfig(**read_config(folder / "config.toml"))), folder)
    assert [one.label for one in found.contenders] == [
        "mc-dropout-gaussian, information-theoretic",
        "mc-dropout-gaussian, gaussian-logits",
        "random-forest, information-theoretic",
    ]
    lines = [line for line in disentanglement_lines(found.contenders) if line.strip()]
    at = shown.index(lines[0])
    assert [line for line in shown[at:] if line.strip()][: len(lines)] == lines
    page = (folder / "disentanglement.html").read_text(encoding="utf-8")
    assert f"uqassay bench --config {folder / 'config.toml'}" in page
    assert f"Page: {folder / 'disentanglement.html'}" in shown
    assert [path.parent for path in folder.rglob("report.html")] == [folder]  # of the whole training part


@pytest.mark.slow
def test_studies_are_in_the_json(run, finished, without_pictures):
    folder, _ = finished
    facts = run("bench", "-o", folder, "--json").json()
    assert (facts["cells"], facts["kept"]) == (84, 84)
    assert [report["condition"]["train_share"] for report in facts["reports"]] == [1.0]
    assert facts["disentanglement"]["page"] == str(folder / "disentanglement.html")
    (found,) = facts["disentanglement"]["datasets"]
    assert [study["method"] for study in found["studies"]] == ["mc-dropout-gaussian", "random-forest"]


@pytest.mark.slow
def test_decompositions_are_chosen_and_stored(run, finished, without_pictures):
    folder, _ = finished
    ran = run("bench", "-o", folder, "--decomposition", "variance,gaussian-logits")
    assert ran.code == 0
    assert "mc-dropout-gaussian, variance" in ran.out
    assert "information-theoretic:" not in ran.out
    assert "predictions of random-forest do not have the decomposition gaussian-logits" in ran.out
    assert 'decomposition = ["variance", "gaussian-logits"]' in (folder / "config.toml").read_text()


@pytest.mark.slow
def test_conditions_given_singly_have_reports_or_a_note(run, tmp_path, without_pictures):
    ran = run(*SMALL, "--seeds", 2, "-o", tmp_path)
    assert (ran.code, ran.err) == (0, "")
    assert "no report on 2 conditions of iris with label noise" in ran.out
    assert len(list(tmp_path.rglob("report.html"))) == 4
    assert (tmp_path / "disentanglement.html").is_file()


@pytest.mark.slow
def test_runs_with_failed_cells_are_named(run, tmp_path, monkeypatch, without_pictures):
    from uqassay.lab.bench import methods

    whole = methods.run_method

    def sometimes(cell):
        if cell.seed == 1 and cell.condition.get("label_noise") == 1:
            raise RuntimeError("no luck")
        return whole(cell)

    monkeypatch.setattr(methods, "run_method", sometimes)
    ran = run(*SMALL, "--seeds", 3, "-o", tmp_path)
    assert ran.code == 1
    assert "Failed: 1 of 18 cells" in ran.err
    assert "1 run of random-forest left out (seeds 1)" in ran.out
    assert "over 2 runs" in ran.out


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--condition", "disentanglment"], "--condition: must be a table or the name of a set of conditions; got"),
        (["--condition", "left_out_class=rose"], "--condition left_out_class: must be a class of iris; got 'rose'"),
        (["--condition", "left_out_class=3"], "got 3; choose 0 … 2"),
        (["--condition", "left_out_class=0,label_noise=0.5"], "cannot be combined with label_noise"),
        (["--condition", "epochs_by_share=true"], "--condition epochs_by_share: needs train_share"),
        (["--condition", "subsets_by_seed=1"], "must be true or false; got 1"),
        (["--condition", "train_limit=1"], "must leave a training instance of each class"),
        (["--condition", "disentanglement", "--decomposition", "varianc"], "did you mean variance?"),
        (["--decomposition", "variance"], "--decomposition: needs the conditions of the disentanglement benchmark"),
        (
            ["--condition", "train_share=0.5", "--decomposition", "variance"],
            "--decomposition: needs the conditions of the disentanglement benchmark",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(run, tmp_path, words, sentence):
    ran = run(*SMOKE, "--method", "snn", *words, "-o", tmp_path / "run")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert sentence in ran.err
    assert not (tmp_path / "run").exists()


def test_page_of_somebody_else_is_not_replaced(run, tmp_path):
    (tmp_path / "disentanglement.html").write_text("mine")
    ran = run(*SMOKE, "--method", "snn", "--condition", "disentanglement", "-o", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert "disentanglement.html is one" in ran.err
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.slow
def test_check_without_a_report_is_told(run, tmp_path):
    words = [*SMOKE, "--method", "snn", "--condition", "label_noise=0.5,subsets_by_seed=true", "--seeds", 2]
    ran = run(*words, "-o", tmp_path, "--fail-if", "accuracy<0")
    assert ran.code == 1
    assert "--fail-if: no condition has a report" in ran.err
    assert run(*words, "-o", tmp_path).code == 0


def test_help_shows_the_set(run):
    shown = " ".join(run("bench", "--help").out.replace("│", " ").split())
    assert "disentanglement is a set of them: 7 shares" in shown
    assert "--decomposition" in shown
