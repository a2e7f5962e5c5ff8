"""Scores given beside the predictions: their shape, names and order."""

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq

pytestmark = pytest.mark.usefixtures("without_calibration")

POINT = uq.Point(np.array([[0.8, 0.2], [0.4, 0.6], [0.7, 0.3]]))
MASKED = np.ma.masked_array([0.1, 0.2, 0.3], [False, True, False])


@pytest.mark.parametrize(
    ("uncertainties", "refusal"),
    [
        (np.array([0.1, 0.2, 0.3]), ("uncertainties", "type", "got ndarray")),
        ([0.1, 0.2, 0.3], ("uncertainties", "type", "got list")),
        ([], ("uncertainties", "type", "got list")),
        ({"nobody": {"s": [1, 2, 3]}}, ("uncertainties", "choice", "among m; got 'nobody'")),
        ({"m": [1, 2, 3]}, ("uncertainties['m']", "type", "got list")),
        ({"m": {"s": [[0.1, 0.2], [0.3]]}}, ("uncertainties['m']['s']", None, "")),
        ({"m": {"s": MASKED}}, ("uncertainties['m']['s']", "masked", "")),
        ({"m": {"s": [1, 2]}}, ("uncertainties['m']['s']", "shape", r"shape \(3,\); got shape \(2,\)")),
        (
            {"m": {"s": [1, np.nan, np.nan]}},
            ("uncertainties['m']['s']", "finite", "2 of 3 values are nan, the first at row 1"),
        ),
        ({"m": {"s": ["a", "b", "c"]}}, ("uncertainties['m']['s']", "type", "dtype")),
        *[
            ({"m": {name: [1, 2, 3]}}, ("uncertainties['m']", "choice", f"got '{name}'"))
            for name in ("margin", "gap", "accuracy", "run", "uq-auc", "ood-auc", "calibration-pvalue", " ")
        ],
    ],
)
def test_what_holds_no_scores_is_refused(uncertainties, refusal):
    with refuses(*refusal):
        uq.assay({"m": POINT}, [0, 1, 1], uncertainties=uncertainties, n_draws=20)


def test_several_runs_need_scores_for_each():
    runs = {"m": [POINT, POINT]}
    with refuses("uncertainties['m']['s']", "shape", got=r"shape \(2, 3\); got shape \(3,\)"):
        uq.assay(runs, [0, 1, 1], uncertainties={"m": {"s": [1, 2, 3]}}, n_draws=20)
    found = uq.assay(runs, [0, 1, 1], uncertainties={"m": {"s": [[1, 2, 3], [3, 2, 1]]}}, n_draws=20)
    np.testing.assert_array_equal(found["m"].columns["s"], [[1, 2, 3], [3, 2, 1]])


def test_a_series_is_aligned_to_the_ids():
    named = POINT.with_metadata(ids=["x", "y", "z"])
    scores = pd.Series([3.0, 1.0, 2.0], index=["z", "x", "y"])
    found = uq.assay({"m": named}, [0, 1, 1], uncertainties={"m": {"density": scores}}, n_draws=20)
    np.testing.assert_array_equal(found["m"].columns["density"], [[1.0, 2.0, 3.0]])
    with refuses("uncertainties['m']['density']", "ids"):
        uq.assay({"m": named}, [0, 1, 1], uncertainties={"m": {"density": scores.rename({"x": "q"})}}, n_draws=20)


def test_scores_of_one_model_are_undefined_for_another():
    found = uq.assay({"m": POINT, "other": POINT}, [0, 1, 1], uncertainties={"m": {"density": [1, 2, 3]}}, n_draws=20)
    assert "density" in found.uncertainty_names("m")
    assert "density" not in found.uncertainty_names("other")
    assert np.isnan(found["other"].columns["density"]).all()
