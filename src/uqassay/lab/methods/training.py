"""Training of M networks side by side, each with its own instances, batches and noise."""

import math
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.lab.methods.layers import Draws, Network, shift_flip_places, shifted_and_flipped

__all__ = [
    "OPTIMISERS",
    "Batch",
    "Job",
    "Training",
    "TrainingRecord",
    "check_device",
    "chosen_device",
    "new_optimiser",
    "private_torch",
    "progress_bar",
    "torch_threads",
    "train",
]


# Steps of AdamW and of SGD with momentum, for M networks side by side.
#
# All parameters are one vector, so that a step costs a few operations however many layers there are. The networks of a
# stack may have different learning rates.

BETAS, EPSILON = (0.9, 0.999), 1e-8  # of Adam
OPTIMISERS = ("adam", "sgd")


class OptimiserSteps(ABC):
    """Updates of a stack of networks, which it holds as one vector.

    Parameters
    ----------
    network : Network
        Its parameters become views of the vector.
    """

    _kept: ClassVar[tuple[str, ...]]  # names of the vectors, one number for each parameter

    def __init__(self, network: Network, weight_decay: float) -> None:
        self.parameters = [p for p in network.parameters() if p.requires_grad]
        self.fixed = [p for p in network.parameters() if not p.requires_grad]
        self.decay = weight_decay
        self.values = _joined([p.data for p in self.parameters])
        self._place()
        self._last_rates: tuple[tuple[float, ...], Tensor] | None = None

    def step(self, loss: Tensor, rates: Sequence[float]) -> None:
        """Update all parameters by the gradient of a loss, with the learning rate of each network."""
        gradients = torch.autograd.grad(loss, self.parameters, materialize_grads=True, allow_unused=True)
        same = min(rates) == max(rates)
        self._move(_joined(gradients), rates[0] if same else self._of_each_parameter(tuple(rates)))

    def keep(self, places: Sequence[int]) -> None:
        """Only the networks at these places stay."""
        shapes = [p.shape for p in self.parameters]
        for name in self._kept:
            parts = getattr(self, name).split([math.prod(shape) for shape in shapes])
            kept = [part.view(shape)[places] for part, shape in zip(parts, shapes, strict=True)]
            setattr(self, name, _joined(kept))
        for p in self.fixed:
            p.data = p.data[places]
        self._place(len(places))
        self._last_rates = None

    @abstractmethod
    def _move(self, gradient: Tensor, rate: float | Tensor) -> None:
        """Change `values` in place; the rate is one number, or one for each parameter."""

    def _of_each_parameter(self, rates: tuple[float, ...]) -> Tensor:
        """The rate of each parameter's network, made again when a rate changes."""
        if self._last_rates is None or self._last_rates[0] != rates:
            each = self.values.new_tensor(rates)
            whole = _joined([each.repeat_interleave(math.prod(p.shape[1:])) for p in self.parameters])
            self._last_rates = (rates, whole)
        return self._last_rates[1]

    def _place(self, n_networks: int | None = None) -> None:
        """Make the parameters views of the vector."""
        shapes = [(n_networks or len(p), *p.shape[1:]) for p in self.parameters]
        parts = self.values.split([math.prod(shape) for shape in shapes])
        for p, part, shape in zip(self.parameters, parts, shapes, strict=True):
            p.data = part.view(shape)


@final
class AdamWSteps(OptimiserSteps):
    """The operations of `torch.optim.AdamW`, in its order; the decay is decoupled from the gradient."""

    _kept = ("values", "first", "second")

    def __init__(self, network: Network, weight_decay: float) -> None:
        super().__init__(network, weight_decay)
        self.n_steps = 0
        self.first, self.second = torch.zeros_like(self.values), torch.zeros_like(self.values)

    def _move(self, gradient: Tensor, rate: float | Tensor) -> None:
        self.n_steps += 1
        bias = [1 - beta**self.n_steps for beta in BETAS]
        if self.decay:
            self.values.mul_(1 - rate * self.decay)
        self.first.lerp_(gradient, 1 - BETAS[0])
        self.second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        denominator = torch.sqrt(self.second, out=gradient).div_(math.sqrt(bias[1])).add_(EPSILON)
        if isinstance(rate, Tensor):
            self.values.addcdiv_(self.first * rate, denominator, value=-1 / bias[0])
        else:
            self.values.addcdiv_(self.first, denominator, value=-rate / bias[0])


