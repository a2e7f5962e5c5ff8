"""Random-set networks: Möbius inverse and loss against the house's and by hand, what is stated, and the choice of sets."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from tests.refusals import refuses

from uqassay import Masses
from uqassay.credal import all_focal_sets
from uqassay.credal.events import family_moebius, moebius_transform, paper_masses
from uqassay.lab.methods import RSNN, StandardNetwork
from uqassay.lab.methods.layers import Draws, Network
from uqassay.lab.methods.random_sets import BeliefHead
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


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"n_sets": -1}, "n_sets", "range", "got -1"),
        ({"n_sets": 2.5}, "n_sets", "type", "got 2.5"),
        ({"negative_weight": -1.0}, "negative_weight", "range", "got -1.0"),
        ({"sum_weight": np.nan}, "sum_weight", "range", "got nan"),
        ({"focal_sets": [[0], [0, 1]]}, "focal_sets", "missing", "class 1 is missing"),
        ({"focal_sets": [[0], [1], [2]]}, "focal_sets", "range", "set 2 holds 2"),
        ({"focal_sets": [[0], [1], [1]]}, "focal_sets", None, ""),
    ],
)
def test_refusals(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        RSNN(**options).fit([[0.0], [1.0]], [0, 1])
    with refuses(parameter, code, got=got):
        RSNN(**options).check_options((1,), 2)  # without training
