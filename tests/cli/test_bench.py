"""`uqassay bench`: from names to a report, resumable, the command line equal to a file, and clear where it refuses."""

import json
import os

import numpy as np
import pytest

import uqassay as uq
from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.store import Store

pytestmark = pytest.mark.usefixtures("without_calibration")

SMOKE = ["bench", "--dataset", "iris", "--method", "snn", "--preset", "smoke", "--workers", "0"]


@pytest.fixture(autouse=True)
def registered(needs):
    needs("torch", "sklearn")


def keys(folder):
    return {one.key: (one.state, one.hash) for one in Store(folder, create=False).states()}


def tracebacks(folder):
    """When each traceback of a failed cell was written."""
    files = (path for path in folder.rglob("*") if path.is_file() and b"Traceback" in path.read_bytes())
    return {path: path.stat().st_mtime_ns for path in files}


# -- the main job -----------------------------------------------------------------------------------------------------


def test_ends_in_a_report_with_findings_and_goes_on(run, tmp_path):
    folder = tmp_path / "run"
    ran = run(*SMOKE, "--seeds", 2, "-o", folder)
    assert (ran.code, ran.err) == (0, "")
    assert "2 of 2 cells done; " in ran.out
    assert "Intervals cover the test instances and the 2 training runs" in ran.out
    assert f"Page: {folder / 'report.html'}" in ran.out
    assert "uqassay bench --config" in (folder / "report.html").read_text(encoding="utf-8")
    assay = uq.Assay.load(folder / "assay")
    assert (assay.model_names[0], assay["snn"].n_runs) == ("snn", 2)
    lines = (folder / "findings.csv").read_text().splitlines()
    assert lines[0] == ",".join(uq.assay.FINDING_COLUMNS) if hasattr(uq.assay, "FINDING_COLUMNS") else True
    assert sum(line.startswith("snn,all,accuracy") for line in lines) == 1
    assert {line.split(",")[1] for line in lines if line.startswith("snn,")} == {"all", "1", "2"}
    before = keys(folder)
    more = run(*SMOKE, "--seeds", 3, "-o", folder)
    assert more.code == 0
    assert "3 of 3 cells done, 2 of them kept from before" in more.out
    assert before.items() < keys(folder).items()


def test_file_and_options_make_the_same_cells_and_the_stored_one_the_same_numbers(run, tmp_path):
    options = ["--seeds", "4,2", "--param", "small.backbone=[4]", "--condition", "train_share=0.5", "--threads", 1]
    words = ["bench", "--dataset", "iris", "--method", "snn,small=snn", "--preset", "smoke", "--workers", 0]
    assert run(*words, *options, "-o", tmp_path / "a").code == 0
    (tmp_path / "b.toml").write_text(
        'dataset = "iris"\nmethod = ["snn", "small=snn"]\nseeds = [4, 2]\npreset = "smoke"\nworkers = 0\n'
        "[params.small]\nbackbone = [4]\n[[condition]]\ntrain_share = 0.5\n"
    )
    assert run("bench", "--config", tmp_path / "b.toml", "-o", tmp_path / "b").code == 0
    assert run("bench", "--config", tmp_path / "a" / "config.toml", "-o", tmp_path / "c").code == 0
    found = [keys(tmp_path / name) for name in "abc"]
    assert len(found[0]) == 4
    assert found[0] == found[1] == found[2]
    assert (tmp_path / "a" / "config.toml").read_bytes() == (tmp_path / "c" / "config.toml").read_bytes()
    resolved = json.loads((tmp_path / "a" / "cells.json").read_text())
    assert {cell["key"] for cell in resolved["cells"]} == set(found[0])
    for entry in resolved["cells"]:
        key = entry.pop("key")
        assert Cell.from_json(json.dumps(entry)).key == key
    again = run("bench", "-o", tmp_path / "a")  # the stored configuration goes on
    assert (again.code, "4 of 4 cells done, 4 of them kept" in again.out) == (0, True)


