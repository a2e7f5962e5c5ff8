"""Subgroups in which another model is better than the overall winner."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tests.evidence.verdict_cases import claims, noise, predicted

import uqassay as uq
from uqassay.evidence.claims import part_claims
from uqassay.evidence.subgroups import SUBGROUP_VALUES, number_of_parts, subgroups_of

pytestmark = pytest.mark.usefixtures("without_calibration")

N = 1200
SITE = np.array(["a", "b", "c"])[np.arange(N) % 3]


def judged(means, subgroups, **options):
    """Models with a mean distance for each site."""
    models = {}
    for k, (name, by_site) in enumerate(means.items()):
        d = np.array([by_site["abc".index(s)] for s in SITE])
        models[name] = predicted(d + noise(N, k), 0.1, N)
    labels = np.zeros(N, dtype=int)
    return uq.assay(
        models, labels, subgroups=subgroups, floor=0.2, calibration=(), prior=[0.5, 0.5], n_draws=50, **options
    )


def test_every_contradicting_part_and_model_is_there():
    a = judged({"best": (0.2, 0.3, 0.1), "b": (0.5, 0.2, 0.2), "c": (0.4, 0.15, 0.4)}, {"site": SITE})
    found = claims(a, "subgroup")
    assert [(c.facts["by"], c.facts["value"]) for c in found] == [("site", "b")]
    assert found[0].models == ("c", "b")  # the better one first
    assert found[0].others == ("best",)
    assert float(found[0].estimate) == pytest.approx(0.15, abs=0.01)
    assert (found[0].facts["instances"], found[0].facts["parts"]) == (400, 3)
    two = judged({"best": (0.2, 0.2, 0.1), "b": (0.1, 0.1, 0.5)}, {"site": SITE})
    assert [c.facts["value"] for c in claims(two, "subgroup")] == ["a", "b"]


def test_the_tables_of_the_parts_are_adjusted_for_all_parts():
    """By Bonferroni for the parts: p-values of a part by itself, times their number."""
    models = {"best": (0.2, 0.205, 0.1), "b": (0.205, 0.2, 0.12), "c": (0.21, 0.22, 0.2)}
    a = judged(models, {"site": SITE, "half": np.arange(N) % 2, "id": np.arange(N)})
    assert (number_of_parts(a, "site"), number_of_parts(a, "half"), number_of_parts(a, "id")) == (5, 5, N)
    for part in subgroups_of(a, "site"):
        alone = replace(part.assay)  # which keeps nothing
        for at in (0.0, 0.31, 0.5, 7.0):
            own, together = (one.rank_sets(at).comparisons.adjusted for one in (alone, part.assay))
            np.testing.assert_allclose(together, np.minimum(1.0, 5 * own), rtol=1e-12)
            assert (own < 0.2).any()


def test_without_sets_the_parts_are_adjusted_alike():
    n = 600
    y = np.zeros(n, dtype=int)
    p = np.clip(0.7 + noise(n, 1, 0.2), 0, 1)
    models = {"a": p, "b": np.clip(p - 0.02 + noise(n, 2, 0.2), 0, 1), "c": np.clip(p - 0.1 + noise(n, 3, 0.2), 0, 1)}
    points = {name: uq.Point(np.stack([q, 1 - q], axis=1)) for name, q in models.items()}
    a = uq.assay(points, y, distance="brier", subgroups={"site": np.arange(n) % 4}, calibration=(), n_draws=20)
    for part in subgroups_of(a, "site"):
        own = replace(part.assay).rank_sets(0.5).comparisons.adjusted[:3, :3]
        together = part.assay.rank_sets(0.5).comparisons.adjusted[:3, :3]
        np.testing.assert_allclose(together, np.minimum(1.0, 4 * own), rtol=1e-12)


def test_adjusted_for_all_parts_and_models():
    """A difference that Student's test shows alone, p = .01 or so, is not shown among the pairs of ten models in 3 parts."""
    means = {"best": (0.2, 0.205, 0.1), "b": (0.2, 0.2, 0.2)}
    rows = SITE == "b"
    alone = judged(means, {"site": SITE})
    p = stats.ttest_rel(alone.loss("best", 0.5)[0, rows], alone.loss("b", 0.5)[0, rows]).pvalue
    assert 0.05 / (3 * 45) < p < 0.05
    among = judged({**means, **{f"c{i}": means["best"] for i in range(8)}}, {"site": SITE})
    assert not claims(among, "subgroup")


def test_in_parts_too_differences_may_rest_on_inputs_unlike_those_seen():
    """400 instances of a part cannot exclude what would reverse .05 nats where losses reach 36 nats."""
    means = {"best": (0.2, 0.2, 0.1), "b": (0.3, 0.15, 0.3)}
    models = {
        name: predicted(np.array([by["abc".index(s)] for s in SITE]) + noise(N, k), 0.1, N)
        for k, (name, by) in enumerate(means.items())
    }
    options = {"calibration": (), "prior": [0.5, 0.5], "n_draws": 50, "subgroups": {"site": SITE}}
    a = uq.assay(models, np.zeros(N, dtype=int), **options)
    (found,) = claims(a, "subgroup")
    assert found.models == ("b",)
    (resting,) = claims(a, "cannot-tell", limited_by="inputs")
    assert resting.facts["cases"]["b"] > 36 / 0.06


@pytest.mark.parametrize("values", [np.zeros(N, dtype=int), np.arange(N) % (SUBGROUP_VALUES + 1)])
def test_constants_and_identifiers_are_no_parts(values):
    a = judged({"best": (0.2, 0.3, 0.1), "b": (0.3, 0.2, 0.2)}, {"id": values})
    assert part_claims(a, a.ranked(0.5)[0]) == ()


def test_one_model_has_no_rival():
    a = judged({"m": (0.2, 0.3, 0.1)}, {"site": SITE})
    assert part_claims(a, next(r for r in a.ranked(0.5) if r.rank == 1)) == ()


def test_equal_models_are_seldom_said_to_differ():
    """Ten parts, five equal models: any claim in at most 5 % of the data sets, and binomial error."""
    n, false = 300, 0
    part = np.arange(n) % 10
    for seed in range(12):
        models = {f"m{j}": predicted(0.3 + noise(n, 1000 * seed + j, 0.2), 0.1, n) for j in range(5)}
        options = {"calibration": (), "prior": [0.5, 0.5], "n_draws": 10, "measures": ("total-entropy",)}
        a = uq.assay(models, np.zeros(n, dtype=int), floor=0.2, subgroups={"part": part}, **options)
        false += bool(part_claims(a, next(r for r in a.ranked(0.5) if r.rank == 1)))
    assert false <= stats.binom.ppf(0.999, 12, 0.05)
