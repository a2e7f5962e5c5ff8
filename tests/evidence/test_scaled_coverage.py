"""Coverage of scaled sets in an assay: the public curve on the same instances."""

import numpy as np
import pytest
from tests.kinds import random_prediction

import uqassay as uq
from uqassay.evidence import coverage_curve
from uqassay.evidence.scale import COVERED_ROWS, can_be_covered, labels_covered, scaled_coverage
from uqassay.measures.nonspecificities import not_ruled_out

pytestmark = pytest.mark.usefixtures("without_calibration")

SETS = ("Members", "Dirichlet", "Intervals", "Masses", "Vertices", "GaussianLogits")
SCALES = (0.5, 2.0)
SMALL = {"scales": SCALES, "n_draws": 10}


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("labels", ["classes", "votes"])
def test_the_curve_is_the_public_one(kind, labels, random_generator):
    p = random_prediction(kind, random_generator, 60, 4)
    y = random_generator.integers(0, 4, 60) if labels == "classes" else random_generator.integers(1, 9, (60, 4))
    groups = np.repeat(np.arange(20), 3)
    a = uq.assay({"m": p}, y, groups=groups, **SMALL)
    public = coverage_curve(y, p, scales=SCALES, groups=groups, rng=0)
    found = scaled_coverage(a, "m")
    assert [scale for scale, _, _ in found] == [0.5, 1, 2]
    for (_, coverage, size), c, u in zip(found, public.coverage, public.nonspecificity, strict=True):
        assert repr(coverage) == repr(c)
        assert float(size) == pytest.approx(float(u), abs=1e-12)
        assert (size.low, size.high) == pytest.approx((u.low, u.high), abs=1e-12)


def test_labels_alone_are_judged_as_in_the_whole_set(random_generator):
    members = random_prediction("Members", random_generator, 200, 6, 5)
    y = random_generator.integers(0, 6, 200)
    whole = not_ruled_out(members, rule="e-admissibility")
    np.testing.assert_array_equal(labels_covered(y, members), whole[np.arange(200), y])
    np.testing.assert_array_equal(labels_covered(np.eye(6)[y], members), whole[np.arange(200), y])


def test_many_instances_are_judged_on_the_first_of_the_random_order(random_generator):
    n = COVERED_ROWS + 500
    p = uq.Members(random_generator.dirichlet(np.ones(3), (n, 2)))
    y = random_generator.integers(0, 3, n)
    a = uq.assay({"m": p}, y, **SMALL)
    scaled = a.scaled["m"]
    assert scaled.covered.shape == (1, 3, COVERED_ROWS)
    rows = scaled.rows[scaled.judged]
    assert len(np.unique(rows)) == COVERED_ROWS
    own = a["m"].columns["covered-by-e-admissibility"][0, rows]
    np.testing.assert_array_equal(scaled.covered[0, scaled.own], own)
    assert {row["n"] for row in a.rows("coverage-curve")} == {COVERED_ROWS}


def test_runs_are_averaged_and_groups_stay_whole(random_generator):
    runs = [uq.Members(random_generator.dirichlet(np.ones(3), (40, 2))) for _ in range(2)]
    y = random_generator.integers(0, 3, 40)
    a = uq.assay({"m": runs}, y, groups=np.arange(40) // 4, **SMALL)
    one = [uq.assay({"m": run}, y, **SMALL) for run in runs]
    means = np.mean([[float(c) for _, c, _ in scaled_coverage(b, "m")] for b in one], axis=0)
    np.testing.assert_allclose([float(c) for _, c, _ in scaled_coverage(a, "m")], means)
    assert all(row["level"] == 0.95 for row in a.table("coverage-curve").to_dict("records"))


def test_what_is_left_out(random_generator):
    """Points and class sets have no sets to scale; with many classes votes and boxes would take long."""
    y = random_generator.integers(0, 3, 20)
    point = uq.Point(random_generator.dirichlet(np.ones(3), 20))
    classes = uq.ClassSets(np.ones((20, 3), dtype=bool))
    assert uq.assay({"p": point, "c": classes}, y, **SMALL).rows("coverage-curve") == []
    members = uq.Members(random_generator.dirichlet(np.ones(3), (20, 2)))
    assert uq.assay({"m": members}, y, scales=(), n_draws=10).rows("coverage-curve") == []
    wide = {k: uq.Members(np.full((2, 2, k), 1 / k)) for k in (16, 17, 100, 101)}
    label, votes = np.zeros(2, dtype=int), np.ones((2, 17))
    assert [can_be_covered(label, wide[k]) for k in (16, 17, 100, 101)] == [True, True, True, False]
    assert not can_be_covered(votes, wide[17])
    assert not can_be_covered(label, uq.Intervals(np.zeros((2, 17)), np.ones((2, 17))))
