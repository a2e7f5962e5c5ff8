"""Random-set networks: Möbius inverse and loss against the house's and by hand, what is stated, and the choice of sets."""

import numpy as np
import pytest
import torch
from scipy.stats import chi2
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from uqassay import Masses
from uqassay.credal import all_focal_sets
from uqassay.credal.budget import ellipsoid_cells, overlaps
from uqassay.credal.events import family_moebius, moebius_transform, paper_masses
from uqassay.lab.methods import RSNN, StandardNetwork
from uqassay.lab.methods.layers import Draws, Network
from uqassay.lab.methods.random_sets import BeliefHead, budget_from_network, principal_components
from uqassay.lab.methods.training import Batch
from uqassay.notes import has_note

QUICK = {"backbone": (16,), "epochs": 40, "learning_rate": 0.01}


def blobs(n=90, seed=0, n_classes=3, spread=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return spread * rng.normal(size=(n, 2)) + 4.0 * np.array([[0, 0], [1, 1], [-1, 1]])[y], y


def test_moebius_of_the_head_is_that_of_the_house():
    beliefs = np.random.default_rng(0).random((20, 7))
    head = BeliefHead(2, all_focal_sets(3)).double()
    found = head.masses(torch.tensor(beliefs)[None])[0].numpy()
    expected = moebius_transform(np.concatenate([np.zeros((20, 1)), beliefs], axis=1).T)[1:].T
    np.testing.assert_allclose(found, expected, atol=1e-12)
    sets = all_focal_sets(3)[[0, 1, 3, 2, 6]]  # a family that lacks some subsets, in an order of its own
    found = BeliefHead(2, sets).double().masses(torch.tensor(beliefs[:, :5])[None])[0].numpy()
    np.testing.assert_allclose(found, family_moebius(beliefs[:, :5], sets), atol=1e-12)


def batch_of(y):
    return Batch(torch.tensor(y), torch.zeros(len(y), 1), torch.ones(len(y), 1), Draws([]))


def test_loss_by_hand():
    sets = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]], dtype=bool)
    network = Network(None, [], BeliefHead(2, sets).double())
    rng = np.random.default_rng(0)
    for shift in (2.0, -2.0):  # sums of masses above 1, and below
        logits = rng.normal(size=(1, 6, 4)) + shift
        y = np.array([[0, 1, 2, 2, 1, 0]])
        beliefs = 1 / (1 + np.exp(-logits[0]))
        each = [log_loss(sets[:, c], b, labels=[False, True]) for b, c in zip(beliefs, y[0], strict=True)]
        masses = family_moebius(beliefs, sets)
        negative = [np.mean([max(0, -m) for m in row]) for row in masses]
        excess = max(0, np.mean([row.sum() for row in masses]) - 1)
        assert (excess > 0) == (shift > 0)
        found = RSNN(negative_weight=0.3, sum_weight=0.7)._loss(network, torch.tensor(logits), batch_of(y))
        np.testing.assert_allclose(found, [np.array(each) + 0.3 * np.array(negative) + 0.7 * excess], rtol=1e-6)
    outputs = torch.tensor(logits, requires_grad=True)
    weighty = RSNN(negative_weight=1.0, sum_weight=1.0)
    assert torch.autograd.gradcheck(lambda z: weighty._loss(network, z + 2.0, batch_of(y)), outputs)


def test_weights_lead_towards_belief_functions():
    x, y = blobs(spread=2.5)
    family = [[0], [1], [2], [0, 1], [0, 2], [1, 2]]

    def broken(**options):
        said = RSNN(focal_sets=family, repair=False, **QUICK, **options).fit(x, y).predict_uncertainty(x)
        return np.maximum(-said.masses, 0).mean(), max(0.0, said.masses.sum(axis=1).mean() - 1)

    plain, led = broken(negative_weight=0.0, sum_weight=0.0), broken(negative_weight=3.0, sum_weight=0.0)
    assert led[0] < 0.5 * plain[0]