@final
class MomentumSteps(OptimiserSteps):
    """The operations of `torch.optim.SGD` without dampening: g + λ θ is added to μ times the last step, times the rate.

    Parameters
    ----------
    weight_decay : float
        λ, of the squared norm of the weights in the loss: it is part of the gradient.
    momentum : float
        μ.
    """

    _kept = ("values", "velocity")

    def __init__(self, network: Network, weight_decay: float, momentum: float) -> None:
        super().__init__(network, weight_decay)
        self.momentum = momentum
        self.velocity = torch.zeros_like(self.values)

    def _move(self, gradient: Tensor, rate: float | Tensor) -> None:
        if self.decay:
            gradient.add_(self.values, alpha=self.decay)
        self.velocity.mul_(self.momentum).add_(gradient)
        if isinstance(rate, Tensor):
            self.values.addcmul_(self.velocity, rate, value=-1)
        else:
            self.values.add_(self.velocity, alpha=-rate)


def new_optimiser(name: str, network: Network, *, weight_decay: float, momentum: float) -> OptimiserSteps:
    """AdamW for "adam", SGD with momentum for "sgd"."""
    return MomentumSteps(network, weight_decay, momentum) if name == "sgd" else AdamWSteps(network, weight_decay)


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


# A progress bar on a terminal, for work that takes more than a second.

PATIENCE = 1.0  # seconds before a bar appears


