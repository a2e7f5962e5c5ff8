"""The table of votes in the terminal."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli.report import print_votes

pytestmark = pytest.mark.usefixtures("without_calibration")

VOTES = np.tile([[6, 4], [4, 6]], (15, 1))


def printed(models, y, capsys):
    print_votes(uq.assay(models, y, n_draws=10, scales=()))
    return capsys.readouterr().out


def test_one_line_for_each_model(capsys):
    pair = np.tile([[0.9, 0.1], [0.1, 0.9]], (30, 1, 1))
    text = printed({"pair": pair, "wrong": np.tile([[0.999, 0.001]], (30, 1))}, VOTES, capsys)
    lines = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert "votes of 30 cases" in lines["Could"]
    assert float(lines["pair"].split()[1]) > 80
    assert lines["wrong"].split()[1:4] == ["–", "0.0", "%"]
    assert "a test of level 10 %, divided by 90 %" in text


def test_points_alone_have_no_column_for_sets(capsys):
    text = printed({"even": np.full((30, 2), 0.5)}, VOTES, capsys)
    assert "from its set" not in text
    assert "from its mean" in text


def test_nothing_without_numbers_of_votes(capsys):
    assert printed({"even": np.full((30, 2), 0.5)}, VOTES / 10, capsys) == ""