def test_states_repaired_masses_or_raw_ones():
    x, y = blobs(spread=2.5)
    net = RSNN(**QUICK).fit(x, y)
    said = net.predict_uncertainty(x)
    assert isinstance(said, Masses)
    assert not said.signed
    assert (said.masses >= 0).all()
    np.testing.assert_allclose(said.masses.sum(axis=1), 1, atol=1e-9)
    assert said.focal_sets.all(axis=1).sum() == 1
    assert has_note(said.notes, "repaired")
    raw = RSNN(repair=False, **QUICK).fit(x, y)
    as_they_come = raw.predict_uncertainty(x)
    assert as_they_come.signed
    np.testing.assert_array_equal(as_they_come.focal_sets, raw.focal_sets_)
    beliefs = raw._evaluate(raw._prepared(x), lambda network, x, draws: torch.sigmoid(network(x)))[:, 0]
    np.testing.assert_allclose(as_they_come.masses, family_moebius(beliefs, raw.focal_sets_), atol=1e-12)
    repaired, sets, _ = paper_masses(as_they_come.masses, raw.focal_sets_)
    np.testing.assert_allclose(said.masses, repaired, atol=1e-12)
    np.testing.assert_array_equal(said.focal_sets, sets)
    np.testing.assert_allclose(raw.predict_proba(x), said.mean_probs(), atol=1e-12)
    np.testing.assert_array_equal(raw.predict(x), net.predict(x))
    np.testing.assert_allclose(as_they_come.repaired().masses, said.masses, atol=1e-12)
    for one in (net.predict_uncertainty(x[:1]), net.predict_uncertainty(x[40:])):
        np.testing.assert_array_equal(one.focal_sets, said.focal_sets)
    np.testing.assert_allclose(net.predict_uncertainty(x[40:]).masses, said.masses[40:], atol=1e-9)


@pytest.mark.parametrize("family", [[[0], [1], [2], [1, 2]], np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]])])
def test_given_family(family):
    x, y = blobs()
    net = RSNN(focal_sets=family, **QUICK).fit(x, np.array(["ash", "birch", "cedar"])[y])
    assert net.budget_ == "given"
    np.testing.assert_array_equal(net.focal_sets_, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]])
    assert net.predict([[4.0, 4.0]]).tolist() == ["birch"]


def test_chosen_family_keeps_to_its_size():
    x, y = blobs(spread=2.5)
    for n_sets in (0, 1, 20):
        net = RSNN(n_sets=n_sets, **QUICK).fit(x, y)
        np.testing.assert_array_equal(net.focal_sets_[:3], np.eye(3))
        assert len(net.focal_sets_) <= 3 + n_sets
        assert (net.focal_sets_[3:].sum(axis=1) > 1).all()
        assert net.budget_ == "ellipsoids"
    assert len(net.focal_sets_) > 3


def test_few_instances_of_a_class_and_two_classes():
    x, y = blobs(n=20)
    y[3:] = np.where(y[3:] == 2, 0, y[3:])  # one instance of class 2 is left
    net = RSNN(**QUICK).fit(x, y)
    assert net.budget_ == "confusion"
    assert net.predict_proba(x).shape == (20, 3)
    two = RSNN(**QUICK).fit(x, y > 0)
    np.testing.assert_allclose(two.predict_proba(x).sum(axis=1), 1)


def test_convolutions():
    images = np.random.default_rng(0).normal(size=(20, 8, 8))
    net = RSNN(backbone="cnn-small", epochs=2).fit(images, np.arange(20) % 2)
    np.testing.assert_allclose(net.predict_proba(images).sum(axis=1), 1)


def test_digits_within_two_points_of_the_standard_network():
    x, y = load_digits(return_X_y=True)
    x, test_x, y, test_y = train_test_split(x / 16, y, test_size=0.3, stratify=y, random_state=0)
    options = {"epochs": 40, "learning_rate": 0.003}
    net = RSNN(**options).fit(x, y)
    assert net.score(test_x, test_y) >= StandardNetwork(**options).fit(x, y).score(test_x, test_y) - 0.02
    assert 10 < len(net.focal_sets_) <= 30
    said = net.predict_uncertainty(test_x)
    width = said.upper_probs() - said.lower_probs()
    right = net.predict(test_x) == test_y
    assert width[~right].mean() > 2 * width[right].mean()


# -- The choice of sets from features: known overlaps, two balls in closed form, brute force by Monte Carlo.


def ball(n=20_000, dimension=3, seed=0):
    """A cloud whose mean and covariance are exactly 0 and 1, so that its ellipsoid is a known ball."""
    x = np.random.default_rng(seed).normal(size=(n, dimension))
    x -= x.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(x.T))
    return x @ vectors / np.sqrt(values)


