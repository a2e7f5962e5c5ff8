"""Options of an assay are checked where they are given, and derived once."""

import numpy as np
import pandas as pd
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import InputError
from uqassay.evidence.options import AssayOptions


def test_derived_options():
    options = AssayOptions(tradeoffs=(0.5, 0.1, 0.5), scales=(2.0,), calibration=["ece-confidence"])
    assert options.lambdas == (0.1, 0.5)
    assert options.factors == (1.0, 2.0)
    assert (options.seed, AssayOptions(rng=7).plan.seed) == (0, 7)
    assert [m.name for m in options.calibration_measures] == ["ece-confidence"]


def test_shares_of_the_classes():
    y = np.array([0, 0, 2, 0])
    assert AssayOptions().shares(y, 3).tolist() == [0.75, 0.0, 0.25]
    assert AssayOptions().shares(np.array([[0.5, 0.5], [1.0, 0.0]]), 2).tolist() == [0.75, 0.25]
    assert AssayOptions(prior=[0.25, 0.25, 0.5]).shares(y, 3).tolist() == [0.25, 0.25, 0.5]
    with refuses("prior", "mismatch"):
        AssayOptions(prior=[0.5, 0.5]).shares(y, 3)


def test_a_prior_is_named_by_its_index():
    y = np.array([0, 0, 2, 0, 1, 0, 0, 2])
    by_frequency = pd.Series(y).value_counts(normalize=True)  # 0, 2, 1
    assert AssayOptions(prior=by_frequency).shares(y, 3).tolist() == [0.625, 0.125, 0.25]
    named = pd.Series([0.5, 0.25, 0.25], index=["c", "a", "b"])
    assert AssayOptions(prior=named).shares(y, 3, ("a", "b", "c")).tolist() == [0.25, 0.25, 0.5]
    with refuses("prior", "ids", got="'b' first"):
        AssayOptions(prior=named[:2]).shares(y, 3, ("a", "b"))


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("level", 1, "range"),
        ("rng", -1, "type"),
        ("tolerance", 0, "range"),
        ("repair", 1, "type"),
        ("measures", ["entropy"], "choice"),
        ("measures", "margin", "type"),
        ("tradeoffs", (), "empty"),
        ("scales", (-1,), "range"),
        ("n_draws", 0, "range"),
        ("distance", "far", "choice"),
        ("calibration", ("ece",), "choice"),
    ],
)
def test_refusals(option, value, code):
    with refuses(option, code):
        AssayOptions(**{option: value})


def test_values_that_cannot_be_copied_are_refused():
    with refuses("tradeoffs", "range"):
        AssayOptions(tradeoffs=(t for t in (0.5, 0.25)))
    p = uq.Point([[0.9, 0.1], [0.2, 0.8]])
    with pytest.raises(InputError, match="class_names"):
        uq.assay({"m": p}, [0, 1], class_names=memoryview(b"ab"), calibration=(), n_draws=5)
