"""Cells and text of Tables 1 and 2 for runs that are made, not trained."""

import math
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import stats
from tests.lab.papers.gain.made import row

from uqassay.lab.papers.gain.plan import choice_notes, chosen
from uqassay.lab.papers.gain.printed import printed_mean, table_of
from uqassay.lab.papers.gain.tables import (
    ESTIMATORS,
    OurValues,
    finding_lines,
    gain_cells,
    mismatch_lines,
    run_notes,
    size_line,
    table_lines,
    truth_lines,
)
from uqassay.lab.papers.reproduction import further_runs
from uqassay.metrics import epistemic_calibration_error
from uqassay.notes import Note
from uqassay.statistics.components import mean_over_runs
from uqassay.text import number, percent


@pytest.fixture(scope="module")
def one():
    return row(4)


@pytest.fixture(scope="module")
def cells(one):
    return {cell.name: cell for cell in gain_cells([one])}


def test_numbers_against_scipy_and_the_definition(one):
    for estimator in ESTIMATORS:
        for r, run in enumerate(one.study.runs):
            gain, stated = run.test.gain["zero-one"], run.test.epistemic[estimator]
            assert one.values[estimator, "correlation"].per_run[r] == pytest.approx(stats.spearmanr(stated, gain)[0])
            bins = np.array_split(np.argsort(stated), 20)
            for column, factor in (("eece", 1.0), ("eece-bits", 1 / math.log(2))):
                gaps = [len(b) / len(gain) * abs(gain[b].mean() - factor * stated[b].mean()) for b in bins]
                assert one.values[estimator, column].per_run[r] == pytest.approx(sum(gaps), abs=1e-3)
            again = epistemic_calibration_error(gain, stated / math.log(2))
            assert one.values[estimator, "eece-bits"].per_run[r] == pytest.approx(float(again.error))


def test_a_printed_number_agrees_if_six_further_runs_may_give_it(one, cells):
    name = "table1/toy/spread=0.35/local-gp/entropy/eece"
    per_run = one.values["entropy", "eece"].per_run
    cell = cells[name]
    assert (cell.paper, cell.ours) == (0.393, pytest.approx(per_run.mean()))
    assert (cell.low, cell.high) == further_runs(per_run, 6, bounds=(0, math.inf))
    assert cell.agrees is False
    assert cell.note == (
        "outside the range of 6 further runs, from our 4 runs; spread, discs, their shares and the kernel are not printed"
    )
    interval = cells[f"{name}/interval"]
    assert interval.agrees is None
    assert (interval.low, interval.high) == pytest.approx(stats.t.interval(0.95, 3, per_run.mean(), stats.sem(per_run)))
    assert (cells[f"{name}/sd"].paper, cells[f"{name}/sd"].ours) == (0.014, pytest.approx(per_run.std(ddof=1)))


def test_perfect_estimates_are_known_as_such(one, cells):
    """The made mutual information is the true uncertainty: its debiased EECE is 0 within error, its correlation with EU 1."""
    name = "table1/toy/spread=0.35/local-gp/mutual-information"
    debiased = cells[f"{name}/debiased"]
    assert debiased.low < 0.005
    assert cells[f"{name}/truth"].ours == pytest.approx(1)
    assert math.isnan(cells[f"{name}/truth"].paper)


def test_what_is_not_compared_has_no_verdict():
    for other in (row(3, compared=False), row(3, dataset="digits"), row(3, dataset="toy-mismatch-1")):
        found = gain_cells([other])
        assert all(cell.agrees is None for cell in found)
        assert not any(cell.name.endswith("/interval") for cell in found)
    letters = {cell.name: cell for cell in gain_cells([row(3, dataset="emnist-balanced", compared=False)])}
    assert letters["table2/emnist-balanced/local-gp/entropy/correlation"].paper == 0.108


def test_a_share_is_part_of_the_names():
    one = row(1)
    other = replace(one, plan=one.plan.with_train_share(0.05))
    assert (other.label, other.place) == ("toy, spread 0.35, p = 0.05", "toy/spread=0.35/p=0.05")
    assert gain_cells([other])[0].name.startswith("table1/toy/spread=0.35/p=0.05/local-gp/")
    assert gain_cells([other])[0].paper == 0.108


def test_one_run_has_no_standard_deviation():
    found = {cell.name.rpartition("local-gp/")[2]: cell for cell in gain_cells([row(1)])}
    cell = found["entropy/eece"]
    assert cell.agrees is None
    assert math.isnan(cell.low)
    assert math.isnan(found["entropy/eece/sd"].ours)


def test_without_truth_there_is_no_correlation_with_it():
    assert ("entropy", "truth") not in row(2, truth=False).values


# -- Statements about the runs: what they say, and how often they say it of runs without the difference.


