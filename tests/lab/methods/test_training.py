"""The training loop and its optimisers against plain ones, and what stops it."""

import io
import os
import sys
import threading
import time
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tests.refusals import refuses
from torch import nn

from uqassay.lab.methods import DeepEnsemble, StandardNetwork
from uqassay.lab.methods import networks as stacking
from uqassay.lab.methods import training as devices
from uqassay.lab.methods import training as progress
from uqassay.lab.methods.layers import Dense, Network, ReLU
from uqassay.lab.methods.networks import train_tasks
from uqassay.lab.methods.training import (
    Batch,
    Job,
    Training,
    chosen_device,
    new_optimiser,
    private_torch,
    progress_bar,
    torch_threads,
    train,
)


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


# -- Tasks of training: each gets its own networks back, in order, whatever it is trained with.


def task(seed=0, n=24, **options):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    net = StandardNetwork(backbone=(4,), epochs=2, batch_size=7, random_state=seed, **options)
    return net._task(rng.normal(size=(n, 3)) + y[:, None], y)


def tensors(trained):
    network, _ = trained
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}


def test_tasks_of_several_kinds_come_back_in_their_order():
    make = [
        lambda: task(0), lambda: task(1, learning_rate=0.1), lambda: task(2), lambda: task(3, n=9),
        lambda: task(4, learning_rate=0.1),
    ]  # fmt: skip
    together = train_tasks([one() for one in make])
    for one, found in zip(make, together, strict=True):
        (alone,) = train_tasks([one()])
        for name, tensor in tensors(alone).items():
            torch.testing.assert_close(tensors(found)[name], tensor, atol=1e-5, rtol=1e-5)
        assert found[1] == alone[1]


def test_tasks_are_not_changed_by_their_training():
    one, other = task(0), task(1)
    before = [(t.x.copy(), t.y.copy(), [job.rows.copy() for job in t.jobs]) for t in (one, other)]
    train_tasks([one, other])
    for t, (x, y, rows) in zip((one, other), before, strict=True):
        np.testing.assert_array_equal(t.x, x)
        np.testing.assert_array_equal(t.y, y)
        np.testing.assert_array_equal(t.jobs[0].rows, rows[0])


def test_no_tasks_have_no_results():
    assert train_tasks([]) == []


@pytest.mark.slow
@pytest.mark.parametrize(("backbone", "shape", "other"), [((4,), (3,), "stacked"), ("cnn-small", (8, 8), "sequential")])
def test_processes_train_the_same_networks(backbone, shape, other):
    """The only test that starts processes, each of which loads PyTorch."""
    x, y = np.random.default_rng(0).normal(size=(30, *shape)), np.arange(30) % 2
    options = {"n_members": 3, "backbone": backbone, "epochs": 2}
    apart, together = (DeepEnsemble(parallel=how, **options).fit(x, y) for how in ("processes", other))
    np.testing.assert_allclose(apart.predict_proba(x), together.predict_proba(x), atol=1e-6 if shape == (3,) else 1e-5)
    assert [t.n_epochs for t in apart.training_] == [2, 2, 2]


