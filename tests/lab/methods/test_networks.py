"""What all methods with networks share: options, the scale of the inputs, and the head of Gaussian logits."""

import numpy as np
import pytest
import torch
from tests.refusals import refuses

from uqassay import GaussianLogits
from uqassay.lab.methods import RSNN, DeepEnsemble, Flipout, MCDropout, StandardNetwork, build_method, fit_together
from uqassay.lab.methods import networks as gaussian_logits
from uqassay.lab.methods.layers import Dense, Draws, resized, shift_flip_places, shifted_and_flipped
from uqassay.lab.methods.networks import LEAST_VARIANCE, GaussianHead, dense_layers, sampled_logits_loss


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


# -- options, scale of the inputs, threads -----------------------------------------------------------------------------


def data(n=24, width=3):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, width)) + 3.0 * y[:, None], y


def test_options_are_checked_against_shape_and_classes_where_these_are_given():
    StandardNetwork(backbone="cnn").check_options()
    with refuses("X", "shape", got=r"got \(5,\)"):
        StandardNetwork(backbone="cnn").check_options((5,))
    StandardNetwork(backbone="cnn").check_options((3, 8, 8))
    Flipout(backbone=()).check_options()
    with refuses("where", "conflict"):
        Flipout(backbone=()).check_options((5,))
    RSNN(focal_sets=[[0], [1]]).check_options((5,), 2)
    with refuses("focal_sets", "missing", got="class 2"):
        RSNN(focal_sets=[[0], [1]]).check_options((5,), 3)


def test_check_leaves_no_trace():
    net = DeepEnsemble(backbone=torch.nn.Linear(5, 4))
    state = torch.get_rng_state()
    before = dict(vars(net))
    net.check_options((5,), 3)
    assert vars(net) == before
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("shape", [(3,), (4, 5), (2, 4, 5)])
def test_scale_is_that_of_each_feature_or_channel(shape):
    rng = np.random.default_rng(1)
    x = rng.normal(3.0, 2.0, size=(40, *shape))
    net = StandardNetwork(backbone=(4,), epochs=1).fit(x, np.arange(40) % 2)
    axes = {1: (0,), 2: (0, 1, 2), 3: (0, 2, 3)}[len(shape)]
    np.testing.assert_allclose(np.squeeze(net.mean_), np.squeeze(x.mean(axis=axes)), rtol=1e-12)
    np.testing.assert_allclose(np.squeeze(net.spread_), np.squeeze(x.std(axis=axes)), rtol=1e-12)


def test_pieces_of_an_evaluation_are_those_of_the_whole(monkeypatch):
    x, y = data(60)
    net = MCDropout(backbone=(6,), n_samples=5, epochs=2).fit(x, y)
    whole = net.predict_uncertainty(x).probs
    monkeypatch.setattr("uqassay.lab.methods.networks.CHUNK_BYTES", 1)
    np.testing.assert_allclose(net.predict_uncertainty(x).probs, whole, atol=1e-12)


def test_dense_layers_of_a_backbone_in_order():
    net = StandardNetwork(backbone=(8, 4), epochs=1).fit(*data())
    names = [type(layer).__name__ for layer in dense_layers(net.backbone_, lambda width: [torch.nn.Identity()])]
    assert names == ["Dense", "ReLU", "Identity"] * 2


# -- head of Gaussian logits -------------------------------------------------------------------------------------------


def draws(*seeds, rows):
    return Draws([torch.Generator().manual_seed(seed) for seed in seeds], rows)


def test_loss_against_integration_over_the_difference_of_two_logits():
    mean = torch.tensor([[[0.5, -0.2], [1.0, 2.0]]], dtype=torch.float64)
    spread = torch.tensor([[[0.7, 1.1], [0.0, 2.0]]], dtype=torch.float64)
    y = torch.tensor([[0, 1]])
    found = sampled_logits_loss(mean, spread, y, draws(0, rows=[2]), n_draws=200_000)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    for i, (label, other) in enumerate([(0, 1), (1, 0)]):
        gap = float(mean[0, i, label] - mean[0, i, other])
        width = float((spread[0, i] ** 2).sum() ** 0.5)
        expected = (weights / (1 + np.exp(-(gap + width * nodes)))).sum() / weights.sum()
        np.testing.assert_allclose(float(found[0, i]), -np.log(expected), atol=0.01)


def test_without_spread_it_is_the_cross_entropy():
    torch.manual_seed(0)
    mean, y = torch.randn(2, 5, 3), torch.randint(3, (2, 5))
    found = sampled_logits_loss(mean, torch.zeros_like(mean), y, draws(0, 1, rows=[5, 5]))
    expected = torch.nn.functional.cross_entropy(mean.flatten(0, 1), y.flatten(), reduction="none").view(2, 5)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_gradients():
    torch.manual_seed(0)
    mean = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    spread = (torch.rand(2, 3, 4, dtype=torch.float64) + 0.1).requires_grad_()
    y = torch.tensor([[0, 1, 2], [3, 0, 1]])

    def loss(mean, spread):
        return sampled_logits_loss(mean, spread, y, draws(0, 1, rows=[3, 3]), n_draws=7)

    assert torch.autograd.gradcheck(loss, (mean, spread))