@cache
def base_row():
    return row(6, n=60)


def with_values(values):
    """A row with given numbers of six runs, by estimator and column."""
    base = base_row()
    one = replace(base)
    made = {key: OurValues(np.array(v), mean_over_runs(v)) for key, v in values.items()}
    one.__dict__.update(values={**base.values, **made}, results=base.results)  # in place of what is computed once
    return one


def runs(rng, mean, sd=0.01, n=6):
    return rng.normal(mean, sd, n)


def test_statements_of_a_made_world():
    lines = finding_lines(row(4))
    text = "\n".join(lines)
    for part in (
        "which is between 5 and 30",
        "above 0.02 for the mutual information and entropy",
        "positive for the mutual information and entropy",
        "the runs do not show which is greater",
    ):
        assert part in text
    assert finding_lines(row(1)) == []


def test_estimates_that_follow_no_gain_are_not_called_positive():
    rng = np.random.default_rng(0)
    claimed = 0
    for _ in range(300):
        one = with_values({(e, "correlation"): runs(rng, 0.0) for e in ("entropy", "mutual-information")})
        claimed += "positive for the entropy" in "\n".join(finding_lines(one))
    assert claimed <= 16  # 2.5 % of 300 is 7.5; P(more than 16) < .002


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (0.05, "that of the entropy is greater, as in the paper"),
        (-0.05, "that of the entropy is smaller, unlike in the paper"),
    ],
)
def test_the_order_is_claimed_where_it_holds(difference, words):
    rng = np.random.default_rng(1)
    values = {
        ("entropy", "correlation"): runs(rng, 0.2 + difference),
        ("mutual-information", "correlation"): runs(rng, 0.2),
    }
    assert words in "\n".join(finding_lines(with_values(values)))


def test_the_order_of_equal_correlations_is_rarely_claimed():
    rng = np.random.default_rng(2)
    claimed = 0
    for _ in range(300):
        one = with_values({(e, "correlation"): runs(rng, 0.2) for e in ("entropy", "mutual-information")})
        claimed += "the runs do not show" not in "\n".join(finding_lines(one))
    assert claimed <= 28  # 5 % of 300 is 15; P(more than 28) < .001


@pytest.mark.parametrize(
    ("ratio", "words"), [(15, "which is between"), (3, "which is not between"), (5, "is not shown")]
)
def test_the_factor_of_the_errors(ratio, words):
    rng = np.random.default_rng(3)
    mutual = runs(rng, 0.02, 0.002)
    values = {("mutual-information", "eece"): mutual, ("entropy", "eece"): ratio * mutual * np.exp(runs(rng, 0, 0.05))}
    assert words in finding_lines(with_values(values))[0]


@pytest.mark.parametrize(
    ("mean", "words"), [(0.01, "at most 0.02. "), (0.05, "above 0.02 for the"), (0.02, "at most 0.02 is not shown")]
)
def test_the_size_after_the_calibration(mean, words):
    rng = np.random.default_rng(4)
    values = {(e, "calibrated"): runs(rng, mean, 0.002) for e in ("entropy", "mutual-information")}
    assert words in finding_lines(with_values(values))[1]


def test_mismatch_is_a_difference_in_the_same_runs():
    rng = np.random.default_rng(5)
    base = {(e, c): runs(rng, 0.1) for e in ("entropy", "mutual-information") for c in ("correlation", "calibrated")}
    moved = {**base, ("entropy", "correlation"): base["entropy", "correlation"] - 0.05 + runs(rng, 0, 0.001)}
    text = "\n".join(mismatch_lines(with_values(moved), with_values(base)))
    assert "loss in ρ, entropy minus mutual information: 0.050" in text
    assert "the entropy loses more" in text
    assert "ρ unchanged" in text  # that of the mutual information


def test_mismatch_of_other_seeds_is_not_compared():
    assert mismatch_lines(row(2), row(3)) == []
    assert mismatch_lines(row(1), row(1)) == []


# -- Notes of the reproduction: choices that the paper does not print, and what happened.


def notes(**options):
    given = {"preset": "cpu", "dataset": None, "method": None, "spread": None, "data": None}
    return "\n".join(choice_notes(chosen(**{**given, **options})))


def test_every_unprinted_choice_is_stated():
    toy = notes()
    for part in (
        "base of its logarithm",
        "1/M",
        "covariance I",
        "30 discs of radius 2.7",
        "near a spread of .35",
        "signal variance 9",
    ):
        assert part in toy
    assert "near a spread" not in notes(spread=0.25)
    assert "p from 1 to 50 %" in toy
    assert "p = 5.0 % or p random between 0 and 50 %" in notes(train_share=[0.05, "random"])
    real = notes(dataset="digits", method=["random-forest", "deep-ensemble"])
    for part in ("digits: training and test part are merged", "R: 25 %", "100 trees", "5 networks", "10 epochs"):
        assert part in real
    assert "toy data" not in real


