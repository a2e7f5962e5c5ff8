"""The simulation of error rates: kept, continued and shared out without a difference."""

import json
import os

import numpy as np
import pytest
from tests.lab.papers.credal_calibration.made import SMALL
from tests.refusals import refuses

import uqassay
from uqassay.calibration.credal import credal_calibration_test
from uqassay.errors import FileFormatError
from uqassay.lab.papers.credal_calibration import error_rates as runs
from uqassay.lab.papers.credal_calibration.error_rates import (
    ALPHAS,
    MEASURES,
    ErrorRates,
    Plan,
    error_rates,
    judge_data_set,
    read_rates,
)
from uqassay.lab.papers.credal_calibration.scenarios import SCENARIOS, CredalSetting
from uqassay.metrics.calibration import hosmer_lemeshow_statistic


def same(one: ErrorRates, other: ErrorRates) -> bool:
    """Whether all p-values, decisions and counts are equal."""
    equal = [np.array_equal(one.pvalues[key], other.pvalues[key]) for key in one.pvalues]
    equal += [np.array_equal(one.rejected[key], other.rejected[key]) for key in one.rejected]
    return all(equal) and (one.above_truth, one.outside) == (other.above_truth, other.outside)


@pytest.fixture(scope="module")
def three() -> ErrorRates:
    """Three data sets in one go."""
    return error_rates(SMALL, 3)


def test_what_a_data_set_gives(three):
    record = json.loads(json.dumps(judge_data_set(SMALL, 1), allow_nan=False))
    assert record["run"] == 1
    assert 0 <= record["outside"] <= 20
    for scenario in SCENARIOS:
        for measure in MEASURES:
            entry = record[scenario][measure]
            assert entry["pvalue"] == three.pvalues[scenario, measure][1]
            assert 1 / 20 <= entry["pvalue"] <= 1
            assert entry["rejected"] == [int(entry["pvalue"] <= alpha) for alpha in ALPHAS]
    assert three.above_truth == dict.fromkeys(MEASURES, 0)
    assert three.n_runs == 3
    errors = three.errors("S1", "skce-ul"), three.errors("S2", "skce-ul")
    np.testing.assert_array_equal(errors[0], three.rejected["S1", "skce-ul"])
    np.testing.assert_array_equal(errors[1], ~three.rejected["S2", "skce-ul"])


def test_a_run_broken_off_continues_to_the_same_results(three, tmp_path, monkeypatch):
    done: list[int] = []

    def judge(plan: Plan, run: int) -> dict:
        if len(done) == 2:
            raise KeyboardInterrupt("stop")
        done.append(run)
        return judge_data_set(plan, run)

    monkeypatch.setattr(runs, "judge_data_set", judge)
    with pytest.raises(KeyboardInterrupt, match="stop"):
        error_rates(SMALL, 3, resume=tmp_path)
    (folder,) = tmp_path.iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["run-000000.json", "run-000001.json", "settings.json"]
    done.clear()
    said: list[str] = []
    continued = error_rates(SMALL, 3, resume=tmp_path, progress=said.append)
    assert done == [2]
    assert said == ["data set 1 of 3: kept", "data set 2 of 3: kept", "data set 3 of 3"]
    assert same(continued, three)
    done.clear()
    assert same(error_rates(SMALL, 3, resume=tmp_path), three)
    assert done == []


def test_damaged_files_and_other_settings_count_as_missing(three, tmp_path):
    error_rates(SMALL, 2, resume=tmp_path)
    (folder,) = tmp_path.iterdir()
    (folder / "run-000000.json").write_text('{"run": 0, "outs')
    (folder / "run-000001.json").write_text('{"run": 1, "outside": 3, "S1": {}}')
    assert same(error_rates(SMALL, 3, resume=tmp_path), three)
    other = Plan(SMALL.setting, n_draws=19, seed=1)
    assert other.digest != SMALL.digest
    assert not same(error_rates(other, 2, resume=tmp_path), error_rates(SMALL, 2, resume=tmp_path))
    assert len(list(tmp_path.iterdir())) == 2
    assert json.loads((folder / "settings.json").read_text())["setting"]["n_members"] == 3


