"""Members are independent networks, and better together."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay import Members
from uqassay.lab.methods import DeepEnsemble, StandardNetwork


def test_average_beats_its_members(digits):
    x, test_x, y, test_y = digits
    said = (
        DeepEnsemble(backbone=(32,), epochs=40, learning_rate=0.003, n_members=8).fit(x, y).predict_uncertainty(test_x)
    )
    assert isinstance(said, Members)
    assert said.probs.shape == (len(test_x), 8, 10)
    at_label = np.take_along_axis(said.probs, test_y[:, None, None], axis=2)[..., 0]  # (n, M)
    of_members = -np.log(at_label).mean(axis=0)
    of_average = -np.log(at_label.mean(axis=1)).mean()
    assert of_average < of_members.min()
    accuracies = (said.probs.argmax(axis=2) == test_y[:, None]).mean(axis=0)
    assert (said.labels() == test_y).mean() > accuracies.mean()


def test_members_do_not_depend_on_their_number(digits):
    x, test_x, y, _ = digits
    options = {"backbone": (16,), "epochs": 2, "random_state": 7}
    few, more = (DeepEnsemble(n_members=m, **options).fit(x, y).predict_uncertainty(test_x).probs for m in (2, 5))
    np.testing.assert_allclose(few, more[:, :2], atol=1e-6)
    single = StandardNetwork(**options).fit(x, y).predict_proba(test_x)
    np.testing.assert_allclose(few[:, 0], single, atol=1e-6)
    assert min(np.abs(more[:, a] - more[:, b]).max() for a in range(5) for b in range(a)) > 1e-3


def test_an_ensemble_in_parts(digits):
    x, test_x, y, _ = digits
    options = {"backbone": (16,), "epochs": 2, "random_state": 7, "early_stopping": True, "parallel": "sequential"}
    whole = DeepEnsemble(n_members=5, **options).fit(x, y).predict_uncertainty(test_x).probs
    for first, n in ((0, 2), (2, 3)):
        part = DeepEnsemble(first_member=first, n_members=n, **options).fit(x, y).predict_uncertainty(test_x).probs
        np.testing.assert_array_equal(part, whole[:, first : first + n])


def test_mean_of_members_is_predict_proba(digits):
    x, test_x, y, _ = digits
    ensemble = DeepEnsemble(backbone=(16,), epochs=2, n_members=3).fit(x, y)
    np.testing.assert_allclose(
        ensemble.predict_proba(test_x), ensemble.predict_uncertainty(test_x).probs.mean(axis=1), atol=1e-12
    )


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"n_members": 0}, "n_members", "range", "got 0"),
        ({"first_member": -1}, "first_member", "range", "got -1"),
        ({"first_member": 1.5}, "first_member", "type", "got 1.5"),
        ({"head": "linear"}, "head", "choice", "got 'linear'"),
        ({"convention": "paper"}, "convention", "choice", "got 'paper'"),
    ],
)
def test_refusals(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        DeepEnsemble(**options).fit([[0.0], [1.0]], [0, 1])
    with refuses(parameter, code, got=got):
        DeepEnsemble(**options).check_options((1,), 2)  # without training