def test_options_of_the_preset_stand_in_the_notes():
    assert "10 trees" in notes(method="random-forest", preset="smoke")


def test_radius_sizes_and_maps_of_the_runs():
    one = row(2, dataset="digits")
    facts = {"radius": 1.25, "neighbours": 36, "instances": 1797, "data": "1,797 instances"}
    first, *others = one.study.runs
    first = replace(first, notes=(Note("parts", "12 balls"), Note("skipped", "15 skipped")))
    found = run_notes([replace(one, study=replace(one.study, facts=facts, runs=(first, *others)))])
    assert found[0] == "digits: 1,797 instances; R = 1.25 for 36 neighbours of 1,797 instances"
    assert found[1] == "digits, first run: 12 balls"
    assert not any("skipped" in line for line in found)


def test_calibration_instances_outside_the_test_are_counted():
    one = row(1)
    test = one.study.runs[0].test
    wide = {name: values * 1.5 for name, values in test.epistemic.items()}
    run = replace(one.study.runs[0], calibration=replace(test, epistemic=wide))
    found = run_notes([replace(one, study=replace(one.study, runs=(run,)))])
    outside = int((wide["mutual-information"] > test.epistemic["mutual-information"].max()).sum())
    outside += int((wide["mutual-information"] < test.epistemic["mutual-information"].min()).sum())
    assert any("mutual information: 0 of 20 intervals" in line and f"{outside} calibration" in line for line in found)


# -- The printed tables of the paper by our names.


def test_values_against_paper_table():
    names = ("toy", "emnist-balanced", "kuzushiji-49"), ESTIMATORS, ("correlation", "eece", "calibrated")
    found = {place: printed_mean(*place) for place in product(*names)}
    assert None not in found.values()
    assert (found["toy", "mutual-information", "correlation"].mean, found["toy", "entropy", "calibrated"].sd) == (
        0.108,
        0.002,
    )
    letters = found["emnist-balanced", "mutual-information", "eece"]
    assert (letters.mean, letters.sd) == (0.0151, 0.003)
    assert found["kuzushiji-49", "entropy", "correlation"].mean == 0.101
    for place in (("digits", "entropy", "eece"), ("toy-mismatch-1", "entropy", "eece"), ("toy", "entropy", "debiased")):
        assert printed_mean(*place) is None


def test_table_of_a_data_set():
    assert [table_of(name) for name in ("toy", "toy-mismatch-2", "kuzushiji-49")] == ["table1", "table1", "table2"]


# -- tables of the reproduction of the paper as text --------------------------------------------------------------------


@pytest.fixture(scope="module")
def one_row():
    return row(3)


def test_a_table_has_our_rows_and_the_printed_ones(one_row):
    lines = table_lines([one_row])
    assert len(lines) == 1 + 2 + 2
    entropy = next(line for line in lines if "local GP, entropy" in line)
    for column in ("correlation", "eece", "calibrated", "debiased", "eece-bits"):
        assert number(float(one_row.values["entropy", column].estimate)) in entropy
    assert "0.393 ± 0.014" in next(line for line in lines if "printed, entropy" in line)


def test_without_printed_numbers_there_are_no_printed_rows():
    lines = table_lines([row(2, dataset="digits"), row(2, dataset="digits", method="random-forest")])
    assert len(lines) == 1 + 4
    assert not any("printed" in line for line in lines)
    assert len({len(line) for line in lines}) == 1


def test_one_run_is_shown_without_a_deviation():
    lines = table_lines([row(1)])
    assert "±" not in next(line for line in lines if "local GP, entropy" in line)


def test_truth_is_shown_where_it_is_known(one_row):
    lines = truth_lines([one_row])
    assert "0.100" in lines[-1]  # A of the made world
    assert "1.000 ± 0.000" in lines[-1]
    assert truth_lines([row(2, truth=False)]) == []


def test_the_gain_follows_the_true_uncertainty_as_far_as_its_noise_allows(one_row):
    limits, changed = [], []
    for run in one_row.study.runs:
        gain = run.test.gain["zero-one"]
        limits.append(stats.spearmanr(run.test.truth.epistemic, gain)[0])
        changed.append((gain != 0).mean())
    end = f"{number(np.mean(limits))} ± {number(np.std(limits, ddof=1))}"
    assert end in truth_lines([one_row])[-1]
    assert percent(np.mean(changed)) in truth_lines([one_row])[-1]
    assert "±" not in truth_lines([row(1)])[-1]


def test_sizes_of_the_first_run(one_row):
    assert size_line(one_row).startswith("toy, spread 0.35: 3 runs; D_train 5,000, D_aug 6,000, D_test 800, D_train2")
