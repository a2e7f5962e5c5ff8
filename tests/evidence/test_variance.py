"""Components of an assay's means against those of the columns, and their table."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.evidence.ranking import VARIANCE_COLUMNS
from uqassay.statistics import variance_components


@pytest.fixture(scope="module")
def assay():
    rng = np.random.default_rng(3)
    runs = [uq.Point(rng.dirichlet([4, 1], 80)) for _ in range(3)]
    return uq.assay({"many": runs, "one": runs[0]}, np.zeros(80, int), groups=np.arange(80) // 4, calibration=())


@pytest.mark.parametrize(("metric", "column"), [("accuracy", "correct"), ("brier", "brier"), ("kl", "distance")])
def test_components_are_those_of_the_columns(assay, metric, column):
    found = assay.variance("many", metric=metric)
    expected = variance_components(assay["many"].columns[column].astype(float), groups=assay.groups)
    assert (found.runs, found.instances) == pytest.approx((expected.runs, expected.instances))


def test_table(assay):
    rows = assay.rows("variance", tradeoff=0.2)
    assert len(rows) == 6
    assert set(rows[0]) == set(VARIANCE_COLUMNS)
    assert sum(row["share"] for row in rows[:3]) == pytest.approx(1)
    assert np.isnan(rows[3]["share"])  # of one run
    assert list(assay.table("variance").columns) == list(VARIANCE_COLUMNS)


def test_unknown_metrics_are_refused(assay):
    with pytest.raises(uq.InputError, match=r"^metric: must be one of unified, kl, accuracy"):
        assay.variance("many", metric="uq-auc")
