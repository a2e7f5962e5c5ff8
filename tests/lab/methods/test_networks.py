"""Options that all methods with networks share, out of range or in conflict."""

import numpy as np
import pytest
import torch
from tests.refusals import refuses

from uqassay.lab.methods import DeepEnsemble, StandardNetwork, build_method, fit_together
from uqassay.lab.methods.layers import resized, shift_flip_places, shifted_and_flipped


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"optimiser": "lbfgs"}, "optimiser", "choice", "got 'lbfgs'"),
        ({"optimiser": "sgd", "momentum": 1.0}, "momentum", "range", "got 1.0"),
        ({"optimiser": "sgd", "momentum": float("nan")}, "momentum", "range", "got nan"),
        ({"optimiser": "sgd", "momentum": "0.9"}, "momentum", "type", "got '0.9'"),
        ({"momentum": 0.9}, "momentum", "conflict", "got 0.9 with 'adam'"),
        ({"rate_drops": 80}, "rate_drops", "type", "got 80"),
        ({"rate_drops": (80, 120.5)}, "rate_drops", "type", "got 120.5"),
        ({"rate_drops": (True,)}, "rate_drops", "type", "got True"),
        ({"rate_drops": (0, 80)}, "rate_drops", "range", "got 0"),
        ({"rate_drops": [120, 80]}, "rate_drops", "range", r"got \[120, 80\]"),
        ({"learning_rate": 0.0}, "learning_rate", "range", "got 0.0"),
        ({"mixed_precision": "False"}, "mixed_precision", "type", "got 'False'"),
    ],
)
def test_refusals(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        StandardNetwork(**options).check_options()


def test_lists_from_files_are_taken():
    build_method("snn", optimiser="sgd", momentum=0.9, rate_drops=[80, 120, 160, 180]).check_options()


# -- Shifts and flips against images moved by hand, and images of another size.


def moved_by_hand(image, down, right, flip):
    """An image (H, W) shifted, the nearest pixel filling what is uncovered, then mirrored."""
    edge = np.pad(image, 4, mode="edge")
    h, w = image.shape
    part = edge[4 - down : 4 - down + h, 4 - right : 4 - right + w]
    return part[:, ::-1] if flip else part


@pytest.mark.parametrize("channels", [1, 3, None])
def test_every_image_is_one_of_those_moved_by_hand(channels):
    rng = np.random.default_rng(0)
    shape = (5, 20, 30) if channels is None else (5, channels, 20, 30)
    x = torch.tensor(rng.normal(size=shape), dtype=torch.float32)
    rows = torch.tensor([[0, 3, 4, 4], [2, 1, 1, 1]])
    generators = [np.random.default_rng(seed) for seed in (1, 2)]
    seen = []
    for _ in range(30):
        places = [torch.from_numpy(a) for a in shift_flip_places(20, 30, [4, 3], generators)]
        found = shifted_and_flipped(x, rows, *places).numpy().reshape(2, 4, -1, 20, 30)
        for m, b in np.ndindex(2, 4):
            image = x[rows[m, b]].numpy().reshape(-1, 20, 30)
            how = [
                (down, right, flip)
                for down in range(-2, 3)
                for right in range(-3, 4)
                for flip in (False, True)
                if all(
                    np.array_equal(f, moved_by_hand(i, down, right, flip))
                    for f, i in zip(found[m, b], image, strict=True)
                )
            ]
            assert len(how) == 1  # all channels alike
            if (m, b) == (1, 3):
                assert how == [(0, 0, False)]  # it only fills the batch up
            else:
                seen.append(how[0])
    down, right, flip = zip(*seen, strict=True)
    assert (set(down), set(right), set(flip)) == ({-2, -1, 0, 1, 2}, {-3, -2, -1, 0, 1, 2, 3}, {False, True})


def test_shifts_and_flips_are_uniform():
    lines, columns = shift_flip_places(20, 20, [20_000], [np.random.default_rng(0)])
    down, flips = 10 - lines[0, :, 10], columns[0, :, 0] > columns[0, :, -1]
    assert abs(flips.mean() - 0.5) < 0.02
    assert np.abs(np.bincount(down + 2) / 20_000 - 0.2).max() < 0.02


def test_a_network_draws_the_same_whatever_is_beside_it():
    alone = shift_flip_places(20, 20, [3], [np.random.default_rng(7)])
    beside = shift_flip_places(20, 20, [5, 3], [np.random.default_rng(1), np.random.default_rng(7)])
    for one, two in zip(alone, beside, strict=True):
        np.testing.assert_array_equal(one[0], two[1, :3])


def images(n=30, size=20):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    x = rng.normal(size=(n, 1, size, size))
    x[y == 0, :, : size // 2] += 2
    return x, y


OPTIONS = {"backbone": "cnn-small", "epochs": 2, "batch_size": 8, "augmentation": "shift-flip"}


def test_augmented_networks_are_the_same_side_by_side_and_alone():
    x, y = images()
    together = DeepEnsemble(n_members=2, parallel="stacked", **OPTIONS).fit(x, y)
    alone = DeepEnsemble(n_members=2, parallel="sequential", **OPTIONS).fit(x, y)
    plain = DeepEnsemble(n_members=2, parallel="sequential", **OPTIONS | {"augmentation": None}).fit(x, y)
    np.testing.assert_allclose(together.predict_proba(x), alone.predict_proba(x), atol=1e-5)
    assert np.abs(plain.predict_proba(x) - alone.predict_proba(x)).max() > 1e-4


def test_networks_with_unequal_training_sets_draw_their_own_changes():
    x, y = images()
    x = x.reshape(len(x), 20, 20)
    options = OPTIONS | {"backbone": (8,)}
    nets = [StandardNetwork(random_state=seed, **options) for seed in (0, 1)]
    fit_together(nets, [(x, y), (x[:13], y[:13])])
    alone = StandardNetwork(random_state=1, **options).fit(x[:13], y[:13])
    np.testing.assert_allclose(nets[1].predict_proba(x), alone.predict_proba(x), atol=1e-5)


def test_held_out_images_are_not_changed():
    x, y = images(40)
    net = StandardNetwork(early_stopping=True, validation_fraction=0.5, **OPTIONS | {"epochs": 1}).fit(x, y)
    (job,) = net._jobs(len(y))
    probs = net.predict_proba(x[job.held_out])
    loss = -np.log(probs[np.arange(len(probs)), y[job.held_out]]).mean()
    np.testing.assert_allclose(net.training_[0].validation_losses, [loss], rtol=1e-4)


# -- another size -------------------------------------------------------------------------------------------------------


def test_a_larger_image_by_hand():
    """At twice the size a pixel lies a quarter of a pixel from its source: weights 3/4 and 1/4, edges repeated."""
    line = torch.tensor([0.0, 4.0, 8.0])
    x = line.expand(2, 3, 3, 3)  # constant along the first image axis
    expected = torch.tensor([0.0, 1.0, 3.0, 5.0, 7.0, 8.0])
    torch.testing.assert_close(resized(x, 6), expected.expand(2, 3, 6, 6))
    torch.testing.assert_close(resized(x[0, 0], 6), expected.expand(6, 6))


def test_a_smaller_image_averages_what_it_merges():
    checks = (torch.arange(16)[:, None] + torch.arange(16)) % 2.0
    small = resized(checks[None], 4)
    torch.testing.assert_close(small, torch.full((1, 4, 4), 0.5), atol=0.02, rtol=0)


@pytest.mark.parametrize("channels", [True, False])
@pytest.mark.parametrize("parallel", ["stacked", "sequential"])
def test_a_network_on_resized_images_is_one_on_images_resized_beforehand(channels, parallel):
    x, y = images(20, size=12)
    x = x if channels else x[:, 0]
    large = resized(torch.from_numpy(x), 16).numpy()
    options = {"n_members": 2, "backbone": "cnn-small", "epochs": 2, "batch_size": 8, "standardise": False}
    within = DeepEnsemble(image_size=16, parallel=parallel, **options).fit(x, y)
    before = DeepEnsemble(parallel=parallel, **options).fit(large, y)
    assert within.backbone_.n_inputs == 64 * 4 * 4
    np.testing.assert_allclose(within.predict_proba(x), before.predict_proba(large), atol=1e-4)


def test_pieces_of_an_evaluation_count_the_large_images(monkeypatch):
    x, y = images(20, size=12)
    net = StandardNetwork(backbone="cnn-small", image_size=24, epochs=1).fit(x, y)
    whole = net.predict_proba(x)
    sizes = []
    features = net.network_.features
    monkeypatch.setattr("uqassay.lab.methods.networks.LARGE_CHUNK_BYTES", 5 * 8 * (24 * 24 * 4 + 64))
    monkeypatch.setattr(net.network_, "features", lambda x, draws=None: sizes.append(x.shape[1]) or features(x, draws))
    np.testing.assert_allclose(net.predict_proba(x), whole, atol=1e-5)
    assert sizes == [5] * 4


def test_early_stopping_checks_resized_images_in_pieces():
    x, y = images(40, size=12)
    options = {"backbone": "cnn-small", "image_size": 16, "epochs": 1, "batch_size": 7, "early_stopping": True}
    net = StandardNetwork(validation_fraction=0.5, **options).fit(x, y)
    (job,) = net._jobs(len(y))
    probs = net.predict_proba(x[job.held_out])
    loss = -np.log(probs[np.arange(len(probs)), y[job.held_out]]).mean()
    np.testing.assert_allclose(net.training_[0].validation_losses, [loss], rtol=1e-4)


@pytest.mark.parametrize(
    ("options", "shape", "parameter", "code"),
    [
        ({"augmentation": "shift-flip"}, (5,), "X", "shape"),
        ({"augmentation": "shift-flip", "backbone": "eeg"}, (3, 80), "X", "shape"),
        ({"image_size": 32}, (5,), "X", "shape"),
        ({"image_size": 32}, (1, 8, 8), "image_size", "conflict"),
        ({"image_size": 4, "backbone": "cnn"}, (1, 8, 8), "X", "shape"),
        ({"image_size": 80, "backbone": "eeg"}, (3, 80), "X", "shape"),
        ({"image_size": 0}, None, "image_size", "range"),
        ({"image_size": 3.5}, None, "image_size", "type"),
        ({"augmentation": "cutout"}, None, "augmentation", "choice"),
    ],
)
def test_refusals_of_image_batches(options, shape, parameter, code):
    with refuses(parameter, code):
        StandardNetwork(**options).check_options(shape)
