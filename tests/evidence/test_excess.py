"""How much one model could lose to another on the inputs seen: against every label of every input, one by one."""

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction

import uqassay as uq
from uqassay.credal import DISTANCES
from uqassay.evidence.baselines import loss_of
from uqassay.evidence.excess import TERMS
from uqassay.evidence.pair_tests import LossReading, excess_over

pytestmark = pytest.mark.usefixtures("without_calibration")

N, K = 12, 3
Y = np.arange(N) % K
PLAIN = {"scales": (), "n_draws": 20}


def losses_of_labels(models, term, **options):
    """Loss of every model on every input with every label, (J, n, K), from one assay for each label."""
    found = []
    for k in range(K):
        a = uq.assay(models, np.full(N, k), prior=np.full(K, 1 / K), **options, **PLAIN)
        column = {"log-loss": "log-loss", "brier": "brier"}.get(term, "distance")
        found.append([m.columns[column].mean(axis=0) for m in a.candidates])
    return np.moveaxis(np.array(found), 0, -1)


@pytest.mark.parametrize("distance", [name for name in DISTANCES if name != "brier"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "Point"])
def test_every_kind_against_every_label(kind, distance, random_generator):
    one = random_prediction(kind, random_generator, n=N, n_classes=K)
    models = {"set": one, "point": uq.Point(random_generator.dirichlet(np.ones(K), N))}
    a = uq.assay(models, Y, distance=distance, **PLAIN)
    for t, term in enumerate(TERMS):
        losses = losses_of_labels(models, term, distance=distance)
        apart = (losses[:, np.newaxis] - losses).max(axis=(2, 3))
        np.testing.assert_allclose(a.excess.over[t], apart, rtol=1e-9, atol=1e-9, err_msg=term)
        np.testing.assert_allclose(a.excess.greatest[t], losses.max(axis=(1, 2)), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(a.excess.least[t], losses.min(axis=(1, 2)), rtol=1e-9, atol=1e-9)


def test_runs_are_averaged_instance_by_instance(random_generator):
    runs = [uq.Point(random_generator.dirichlet(np.ones(K), N)) for _ in range(3)]
    models = {"runs": runs, "one": uq.Point(random_generator.dirichlet(np.ones(K), N))}
    losses = losses_of_labels(models, "distance")
    found = uq.assay(models, Y, **PLAIN).excess
    assert found.of("distance", "runs", "one") == pytest.approx((losses[0] - losses[1]).max())
    assert found.of("distance", "one", "runs") == pytest.approx((losses[1] - losses[0]).max())


def test_no_loss_of_any_label_exceeds_the_bound_of_its_pair(random_generator):
    models = {
        "set": uq.Members(random_generator.dirichlet(np.ones(K), (N, 4))),
        "point": uq.Point(random_generator.dirichlet(np.ones(K), N)),
    }
    a = uq.assay(models, Y, **PLAIN)
    readings = {m.name: LossReading(m) for m in a.models} | {"others": LossReading(a["class-prior"], held_out=True)}
    for tradeoff in (0.0, 0.5, 3.0):
        for one in readings.values():
            for other in readings.values():
                losses = [loss_of(r.model, tradeoff, held_out=r.held_out)[0] for r in (one, other)]
                assert (losses[0] - losses[1]).max() <= excess_over(a, one, other, "unified", tradeoff) + 1e-9


@pytest.mark.parametrize("distance", ["kl", "js", "tv", "hellinger"])
def test_no_loss_of_any_label_distribution_exceeds_the_bound_of_its_pair(distance, random_generator):
    """Between labels the difference of two losses may be greater than at any label."""
    models = {
        "set": uq.Members(random_generator.dirichlet(np.ones(K), (N, 4))),
        "other": uq.Members(random_generator.dirichlet(np.ones(K), (N, 4))),
        "point": uq.Point(random_generator.dirichlet(np.ones(K), N)),
    }
    first = uq.assay(models, random_generator.dirichlet(np.ones(K), N), distance=distance, **PLAIN)
    for _ in range(10):
        y = random_generator.dirichlet(np.full(K, 0.5), N)
        a = uq.assay(models, y, distance=distance, prior=np.full(K, 1 / K), **PLAIN)
        for one in first.models:
            for other in first.models:
                for term in ("distance", "log-loss", "brier"):
                    if "vacuous" in (one.name, other.name) and term != "distance":
                        continue
                    seen = (a[one.name].columns[term] - a[other.name].columns[term]).max()
                    metric = first.settings.distance_metric if term == "distance" else term
                    bound = float(excess_over(first, LossReading(one), LossReading(other), metric))
                    if one.name != "class-prior":  # whose losses are those of the labels that came
                        assert seen <= bound + 1e-6, (one.name, other.name, term)


def test_chunks_give_the_excess_of_the_whole(random_generator):
    probs = random_generator.dirichlet(np.ones(K), (2, N))
    whole = uq.assay({"a": uq.Point(probs[0]), "b": uq.Point(probs[1])}, Y, **PLAIN).excess
    stream = uq.AssayStream(**PLAIN)
    for rows in (slice(0, 5), slice(5, 6), slice(6, N)):
        stream.update({"a": uq.Point(probs[0, rows]), "b": uq.Point(probs[1, rows])}, Y[rows])
    found = stream.compute().excess
    assert found.names == whole.names
    for name in ("over", "greatest", "least"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))


def test_without_a_closed_form_the_bound_is_that_of_any_input(random_generator):
    models = {name: uq.Members(random_generator.dirichlet(np.ones(K), (N, 3))) for name in "ab"}
    a = uq.assay(models, Y, distance="brier", **PLAIN)
    assert np.isnan(a.excess.of("distance", "a", "b"))
    assert float(excess_over(a, LossReading(a["a"]), LossReading(a["b"]), "unified", 0.0)) == 2.0
    paper = uq.assay(models, Y, convention="paper", **PLAIN)
    assert np.isnan(paper.excess.of("distance", "a", "b"))
    assert float(excess_over(paper, LossReading(paper["a"]), LossReading(paper["b"]), "kl")) == pytest.approx(
        -np.log(1e-10)
    )


def confident(y, p, n_classes=K):
    right, p = np.eye(n_classes)[y], p[:, np.newaxis]
    return uq.Point(p * right + (1 - p) / (n_classes - 1) * (1 - right))


def test_few_cases_are_told_under_a_condition_and_many_without():
    for n, conditional in ((300, True), (20_000, False)):
        y = np.arange(n) % K
        p = np.where(np.arange(n) % 7 == 0, 0.5, 0.7)
        a = uq.assay({"a": confident(y, p), "b": confident(y, p - 0.1)}, y, **PLAIN)
        assert a.rank_sets(0.5).top_names == ("a",)
        said = [c for c in a.claims() if c.limited_by == "inputs"]
        assert bool(said) == conditional
        told = "if it gives the true class probability 0 in at most 1 of"
        assert any(told in sentence for sentence in a.headline()) == conditional


def test_the_condition_is_the_share_of_failures_that_turns_the_order_around():
    """With a share just below 1 in N of probability 0 the better model keeps the lower mean, and just above it may not."""
    n = 300
    y = np.arange(n) % K
    a = uq.assay({"a": confident(y, np.full(n, 0.7)), "b": confident(y, np.full(n, 0.6))}, y, **PLAIN)
    (claim,) = [c for c in a.claims() if c.limited_by == "inputs" and c.models == ("a",)]
    bound, d = -np.log(np.finfo(float).eps), np.log(0.7 / 0.6)
    assert claim.facts["cases"]["a"] == pytest.approx((bound + d) / d, rel=1e-6)
