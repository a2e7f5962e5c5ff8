"""Steps of a stack of networks against PyTorch's optimisers and its schedule."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from uqassay.lab.methods.layers import Dense, Network, ReLU
from uqassay.lab.methods.training import Job, Training, new_optimiser, train

SIZES = (4, 8, 3)


def stack(m=1, seed=0):
    """M networks that start alike."""
    torch.manual_seed(seed)
    layers = [layer for a, b in pairwise(SIZES[:-1]) for layer in (Dense(a, b), ReLU())]
    network = Network(None, layers, Dense(*SIZES[-2:]))
    for p in network.parameters():
        p.data = p.data.repeat(m, 1, 1)
    return network


def cross_entropy(network, outputs, batch):
    return nn.functional.cross_entropy(outputs.flatten(0, 1), batch.y.flatten(), reduction="none").view(batch.y.shape)


def data(n=21):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    return torch.tensor(rng.normal(size=(n, 4)) + y[:, None], dtype=torch.float32), torch.tensor(y)


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@pytest.mark.parametrize(("name", "momentum"), [("adam", 0.0), ("sgd", 0.0), ("sgd", 0.9)])
def test_training_is_that_of_pytorch_with_its_schedule(name, momentum, weight_decay):
    x, y = data()
    ours = stack()
    plain = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    for mine, theirs in ((ours.trunk[0], plain[0]), (ours.head, plain[2])):
        theirs.weight.data, theirs.bias.data = mine.weight.data[0].T.clone(), mine.bias.data[0, 0].clone()
    one = Job(np.arange(21), np.arange(0), 7, np.random.SeedSequence(5))
    how = Training(
        batch_size=8,
        learning_rate=0.05,
        weight_decay=weight_decay,
        optimiser=name,
        momentum=momentum,
        rate_drops=(2, 5),
    )
    train(ours, [one], x, y, cross_entropy, how)
    if name == "adam":
        optimiser = torch.optim.AdamW(plain.parameters(), lr=0.05, weight_decay=weight_decay)
    else:
        optimiser = torch.optim.SGD(plain.parameters(), lr=0.05, momentum=momentum, weight_decay=weight_decay)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimiser, milestones=[2, 5], gamma=0.1)
    rng = np.random.default_rng(one.stream(1))
    for _ in range(7):
        order = rng.permutation(21)
        for rows in (order[:8], order[8:16], order[16:]):
            optimiser.zero_grad()
            nn.functional.cross_entropy(plain(x[rows]), y[rows]).backward()
            optimiser.step()
        schedule.step()
    torch.testing.assert_close(ours.trunk[0].weight[0].T, plain[0].weight, atol=2e-5, rtol=1e-4)
    torch.testing.assert_close(ours.head.bias[0, 0], plain[2].bias, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize(("name", "momentum"), [("adam", 0.0), ("sgd", 0.9)])
def test_a_rate_falls_by_the_epochs_of_its_own_network(name, momentum):
    """Networks with 5, 2 and 1 batches to an epoch pass the drops at different steps, and leave at different ones."""
    x, y = data(40)
    how = Training(
        batch_size=8, learning_rate=0.05, optimiser=name, momentum=momentum, rate_drops=(1, 3), weight_decay=0.1
    )
    sizes = ((40, 4), (16, 6), (8, 5))
    jobs = [Job(np.arange(n), np.arange(0), epochs, np.random.SeedSequence(n)) for n, epochs in sizes]
    together = stack(3)
    train(together, jobs, x, y, cross_entropy, how)
    for m, one in enumerate(jobs):
        alone = stack()
        train(alone, [one], x, y, cross_entropy, how)
        for a, b in zip(alone.parameters(), together.parameters(), strict=True):
            torch.testing.assert_close(a[0], b[m], atol=1e-5, rtol=1e-4)


def test_parameters_that_are_fixed_or_unused_do_not_move():
    network = stack(2)
    network.head.bias.requires_grad_(False)
    before = [p.detach().clone() for p in network.parameters()]
    steps = new_optimiser("sgd", network, weight_decay=0.0, momentum=0.5)
    steps.step(network.head.weight.sum(), [0.1, 0.2])
    moved = [not torch.equal(a, b) for a, b in zip(before, network.parameters(), strict=True)]
    assert moved == [False, False, True, False]
    torch.testing.assert_close(network.head.weight, before[2] - torch.tensor([0.1, 0.2])[:, None, None])
    steps.keep([1])
    assert [p.shape[0] for p in network.parameters()] == [1] * 4
    torch.testing.assert_close(network.head.bias, before[3][1:])