def test_components_are_those_of_scikit_learn():
    x = np.random.default_rng(0).normal(size=(50, 6)) * [1, 5, 2, 0.1, 3, 1]
    found, expected = principal_components(x, 3), PCA(3).fit_transform(x)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-10)
    assert principal_components(x[:, :2], 3).shape == (50, 2)


@pytest.mark.parametrize("distance", [0.5, 2.0, 4.0])
def test_overlap_of_two_balls_against_closed_form(distance):
    """Lens of two balls of radius r: π (4r + d)(2r − d)² / 12."""
    x = np.concatenate([ball(), ball(seed=1) + np.array([distance, 0, 0])])
    labels = np.repeat([0, 1], len(x) // 2)
    inside, volumes = ellipsoid_cells(x, labels, 2, 0.95, 200_000, np.random.default_rng(0))
    found = overlaps(inside, volumes, np.array([[0, 1]]))[0]
    r = np.sqrt(chi2.ppf(0.95, 3))
    lens = np.pi * (4 * r + distance) * (2 * r - distance) ** 2 / 12
    np.testing.assert_allclose(found, lens / (2 * 4 / 3 * np.pi * r**3 - lens), rtol=0.02)


def test_overlap_of_ellipsoids_against_brute_force():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3
    shapes = rng.normal(size=(3, 3, 3))
    x = np.einsum("nd,nde->ne", rng.normal(size=(600, 3)), shapes[y]) + 1.5 * rng.normal(size=(3, 3))[y]
    cells, volumes = ellipsoid_cells(x, y, 3, 0.95, 200_000, np.random.default_rng(0))
    points = rng.uniform(x.min(axis=0) - 5, x.max(axis=0) + 5, (1_000_000, 3))  # the whole box, evenly
    inside = []
    for c in range(3):
        off = points - x[y == c].mean(axis=0)
        squared = np.einsum("nd,de,ne->n", off, np.linalg.inv(np.cov(x[y == c].T)), off)
        inside.append(squared <= chi2.ppf(0.95, 3))
    for pair in ([0, 1], [0, 2], [1, 2]):
        a, b = (inside[c] for c in pair)
        found = overlaps(cells, volumes, np.array([pair]))[0]
        np.testing.assert_allclose(found, (a & b).sum() / (a | b).sum(), atol=0.01)


def identity_features(n_classes, width):
    """A fitted network without hidden layers: its features are the instances themselves."""
    rng = np.random.default_rng(0)
    y = np.arange(10 * n_classes) % n_classes
    return StandardNetwork(backbone=(), epochs=1, standardise=False).fit(rng.normal(size=(len(y), width)), y)


def test_classes_that_overlap_make_the_sets():
    """Classes 0, 1 lie together, 2 beside them, 3 and 4 touch each other, 5 stands alone; two columns are mere noise."""
    at = np.array([0.0, 0.3, 2.5, 100.0, 104.5, 200.0])
    rng = np.random.default_rng(0)
    y = np.arange(6000) % 6
    x = rng.normal(size=(6000, 5)) * [1, 1, 1, 0.01, 0.01]
    x[:, 0] += at[y]
    sets, how = budget_from_network(identity_features(6, 5), x.astype(np.float32), y, 10)
    assert how == "ellipsoids"
    np.testing.assert_array_equal(sets[:6], np.eye(6))
    chosen = [tuple(np.flatnonzero(s)) for s in sets[6:]]
    assert chosen[0] == (0, 1)
    assert set(chosen[1:4]) == {(1, 2), (0, 2), (0, 1, 2)}
    assert chosen[1] == (1, 2)
    assert chosen[4:] == [(3, 4)]  # and no more, since no other sets overlap
    few, _ = budget_from_network(identity_features(6, 5), x.astype(np.float32), y, 2)
    assert [tuple(np.flatnonzero(s)) for s in few[6:]] == [(0, 1), (1, 2)]


def test_flat_clouds_fall_back_on_the_probabilities():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    x = np.zeros((60, 3), dtype=np.float32)
    x[:, 0] = rng.normal(size=60) + y
    sets, how = budget_from_network(identity_features(3, 3), x, y, 2)
    assert how == "confusion"
    assert sets.shape == (5, 3)
    sets, how = budget_from_network(identity_features(3, 1), x[:, :1], y, 2)
    assert how == "ellipsoids"  # intervals, in one dimension
