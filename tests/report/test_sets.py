"""The section on sets as decisions: numbers of the assay, for models with sets alone."""

import numpy as np
import pytest
from tests.report.cases import HOSTILE, hostile_assay

import uqassay as uq
from uqassay.report.sets import HEADS, sets_section

pytestmark = pytest.mark.usefixtures("without_calibration")


def test_numbers_are_those_of_the_assay():
    a = hostile_assay(n=60)
    lens = sets_section(a)
    assert [m["model"] for m in lens["models"]] == [HOSTILE, "box"]
    rows = {(row["model"], row["metric"]): row for row in a.rows("sets", rule="maximality")}
    for m in lens["models"]:
        for score in HEADS:
            if score != "model":
                row = rows[m["model"], score.replace("_", "-")]
                np.testing.assert_array_equal(m[score], [row["estimate"], row["low"], row["high"]])
    assert set(lens["models"][0]) == set(HEADS)


def test_the_finding_names_three_models_and_counts_the_others():
    pair = uq.Members(np.tile([[0.6, 0.4], [0.4, 0.6]], (8, 1, 1)))
    y = [0, 1] * 4
    one = sets_section(uq.assay({"a": pair}, y, n_draws=10))
    assert one["finding"] == "The sets leave 100.0 % of the labels with 2.00 classes (a)."
    many = sets_section(uq.assay(dict.fromkeys("abcde", pair), y, n_draws=10))
    assert many["finding"].endswith("(c) and 2 others below.")


def test_points_have_no_section():
    assert sets_section(uq.assay({"p": [[0.9, 0.1], [0.2, 0.8]]}, [0, 1], n_draws=10)) is None
