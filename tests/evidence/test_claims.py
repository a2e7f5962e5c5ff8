"""All claims together: kinds, table, JSON, cases without a winner."""

import json

import numpy as np
import pytest
from tests.evidence.verdict_cases import judged

import uqassay as uq
from uqassay.evidence import KINDS
from uqassay.evidence.claims import CLAIM_COLUMNS
from uqassay.results import plain


def test_kinds_are_known_and_rows_follow_the_claims():
    a = judged({"a": (0.15, 0.1), "b": (0.25, 0.1), "c": (0.5, 0.1)})
    assert all(one is other for one, other in zip(a.claims(), a.claims(), strict=True))
    assert {c.kind for c in a.claims()} <= set(KINDS)
    rows = a.rows("claims")
    assert [tuple(row) for row in rows] == [CLAIM_COLUMNS] * len(rows)
    table = a.table("claims")
    assert table.columns.tolist() == list(CLAIM_COLUMNS)
    assert table["models"].tolist() == [", ".join(c.models) for c in a.claims()]


def test_they_are_in_the_json():
    a = judged({"a": (0.15, 0.1), "b": (0.25, 0.1)})
    kept = a.to_json()
    assert kept["claims"] == plain(a.rows("claims"))
    assert kept["headline"] == list(a.headline())
    json.dumps(kept, allow_nan=False)


def test_no_finite_mean_leaves_one_claim():
    a = uq.assay({"sure": uq.Point([[1.0, 0.0], [1.0, 0.0]])}, [0, 1], floor=0, calibration=())
    (claim,) = a.claims()
    assert (claim.kind, claim.limited_by) == ("cannot-tell", "infinite")


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_instances_make_no_claim_of_order(n):
    rng = np.random.default_rng(n)
    models = {name: uq.Point(rng.dirichlet([4, 1], n)) for name in "abc"}
    a = uq.assay(models, np.zeros(n, dtype=int), calibration=(), n_draws=20, prior=[0.5, 0.5])
    assert not {c.kind for c in a.claims()} & {"worse", "best", "subgroup", "model-better"}


def test_every_claim_has_its_pvalue_at_most_alpha():
    a = judged({"a": (0.15, 0.2), "b": (0.25, 0.05), "c": (0.5, 0.1)}, 1000, level=0.9)
    for c in a.claims():
        if c.kind in ("worse", "best", "model-better", "baseline-better", "subgroup"):
            assert c.pvalue <= 0.1 + 1e-12
