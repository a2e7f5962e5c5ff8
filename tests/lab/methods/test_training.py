"""The training loop against a plain one, and what stops it."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from tests.refusals import refuses
from torch import nn

from uqassay.lab.methods import DeepEnsemble, StandardNetwork
from uqassay.lab.methods.layers import Dense, Network, ReLU
from uqassay.lab.methods.training import Batch, Job, Training, train


def job(rows, *, seed=0, epochs=3, held_out=()):
    return Job(np.asarray(rows), np.asarray(held_out, dtype=np.intp), epochs, np.random.SeedSequence(seed))


def network(*sizes, seed=0):
    torch.manual_seed(seed)
    layers = [layer for a, b in pairwise(sizes[:-1]) for layer in (Dense(a, b), ReLU())]
    return Network(None, layers, Dense(*sizes[-2:]))


def cross_entropy(network, outputs, batch):
    return nn.functional.cross_entropy(outputs.flatten(0, 1), batch.y.flatten(), reduction="none").view(batch.y.shape)


def data(n=50, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return torch.tensor(rng.normal(size=(n, 4)) + y[:, None], dtype=torch.float32), torch.tensor(y)


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_against_a_plain_loop(weight_decay):
    x, y = data(21)
    ours = network(4, 8, 3)
    plain = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    for mine, theirs in ((ours.trunk[0], plain[0]), (ours.head, plain[2])):
        theirs.weight.data, theirs.bias.data = mine.weight.data[0].T.clone(), mine.bias.data[0, 0].clone()
    one = job(np.arange(21), seed=5, epochs=4)
    settings = Training(batch_size=8, learning_rate=0.01, weight_decay=weight_decay)
    (went,) = train(ours, [one], x, y, cross_entropy, settings)
    assert (went.n_epochs, went.best_epoch, went.validation_losses) == (4, 4, ())
    optimiser = torch.optim.AdamW(plain.parameters(), lr=0.01, weight_decay=weight_decay)
    rng = np.random.default_rng(one.stream(1))
    for _ in range(4):
        order = rng.permutation(21)
        for rows in (order[:8], order[8:16], order[16:]):
            optimiser.zero_grad()
            nn.functional.cross_entropy(plain(x[rows]), y[rows]).backward()
            optimiser.step()
    torch.testing.assert_close(ours(x[None])[0], plain(x), atol=1e-5, rtol=1e-5)


def seen_by_the_loss(jobs, batch_size):
    """What each step showed each network: instances, epochs completed, number of training instances."""
    n = max(max(j.rows.max(), *j.held_out, 0) for j in jobs) + 1
    x = torch.arange(n, dtype=torch.float32)[:, None]
    steps = []

    def watch(network, outputs, batch: Batch):
        assert batch.y.shape == batch.draws.normal_units(1)[..., 0].shape
        steps.append((batch.y.tolist(), batch.epoch[:, 0].tolist(), batch.n_train[:, 0].tolist(), network.training))
        return outputs.sum(dim=2)

    stack = network(1, 2)
    for p in stack.parameters():
        p.data = p.data.repeat(len(jobs), 1, 1)
    train(stack, jobs, x, torch.arange(n), watch, Training(batch_size=batch_size, patience=None))
    return steps


def test_each_epoch_goes_through_all_instances_in_a_new_order():
    steps = seen_by_the_loss([job(np.arange(10, 17), epochs=3)], 3)
    assert len(steps) == 6  # 3 + 4, since a single instance joins the batch before
    epochs = [[*steps[2 * e][0][0], *steps[2 * e + 1][0][0]] for e in range(3)]
    assert all(sorted(epoch) == list(range(10, 17)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    assert [len(s[0][0]) for s in steps] == [3, 4] * 3
    assert [s[1] for s in steps] == [[0], [0], [1], [1], [2], [2]]
    assert all(s[2] == [7] and s[3] for s in steps)


def test_batches_of_one():
    steps = seen_by_the_loss([job(np.arange(3), epochs=1)], 1)
    assert [len(s[0][0]) for s in steps] == [1, 1, 1]


def test_finished_networks_leave_the_stack():
    steps = seen_by_the_loss([job(np.arange(2), epochs=1), job(np.arange(5), epochs=2), job([4], epochs=3)], 2)
    assert [len(s[0]) for s in steps] == [3, 2, 2, 1]
    assert [s[2] for s in steps] == [[2, 5, 1], [5, 1], [5, 1], [5]]


def test_a_network_trains_alike_beside_longer_and_shorter_ones():
    x, y = data(60)
    jobs = [job(np.arange(60), seed=1, epochs=2), job(np.arange(7), seed=2, epochs=9), job([3], seed=3, epochs=5)]
    together = network(4, 8, 3)
    for p in together.parameters():
        p.data = p.data.repeat(3, 1, 1)
    train(together, jobs, x, y, cross_entropy, Training(batch_size=16, learning_rate=0.01))
    for m, one in enumerate(jobs):
        alone = network(4, 8, 3)
        train(alone, [one], x, y, cross_entropy, Training(batch_size=16, learning_rate=0.01))
        for a, b in zip(alone.parameters(), together.parameters(), strict=True):
            torch.testing.assert_close(a[0], b[m], atol=1e-6, rtol=1e-5)


def test_early_stopping_keeps_the_best_weights():
    x, y = data(80, seed=3)
    y[::3] = (y[::3] + 1) % 3  # noise, so that long training overfits
    rows, held_out = np.arange(50), np.arange(50, 80)
    settings = Training(batch_size=16, learning_rate=0.05, patience=6)
    stopped = network(4, 32, 3)
    (went,) = train(stopped, [job(rows, held_out=held_out, epochs=200)], x, y, cross_entropy, settings)
    assert went.n_epochs == len(went.validation_losses) == went.best_epoch + 6 < 200
    assert went.best_epoch == 1 + int(np.argmin(went.validation_losses))
    exact = network(4, 32, 3)
    train(exact, [job(rows, epochs=went.best_epoch)], x, y, cross_entropy, Training(batch_size=16, learning_rate=0.05))
    for a, b in zip(stopped.parameters(), exact.parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=0, rtol=0)
    loss = nn.functional.cross_entropy(stopped(x[None, held_out])[0], y[held_out])
    np.testing.assert_allclose(float(loss.detach()), min(went.validation_losses), rtol=1e-5)


def test_early_stopping_of_a_stack_is_that_of_each():
    x, y = data(80, seed=3)
    settings = Training(batch_size=16, learning_rate=0.05, patience=3)
    jobs = [job(np.arange(50 - m), held_out=np.arange(50, 80 - m), epochs=40, seed=m) for m in range(3)]
    together = network(4, 8, 3)
    for p in together.parameters():
        p.data = p.data.repeat(3, 1, 1)
    all_went = train(together, jobs, x, y, cross_entropy, settings)
    assert len({went.n_epochs for went in all_went}) > 1
    for m, one in enumerate(jobs):
        alone = network(4, 8, 3)
        (went,) = train(alone, [one], x, y, cross_entropy, settings)
        assert (went.n_epochs, went.best_epoch) == (all_went[m].n_epochs, all_went[m].best_epoch)
        np.testing.assert_allclose(went.validation_losses, all_went[m].validation_losses, rtol=1e-4)
        for a, b in zip(alone.parameters(), together.parameters(), strict=True):
            torch.testing.assert_close(a[0], b[m], atol=1e-5, rtol=1e-4)


def test_held_out_instances_are_checked_without_noise_and_with_final_weights_of_terms():
    x, y = data(20)
    seen = []

    def watch(network, outputs, batch):
        if not network.training:
            seen.append((batch.y.tolist(), batch.epoch.tolist(), batch.draws.normal_units(2).flatten().tolist()))
        return cross_entropy(network, outputs, batch)

    one = job(np.arange(15), held_out=np.arange(15, 20), epochs=2)
    train(network(4, 3), [one], x, y, watch, Training(patience=5))
    assert len(seen) == 2
    assert seen[0] == seen[1] == ([y[15:].tolist()], [[np.inf]], seen[0][2])


def test_overflow_is_said():
    x = np.array([[0.0], [1.0]] * 4)
    with refuses("learning_rate", "finite", got=r"got 1e\+30"):
        StandardNetwork(backbone=(4,), epochs=20, learning_rate=1e30).fit(x, [0, 1] * 4)


# -- backbones with batch norm ------------------------------------------------------------------------------------------


def with_batch_norm():
    return nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.ReLU())


@pytest.mark.parametrize(
    "net",
    [
        StandardNetwork(epochs=2, batch_size=8),
        StandardNetwork(epochs=2, batch_size=8, early_stopping=True, validation_fraction=0.5),
        DeepEnsemble(n_members=2, epochs=2, batch_size=8, parallel="stacked"),
    ],
)
def test_a_single_instance_is_left_over(net):
    """17 = 8 + 8 + 1, of which 8 or 9 are held out where training stops early; 9 = 8 + 1."""
    rng = np.random.default_rng(0)
    for n in (17, 9, 5):
        x, y = rng.normal(size=(n, 2)), np.arange(n) % 2
        fitted = net.set_params(backbone=with_batch_norm()).fit(x, y)
        assert np.isfinite(fitted.predict_proba(x)).all()


def test_a_batch_of_one_cannot_be_normalised():
    x, y = np.array([[0.0, 1.0], [1.0, 0.0]] * 4), [0, 1] * 4
    net = StandardNetwork(backbone=with_batch_norm(), epochs=1)
    with refuses("batch_size", "range", got="got 1"):
        net.set_params(batch_size=1).fit(x, y)
    net.set_params(batch_size=8, early_stopping=True, validation_fraction=0.9)
    with refuses("X", "empty", got="got 1"):
        net.fit(x[:4], y[:4])
    # recordings have a variance over time
    recordings = np.random.default_rng(0).normal(size=(4, 2, 60))
    StandardNetwork(backbone="eeg", epochs=1, batch_size=1).fit(recordings, y[:4])


def test_other_errors_of_a_backbone_are_its_own():
    class Refusing(nn.Module):
        def forward(self, x):
            if self.training:
                raise ValueError("not today")
            return x

    with pytest.raises(ValueError, match=r"^not today$"):
        StandardNetwork(backbone=Refusing(), epochs=1).fit(np.eye(4), [0, 1, 0, 1])