def test_head_has_positive_variance_and_a_finite_gradient():
    torch.manual_seed(0)
    head = GaussianHead(Dense(2, 3), Dense(2, 3))
    head.raw_variance.bias.data[:] = -500.0
    x = torch.randn(1, 4, 2)
    mean, variance = head(x)
    torch.testing.assert_close(mean, head.mean(x))
    torch.testing.assert_close(variance, torch.full_like(variance, LEAST_VARIANCE))
    variance.sqrt().sum().backward()
    assert torch.isfinite(head.raw_variance.bias.grad).all()


def noisy(n, seed):
    """Two classes; the label says nothing where the second feature is 1."""
    rng = np.random.default_rng(seed)
    y, noise = rng.integers(2, size=n), rng.integers(2, size=n)
    x = np.column_stack([2.0 * y - 1.0 + 0.3 * rng.normal(size=n), noise])
    return x, np.where(noise == 1, rng.integers(2, size=n), y), noise


@pytest.mark.parametrize("convention", ["exact", "paper-code"])
@pytest.mark.parametrize("method", [DeepEnsemble(n_members=3), MCDropout(n_samples=7, rate=0.1)], ids=str)
def test_variance_is_greater_where_labels_are_noise(method, convention):
    from sklearn.base import clone

    net = clone(method).set_params(
        head="gaussian-logits", convention=convention, backbone=(16,), epochs=60, learning_rate=0.01
    )
    x, y, noise = noisy(300, 0)
    said = net.fit(x, y).predict_uncertainty(x)
    assert isinstance(said, GaussianLogits)
    n_members = getattr(method, "n_members", 7)
    assert said.mean.shape == said.variance.shape == (300, n_members, 2)
    # what the spread does to the softmax is relative to the distance of the means
    gap = np.abs(said.mean[..., 0] - said.mean[..., 1])
    relative = np.sqrt(said.variance.sum(axis=2)) / (gap + 1.0)
    assert relative[noise == 1].mean() > relative[noise == 0].mean()
    clean = noise == 0
    assert (said.labels()[clean] == y[clean]).mean() > 0.95


def test_stated_variance_is_the_output_of_the_head():
    x, y, _ = noisy(60, 1)
    net = DeepEnsemble(n_members=2, head="gaussian-logits", backbone=(4,), epochs=2).fit(x, y)
    said = net.predict_uncertainty(x[:5])
    mean, variance = net.network_(torch.from_numpy(net._prepared(x[:5]))[None].double())
    np.testing.assert_allclose(said.mean, mean.transpose(0, 1), atol=1e-12)
    np.testing.assert_allclose(said.variance, variance.transpose(0, 1), atol=1e-12)
    assert (said.variance_is, said.n_draws) == ("aleatoric", 100)
    assert said.members().n_members == 2  # the networks span the set, not the draws
    many = MCDropout(n_samples=120, head="gaussian-logits", backbone=(4,), epochs=1).fit(x, y).predict_uncertainty(x)
    assert (many.n_draws, many.members().n_members) == (100, 120)


@pytest.mark.parametrize(("rows", "k", "n_draws", "scale"), [((3, 2), 3, 100, 1.0), ((5, 5, 5), 10, 7, 50.0)])
def test_the_closed_gradient_against_autograd_and_few_networks_at_a_time(monkeypatch, rows, k, n_draws, scale):
    def draws():
        return Draws([torch.Generator().manual_seed(m) for m in range(len(rows))], rows)

    torch_rng = torch.Generator().manual_seed(0)
    shape = (len(rows), max(rows), k)
    mean = (scale * torch.randn(shape, generator=torch_rng)).requires_grad_()
    spread = (scale * torch.rand(shape, generator=torch_rng)).requires_grad_()
    y = torch.randint(k, shape[:2], generator=torch_rng)
    outer = torch.randn(shape[:2], generator=torch_rng)
    noise = draws().normal_units(k * n_draws).view(*shape, n_draws)
    log_probs = torch.log_softmax(mean[..., None] + spread[..., None] * noise, dim=2)
    at_label = log_probs.gather(2, y[..., None, None].expand(*shape[:2], 1, n_draws))[:, :, 0]
    expected = np.log(n_draws) - torch.logsumexp(at_label, dim=-1)
    gradients = torch.autograd.grad((expected * outer).sum(), (mean, spread))
    for cache in (1, 2**30):
        monkeypatch.setattr(gaussian_logits, "CACHE_BYTES", cache)
        loss = gaussian_logits.sampled_logits_loss(mean, spread, y, draws(), n_draws)
        torch.testing.assert_close(loss, expected, atol=1e-5 * scale, rtol=1e-5)
        ours = torch.autograd.grad((loss * outer).sum(), (mean, spread))
        torch.testing.assert_close(ours, gradients, atol=1e-5 * scale, rtol=1e-4)