def test_options_go_before_the_file(run, tmp_path):
    (tmp_path / "a.toml").write_text('dataset = "iris"\nmethod = "snn"\nseeds = 5\npreset = "paper"\nworkers = 0\n')
    words = ["bench", "--config", tmp_path / "a.toml", "--seeds", "1", "--preset", "smoke", "-o", tmp_path / "run"]
    assert run(*words).code == 0
    (entry,) = json.loads((tmp_path / "run" / "cells.json").read_text())["cells"]
    del entry["key"]
    cell = Cell.from_json(json.dumps(entry))
    assert (len(keys(tmp_path / "run")), cell.seed, cell.params["params"]["epochs"]) == (1, 0, 2)


def test_several_data_sets_have_a_report_each(run, tmp_path):
    words = ["bench", "--dataset", "iris,wine", "--method", "snn", "--preset", "smoke", "--workers", 0]
    ran = run(*words, "-o", tmp_path, "--json")
    assert (ran.code, ran.err) == (0, "")
    found = ran.json()
    assert (found["schema"], found["cells"], found["kept"], found["failed"]) == ("uqassay.bench/1", 2, 0, {})
    assert [(r["dataset"], r["page"]) for r in found["reports"]] == [
        (name, str(tmp_path / name / "report.html")) for name in ("iris", "wine")
    ]
    for report in found["reports"]:
        assert report["assay"]["findings"]
        assert (tmp_path / report["dataset"] / "report.html").is_file()
    assert not (tmp_path / "report.html").exists()


def test_conditions_have_a_report_each(run, tmp_path):
    ran = run(*SMOKE, "--condition", "train_share=0.5", "--condition", "label_noise=0.2", "-o", tmp_path)
    assert ran.code == 0
    for name in ("iris-train_share=0.5", "iris-label_noise=0.2"):
        assert (tmp_path / name / "report.html").is_file()
    assert "iris, train_share 0.5" in ran.out


def test_check_that_fails_ends_with_code_1(run, tmp_path):
    ran = run(*SMOKE, "-o", tmp_path, "--fail-if", "accuracy<1.01")
    assert ran.code == 1
    assert "accuracy" in ran.err
    assert run(*SMOKE, "-o", tmp_path, "--fail-if", "accuracy<0").code == 0


def test_failed_cells_are_told_and_the_others_reported(run, tmp_path):
    words = ["bench", "--dataset", "iris", "--method", "snn,bad=snn", "--preset", "smoke", "--workers", 0]
    ran = run(*words, "--param", "bad.learning_rate=1e38", "-o", tmp_path)
    assert ran.code == 1
    assert "Failed: 1 of 2 cells: iris, bad, seed 0 (" in ran.err
    assert "overflow" in ran.err
    assert "1 of 2 cells done" in ran.out
    status = run("bench", "status", tmp_path)
    assert status.code == 0
    assert "1 done, 1 failed, 0 running, 0 to do." in status.out
    assert "Failed: iris, bad, seed 0: " in status.out
    found = run("bench", "status", tmp_path, "--json").json()
    assert found["counts"] == {"done": 1, "failed": 1, "running": 0, "queued": 0}
    assert found["failures"][0]["traceback"].startswith("Traceback")
    before = tracebacks(tmp_path)
    assert run(*words, "--param", "bad.learning_rate=1e38", "-o", tmp_path, "--retry-failed").code == 1
    assert len(run("bench", "status", tmp_path, "--json").json()["failures"]) == 1
    assert tracebacks(tmp_path) != before


def test_only_failures_make_no_report(run, tmp_path):
    ran = run(*SMOKE, "--param", "snn.learning_rate=1e38", "-o", tmp_path)
    assert ran.code == 1
    assert "No cell of" in ran.err
    assert not (tmp_path / "report.html").exists()


# -- costs and status -------------------------------------------------------------------------------------------------


