"""The table of the sources of variance, where there are training runs."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli.report import print_variance


def judged(n_runs, groups=None):
    rng = np.random.default_rng(4)
    runs = [uq.Point(rng.dirichlet([4, 1], 60)) for _ in range(n_runs)]
    return uq.assay({"m": runs}, np.zeros(60, int), groups=groups, calibration=(), scales=(), n_draws=5)


def test_runs_have_a_table(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    print_variance(judged(2, groups=np.arange(60) // 3))
    out = capsys.readouterr().out
    assert "Where the variance of the log loss comes from" in out
    assert "from groups" in out
    assert "few runs say little about the variance between runs, see its interval: m" in out


@pytest.mark.parametrize("n_runs", [1])
def test_one_run_has_none(capsys, n_runs):
    print_variance(judged(n_runs))
    assert capsys.readouterr().out == ""