def test_data_sets_of_other_code_are_not_used_and_a_note_says_so(three, tmp_path, monkeypatch):
    first = error_rates(SMALL, 3, resume=tmp_path)
    assert first.notes == error_rates(SMALL, 3).notes == ()
    assert SMALL.facts["version"] == uqassay.__version__
    (older,) = tmp_path.iterdir()
    facts = json.loads((older / "settings.json").read_text())
    former = {name: value for name, value in facts.items() if name != "version"} | {"code": "ab", "schema": "former"}
    (older / "settings.json").write_text(json.dumps(former))  # as it was written when the code counted
    judged: list[int] = []

    def judge(plan, run):
        judged.append(run)
        return judge_data_set(plan, run)

    monkeypatch.setattr(runs, "judge_data_set", judge)
    monkeypatch.setattr("uqassay.__version__", "0.0")
    again = error_rates(SMALL, 3, resume=tmp_path)
    assert judged == [0, 1, 2]
    assert same(again, three)
    (note,) = again.notes
    assert note.startswith(f"3 data sets in {tmp_path} were made by another version of uqassay and are not used")
    assert error_rates(Plan(SMALL.setting, n_draws=19, seed=1), 1, resume=tmp_path).notes == ()
    (older / "settings.json").write_text('{"sch')
    assert error_rates(SMALL, 3, resume=tmp_path).notes == ()


def test_no_bins_are_merged(monkeypatch):
    seen = []

    def note(labels, members, *, measure, **options):
        if measure.name == "hosmer-lemeshow":
            seen.append((labels, np.asarray(members).mean(axis=1), measure))
        return credal_calibration_test(labels, members, measure=measure, **options)

    monkeypatch.setattr(runs, "credal_calibration_test", note)
    judge_data_set(SMALL, 1)
    assert len(seen) == 3
    for labels, mean, measure in seen:
        plain, merged = (hosmer_lemeshow_statistic(labels, mean, least_expected=least) for least in (0, 1))
        assert float(measure.prepare(mean).values(labels)) == pytest.approx(plain)
        assert plain != pytest.approx(merged)


def test_the_order_of_the_data_sets_does_not_matter(three, monkeypatch):
    def backwards(plan, runs, workers):
        return (judge_data_set(plan, run) for run in reversed(runs))

    monkeypatch.setattr(runs, "_judged", backwards)
    assert same(error_rates(SMALL, 3), three)


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter(three):
    assert same(error_rates(SMALL, 3, workers=2), three)


def test_the_authors_code_and_the_minimised_null_run():
    small = CredalSetting(n_instances=10, n_members=2, n_classes=3, spread=0.1)
    code = error_rates(Plan(small, convention="paper-code", resample=False, n_draws=19), 1)
    assert code.above_truth == {}
    ours = error_rates(Plan(small, null="minimised", resample=False, n_draws=19), 1)
    for rates in (code, ours):
        assert all(0 <= p[0] <= 1 for p in rates.pvalues.values())
    assert "authors' code" in read_rates("1", [code])[0]


def test_numbers_that_make_no_sense_are_refused(tmp_path):
    with refuses("runs", "range", got="got 0"):
        error_rates(SMALL, 0)
    with refuses("workers", "type", got=r"got 1\.5"):
        error_rates(SMALL, 1, workers=1.5)
    (tmp_path / "file").write_text("")
    with refuses("resume", "unwritable"):
        error_rates(SMALL, 1, resume=tmp_path / "file")


def test_settings_that_are_a_link_to_itself_are_told(tmp_path):
    error_rates(SMALL, 1, resume=tmp_path)
    (settings,) = tmp_path.glob("credal-*/settings.json")
    settings.unlink()
    settings.symlink_to(settings)
    with refuses("resume", "unwritable", got="settings.json"):
        error_rates(SMALL, 1, resume=tmp_path)


@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink(path, path)]
)
def test_what_is_no_file_in_a_folder_to_resume_is_refused(tmp_path, make):
    error_rates(SMALL, 1, resume=tmp_path)
    (record,) = tmp_path.glob("credal-*/run-*.json")
    record.unlink()
    make(record)
    with refuses("resume", "not-a-file", got=record.name, error=FileFormatError):
        error_rates(SMALL, 1, resume=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"[", b"{" * 10**6, b"null", b'{"run": 0}', b"\xff"])
def test_damaged_records_are_made_again(tmp_path, content):
    whole = error_rates(SMALL, 1, resume=tmp_path)
    (record,) = tmp_path.glob("credal-*/run-*.json")
    kept = json.loads(record.read_bytes())
    broken = [kept | {"outside": "x"}, kept | {"S1": {}}, kept | {"S2": {name: [] for name in kept["S2"]}}]
    broken += [kept | {"S3": {name: entry | {"rejected": [2] * 21} for name, entry in kept["S3"].items()}}]
    for text in (content, *(json.dumps(one).encode() for one in broken)):
        record.write_bytes(text)
        assert same(error_rates(SMALL, 1, resume=tmp_path), whole)
