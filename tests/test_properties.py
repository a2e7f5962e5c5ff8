"""What every measure and loss must keep: relabelling, row order, chunks, bounds, hostile arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uqassay as uq
from tests.kinds import STATEMENTS, random_prediction
from tests.refusals import refuses
from uqassay.measures.registry import SCORES, score_names, uncertainty_score

seeds = st.integers(0, 2**32 - 1)
UNDRAWN = ("Point", "Members", "Intervals", "Masses", "Vertices")  # others draw, and draws follow the class order
REFUSED = ("no-distribution", "no-members", "no-logits")


def parts_of(decomposition):
    return [f"{part}-{decomposition}" for part in ("total", "aleatoric", "epistemic")]


def binary_entropies_of_a_uniform(n_classes):
    """Σ over K classes of the entropy of "class k or not" where all classes have the probability 1 / K."""
    p = 1 / n_classes
    return np.log(n_classes) - n_classes * (1 - p) * np.log1p(-p)


def relabelled(prediction, order):
    """The same statement with its classes in another order."""
    if isinstance(prediction, uq.Masses):
        return uq.Masses(prediction.masses, prediction.focal_sets[:, order])
    fields = {name: getattr(prediction, name)[..., order] for name in prediction.array_names()}
    return type(prediction)(**fields)


def scores_of(prediction):
    """Every score that the prediction has; those that it is said not to have must be refused."""
    names = score_names(prediction, on_request=True)
    for name in SCORES.keys() - set(names):
        with refuses("prediction") as refusal:
            uncertainty_score(prediction, name)
        assert refusal.value.code in REFUSED
    return {name: uncertainty_score(prediction, name) for name in names}


@pytest.mark.parametrize("kind", UNDRAWN)
@settings(deadline=None, max_examples=6)
@given(seed=seeds, n_classes=st.integers(2, 6))
def test_relabelling_the_classes_changes_no_measure(kind, seed, n_classes):
    rng = np.random.default_rng(seed)
    prediction = random_prediction(kind, rng, 4, n_classes)
    order = rng.permutation(n_classes)
    other = relabelled(prediction, order)
    for name, values in scores_of(prediction).items():
        np.testing.assert_allclose(uncertainty_score(other, name), values, atol=1e-9, err_msg=name)
    y = rng.integers(n_classes, size=4)
    for distance in ("kl", "js", "tv", "hellinger"):
        a = uq.losses.unified_loss(y, prediction, distance=distance).total
        b = uq.losses.unified_loss(np.argsort(order)[y], other, distance=distance).total
        np.testing.assert_allclose(b, a, atol=1e-8, err_msg=distance)


@pytest.mark.parametrize("kind", STATEMENTS)
def test_rows_do_not_know_of_each_other(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 12, 5)
    rows = random_generator.permutation(12)
    for name, values in scores_of(prediction).items():
        np.testing.assert_array_equal(uncertainty_score(prediction[rows], name), values[rows], err_msg=name)
        np.testing.assert_array_equal(uncertainty_score(prediction[3:4], name), values[3:4], err_msg=name)


@pytest.mark.parametrize("kind", STATEMENTS)
@settings(deadline=None, max_examples=6)
@given(seed=seeds, n_classes=st.integers(2, 6))
def test_bounds_of_every_measure(kind, seed, n_classes):
    prediction = random_prediction(kind, np.random.default_rng(seed), 4, n_classes)
    found = scores_of(prediction)
    top = np.log(n_classes) + 1e-9
    limits = {
        "least-confidence": 1 - 1 / n_classes + 1e-9,
        "margin": 1 + 1e-9,
        "total-variance": 1 - 1 / n_classes + 1e-9,
        "aleatoric-variance": 1 - 1 / n_classes + 1e-9,
        "epistemic-variance": 1 - 1 / n_classes + 1e-9,
        "predicted-class-variance": 0.25 + 1e-9,
        "variation-ratio": 1 - 1 / n_classes + 1e-9,
        "credal-width": 1 + 1e-9,
        **dict.fromkeys(parts_of("zero-one"), 1 - 1 / n_classes + 1e-9),
        **dict.fromkeys(parts_of("spherical"), 1 - 1 / np.sqrt(n_classes) + 1e-9),
        **dict.fromkeys(parts_of("label-wise"), binary_entropies_of_a_uniform(n_classes) + 1e-9),
        "epistemic-pairwise-kl": np.inf,
    }
    found.pop("free-energy", None)  # has no bounds
    for name, values in found.items():
        assert (values >= -1e-12).all(), name
        assert (values <= limits.get(name, top)).all(), name
    assert (found["lower-entropy"] <= found["upper-entropy"] + 1e-12).all()
    np.testing.assert_allclose(found["credal-uncertainty"], found["upper-entropy"] - found["lower-entropy"], atol=1e-12)
    if "total-entropy" in found and "epistemic-entropy" in found:
        parts = found["aleatoric-entropy"] + found["epistemic-entropy"]
        np.testing.assert_allclose(parts, found["total-entropy"], atol=1e-9)
    assert (uq.measures.generalised_hartley(prediction).values <= top).all()


@pytest.mark.parametrize("kind", STATEMENTS)
@settings(deadline=None, max_examples=5)
@given(seed=seeds, n_classes=st.integers(2, 5))
def test_entropies_of_elements_lie_between_the_extremes(kind, seed, n_classes):
    rng = np.random.default_rng(seed)
    prediction = random_prediction(kind, rng, 3, n_classes)
    credal = prediction.credal()
    if isinstance(credal, uq.Masses):
        vertices = uq.credal.permutation_vertices(credal.masses, credal.focal_sets)
    elif isinstance(credal, uq.predictions.Box):
        vertices = uq.credal.box_vertices(*credal.bounds())[0]
    else:
        vertices = np.asarray(credal.hull_points())
    weights = rng.dirichlet(np.full(vertices.shape[1], 0.3), (3, 200))
    elements = np.concatenate([weights @ vertices, vertices], axis=1)
    h = uq.measures.entropy(elements)
    assert (h <= uq.measures.upper_entropy(prediction)[:, None] + 1e-9).all()
    assert (h >= uq.measures.lower_entropy(prediction)[:, None] - 1e-9).all()


def test_decompositions_against_their_definitions(random_generator):
    members = random_prediction("Members", random_generator, 6, 4)
    p, h = members.probs, uq.measures.entropy
    found = uq.measures.entropy_decomposition(members)
    np.testing.assert_allclose(found.total, h(p.mean(axis=1)))
    np.testing.assert_allclose(found.aleatoric, h(p).mean(axis=1))
    # mutual information as the mean divergence of the members from their mean
    divergence = (p * np.log(p / p.mean(axis=1, keepdims=True))).sum(axis=2).mean(axis=1)
    np.testing.assert_allclose(found.epistemic, divergence, atol=1e-12)
    variance = uq.measures.variance_decomposition(members)
    np.testing.assert_allclose(variance.epistemic, p.var(axis=1).sum(axis=1))
    np.testing.assert_allclose(variance.aleatoric, (p * (1 - p)).sum(axis=2).mean(axis=1))


@pytest.mark.parametrize("kind", STATEMENTS)
def test_decompositions_of_rows_in_another_order_and_of_slices(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 12, 5)
    rows = random_generator.permutation(12)
    for name in uq.measures.decomposition_names(prediction):
        found, moved, one = (uq.measures.decompose(p, name) for p in (prediction, prediction[rows], prediction[3]))
        for part in ("total", "aleatoric", "epistemic"):
            values = getattr(found, part)
            np.testing.assert_array_equal(getattr(moved, part), values[rows], err_msg=f"{part} {name}")
            np.testing.assert_array_equal(getattr(one, part), values[3:4], err_msg=f"{part} {name}")


@pytest.mark.parametrize("kind", ["Point", "Members"])
@settings(deadline=None, max_examples=6)
@given(seed=seeds, n_classes=st.integers(2, 6))
def test_decompositions_of_relabelled_classes(kind, seed, n_classes):
    rng = np.random.default_rng(seed)
    prediction = random_prediction(kind, rng, 4, n_classes)
    other = relabelled(prediction, rng.permutation(n_classes))
    for name in uq.measures.decomposition_names(prediction):
        found, again = uq.measures.decompose(prediction, name), uq.measures.decompose(other, name)
        for part in ("total", "aleatoric", "epistemic"):
            np.testing.assert_array_equal(getattr(again, part), getattr(found, part), err_msg=f"{part} {name}")


@settings(deadline=None, max_examples=10)
@given(seed=seeds, n_members=st.integers(1, 12), n_classes=st.integers(2, 6))
def test_equal_members_have_no_epistemic_part_in_any_decomposition(seed, n_members, n_classes):
    rng = np.random.default_rng(seed)
    probs = np.repeat(rng.dirichlet(np.full(n_classes, 0.5), (5, 1)), n_members, axis=1)
    for weights in (None, rng.random(n_members) + 0.01):
        members = uq.Members(probs, weights)
        for name in uq.measures.decomposition_names(members):
            found = uq.measures.decompose(members, name)
            assert (found.epistemic == 0).all(), name
            np.testing.assert_array_equal(found.aleatoric, found.total, err_msg=name)


def test_dirichlet_closed_forms_against_many_draws():
    dirichlet = uq.Dirichlet([[3.0, 1.0, 0.5], [20.0, 10.0, 5.0]])
    draws = uq.Members(dirichlet.sample(10_000, rng=2))
    for decomposition in (uq.measures.entropy_decomposition, uq.measures.variance_decomposition):
        exact, sampled = decomposition(dirichlet), decomposition(draws)
        np.testing.assert_allclose(exact.aleatoric, sampled.aleatoric, atol=0.01)
        np.testing.assert_allclose(exact.epistemic, sampled.epistemic, atol=0.01)


def test_weights_act_as_repetition(random_generator):
    probs = random_generator.dirichlet(np.ones(4), (5, 3))
    weighted = uq.Members(probs, weights=[1, 2, 3])
    repeated = uq.Members(probs[:, [0, 1, 1, 2, 2, 2]])
    for name, values in scores_of(weighted).items():
        np.testing.assert_allclose(values, uncertainty_score(repeated, name), atol=1e-9, err_msg=name)
