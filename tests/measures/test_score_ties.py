"""No ranking is made of rounding errors: exact zeros, exact ties, small values right to their last digits."""

from dataclasses import replace
from decimal import Decimal, localcontext
from math import prod

import numpy as np
import pytest
from scipy import special
from tests.kinds import KINDS, random_prediction

import uqassay as uq
from uqassay.measures.entropies import entropy_decomposition
from uqassay.measures.registry import score_names, uncertainty_score

SPREADS = ("epistemic-entropy", "epistemic-variance", "predicted-class-variance", "variation-ratio", "vote-entropy")


def with_logits(kind, rng, n=5, n_classes=4, scale=1.0):
    """As `random_prediction`, with logits where a kind can hold them."""
    if kind == "Point":
        return uq.Point.from_logits(rng.normal(0, scale, (n, n_classes)))
    if kind == "Members":
        return uq.Members.from_logits(rng.normal(0, scale, (n, 3, n_classes)))
    return random_prediction(kind, rng, n, n_classes)


def in_columns(prediction):
    """The same statement from arrays in Fortran order, as tables give them."""
    if isinstance(prediction, uq.Masses):
        return uq.Masses(np.asfortranarray(prediction.masses), prediction.focal_sets)
    return replace(prediction, **{n: np.asfortranarray(getattr(prediction, n)) for n in prediction.array_names()})


# -- exact zeros ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_members", [1, 2, 3, 7, 10, 100, 1001])
def test_members_that_agree_have_no_spread_at_all(n_members, random_generator):
    p = random_generator.dirichlet(np.full(6, 0.3), 40)
    members = uq.Members(np.repeat(p[:, None], n_members, axis=1))
    weights = random_generator.random((40, n_members))
    for agreeing in (members, replace(members, weights=weights), replace(members, weights=weights[0])):
        for name in (*SPREADS, "credal-width", "nonspecificity", "credal-uncertainty"):
            assert (uncertainty_score(agreeing, name) == 0.0).all(), name
        parts = entropy_decomposition(agreeing)
        np.testing.assert_array_equal(parts.aleatoric, parts.total)
        np.testing.assert_array_equal(parts.total, uncertainty_score(agreeing, "total-entropy"))


def test_members_that_agree_to_the_last_bit_or_have_no_weight_have_no_spread(random_generator):
    p = random_generator.dirichlet(np.ones(4), (50, 1))
    near = np.concatenate([p, np.nextafter(p, 1.0), p], axis=1)
    other = np.concatenate([random_generator.dirichlet(np.ones(4), (50, 1)), near[:, 1:]], axis=1)
    for members in (uq.Members(near), uq.Members(other, weights=[0, 1, 2]), uq.Members(other, [[0, 1, 2]] * 50)):
        for name in SPREADS[:3]:
            assert (uncertainty_score(members, name) == 0.0).all(), name


def test_other_forms_of_a_point_have_its_scores(random_generator):
    p = random_generator.dirichlet(np.ones(5), 60)
    singletons = np.eye(5, dtype=bool)
    for same in (
        uq.Intervals(p, p),
        uq.Masses(p, singletons),
        uq.Vertices(np.repeat(p[:, None], 3, axis=1)),
        uq.Point(p),
    ):
        for name in ("credal-width", "nonspecificity", "credal-uncertainty"):
            assert (uncertainty_score(same, name) == 0.0).all(), (same, name)
    certain = uq.GaussianLogits(np.log(p), np.zeros_like(p), variance_is="epistemic", n_draws=9)
    for name in SPREADS:
        assert (uncertainty_score(certain, name) == 0.0).all(), name


def mutual_information(probs):
    """By 60 digits of Python's decimals, from the definition."""
    with localcontext() as context:
        context.prec = 60
        rows = [[Decimal(float(x)) for x in row] for row in probs]
        mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]

        def h(row):
            return -sum(x * x.ln() for x in row if x > 0)

        return float(h(mean) - sum(h(row) for row in rows) / len(rows))


@pytest.mark.parametrize("spread", [1e-1, 1e-4, 1e-9, 1e-13])
def test_mutual_information_is_right_where_a_difference_of_entropies_is_not(spread, random_generator):
    small = spread * random_generator.uniform(0.1, 1.0, (20, 3, 4))
    small[0, 0, 0], small[1, :, 1] = 0.0, 0.0
    probs = np.concatenate([1.0 - small.sum(axis=2, keepdims=True), small], axis=2)
    found = entropy_decomposition(uq.Members(probs)).epistemic
    expected = np.array([mutual_information(row) for row in probs])
    np.testing.assert_allclose(found, expected, rtol=max(1e-10, 1e-16 / spread))
    assert (np.diff(np.sort(expected)) > 0).all()
    assert (found.argsort() == expected.argsort()).all()