def test_dry_run_trains_nothing_and_the_first_cells_tell_the_cost(run, tmp_path):
    words = [*SMOKE, "--seeds", 3, "-o", tmp_path]
    dry = run(*words, "--dry-run")
    assert dry.code == 0
    assert dry.out.splitlines() == [
        "3 of 3 cells to do, 0 done, 0 failed.",
        "No cell was timed yet; --first runs one of each method and data set, and keeps it.",
    ]
    assert list(tmp_path.iterdir()) == []
    timed = run(*words, "--dry-run", "--first")
    assert timed.code == 0
    assert timed.out.startswith("2 of 3 cells to do, 1 done, 0 failed.\nAbout ")
    found = run(*words, "--dry-run", "--json").json()
    assert (found["queued"], found["done"], found["untimed"]) == (2, 1, [])
    done = next(one for one in Store(tmp_path, create=False).states() if one.state == "done")
    np.testing.assert_allclose(found["seconds"], 2 * done.seconds)
    assert done.seed == 0


def test_cells_of_other_code_are_told_in_one_sentence(run, tmp_path, monkeypatch):
    words = [*SMOKE, "--seeds", 2, "-o", tmp_path]
    assert run(*words, "--dry-run", "--first").err.strip() == ""
    monkeypatch.setattr("uqassay.__version__", "0.0")
    dry = run(*words, "--dry-run")
    assert dry.err.strip() == (
        f"1 cell in {tmp_path} was made by another version of uqassay and is not used; "
        "it is made again, and the older files may be deleted."
    )
    assert "1 of the done" in run("bench", "status", tmp_path).out


def contents(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_dry_run_changes_nothing_and_a_run_keeps_drafts_of_somebody(run, tmp_path):
    (tmp_path / "drafts" / "thesis").mkdir(parents=True)
    (tmp_path / "drafts" / "thesis" / "t.tex").write_text("mine")
    os.utime(tmp_path / "drafts" / "thesis", (0, 0))
    before = contents(tmp_path)
    assert run(*SMOKE, "-o", tmp_path, "--dry-run").code == 0
    assert contents(tmp_path) == before
    assert run(*SMOKE, "-o", tmp_path / "new", "--dry-run").code == 0
    assert not (tmp_path / "new").exists()
    assert run(*SMOKE, "-o", tmp_path).code == 0
    assert before.items() <= contents(tmp_path).items()


def test_dry_run_counts_failed_cells_that_are_to_be_run_again(run, tmp_path):
    words = [*SMOKE, "--param", "snn.learning_rate=1e38", "-o", tmp_path]
    assert run(*words).code == 1
    before = contents(tmp_path)
    assert run(*words, "--dry-run").out.startswith("0 of 1 cells to do, 0 done, 1 failed.")
    assert run(*words, "--dry-run", "--retry-failed").out.startswith("1 of 1 cells to do, 0 done, 0 failed.")
    assert contents(tmp_path) == before
    first = tracebacks(tmp_path)
    assert run(*words, "--dry-run", "--first", "--retry-failed").code == 0
    assert first
    assert tracebacks(tmp_path) != first


def test_dry_run_that_runs_first_cells_counts_the_other_failed_ones_again(run, tmp_path, monkeypatch):
    def refuse(cell):
        raise RuntimeError("no luck")

    words = [*SMOKE, "--seeds", 3, "-o", tmp_path]
    with monkeypatch.context() as patch:
        patch.setattr("uqassay.lab.bench.methods.run_method", refuse)
        assert run(*words).code == 1
    timed = run(*words, "--dry-run", "--first", "--retry-failed")
    assert timed.code == 0
    assert timed.out.startswith("2 of 3 cells to do, 1 done, 0 failed.\nAbout ")
    assert sorted(state for state, _ in keys(tmp_path).values()) == ["done", "failed", "failed"]


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--dataset", "iris", "--method", "snn"], "--output: the results need a folder; give it by -o FOLDER."),
        (
            ["--dataset", "iris", "-o", "run"],
            "--method: at least one is needed; give it by --method NAME, or by --config FILE.",
        ),
        (["--method", "snn", "-o", "run"], "--dataset: at least one is needed; "),
        (["--dataset", "iriss", "--method", "snn", "-o", "run"], "iriss"),
        (["--dataset", "iris", "--method", "sn", "-o", "run"], "did you mean snn"),
        (
            ["--dataset", "iris", "--method", "snn", "--param", "snn.epoch=2", "-o", "run"],
            "--param snn.epoch: must be an option of snn",
        ),
        (["--dataset", "iris", "--method", "snn", "--param", "snn.random_state=2", "-o", "run"], "give seeds instead"),
        (
            ["--dataset", "iris", "--method", "snn", "--seeds", "x", "-o", "run"],
            "--seeds: must be a number or seeds with commas",
        ),
        (
            ["--dataset", "iris", "--method", "snn", "--condition", "shar=1", "-o", "run"],
            "--condition: must have known keys; got 'shar'",
        ),
        (
            ["--dataset", "iris", "--method", "snn", "--condition", "train_share=2", "-o", "run"],
            "--condition train_share: must be a number",
        ),
        (
            ["--dataset", "iris", "--method", "snn", "--first", "-o", "run"],
            "--first: needs --dry-run",
        ),
        (
            ["--dataset", "iris", "--method", "snn", "--preset", "x", "-o", "run"],
            "--preset: must be the name of a preset; got 'x'",
        ),
        (
            ["--config", "none.toml", "-o", "run"],
            "none.toml: config: must be a file that can be read; No such file or directory",
        ),
        (["status", "none"], "folder: must hold a benchmark; got none; check the path."),
        (["--dataset", "iris", "--method", "snn", "-o", "run", "--fail-if", "x"], "--fail-if: needs a comparison"),
        (["--datset", "iris"], "see uqassay bench --help."),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(run, tmp_path, monkeypatch, words, sentence):
    monkeypatch.chdir(tmp_path)
    ran = run("bench", *words)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert ran.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("digts", "must be one of the known data sets; got 'digts'; closest is digits."),
        ("openml", "must be one of the known data sets; got 'openml'; closest is openml:<id>."),
        ("openml:iris", "openml needs a number after the colon; got 'iris'; write openml:1."),
        *(
            (
                name,
                f"must be one of the known data sets; got {name!r}; the guide lists all of them, docs/datasets.md.",
            )
            for name in ("nope", "zzzz")
        ),
    ],
)
def test_data_set_that_is_not_known_is_told_of_the_option(run, tmp_path, name, rule):
    (tmp_path / "a.toml").write_text(f'dataset = "{name}"\nmethod = "snn"\n')
    for words in (["--dataset", name, "--method", "snn"], ["--config", tmp_path / "a.toml"]):
        ran = run("bench", *words, "-o", tmp_path / "run")
        assert (ran.code, ran.out, ran.err) == (2, "", f"--dataset: {rule}\n")
    assert not (tmp_path / "run").exists()


