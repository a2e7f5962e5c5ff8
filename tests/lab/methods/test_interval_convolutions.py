"""Convolutions of intervals against images and kernels drawn from the box, and against plain convolutions."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import conv2d, softplus

from uqassay.lab.methods.intervals import Halves, IntervalConvolution, IntervalImageNetwork


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)


def uniform(*shape, generator):
    return torch.rand(*shape, generator=generator, dtype=torch.float64)


def within(centre, raw_radius, generator):
    share = 2 * uniform(*centre.shape, generator=generator) - 1
    corner = uniform(*centre.shape, generator=generator) < 0.5
    return centre + softplus(raw_radius) * torch.where(corner, share.sign(), share)


def layer(generator, inputs=2, outputs=3, radius=0.4):
    torch.manual_seed(0)
    made = IntervalConvolution(nn.Conv2d(inputs, outputs, 3, padding=1), radius).double()
    made.raw_weight_radius.data += 0.5 * torch.randn(made.raw_weight_radius.shape, generator=generator)
    return made


def test_initial_radius():
    made = IntervalConvolution(nn.Conv2d(4, 3, 3), 0.3)
    torch.testing.assert_close(softplus(made.raw_weight_radius), torch.full((3, 4, 3, 3), 0.3 / 6))
    torch.testing.assert_close(softplus(made.raw_bias_radius), torch.full((3,), 0.3 / 6))


def test_range_of_intervals_is_exact(generator):
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


def test_no_radius_is_the_plain_network(generator):
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


def test_gradients(generator):
    made = layer(generator, 1, 2)
    low = uniform(1, 1, 3, 3, generator=generator) + 0.1
    params = list(made.parameters())
    assert torch.autograd.gradcheck(lambda *_: made((low, low + 0.4)), params)
    assert torch.autograd.gradcheck(lambda *_: made(low - 0.5), params)