def test_mutual_information_of_close_members(random_generator):
    base = random_generator.dirichlet(np.ones(5), (20, 1))
    probs = base * (1 + 1e-6 * random_generator.standard_normal((20, 4, 5)))
    probs /= probs.sum(axis=2, keepdims=True)
    expected = [mutual_information(row) for row in probs]
    np.testing.assert_allclose(entropy_decomposition(uq.Members(probs)).epistemic, expected, rtol=1e-8)


def test_mutual_information_of_a_concentrated_dirichlet():
    mean = np.array([0.5, 0.3, 0.2])
    for total in (1e3, 1e8, 1e15):  # (K − 1) / 2α₀ and the next term
        found = entropy_decomposition(uq.Dirichlet([total * mean])).epistemic[0]
        expected = 1 / total - (np.sum(1 / mean) - 1) / (12 * total**2)
        assert found == pytest.approx(expected, rel=1e-7)
    alpha = np.random.default_rng(2).gamma(2.0, 4.0, (200, 4))
    plain = special.entr(alpha / alpha.sum(axis=1, keepdims=True)).sum(axis=1) - special.digamma(alpha.sum(axis=1) + 1)
    plain += (alpha / alpha.sum(axis=1, keepdims=True) * special.digamma(alpha + 1)).sum(axis=1)
    np.testing.assert_allclose(entropy_decomposition(uq.Dirichlet(alpha)).epistemic, plain, rtol=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_of_the_members_changes_no_bit(weighted, random_generator):
    z = random_generator.normal(0, 3, (200, 9, 5))
    weights = random_generator.random(9) if weighted else None
    members = uq.Members.from_logits(z, weights)
    values = {name: uncertainty_score(members, name) for name in score_names(members, on_request=True)}
    for _ in range(3):
        order = random_generator.permutation(9)
        other = uq.Members.from_logits(z[:, order], None if weights is None else members.weights[order])
        for name, expected in values.items():
            found = uncertainty_score(other, name)
            if name == "nonspecificity":  # a weighted sum over all events, whose reference is a member
                np.testing.assert_allclose(found, expected, rtol=1e-14)
            else:
                np.testing.assert_array_equal(found, expected, err_msg=name)


def test_the_order_of_the_classes_changes_no_bit(random_generator):
    p = random_generator.dirichlet(np.ones(7), (200, 5))
    order = random_generator.permutation(7)
    for one, other in ((uq.Point(p[:, 0]), uq.Point(p[:, 0, order])), (uq.Members(p), uq.Members(p[..., order]))):
        for name in score_names(one):
            expected = uncertainty_score(one, name)
            np.testing.assert_array_equal(uncertainty_score(other, name), expected, err_msg=name)


def test_equal_votes_tie(random_generator):
    """As of trees with pure leaves: few values, each of many instances."""
    labels = random_generator.integers(0, 5, (3000, 11))
    members = uq.Members(np.eye(5)[labels])
    votes = [tuple(sorted(np.bincount(row, minlength=5).tolist())) for row in labels]
    n_patterns = len(set(votes))
    least = {
        "variation-ratio": lambda v: v[-1],
        "least-confidence": lambda v: v[-1],
        "predicted-class-variance": lambda v: v[-1] * (11 - v[-1]),
        "margin": lambda v: v[-1] - v[-2],
        **dict.fromkeys(("total-variance", "epistemic-variance"), lambda v: sum(x * x for x in v)),
        **dict.fromkeys(("total-entropy", "vote-entropy", "epistemic-entropy"), lambda v: prod(x**x for x in v)),
    }
    for name, of_votes in least.items():
        n_values = len(np.unique(uncertainty_score(members, name)))
        assert len(set(map(of_votes, votes))) <= n_values <= n_patterns, name
        if name in ("variation-ratio", "least-confidence"):
            assert n_values == len(set(map(of_votes, votes)))
    assert (uncertainty_score(members, "aleatoric-entropy") == 0.0).all()
    assert (uncertainty_score(members, "aleatoric-variance") == 0.0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_equal_rows_have_equal_scores_in_every_position_and_layout(kind, random_generator):
    prediction = with_logits(kind, random_generator, 41, 9, scale=3.0)
    order = random_generator.permutation(41)
    for name in score_names(prediction, on_request=True):
        values = uncertainty_score(prediction, name)
        for same in (prediction, in_columns(prediction)):
            np.testing.assert_array_equal(uncertainty_score(same, name), values, err_msg=name)
            np.testing.assert_array_equal(uncertainty_score(same[order], name), values[order], err_msg=name)
            parts = [uncertainty_score(same[a : a + 7], name) for a in range(0, 41, 7)]
            np.testing.assert_array_equal(np.concatenate(parts), values, err_msg=name)
            np.testing.assert_array_equal(uncertainty_score(same[7], name), values[7:8], err_msg=name)