def test_config_of_something_else_is_not_replaced(run, tmp_path):
    mine = tmp_path / "config.toml"
    mine.write_text('# mine\ndataset = "iris"\nmethod = "snn"\npreset = "smoke"\nworkers = 0\n')
    before = mine.read_text()
    for words in (SMOKE, [*SMOKE, "--dry-run"], ["bench", "--config", mine]):
        ran = run(*words, "-o", tmp_path)
        assert (ran.code, ran.out) == (2, "")
        assert "has another config.toml, which would be replaced; choose another folder." in ran.err
    assert (mine.read_text(), [path.name for path in tmp_path.iterdir()]) == (before, ["config.toml"])
    assert run("bench", "-o", tmp_path).code == 0  # without other words the file is the configuration
    assert run(*SMOKE, "-o", tmp_path).code == 0


@pytest.mark.parametrize("name", ["report.html", "findings.csv", "assay", "cells.json"])
def test_report_of_something_else_is_neither_replaced_nor_trained_for(run, tmp_path, name):
    (tmp_path / name).write_text("mine")
    for words in ([], ["--dry-run"]):
        ran = run(*SMOKE, "-o", tmp_path, *words)
        assert (ran.code, ran.out) == (2, "")
    rule = "--output: must not replace files that uqassay bench did not write"
    assert ran.err == f"{rule}; {tmp_path / name} is one; move it, or choose another folder.\n"
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "mine")]