@pytest.mark.parametrize("options", [{"parallel": "processes"}, {"backbone": "cnn-small"}])
def test_a_daemonic_process_starts_no_others(monkeypatch, options):
    """Processes of Dask's workers are daemonic, and joblib warns there that it starts no processes."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8, 1, 12, 12)), np.arange(8) % 2
    if options.get("parallel"):
        X = X[:, 0, 0]

    def ensemble(**further):
        small = {"backbone": (4,), "n_members": 2, "epochs": 1, "random_state": 0}
        return DeepEnsemble(**small | options | further)._task(X, y)

    (whole,) = train_tasks([ensemble(parallel="sequential")])
    started = []
    monkeypatch.setattr(stacking, "_in_processes", started.append)
    monkeypatch.setattr(stacking, "available_cores", lambda: 4)
    monkeypatch.setattr(stacking, "current_process", lambda: SimpleNamespace(daemon=True))
    (alone,) = train_tasks([ensemble()])
    assert not started
    for name, tensor in tensors(whole).items():
        torch.testing.assert_close(tensors(alone)[name], tensor, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("backbone", "device", "how"),
    [
        ("resnet50", "cuda", "sequential"),
        ("resnet50", "cpu", "processes"),
        ("cnn", "cuda", "stacked"),
        ("cnn", "cpu", "processes"),
        ("mlp", "cuda", "stacked"),
        ("mlp", "cpu", "stacked"),
    ],
)
def test_how_several_networks_are_trained(monkeypatch, backbone, device, how):
    monkeypatch.setattr(stacking, "available_cores", lambda: 2)
    x, y = np.random.default_rng(0).normal(size=(4, 3, 32, 32)), np.arange(4) % 2
    lead = StandardNetwork(backbone=backbone)._task(x, y)
    assert stacking._how(lead, 3, torch.device(device)) == how


# -- PyTorch's global state is left as it was found.


def test_devices_by_name():
    assert chosen_device("cpu") == torch.device("cpu")
    assert chosen_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    for wrong in ("gpu", "mps", "meta", ""):
        with refuses("device", "choice", got='must be "auto", "cpu" or "cuda"'):
            chosen_device(wrong)
    with refuses("device", "missing", got="'cuda:99'"):
        chosen_device("cuda:99")


def test_private_random_numbers():
    before = torch.get_rng_state()
    with private_torch(3):
        first = torch.rand(3)
    with private_torch(3, torch.device("cpu")):
        second = torch.rand(3)
    assert torch.equal(first, second)
    assert torch.equal(before, torch.get_rng_state())
    with pytest.raises(KeyError, match="x"), private_torch(4):
        raise KeyError("x")
    assert torch.equal(before, torch.get_rng_state())


def test_threads_take_turns_with_the_random_numbers():
    def drawn():
        with private_torch(3):
            first = torch.rand(3)
            time.sleep(0.05)  # long enough for another thread to interfere, if it could
            found.append(torch.cat([first, torch.rand(3)]))

    found = []
    before = torch.get_rng_state()
    drawn()
    threads = [threading.Thread(target=drawn) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [torch.equal(found[0], one) for one in found] == [True] * 4
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_child_of_a_process_that_trains_is_not_locked_out():
    held, leave = threading.Event(), threading.Event()

    def hold():
        with private_torch(0):
            held.set()
            leave.wait(600)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(600)
    child = os.fork()
    if child == 0:  # the lock is another thread's, which the child does not have
        free = devices.ONE_THREAD.lock.acquire(timeout=60)
        os._exit(0 if free else 1)
    _, status = os.waitpid(child, 0)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0


def test_threads_come_back():
    before = torch.get_num_threads()
    with torch_threads(before + 1):
        assert torch.get_num_threads() == before + 1
        with torch_threads(None):
            assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before
    with pytest.raises(KeyError, match="x"), torch_threads(before + 2):
        raise KeyError("x")
    assert torch.get_num_threads() == before


# -- The bar of a training: on a terminal, after a second, and nowhere else.


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Bar:
    """Records what is drawn."""

    def __init__(self):
        self.said = []

    def start(self):
        self.said.append("start")

    def add_task(self, what, total):
        self.said.append((what, total))
        return 7

    def update(self, task, completed):
        self.said.append((task, completed))

    def stop(self):
        self.said.append("stop")


@pytest.fixture
def bar(monkeypatch):
    made = Bar()
    monkeypatch.setattr(progress, "_new_bar", lambda: made)
    return made


@pytest.mark.parametrize(("stream", "shown"), [(io.StringIO(), True), (Terminal(), False)])
def test_nothing_is_drawn_without_a_terminal_or_a_wish(monkeypatch, bar, stream, shown):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    with progress_bar("training", 3, shown=shown) as show:
        show(1)
    assert (bar.said, stream.getvalue()) == ([], "")


def test_short_work_has_no_bar(monkeypatch, bar):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_bar("training", 3, shown=True) as show:
        show(1)
    assert bar.said == []


def test_long_work_has_one_that_ends_with_an_error_too(monkeypatch, bar):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "PATIENCE", -1.0)

    def train():
        with progress_bar("training", 3, shown=True) as show:
            show(1)
            show(2)
            raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        train()
    assert bar.said == ["start", ("training", 3), (7, 1), (7, 2), "stop"]


def test_without_rich_training_goes_on(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    with progress_bar("training", 3, shown=True) as show:
        show(1)
    assert sys.stderr.getvalue() == ""


def test_bar_of_rich(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("training 3 networks", 10, shown=True) as show:
        show(5)
    assert "training 3 networks" in sys.stderr.getvalue()


# -- steps of a stack of networks against PyTorch's optimisers and its schedule -----------------------------------------


SIZES = (4, 8, 3)


def stack(m=1, seed=0):
    """M networks that start alike."""
    torch.manual_seed(seed)
    layers = [layer for a, b in pairwise(SIZES[:-1]) for layer in (Dense(a, b), ReLU())]
    network = Network(None, layers, Dense(*SIZES[-2:]))
    for p in network.parameters():
        p.data = p.data.repeat(m, 1, 1)
    return network


def data_optimisers(n=21):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    return torch.tensor(rng.normal(size=(n, 4)) + y[:, None], dtype=torch.float32), torch.tensor(y)


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@pytest.mark.parametrize(("name", "momentum"), [("adam", 0.0), ("sgd", 0.0), ("sgd", 0.9)])
def test_training_is_that_of_pytorch_with_its_schedule(name, momentum, weight_decay):
    x, y = data_optimisers()
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
    x, y = data_optimisers(40)
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
