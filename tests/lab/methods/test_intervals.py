"""Interval networks: what they state, that no radius is the plain network, that they learn, and their convolutions."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn.functional import batch_norm, conv2d, softplus

from uqassay import Intervals
from uqassay.credal import intervals as house
from uqassay.lab.methods import CreINN, StandardNetwork
from uqassay.lab.methods.intervals import (
    Halves,
    IntervalBatchNorm,
    IntervalConvolution,
    IntervalDense,
    IntervalImageNetwork,
    IntervalReLU,
    intersection_probability,
    interval_softmax,
    reachable,
)
from uqassay.lab.methods.layers import Draws
from uqassay.lab.methods.training import Batch


def blobs(n=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 2)) + 3.0 * np.array([[0, 0], [1, 1], [-1, 1]])[y], y


def test_no_radius_is_the_plain_network():
    x, y = blobs()
    plain = StandardNetwork(backbone=(8, 6), epochs=20, learning_rate=0.01).fit(x, y)
    net = CreINN(backbone=(8, 6), epochs=1, batch_norm=False).fit(x, y)
    theirs = dict(plain.network_.named_parameters())
    own = [name for name, _ in net.network_.named_parameters() if "raw" not in name]
    assert own == list(theirs)
    for name, parameter in net.network_.named_parameters():
        parameter.data = torch.full_like(parameter, -torch.inf) if "raw" in name else theirs[name].data
    said = net.predict_uncertainty(x)
    probs = plain.predict_proba(x)
    np.testing.assert_allclose(said.lower, probs, atol=1e-12)
    np.testing.assert_allclose(said.upper, probs, atol=1e-12)
    np.testing.assert_allclose(net.predict_proba(x), probs, atol=1e-12)
    np.testing.assert_array_equal(net.predict(x), plain.predict(x))


def test_loss_without_radius_is_the_cross_entropy_and_of_odd_outputs_finite():
    net = CreINN()
    logits = torch.tensor([[[2.0, -1.0, 0.5], [0.0, 0.0, 0.0], [-300.0, 300.0, 0.0]]], requires_grad=True)
    batch = Batch(torch.tensor([[0, 1, 0]]), torch.zeros(1, 1), torch.ones(1, 1), Draws([]))
    loss = net._loss(None, (logits, logits), batch)
    expected = -logits.detach().log_softmax(-1)[0, [0, 1], [0, 1]]
    torch.testing.assert_close(loss[0, :2], expected)
    assert torch.isfinite(loss).all()
    loss.sum().backward()
    assert torch.isfinite(logits.grad).all()


def test_loss_by_hand():
    """Two classes: l = σ(lo − mid of the other), u alike; l, u made reachable; −ln(l + α (u − l))."""
    lo, hi = np.array([0.0, -1.0]), np.array([1.0, 1.0])
    mid = (lo + hi) / 2
    l, u = 1 / (1 + np.exp(mid[::-1] - lo)), 1 / (1 + np.exp(mid[::-1] - hi))
    l, u = np.maximum(l, 1 - u[::-1]), np.minimum(u, 1 - l[::-1])
    p = l + (1 - l.sum()) / (u - l).sum() * (u - l)
    batch = Batch(torch.tensor([[1]]), torch.zeros(1, 1), torch.ones(1, 1), Draws([]))
    loss = CreINN()._loss(None, (torch.tensor(lo)[None, None], torch.tensor(hi)[None, None]), batch)
    np.testing.assert_allclose(loss, -np.log([[p[1]]]))


@pytest.mark.parametrize("batch_norm", [True, False])
def test_intervals_are_reachable_and_hold_the_middle_prediction(batch_norm):
    x, y = blobs()
    net = CreINN(backbone=(8,), epochs=30, learning_rate=0.02, batch_norm=batch_norm).fit(x, y)
    far = np.concatenate([x, 50 * x])
    said = net.predict_uncertainty(far)
    assert isinstance(said, Intervals)
    assert (said.lower <= said.upper).all()
    assert (said.upper > said.lower).any()
    assert (said.lower.sum(axis=1) <= 1 + 1e-12).all()
    assert (said.upper.sum(axis=1) >= 1 - 1e-12).all()
    for made, given in zip(said.bounds(), (said.lower, said.upper), strict=True):
        np.testing.assert_allclose(made, given, atol=1e-12)
    lower, upper = net._evaluate(net._prepared(far), lambda network, x, draws: network(x))
    middle = torch.from_numpy(lower + upper)[:, 0].div(2).softmax(-1).numpy()
    assert (said.lower <= middle + 1e-12).all()
    assert (said.upper >= middle - 1e-12).all()
    assert net.score(x, y) > 0.9


def test_wider_weights_wider_intervals():
    x, y = blobs()
    net = CreINN(backbone=(8,), epochs=5).fit(x, y)
    before = net._evaluate(net._prepared(x), lambda network, x, draws: network(x))
    for name, parameter in net.network_.named_parameters():
        if "raw" in name:
            parameter.data += 1.0
    after = net._evaluate(net._prepared(x), lambda network, x, draws: network(x))
    assert (after[0] < before[0]).all()
    assert (after[1] > before[1]).all()


def test_no_hidden_layer():
    x, y = blobs()
    said = CreINN(backbone=(), epochs=5).fit(x, y).predict_uncertainty(x)
    assert (said.upper > said.lower).all()


@pytest.mark.parametrize(("backbone", "shape"), [("cnn", (1, 8, 8)), ("cnn-small", (8, 8)), ("eeg", (2, 60))])
def test_convolutions(backbone, shape):
    """Convolutions of images have radii, those of recordings have not."""
    x = np.random.default_rng(0).normal(size=(20, *shape))
    net = CreINN(backbone=backbone, epochs=2).fit(x, np.arange(20) % 2)
    radii = [name for name, _ in net.network_.extractor.named_parameters() if "raw" in name]
    assert len(radii) == (0 if backbone == "eeg" else 6)
    said = net.predict_uncertainty(x)
    assert (said.upper >= said.lower).all()
    assert (said.upper > said.lower).any()


def test_images_of_digits():
    x, y = load_digits(return_X_y=True)
    x, test_x, y, test_y = x[:600].reshape(-1, 8, 8), x[600:1000].reshape(-1, 8, 8), y[:600], y[600:1000]
    options = {"backbone": "cnn-small", "epochs": 5, "learning_rate": 0.005}
    accuracy = CreINN(**options).fit(x, y).score(test_x, test_y)
    assert accuracy >= StandardNetwork(**options).fit(x, y).score(test_x, test_y) - 0.02


def test_digits_within_two_points_of_the_standard_network():
    x, y = load_digits(return_X_y=True)
    x, test_x, y, test_y = train_test_split(x / 16, y, test_size=0.3, stratify=y, random_state=0)
    options = {"epochs": 15, "learning_rate": 0.01}
    net = CreINN(**options).fit(x, y)
    assert net.score(test_x, test_y) >= StandardNetwork(**options).fit(x, y).score(test_x, test_y) - 0.02
    said = net.predict_uncertainty(test_x)
    right = net.predict(test_x) == test_y
    width = (said.upper - said.lower).mean(axis=1)
    assert width[~right].mean() > 2 * width[right].mean()


# -- Interval arithmetic against networks drawn from the box, and what follows it against formulas.


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


def dense(inputs, outputs, generator, radius=0.5):
    layer = IntervalDense(inputs, outputs, radius).double()
    with torch.no_grad():
        layer.weight.normal_(generator=generator)
        layer.bias.normal_(generator=generator)
        layer.raw_weight_radius.normal_(generator=generator)
        layer.raw_bias_radius.normal_(generator=generator)
    return layer


def inside(centre, raw_radius, generator):
    """A tensor of the box: half of the entries anywhere, half at a corner."""
    share = 2 * torch.rand(centre.shape, generator=generator, dtype=torch.float64) - 1
    corner = torch.rand(centre.shape, generator=generator) < 0.5
    return centre + softplus(raw_radius) * torch.where(corner, share.sign(), share)


def uniform(*shape, generator):
    return torch.rand(*shape, generator=generator, dtype=torch.float64)


def test_initial_radius():
    layer = IntervalDense(16, 3, 0.2)
    torch.testing.assert_close(softplus(layer.raw_weight_radius), torch.full((1, 16, 3), 0.2 / 4))
    torch.testing.assert_close(softplus(layer.raw_bias_radius), torch.full((1, 1, 3), 0.2 / 4))
    assert layer.weight.abs().max() <= 0.25


def test_range_of_points_is_exact(generator):
    """Each bound is attained: by the weights whose sign of the radius follows the sign of x."""
    layer = dense(5, 3, generator)
    x = torch.randn(1, 7, 5, generator=generator, dtype=torch.float64)
    lower, upper = layer(x)
    radius, bias_radius = softplus(layer.raw_weight_radius), softplus(layer.raw_bias_radius)
    for b in range(7):
        corner = x[0, b].sign()[:, None] * radius[0]
        torch.testing.assert_close(upper[0, b], x[0, b] @ (layer.weight[0] + corner) + (layer.bias + bias_radius)[0, 0])
        torch.testing.assert_close(lower[0, b], x[0, b] @ (layer.weight[0] - corner) + (layer.bias - bias_radius)[0, 0])


def test_range_of_intervals_is_exact(generator):
    """By brute force: each product x W is least and greatest at one of the four corners of its two intervals."""
    layer = dense(4, 3, generator)
    low = uniform(1, 6, 4, generator=generator) * (uniform(1, 6, 4, generator=generator) < 0.7)
    high = low + uniform(1, 6, 4, generator=generator)
    lower, upper = layer((low, high))
    radius, bias_radius = softplus(layer.raw_weight_radius), softplus(layer.raw_bias_radius)
    products = torch.stack(
        [x[..., None] * w[:, None] for x in (low, high) for w in (layer.weight - radius, layer.weight + radius)]
    )  # (4, 1, 6, 4, 3)
    torch.testing.assert_close(lower, products.amin(0).sum(-2) + layer.bias - bias_radius)
    torch.testing.assert_close(upper, products.amax(0).sum(-2) + layer.bias + bias_radius)


def test_every_network_of_the_box_lies_within(generator):
    """Two layers, ReLU between; 2,000 networks drawn from the box."""
    first, second = dense(4, 6, generator, 0.3), dense(6, 3, generator, 0.3)
    x = torch.randn(1, 9, 4, generator=generator, dtype=torch.float64)
    with torch.no_grad():
        lower, upper = second(IntervalReLU()(first(x)))
        for _ in range(2000):
            w1, b1 = (
                inside(first.weight, first.raw_weight_radius, generator),
                inside(first.bias, first.raw_bias_radius, generator),
            )
            w2, b2 = (
                inside(second.weight, second.raw_weight_radius, generator),
                inside(second.bias, second.raw_bias_radius, generator),
            )
            output = torch.relu(x @ w1 + b1) @ w2 + b2
            assert (output >= lower - 1e-12).all()
            assert (output <= upper + 1e-12).all()


def test_batch_norm_is_that_of_the_centres_and_exact_for_every_point(generator):
    norm = IntervalBatchNorm(3).double()
    with torch.no_grad():
        norm.scale.copy_(torch.tensor([[[1.5, -0.7, 0.2]]]))
        norm.shift.copy_(torch.tensor([[[0.1, 0.2, -0.3]]]))
    centre = torch.randn(2, 8, 3, generator=generator, dtype=torch.float64) * 2 + 1
    radius = uniform(2, 8, 3, generator=generator)
    running_mean, running_variance = torch.zeros(2, 3).double(), torch.ones(2, 3).double()
    norm.running_mean, norm.running_variance = norm.running_mean.repeat(2, 1, 1), norm.running_variance.repeat(2, 1, 1)
    lower, upper = norm((centre - radius, centre + radius))
    for m in range(2):
        scale, shift = norm.scale[0, 0], norm.shift[0, 0]
        expected = batch_norm(centre[m], running_mean[m], running_variance[m], scale, shift, training=True)
        torch.testing.assert_close(((lower + upper) / 2)[m], expected)
        factor = scale / (centre[m].var(dim=0, correction=0) + 1e-5).sqrt()
        for bound in (centre - radius, centre + radius):
            mapped = (bound[m] - centre[m].mean(dim=0)) * factor + shift
            assert (mapped >= lower[m] - 1e-12).all()
            assert (mapped <= upper[m] + 1e-12).all()
            assert (torch.minimum((mapped - lower[m]).abs(), (mapped - upper[m]).abs()) < 1e-12).all()
    torch.testing.assert_close(norm.running_mean[:, 0], running_mean)
    torch.testing.assert_close(norm.running_variance[:, 0], running_variance)
    norm.eval()
    lower, upper = norm((centre, centre))
    expected = batch_norm(centre[1], running_mean[1], running_variance[1], scale, shift)
    torch.testing.assert_close(lower[1], expected)
    torch.testing.assert_close(upper[1], expected)


def test_batch_norm_leaves_out_instances_that_fill_up(generator):
    x = torch.randn(2, 5, 3, generator=generator)
    filled = x.clone()
    filled[1, 3:] = 1e6
    both, single = IntervalBatchNorm(3), IntervalBatchNorm(3)
    for norm in (both, single):
        norm.running_mean, norm.running_variance = torch.zeros(2, 1, 3), torch.ones(2, 1, 3)
    found = both((filled, filled), Draws([generator, generator], [5, 3]))[0][1, :3]
    expected = single((x[1:, :3], x[1:, :3]))[0][0]
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(both.running_mean[1], single.running_mean[1])


def test_batch_norm_of_one_instance_is_the_shift():
    norm = IntervalBatchNorm(2)
    lower, upper = norm((torch.full((1, 1, 2), 3.0), torch.full((1, 1, 2), 3.0)))
    torch.testing.assert_close(lower, torch.zeros(1, 1, 2))
    torch.testing.assert_close(upper, torch.zeros(1, 1, 2))
    assert torch.isfinite(norm.running_variance).all()


def by_formula(lower, upper):
    middle = (lower + upper) / 2
    rest = np.exp(middle).sum(axis=-1, keepdims=True) - np.exp(middle)
    return np.exp(lower) / (np.exp(lower) + rest), np.exp(upper) / (np.exp(upper) + rest)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_interval_softmax_by_formula(n_classes, generator):
    lower = torch.randn(50, n_classes, generator=generator, dtype=torch.float64) * 3
    upper = lower + 2 * uniform(50, n_classes, generator=generator)
    l, u = interval_softmax(lower, upper)
    expected = by_formula(lower.numpy(), upper.numpy())
    np.testing.assert_allclose(l, expected[0], rtol=1e-12)
    np.testing.assert_allclose(u, expected[1], rtol=1e-12)
    middle = ((lower + upper) / 2).softmax(-1)
    assert ((l <= middle) & (middle <= u)).all()
    assert (l.sum(-1) <= 1).all()
    assert (u.sum(-1) >= 1).all()


def test_interval_softmax_of_large_and_tied_logits():
    l, u = interval_softmax(
        torch.tensor([[900.0, -900.0, 0.0], [5.0, 5.0, 5.0]]), torch.tensor([[900.0, -900.0, 0.0], [5.0] * 3])
    )
    torch.testing.assert_close(l, torch.tensor([[1.0, 0.0, 0.0], [1 / 3] * 3]))
    torch.testing.assert_close(u, l)
    logits = torch.tensor([[200.0, 0.0], [0.0, 0.0]], requires_grad=True)
    interval_softmax(logits, logits)[0].sum().backward()
    assert torch.isfinite(logits.grad).all()


def test_reachable_and_intersection_against_the_house(generator):
    lower = torch.randn(200, 4, generator=generator, dtype=torch.float64) * 2
    bounds = interval_softmax(lower, lower + 4 * uniform(200, 4, generator=generator))
    l, u = reachable(*bounds)
    expected = house.reachable(*(b.numpy() for b in bounds))
    np.testing.assert_allclose(l, expected[0], atol=1e-14)
    np.testing.assert_allclose(u, expected[1], atol=1e-14)
    assert np.abs(l.numpy() - bounds[0].numpy()).max() > 1e-3  # the softmax alone is not reachable
    again = reachable(l, u)
    torch.testing.assert_close(again[0], l)
    torch.testing.assert_close(again[1], u)
    p = intersection_probability(l, u)
    np.testing.assert_allclose(p, house.intersection_probability(*expected), atol=1e-14)
    np.testing.assert_allclose(p.sum(-1), 1)
    assert ((p >= l - 1e-14) & (p <= u + 1e-14)).all()


def test_intersection_of_no_width_is_the_point_itself():
    p = torch.tensor([[0.2, 0.3, 0.5]], dtype=torch.float64, requires_grad=True)
    found = intersection_probability(p, p)
    torch.testing.assert_close(found, p)
    found[0, 0].log().backward()
    assert torch.isfinite(p.grad).all()


def test_gradients(generator):
    def loss(lower, width):
        return intersection_probability(*reachable(*interval_softmax(lower, lower + width))).log()

    lower = torch.randn(6, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    width = uniform(6, 4, generator=generator).add(0.05).requires_grad_()
    assert torch.autograd.gradcheck(interval_softmax, (lower, (lower + width).detach().requires_grad_()))
    assert torch.autograd.gradcheck(loss, (lower, width))
    layer = dense(3, 2, generator)
    low = uniform(1, 4, 3, generator=generator).add(0.1)
    params = list(layer.parameters())
    assert torch.autograd.gradcheck(lambda *_: layer((low, low + 0.5)), params)
    assert torch.autograd.gradcheck(lambda *_: layer(low - 0.5), params)
    norm = IntervalBatchNorm(3).double()
    x = torch.randn(1, 5, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: norm((x, x + 0.3)), x)


# -- convolutions of intervals -----------------------------------------------------------------------------------------


def within(centre, raw_radius, generator):
    share = 2 * uniform(*centre.shape, generator=generator) - 1
    corner = uniform(*centre.shape, generator=generator) < 0.5
    return centre + softplus(raw_radius) * torch.where(corner, share.sign(), share)


def layer(generator, inputs=2, outputs=3, radius=0.4):
    torch.manual_seed(0)
    made = IntervalConvolution(nn.Conv2d(inputs, outputs, 3, padding=1), radius).double()
    made.raw_weight_radius.data += 0.5 * torch.randn(made.raw_weight_radius.shape, generator=generator)
    return made


def test_initial_radius_of_interval_convolutions():
    made = IntervalConvolution(nn.Conv2d(4, 3, 3), 0.3)
    torch.testing.assert_close(softplus(made.raw_weight_radius), torch.full((3, 4, 3, 3), 0.3 / 6))
    torch.testing.assert_close(softplus(made.raw_bias_radius), torch.full((3,), 0.3 / 6))


def test_range_of_intervals_is_exact_of_interval_convolutions(generator):
    """Patch by patch: the range of a layer is that of a product of intervals, least and greatest at their corners."""
    made = layer(generator)
    low = uniform(4, 2, 5, 5, generator=generator)
    high = low + uniform(4, 2, 5, 5, generator=generator)
    lower, upper = made((low, high))
    patches = [nn.functional.unfold(x, 3, padding=1)[:, None] for x in (low, high)]  # (B, 1, 18, 25)
    weight, bias = made.centre.weight.flatten(1), made.centre.bias[:, None]
    radius, bias_radius = softplus(made.raw_weight_radius).flatten(1), softplus(made.raw_bias_radius)[:, None]
    corners = torch.stack([p * w[:, :, None] for p in patches for w in (weight - radius, weight + radius)])
    torch.testing.assert_close(lower.flatten(2), corners.amin(0).sum(2) + bias - bias_radius)
    torch.testing.assert_close(upper.flatten(2), corners.amax(0).sum(2) + bias + bias_radius)


def test_every_kernel_of_the_box_lies_within(generator):
    torch.manual_seed(0)
    plain = nn.Sequential(
        nn.Conv2d(1, 3, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(3, 2, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
    )
    made = IntervalImageNetwork(plain, 0.3).double()
    x = torch.randn(5, 1, 6, 6, generator=generator, dtype=torch.float64)
    with torch.no_grad():
        lower, upper = Halves()(made(x)[None])
        assert (upper > lower).any()
        for _ in range(300):
            (w1, b1), (w2, b2) = (
                (
                    within(c.centre.weight, c.raw_weight_radius, generator),
                    within(c.centre.bias, c.raw_bias_radius, generator),
                )
                for c in (made.layers[0], made.layers[3])
            )
            hidden = torch.max_pool2d(torch.relu(conv2d(x, w1, b1, padding=1)), 2)
            output = torch.relu(conv2d(hidden, w2, b2, padding=1)).flatten(1)
            assert (output >= lower[0] - 1e-12).all()
            assert (output <= upper[0] + 1e-12).all()


def test_no_radius_is_the_plain_network_of_interval_convolutions(generator):
    torch.manual_seed(0)
    plain = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Conv2d(3, 2, 2), nn.ReLU(), nn.Flatten()).double()
    made = IntervalImageNetwork(plain, 0.3)
    for name, parameter in made.named_parameters():
        if "raw" in name:
            parameter.data.fill_(-torch.inf)
    x = torch.randn(5, 1, 6, 6, generator=generator, dtype=torch.float64)
    lower, upper = Halves()(made(x)[None])
    for bound in (lower[0], upper[0]):
        np.testing.assert_allclose(bound.detach(), plain(x).detach(), atol=1e-12)


def test_gradients_of_interval_convolutions(generator):
    made = layer(generator, 1, 2)
    low = uniform(1, 1, 3, 3, generator=generator) + 0.1
    params = list(made.parameters())
    assert torch.autograd.gradcheck(lambda *_: made((low, low + 0.4)), params)
    assert torch.autograd.gradcheck(lambda *_: made(low - 0.5), params)
