"""An assay with other terms is the assay that was computed with them."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.lab.papers.unified.judging import with_terms


def test_other_terms_give_the_rankings_and_rows_of_an_assay_with_them():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 80)
    said = {"a": uq.Members(rng.dirichlet(np.ones(4), (80, 5))), "b": uq.Point(rng.dirichlet(np.ones(4), 80))}
    common = {"calibration": (), "scales": (), "measures": (), "n_draws": 100, "prior": np.full(4, 0.25)}
    found = uq.assay(said, y, **common)
    wanted = uq.assay(said, y, distance="js", nonspecificity="korner", **common)
    columns = {m.name: {key: m.columns[key] for key in ("distance", "nonspecificity")} for m in wanted.models}
    changed = with_terms(found, columns, distance="js", nonspecificity="korner")
    for tradeoff in (0.1, 1.0):
        assert repr(changed.ranked(tradeoff)) == repr(wanted.ranked(tradeoff))
    for by_part in ({"by": "correct"}, {"by": "class"}):
        rows, expected = (a.table("subsets", ranking=False, **by_part) for a in (changed, wanted))
        assert rows.equals(expected)


def test_models_without_terms_are_left_out():
    found = uq.assay({"a": uq.Point([[0.5, 0.5]]), "b": uq.Point([[0.9, 0.1]])}, [0], calibration=())
    part = with_terms(found, {"b": {"nonspecificity": np.ones((1, 1))}})
    assert part.model_names == ("b",)
    assert part.loss("b", 1.0)[0, 0] == pytest.approx(1 - np.log(0.9))
    assert found.loss("b", 1.0)[0, 0] == pytest.approx(-np.log(0.9))