@contextmanager
def progress_bar(what: str, total: int, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of finished steps; without rich or a terminal nothing is drawn."""
    if not (shown and sys.stderr.isatty()):
        yield lambda done: None
        return
    start = time.monotonic()
    bar: Any = None
    task: Any = None

    def update(done: int) -> None:
        nonlocal bar, task
        if bar is None and time.monotonic() - start > PATIENCE:
            bar = _new_bar()
            if bar is not None:
                bar.start()
                task = bar.add_task(what, total=total)
        if bar is not None:
            bar.update(task, completed=done)

    try:
        yield update
    finally:
        if bar is not None:
            bar.stop()


def _new_bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ModuleNotFoundError:  # the bar is a convenience, so its absence is no error
        return None
    return Progress(console=Console(stderr=True), transient=True)


# One step takes a batch for every network, sums their losses and updates all parameters at once. No term of the sum
# depends on two networks, so each is trained as if it were alone. Batches of unequal size are filled up with instances
# of weight 0. A network that is finished leaves the stack, so that it costs no more time.

DROP = 0.1  # of the learning rate

Rows = NDArray[np.intp]
Tensors = dict[str, Tensor]
Loss = Callable[[Network, Any, "Batch"], Tensor]


@final
@dataclass(frozen=True)
class Job:
    """One network's training."""

    rows: Rows  #: (n,): Its training instances among all
    held_out: Rows  #: Instances that decide when to stop; empty without early stopping
    epochs: int
    seed: np.random.SeedSequence  #: Fixes its initial weights, the order of its batches, its noise

    def stream(self, index: int) -> int:
        """Seed of initial weights (0), order of the batches (1), noise (2), noise of the check (3), augmentation (4)."""
        return int(self.seed.generate_state(5)[index])


@final
@dataclass(frozen=True)
class Training:
    """How all networks of a stack are trained."""

    batch_size: int = 128
    #: The momentum is that of SGD alone
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    #: {"adam", "sgd"}: AdamW, whose decay is decoupled from the gradient and which is Adam without decay; or SGD with
    #: momentum
    optimiser: str = "adam"
    momentum: float = 0.0
    rate_drops: tuple[int, ...] = ()  #: Epochs after which the learning rate is a tenth of what it was
    #: {"shift-flip"} or None: Random changes of the training images, see `uqassay.lab.methods.layers`
    augmentation: str | None = None
    #: Epochs without a lower loss on the held-out instances before a network stops; None never stops early
    patience: int | None = None
    mixed_precision: bool = False  #: On a GPU, products in bfloat16
    rows_at_once: int | None = None  #: Held-out instances that pass through the networks at once; None means all
    progress: bool = False


@final
@dataclass(frozen=True)
class Batch:
    """Inputs of a loss besides the outputs of the networks."""

    y: Tensor  #: int tensor (M, B)
    #: tensor (M, 1): Epochs completed; infinite for held-out instances, so that annealed terms have their final weight
    #: there
    epoch: Tensor
    n_train: Tensor  #: tensor (M, 1): Number of training instances; terms for the whole training set are divided by it
    draws: Draws


@final
@dataclass(frozen=True)
class TrainingRecord:
    """The course of a network's training."""

    n_epochs: int  #: Epochs that were run
    best_epoch: int  #: The epoch, counted from 1, whose weights were kept
    #: Mean loss on the held-out instances after each epoch; empty if none are held out
    validation_losses: tuple[float, ...]


def train(
    network: Network, jobs: Sequence[Job], x: Tensor, y: Tensor, loss: Loss, training: Training
) -> list[TrainingRecord]:
    """Train a stack of networks in place, one by each job.

    Parameters
    ----------
    network : Network
        With as many networks as there are jobs, on the device of the data.
    x : tensor (N, …)
        The instances of all jobs.
    y : int tensor (N,)
    loss : callable
        ``loss(network, outputs, batch) -> (M, B)``, the loss of each instance; a term for the whole network is added to each
        of its instances.
    """
    stack = _Stack(network, jobs, training)
    with progress_bar(f"training {len(jobs)} networks", stack.n_steps, shown=training.progress) as show:
        done = 0
        while stack.alive:
            stack.step(x, y, loss)
            done += 1
            show(done)
    return stack.close()


class _Stack:
    """The networks still in training, and the weights of those that are finished."""

    def __init__(self, network: Network, jobs: Sequence[Job], training: Training) -> None:
        device = next(network.parameters()).device
        self.network, self.jobs, self.training = network, jobs, training
        self.alive = list(range(len(jobs)))
        self.walks = [_batches(job, training.batch_size) for job in jobs]
        self.noise = [_generator(job.stream(2), device) for job in jobs]
        self.losses: list[list[float]] = [[] for _ in jobs]
        self.epochs_done = np.zeros(len(jobs), dtype=np.int64)
        self.best_epoch = np.zeros(len(jobs), dtype=np.int64)
        self.kept: list[Tensors] = [{} for _ in jobs]
        self.n_steps = max(job.epochs * _n_batches(len(job.rows), training.batch_size) for job in jobs)
        self.n_train = torch.tensor([[float(len(job.rows))] for job in jobs], device=device)
        self.changes = [np.random.default_rng(job.stream(4)) for job in jobs]
        self.optimiser = new_optimiser(
            training.optimiser, network, weight_decay=training.weight_decay, momentum=training.momentum
        )

    def step(self, x: Tensor, y: Tensor, loss: Loss) -> None:
        """One batch for every network that is alive."""
        taken = [next(self.walks[job]) for job in self.alive]
        rows, weights = _padded([part for part, _ in taken])
        draws = Draws([self.noise[job] for job in self.alive], [len(part) for part, _ in taken])
        epoch = torch.tensor(self.epochs_done[self.alive, None], dtype=torch.float32)
        self.network.train()
        try:
            each = self._losses(x, y, rows, draws, epoch, loss)
        except ValueError as problem:
            if rows.shape[1] > 1:
                raise
            raise self._single_instance() from problem  # batch norm of one instance has no variance
        self.optimiser.step((each * weights.to(each.device)).sum(), self._rates())
        if self.network.extractor is not None:
            self.network.extractor.bound_norms()
        ended = [job for job, (_, last) in zip(self.alive, taken, strict=True) if last]
        if ended:
            self._end_epoch(ended, x, y, loss)

    def close(self) -> list[TrainingRecord]:
        """Put the kept weights of all networks side by side again."""
        for name, tensor in _tensors(self.network).items():
            tensor.data = torch.stack([kept[name] for kept in self.kept])
        if not all(torch.isfinite(p).all() for p in self.network.parameters()):
            got = f"got {self.training.learning_rate:g}"
            remedy = "scale X to about unit variance or lower the rate"
            fail("learning_rate", "the weights overflowed in training", got, remedy, code="finite")
        return [
            TrainingRecord(int(n), int(best), tuple(losses))
            for n, best, losses in zip(self.epochs_done, self.best_epoch, self.losses, strict=True)
        ]

    def _losses(self, x: Tensor, y: Tensor, rows: Rows, draws: Draws, epoch: Tensor, loss: Loss) -> Tensor:
        """Loss of each network's instances, ``(M, B)``; stochastic layers draw in training alone."""
        chosen = torch.from_numpy(rows).to(x.device)
        batch = Batch(y[chosen], epoch.to(x.device), self.n_train[self.alive], draws)
        mixed = self.training.mixed_precision and x.is_cuda
        with torch.autocast("cuda", torch.bfloat16) if mixed else nullcontext():
            if self.network.training:
                outputs = self.network(self._training_inputs(x, chosen, draws), draws)
            else:
                pieces = chosen.split(self.training.rows_at_once or chosen.shape[1], dim=1)
                outputs = _joined_tasks([self.network(x[piece]) for piece in pieces])
        return loss(self.network, _as_float32(outputs) if mixed else outputs, batch)

    def _training_inputs(self, x: Tensor, chosen: Tensor, draws: Draws) -> Tensor:
        """The instances of a batch, ``(M, B, …)``, changed at random where an augmentation is asked for."""
        if self.training.augmentation is None:
            return x[chosen]
        generators = [self.changes[job] for job in self.alive]
        height, width = x.shape[-2:]
        lines, columns = shift_flip_places(height, width, draws.rows or [], generators)
        return shifted_and_flipped(
            x, chosen, torch.from_numpy(lines).to(x.device), torch.from_numpy(columns).to(x.device)
        )

    def _rates(self) -> list[float]:
        """The learning rate of each network that is alive, by its completed epochs."""
        passed = np.searchsorted(self.training.rate_drops, self.epochs_done[self.alive], side="right")
        return [
            self.training.learning_rate * DROP**drops if drops else self.training.learning_rate
            for drops in passed.tolist()
        ]

    def _single_instance(self) -> InputError:
        """The error for a backbone that refuses a batch of one: by the batch size, or because there is only one instance."""
        if self.training.batch_size == 1:
            rule = "must be at least 2, because the backbone refuses a batch of one instance"
            return InputError("batch_size", rule, "got 1", "raise it", code="range")
        rule = "must leave at least 2 instances for training, because the backbone refuses a batch of one"
        return InputError("X", rule, "got 1", "give more instances, or a smaller validation_fraction", code="empty")

    def _end_epoch(self, ended: Sequence[int], x: Tensor, y: Tensor, loss: Loss) -> None:
        self.epochs_done[list(ended)] += 1
        patience = self.training.patience
        if patience is not None:
            for job, value in zip(self.alive, self._validation_losses(x, y, loss), strict=True):
                if job not in ended:
                    continue
                if not self.losses[job] or value < min(self.losses[job]):
                    self.best_epoch[job] = self.epochs_done[job]
                    self._keep(job)
                self.losses[job].append(value)
        finished = []
        for job in ended:
            waited = self.epochs_done[job] - self.best_epoch[job]
            if self.epochs_done[job] == self.jobs[job].epochs or (patience is not None and waited >= patience):
                finished.append(job)
                if patience is None:
                    self.best_epoch[job] = self.epochs_done[job]
                    self._keep(job)
        if finished:
            self._drop(finished)

    def _validation_losses(self, x: Tensor, y: Tensor, loss: Loss) -> list[float]:
        jobs = [self.jobs[job] for job in self.alive]
        draws = Draws([_generator(job.stream(3), x.device) for job in jobs], [len(job.held_out) for job in jobs])
        rows, weights = _padded([job.held_out for job in jobs])
        self.network.eval()
        with torch.no_grad():
            each = self._losses(x, y, rows, draws, torch.full((len(jobs), 1), torch.inf), loss)
        means: list[float] = (each * weights.to(each.device)).sum(dim=1).tolist()
        return means

    def _keep(self, job: int) -> None:
        place = self.alive.index(job)
        self.kept[job] = {name: t.detach()[place].clone() for name, t in _tensors(self.network).items()}

    def _drop(self, finished: Sequence[int]) -> None:
        """Take finished networks out of the stack."""
        stay = [place for place, job in enumerate(self.alive) if job not in finished]
        self.alive = [self.alive[place] for place in stay]
        if not stay:
            return
        for tensor in dict(self.network.named_buffers()).values():
            tensor.data = tensor.data[stay]
        self.optimiser.keep(stay)


def _batches(job: Job, batch_size: int) -> Iterator[tuple[Rows, bool]]:
    """A network's batches, and whether each is the last of its epoch; each epoch has its own random order."""
    rng = np.random.default_rng(job.stream(1))
    n_batches = _n_batches(len(job.rows), batch_size)
    for _ in range(job.epochs):
        order = rng.permutation(job.rows)
        for b in range(n_batches):
            last = b == n_batches - 1
            yield order[b * batch_size : None if last else (b + 1) * batch_size], last


def _n_batches(n: int, batch_size: int) -> int:
    """The last batch holds the rest; a rest of one instance joins the batch before, since batch norm needs two."""
    full, rest = divmod(n, batch_size)
    return max(1, full + (rest > (1 if batch_size > 1 else 0)))


def _padded(parts: Sequence[Rows]) -> tuple[Rows, Tensor]:
    """Rows of unequal number as ``(M, B)``, with weight 1/n for the n instances of a network and 0 for the filling."""
    counts = np.array([len(part) for part in parts])
    rows = np.zeros((len(parts), counts.max()), dtype=np.intp)
    for row, part in zip(rows, parts, strict=True):
        row[: len(part)] = part
        row[len(part) :] = part[0]
    inside = np.arange(rows.shape[1]) < counts[:, None]
    return rows, torch.from_numpy((inside / counts[:, None]).astype(np.float32))


def _tensors(network: Network) -> Tensors:
    """Parameters and buffers; the first axis is the network."""
    return {**dict(network.named_parameters()), **dict(network.named_buffers())}


def _generator(seed: int, device: torch.device) -> torch.Generator:
    return torch.Generator(device).manual_seed(seed)


def _joined_tasks(pieces: Sequence[Any]) -> Any:
    """Outputs ``(M, b, …)`` of pieces of a batch, or tuples of them, as one."""
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], tuple):
        return tuple(_joined_tasks(parts) for parts in zip(*pieces, strict=True))
    return torch.cat(list(pieces), dim=1)


