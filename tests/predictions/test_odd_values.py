"""Every constructor with odd values in every place: it makes a prediction with finite numbers, or refuses in one sentence."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import uqassay as uq
from uqassay.errors import InputError
from uqassay.predictions import as_prediction

HALF = np.full((2, 2), 0.5)
PASSES = np.full((2, 3, 2), 0.5)
MAPPED = {"probs": [[0.5, 0.5]]}

ODD = {
    "None": None,
    "text": "probs.npz",
    "bytes": b"abc",
    "mapping": {"a": 1},
    "set": {0, 1},
    "generator": (x for x in [[0.5, 0.5]]),
    "function": len,
    "object": object(),
    "number": 0.5,
    "huge whole number": 10**400,
    "nan": float("nan"),
    "truth": True,
    "complex": 1 + 2j,
    "empty list": [],
    "list of nothing": [[], []],
    "ragged": [[0.5, 0.5], [1.0]],
    "list of None": [None, None],
    "list of text": ["a", "b"],
    "list of mappings": [{}, {}],
    "list of sets": [{0}, {1}],
    "nested lists": [[[[0.5, 0.5]]]],
    "huge whole numbers": [[10**400, 1], [1, 1]],
    "row": np.array([0.5, 0.5]),
    "rows": HALF,
    "three axes": PASSES,
    "four axes": np.full((2, 2, 2, 2), 0.5),
    "no axes": np.array(0.5),
    "no rows": np.zeros((0, 2)),
    "no classes": np.zeros((2, 0)),
    "one column": np.ones((2, 1)),
    "nan inside": np.array([[0.5, np.nan], [0.5, 0.5]]),
    "inf inside": np.array([[0.5, np.inf], [0.5, 0.5]]),
    "-inf inside": np.array([[0.5, -np.inf], [0.5, 0.5]]),
    "-inf alone": np.full((2, 2), -np.inf),
    "greatest": np.full((2, 2), 1e308),
    "greatest in single precision": np.full((2, 2), 3e38, np.float32),
    "least": np.full((2, 2), 5e-324),
    "negative": np.array([[1.5, -0.5], [0.5, 0.5]]),
    "zeros": np.zeros((2, 2)),
    "ones": np.ones((2, 2)),
    "whole numbers": np.array([[3, 4], [1, 0]]),
    "unsigned": np.array([[3, 4], [1, 0]], np.uint8),
    "truth values": np.array([[True, True], [False, True]]),
    "complex numbers": HALF.astype(complex),
    "long doubles": HALF.astype(np.longdouble),
    "half precision": HALF.astype(np.float16),
    "other byte order": HALF.astype(">f8"),
    "dates": np.array([["2020-01-01", "2020-01-02"]] * 2, dtype="datetime64[D]"),
    "spans": np.array([[1, 2], [3, 4]], dtype="timedelta64[s]"),
    "date objects": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)],
    "objects": HALF.astype(object),
    "text array": np.array([["a", "b"], ["c", "d"]]),
    "records": np.zeros(2, dtype=[("a", float), ("b", int)]),
    "masked": np.ma.masked_array(HALF, [[True, False], [False, False]]),
    "masked, none hidden": np.ma.masked_array(HALF),
    "list of masked": [np.ma.masked_array([0.5, 0.5], [True, False]), np.array([0.5, 0.5])],
    "matrix": np.matrix(HALF),
    "sparse": scipy.sparse.csr_array(HALF),
    "sparse matrix": scipy.sparse.coo_matrix(HALF),
    "table": pd.DataFrame(HALF),
    "table of nullable numbers": pd.DataFrame(HALF).astype("Float64"),
    "table with NA": pd.DataFrame({"a": pd.array([0.5, None], dtype="Float64"), "b": [0.5, 0.5]}),
    "table with NaN": pd.DataFrame({"a": [0.5, None], "b": [0.5, 0.5]}),
    "table of text": pd.DataFrame({"a": ["x", "y"], "b": [0.5, 0.5]}),
    "table with two columns of a name": pd.DataFrame(HALF, columns=["a", "a"]),
    "series": pd.Series([0.5, 0.5]),
    "nullable series": pd.Series([1, None], dtype="Int64"),
    "nullable truth values": pd.Series([True, None], dtype="boolean"),
    "categories": pd.Series(["a", "b"], dtype="category"),
    "prediction": uq.Point(HALF),
    "list of predictions": [uq.Point(HALF), uq.Point(HALF)],
}

MAKERS = {
    "Point": uq.Point,
    "Point normalise": lambda v: uq.Point(v, normalise=True),
    "Point class_names": lambda v: uq.Point(HALF, class_names=v),
    "Point ids": lambda v: uq.Point(HALF, ids=v),
    "Point groups": lambda v: uq.Point(HALF, groups=v),
    "Point notes": lambda v: uq.Point(HALF, notes=v),
    "Point log_partition": lambda v: uq.Point(HALF, log_partition=v),
    "Point.from_logits": uq.Point.from_logits,
    "Point.from_binary": uq.Point.from_binary,
    "Members": uq.Members,
    "Members member_axis=0": lambda v: uq.Members(v, member_axis=0),
    "Members normalise": lambda v: uq.Members(v, normalise=True),
    "Members weights": lambda v: uq.Members(PASSES, v),
    "Members weights of two": lambda v: uq.Members(HALF[:, None].repeat(2, axis=1), v),
    "Members member_axis": lambda v: uq.Members(PASSES, member_axis=v),
    "Members.from_logits": uq.Members.from_logits,
    "Members.from_binary": lambda v: uq.Members.from_binary(v, member_axis=1),
    "Members.from_binary member_axis": lambda v: uq.Members.from_binary(HALF, member_axis=v),
    "Members.subset": lambda v: uq.Members(PASSES).subset(v),
    "Members.sample": lambda v: uq.Members(PASSES).sample(v) is not None and uq.Point(HALF),
    "Dirichlet": uq.Dirichlet,
    "Dirichlet n_draws": lambda v: uq.Dirichlet(HALF, n_draws=v),
    "Dirichlet seed": lambda v: uq.Dirichlet(HALF, seed=v),
    "Dirichlet drawn": lambda v: uq.Dirichlet(HALF, drawn=v),
    "Intervals lower": lambda v: uq.Intervals(v, np.ones((2, 2))),
    "Intervals upper": lambda v: uq.Intervals(0, v),
    "Intervals both": lambda v: uq.Intervals(v, v),
    "Masses": lambda v: uq.Masses(v, [[0], [1]], n_classes=2),
    "Masses focal_sets": lambda v: uq.Masses(HALF, v, n_classes=2),
    "Masses n_classes": lambda v: uq.Masses(HALF, [[0], [1]], n_classes=v),
    "Masses signed": lambda v: uq.Masses(v, [[0], [1]], n_classes=2, signed=True).repaired(),
    "Masses.from_beliefs": lambda v: uq.Masses.from_beliefs(v, [[0], [0, 1]], n_classes=2).repaired(),
    "Vertices": uq.Vertices,
    "Vertices normalise": lambda v: uq.Vertices(v, normalise=True),
    "GaussianLogits mean": lambda v: uq.GaussianLogits(v, np.ones((2, 2)), variance_is="epistemic"),
    "GaussianLogits variance": lambda v: uq.GaussianLogits(np.zeros((2, 2)), v, variance_is="epistemic"),
    "GaussianLogits both": lambda v: uq.GaussianLogits(v, v, variance_is="epistemic"),
    "from_object": uq.from_object,
    "from_object logits": lambda v: uq.from_object(v, kind="logits"),
    "as_prediction": as_prediction,
    "rows": lambda v: uq.Point(HALF)[v],
    "one_versus_rest": lambda v: uq.Point(HALF).one_versus_rest(v),
}


def flaw_of(refusal: InputError) -> str | None:
    """What is wrong with a refusal: it must have its fields and be one short sentence."""
    said = str(refusal)
    if refusal.parameter and refusal.rule and refusal.code and "\n" not in said and len(said) < 500:
        return None
    return f"no short sentence with its fields: {said!r}"


def flaw_with(make, value) -> str | None:
    """What is wrong with the prediction that is made of a value, or with its refusal."""
    try:
        prediction = make(value)
        mean = prediction.mean_probs()
        lower, upper = prediction.lower_probs(), prediction.upper_probs()
    except InputError as refusal:
        return flaw_of(refusal)
    except Exception as problem:
        return repr(problem)
    if not all(found.dtype == np.float64 and np.isfinite(found).all() for found in (mean, lower, upper)):
        return "no finite doubles"
    if not np.allclose(mean.sum(axis=1), 1, rtol=1e-7, atol=1e-3):
        return "sums that are not 1"
    return None if (lower <= upper + 1e-6).all() else "a lower probability above the upper one"


@pytest.mark.parametrize("maker", MAKERS)
def test_odd_values_are_refused_in_one_sentence_or_make_finite_numbers(maker):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flaws = {name: flaw_with(MAKERS[maker], value) for name, value in ODD.items()}
    assert {name: flaw for name, flaw in flaws.items() if flaw is not None} == {}