@pytest.mark.parametrize("name", ["config.toml", "findings.csv", "assay", "cells.json"])
def test_folder_named_cells_makes_no_benchmark(run, tmp_path, name):
    (tmp_path / "cells").mkdir()
    (tmp_path / name).write_text("mine")
    before = contents(tmp_path)
    for words in ([], ["--dry-run"]):
        ran = run(*SMOKE, "-o", tmp_path, *words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert "replace" in ran.err
    assert contents(tmp_path) == before


def test_report_that_took_the_place_of_a_benchmark_s_own_stays(run, tmp_path):
    assert run(*SMOKE, "-o", tmp_path).code == 0
    page = tmp_path / "report.html"
    first = page.read_bytes()
    assert run(*SMOKE, "-o", tmp_path).code == 0  # its own is replaced
    page.write_text("<!doctype html><title>mine</title>")
    ran = run(*SMOKE, "--seeds", 2, "-o", tmp_path)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert f"did not write; {page} is one" in ran.err
    assert page.read_text() == "<!doctype html><title>mine</title>"
    page.unlink()
    assert run(*SMOKE, "-o", tmp_path).code == 0
    assert page.read_bytes()[:15] == first[:15]


def test_several_reports_replace_nothing_either(run, tmp_path):
    (tmp_path / "wine").mkdir()
    (tmp_path / "wine" / "report.html").write_text("mine")
    (tmp_path / "report.html").write_text("mine too")  # nothing is written there
    words = ["bench", "--dataset", "iris,wine", "--method", "snn", "--preset", "smoke", "--workers", 0, "-o", tmp_path]
    ran = run(*words)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert f"did not write; {tmp_path / 'wine' / 'report.html'} is one" in ran.err
    (tmp_path / "wine" / "report.html").unlink()
    assert run(*words).code == 0
    assert (tmp_path / "report.html").read_text() == "mine too"


def test_parameters_are_checked_before_anything_is_trained(run, tmp_path):
    for param in ("small.rate=2", "small.rates=0.1", "snn.epochs=many"):
        words = ["--method", "snn,small=mc-dropout", "--param", param, "-o", tmp_path / "run"]
        ran = run("bench", "--dataset", "iris", "--preset", "smoke", "--workers", 0, *words)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert ran.err.startswith(f"--param {param.partition('=')[0]}: ")
    assert list(tmp_path.iterdir()) == []


def test_place_to_run_in_goes_before_that_of_the_file(run, tmp_path):
    (tmp_path / "a.toml").write_text('dataset = "iris"\nmethod = "snn"\nworkers = 3\n')
    words = ["bench", "--config", tmp_path / "a.toml", "--dry-run", "-o", tmp_path / "run"]
    assert run(*words, "--scheduler", "tcp://host:1").code == 0
    (tmp_path / "a.toml").write_text('dataset = "iris"\nmethod = "snn"\nscheduler = "tcp://host:1"\n')
    assert run(*words, "--workers", 1).code == 0


@pytest.mark.parametrize("option", ["--method", "--dataset", "--param", "--condition"])
def test_bytes_that_are_no_text_are_refused(run, tmp_path, option):
    ran = run(*SMOKE, option, "\udcff=snn", "-o", tmp_path / "run")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith(f"{option}: must be text in UTF-8; got ")
    assert list(tmp_path.iterdir()) == []


def test_file_in_the_place_of_the_folder_is_refused_before_anything_is_trained(run, tmp_path):
    (tmp_path / "file").touch()
    ran = run(*SMOKE, "-o", tmp_path / "file")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "file" in ran.err


def test_full_disk_is_one_sentence(run, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", refuse)
    ran = run(*SMOKE, "-o", tmp_path / "run")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert ran.err.startswith("folder: there is no space left for")


def test_interrupt_says_that_the_same_command_goes_on(run, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("uqassay.lab.bench.methods.changed_data", interrupt)
        ran = run(*SMOKE, "-o", tmp_path)
    assert (ran.code, ran.out) == (130, "")
    assert ran.err == f"Interrupted: finished cells stay in {tmp_path}; the same command goes on.\n"
    assert run(*SMOKE, "-o", tmp_path).code == 0


def test_help_shows_the_options_and_status(run):
    ran = run("bench", "--help")
    assert ran.code == 0
    for word in ("--dataset", "--retry-failed", "--dry-run", "--scheduler", "status"):
        assert word in ran.out