def _as_float32(outputs: Any) -> Any:
    return tuple(map(_as_float32, outputs)) if isinstance(outputs, tuple) else outputs.float()


# The device on which networks are trained, and blocks that leave PyTorch's global state unchanged.


class _OneThread:
    """A lock on PyTorch's random state, which all threads of a process share; it is open in a forked child."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        self.lock = threading.RLock()


ONE_THREAD = _OneThread()


def check_device(device: Any) -> None:
    """Refuse a name that is not "auto" and not one of a CPU or GPU, such as "cuda:1"; the machine may lack the device."""
    named = None
    if device != "auto":
        with suppress(RuntimeError):
            named = torch.device(device) if isinstance(device, str) else None
        if named is None or named.type not in ("cpu", "cuda"):
            fail("device", 'must be "auto", "cpu" or "cuda"', f"got {device!r}", "choose one of them", code="choice")


def chosen_device(device: str) -> torch.device:
    """The device of this name: "auto" is the GPU if the machine has one, else the CPU."""
    check_device(device)
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    named = torch.device(device)
    if named.type == "cuda" and (named.index or 0) >= torch.cuda.device_count():
        fail("device", "must be a device of this machine", f"got {device!r}", 'use "auto" or "cpu"', code="missing")
    return named


@contextmanager
def private_torch(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Seed PyTorch's global random numbers for the block, and restore their state afterwards.

    Initial weights of layers, and dropout inside a given module, can only be drawn from the global state. Threads share that
    state, so they take turns.
    """
    on_gpu = device is not None and device.type == "cuda"
    with ExitStack() as kept:
        kept.enter_context(ONE_THREAD.lock)
        kept.enter_context(torch.random.fork_rng(devices=[device] if on_gpu else []))
        torch.default_generator.manual_seed(seed)
        if on_gpu:
            kept.enter_context(torch.cuda.device(device))
            torch.cuda.manual_seed(seed)
            kept.enter_context(torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True))
        yield


@contextmanager
def torch_threads(n: int | None) -> Iterator[None]:
    """Run PyTorch on n CPU threads within the block; None changes nothing."""
    before = torch.get_num_threads()
    if n is None or n == before:
        yield
        return
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)
