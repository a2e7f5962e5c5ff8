"""The table of sets in the terminal."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli.report import print_sets

pytestmark = pytest.mark.usefixtures("without_calibration")


def printed(models, y, capsys):
    print_sets(uq.assay(models, y, n_draws=10))
    return capsys.readouterr().out


def test_one_line_for_each_model_with_sets(capsys, narrow):
    pair = np.tile([[0.6, 0.4], [0.4, 0.6]], (20, 1, 1))
    sure = np.tile([[0.9, 0.1], [0.8, 0.2]], (20, 1, 1))
    y = np.array([0] * 15 + [1] * 5)
    text = printed({"pair": pair, "sure": sure, "point": pair[:, 0]}, y, capsys)
    lines = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert "point" not in lines
    assert "100.0 %" in lines["pair"]
    assert lines["pair"].split()[-2:] == ["0.650", "0.800"]
    assert lines["sure"].split()[-2:] == ["0.750", "0.750"]
    narrow(50)
    text = printed({"pair": pair}, y, capsys)
    assert "No room for" in text
    assert "u65, u80:" not in text


def test_nothing_without_sets(capsys):
    assert printed({"point": [[0.9, 0.1], [0.2, 0.8]]}, [0, 1], capsys) == ""
