"""Records of a scale check: sentences, rows and plain values."""

import json

import numpy as np
import pytest
from tests.shown_results import check_shown

from uqassay.evidence.scale import SCALE_COLUMNS, ModelScale, ScaleCheck
from uqassay.notes import Note
from uqassay.results import plain
from uqassay.statistics import Estimate


def model(name, scale, *, wider=True):
    scales, losses = np.array([0.5, 1.0, 2.0, 3.0]), np.array([0.3, 0.125, 0.11, 0.097])
    place = scales.tolist().index(scale)
    change = float(losses[place] - 0.125)
    return ModelScale(
        model=name,
        n=100,
        scales=scales,
        losses=losses,
        clipped=np.array([0.0, 0.0, 0.2, 0.5]),
        loss=0.125,
        best=scale,
        best_low=scale - 0.5,
        best_high=scale + 0.5,
        best_loss=float(losses[place]),
        scale=scale,
        difference=Estimate(change, low=change - 0.01, high=change + 0.01, level=0.95, n=100, method="student-t"),
        pvalue=0.01,
        wider=wider,
        own_loss=0.1,
        notes=(Note("sample", "100 of 200 instances"),),
    )


@pytest.mark.parametrize(
    ("models", "expected"),
    [
        ((), ""),
        ((model("A", 0.5, wider=False),), ""),
        (
            (model("A", 3.0), model("B", 2.0, wider=False)),
            "At λ = 0.2 wider sets would win, so do not read E as quality: 3 times the spread of A would score better, E = "
            "0.097 in place of 0.125 on 100 cases chosen at random.",
        ),
        (
            (model("A", 3.0), model("B", 2.0)),
            "At λ = 0.2 wider sets would win, so do not read E as quality: 3 times the spread of A and 2 times the spread of B "
            "would score better.",
        ),
        (
            tuple(model(name, 2.0) for name in "ABCDE"),
            "At λ = 0.2 wider sets would win, so do not read E as quality: 2 times the spread of A, B and C and a greater "
            "spread of 2 others would score better.",
        ),
    ],
)
def test_one_sentence_for_all_models_that_are_shown(models, expected):
    check = ScaleCheck(tradeoff=0.2, level=0.95, models=models, ranking=None)
    assert check.sentence() == expected
    assert [m.model for m in check.wider] == [m.model for m in models if m.wider]


def test_rows_are_plain_values():
    check = ScaleCheck(tradeoff=0.2, level=0.95, models=(model("A", 3.0),), ranking=None)
    (row,) = check.rows()
    assert tuple(row) == SCALE_COLUMNS
    assert row["scale_loss"] == 0.097
    assert row["clipped"] == 0.5
    assert row["difference"] == pytest.approx(-0.028)
    assert row["own_rank_low"] is None
    told = json.loads(json.dumps(plain(check.to_dict()), allow_nan=False))
    assert told["models"][0]["losses"] == [0.3, 0.125, 0.11, 0.097]
    assert told["models"][0]["notes"] == [{"code": "sample", "text": "100 of 200 instances"}]


@pytest.mark.parametrize("models", [(), (model("A", 3.0),), (model("A", 0.5, wider=False), model("B", 2.0))])
def test_it_is_shown_by_its_sentence(models):
    check = ScaleCheck(tradeoff=0.2, level=0.95, models=models, ranking=None)
    shown = " ".join(check_shown(check, *(m.model for m in models)).split())
    assert (check.sentence() or "It is not shown that wider sets would score better.") in shown
