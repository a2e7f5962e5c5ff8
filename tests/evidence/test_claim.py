"""The record of a claim."""

import math

from uqassay.evidence.claims import KINDS, Claim
from uqassay.statistics import Estimate


def test_plain_values_spread_the_interval():
    e = Estimate(0.1, low=0.05, high=0.2, level=0.9, n=7, method="student-t")
    row = Claim("worse", ("b",), ("a",), 0.5, float("inf"), estimate=e, pvalue=0.01, facts={"k": 1}).to_dict()
    assert (row["estimate"], row["estimate_low"], row["estimate_high"], row["level"]) == (0.1, 0.05, 0.2, 0.9)
    assert (row["models"], row["others"], row["low"], row["high"]) == (("b",), ("a",), 0.5, float("inf"))
    assert row["facts"] == {"k": 1}
    bare = Claim("same", ("a",)).to_dict()
    assert bare["estimate"] is None
    assert math.isnan(bare["low"])
    assert set(bare) == set(row)


def test_every_kind_is_described():
    assert {"top-group", "worse", "best", "same", "baseline-better", "model-better", "subgroup", "refusal"} <= set(
        KINDS
    )
    assert {"backward-score", "not-calibrated", "cannot-tell"} <= set(KINDS)
    assert all(text and not text.endswith(".") for text in KINDS.values())
