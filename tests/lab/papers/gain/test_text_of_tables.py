"""Tables of the reproduction of paper 002 as text."""

import numpy as np
import pytest
from scipy import stats
from tests.lab.papers.gain.made import row

from uqassay.lab.papers.gain.tables import size_line, table_lines, truth_lines
from uqassay.text import number, percent


@pytest.fixture(scope="module")
def one():
    return row(3)


def test_a_table_has_our_rows_and_the_printed_ones(one):
    lines = table_lines([one])
    assert len(lines) == 1 + 2 + 2
    entropy = next(line for line in lines if "local GP, entropy" in line)
    for column in ("correlation", "eece", "calibrated", "debiased", "eece-bits"):
        assert number(float(one.values["entropy", column].estimate)) in entropy
    assert "0.393 ± 0.014" in next(line for line in lines if "printed, entropy" in line)


def test_without_printed_numbers_there_are_no_printed_rows():
    lines = table_lines([row(2, dataset="digits"), row(2, dataset="digits", method="random-forest")])
    assert len(lines) == 1 + 4
    assert not any("printed" in line for line in lines)
    assert len({len(line) for line in lines}) == 1


def test_one_run_is_shown_without_a_deviation():
    lines = table_lines([row(1)])
    assert "±" not in next(line for line in lines if "local GP, entropy" in line)


def test_truth_is_shown_where_it_is_known(one):
    lines = truth_lines([one])
    assert "0.100" in lines[-1]  # A of the made world
    assert "1.000 ± 0.000" in lines[-1]
    assert truth_lines([row(2, truth=False)]) == []


def test_the_gain_follows_the_true_uncertainty_as_far_as_its_noise_allows(one):
    limits, changed = [], []
    for run in one.study.runs:
        gain = run.test.gain["zero-one"]
        limits.append(stats.spearmanr(run.test.truth.epistemic, gain)[0])
        changed.append((gain != 0).mean())
    end = f"{number(np.mean(limits))} ± {number(np.std(limits, ddof=1))}"
    assert end in truth_lines([one])[-1]
    assert percent(np.mean(changed)) in truth_lines([one])[-1]
    assert "±" not in truth_lines([row(1)])[-1]


def test_sizes_of_the_first_run(one):
    assert size_line(one).startswith("toy, spread 0.35: 3 runs; D_train 5,000, D_aug 6,000, D_test 800, D_train2")
