"""The base class of all methods that train networks: options, standardised inputs, training, members."""

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import pairwise
from multiprocessing import current_process
from typing import Any, ClassVar, Self, final

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, softplus

from uqassay.arrays import available_cores, row_chunks
from uqassay.checks import fail, number, one_of, true_or_false, whole
from uqassay.lab.methods.backbones import Backbone, check_images, for_recordings, make_backbone
from uqassay.lab.methods.base import UncertaintyClassifier, seed_sequence
from uqassay.lab.methods.layers import AUGMENTATIONS, Dense, Draws, Lifted, Network, ReLU
from uqassay.lab.methods.training import (
    OPTIMISERS,
    Batch,
    Job,
    Training,
    TrainingRecord,
    check_device,
    chosen_device,
    private_torch,
    torch_threads,
    train,
)
from uqassay.predictions import GaussianLogits, Members, Prediction

__all__ = [
    "GaussianHead",
    "NetworkClassifier",
    "SampledClassifier",
    "dense_layers",
    "sampled_logits_loss",
    "train_tasks",
]


# Tasks of training that are carried out together: the networks of several estimators as stacks, in processes or in
# turn.
#
# Dense networks are trained side by side as batched matrix products, which on a CPU is several times faster than one by
# one. Convolutional networks gain nothing from that on a CPU; there each goes to its own process. A ResNet-50 fills a
# GPU by itself; there each is trained in its turn.

PARALLEL = ("auto", "stacked", "processes", "sequential")


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """The training of one estimator."""

    #: Tasks of one kind have networks of one shape, the same loss and the same options; they may share a stack
    kind: Hashable
    x: NDArray[np.float32]  #: (n, …): Standardised instances
    y: NDArray[np.int64]  #: (n,): Indices of the classes
    jobs: Sequence[Job]  #: One for each network; their rows count from 0 in x
    new_network: Callable[[], Network]  #: Makes one network with fresh weights from PyTorch's global random numbers
    loss: Callable[[Network, Any, Batch], Tensor]  #: As `uqassay.lab.methods.training.train` takes it
    training: Training
    device: str
    parallel: str  #: {"auto", "stacked", "processes", "sequential"}
    convolutional: bool
    large: bool  #: One network fills a GPU
    #: ``threads(n_networks)``: CPU threads for a stack, None for PyTorch's setting
    threads: Callable[[int], int | None]

    def fresh_network(self, job: Job) -> Network:
        """The untrained network of a job, on the CPU."""
        with private_torch(job.stream(0)):
            return self.new_network()


TrainedNetworks = tuple[Network, list[TrainingRecord]]


def train_tasks(tasks: Sequence[Task]) -> list[TrainedNetworks]:
    """Train the networks of all tasks, those of one kind side by side.

    Returns
    -------
    list of (Network, list of TrainingRecord)
        For each task, in order, its networks as one stack and the course of each.
    """
    kinds: dict[Hashable, list[int]] = {}
    for i, task in enumerate(tasks):
        kinds.setdefault(task.kind, []).append(i)
    found: dict[int, TrainedNetworks] = {}
    for places in kinds.values():
        found |= dict(zip(places, _train_kind([tasks[i] for i in places]), strict=True))
    return [found[i] for i in range(len(tasks))]


def _train_kind(tasks: Sequence[Task]) -> list[TrainedNetworks]:
    """Train tasks of one kind; options that the kind does not fix, such as the progress bar, are those of the first."""
    lead = tasks[0]
    device = chosen_device(lead.device)
    owners = [task for task in tasks for _ in task.jobs]
    how = _how(lead, len(owners), device)
    if how == "processes":
        networks, records = _in_processes(tasks)
    else:
        x, y, jobs = _pooled(tasks)
        stacks = [range(len(jobs))] if how == "stacked" else [range(j, j + 1) for j in range(len(jobs))]
        xs, ys = torch.from_numpy(x).to(device), torch.from_numpy(y).to(device)
        networks, records = [], []
        for stack in stacks:
            network = _side_by_side([owners[j].fresh_network(jobs[j]) for j in stack]).to(device)
            _vectorise(network, True if how == "stacked" and lead.parallel == "stacked" else None)
            records += _run(lead, network, [jobs[j] for j in stack], xs, ys)
            _vectorise(network, None)
            networks += [_only(network, m) for m in range(len(stack))]
    found = []
    for task in tasks:
        mine = [j for j, owner in enumerate(owners) if owner is task]
        found.append((_side_by_side([networks[j] for j in mine]), [records[j] for j in mine]))
    return found


def _how(lead: Task, n_jobs: int, device: torch.device) -> str:
    how = lead.parallel
    if how == "auto" and (not lead.convolutional or device.type == "cuda"):
        return "sequential" if lead.large else "stacked"
    if how == "auto":
        how = "processes" if n_jobs > 1 and available_cores() > 1 else "sequential"
    # a daemonic process, such as a worker of Dask, may start none
    return "sequential" if how == "processes" and current_process().daemon else how


def _pooled(tasks: Sequence[Task]) -> tuple[NDArray[np.float32], NDArray[np.int64], list[Job]]:
    """Instances of all tasks one after another, and all jobs with their rows among these."""
    jobs: list[Job] = []
    first_row = 0
    for task in tasks:
        jobs += [replace(job, rows=job.rows + first_row, held_out=job.held_out + first_row) for job in task.jobs]
        first_row += len(task.y)
    if len(tasks) == 1:
        return tasks[0].x, tasks[0].y, jobs
    return np.concatenate([task.x for task in tasks]), np.concatenate([task.y for task in tasks]), jobs


def _run(lead: Task, network: Network, jobs: Sequence[Job], x: Tensor, y: Tensor) -> list[TrainingRecord]:
    """Train a stack, on one thread if the products are small; the first job seeds PyTorch's global random numbers."""
    with private_torch(jobs[0].stream(2), x.device), torch_threads(lead.threads(len(jobs))):
        return train(network, jobs, x, y, lead.loss, lead.training)


# -- processes ----------------------------------------------------------------------------------------------------------


def _in_processes(tasks: Sequence[Task]) -> tuple[list[Network], list[TrainingRecord]]:
    """Train each network in its own process, on one thread; a task's arrays travel through memory."""
    from sklearn.utils.parallel import Parallel, delayed

    pairs = [(task, job) for task in tasks for job in task.jobs]
    run = Parallel(n_jobs=min(available_cores(), len(pairs)), backend="loky", max_nbytes=None)
    light = {
        id(task): replace(task, x=task.x[:0], y=task.y[:0], jobs=()) for task in tasks
    }  # the instances travel once
    results = run(delayed(_alone)(light[id(task)], job, task.x, task.y) for task, job in pairs)
    networks, records = [], []
    for (task, job), (tensors, record) in zip(pairs, results, strict=True):
        network = task.fresh_network(job)
        network.load_state_dict({name: torch.from_numpy(array) for name, array in tensors.items()})
        networks.append(network)
        records.append(record)
    return networks, records


def _alone(
    task: Task, job: Job, x: NDArray[np.float32], y: NDArray[np.int64]
) -> tuple[dict[str, NDArray[Any]], TrainingRecord]:
    network = task.fresh_network(job)
    with torch_threads(1):
        (record,) = _run(task, network, [job], torch.from_numpy(x), torch.from_numpy(y))
    return {name: tensor.numpy() for name, tensor in network.state_dict().items()}, record


# -- stacks of networks -------------------------------------------------------------------------------------------------


def _side_by_side(networks: Sequence[Network]) -> Network:
    """One stack of several networks; the first one is reused for it."""
    whole = networks[0]
    if len(networks) > 1:
        states = [{**dict(n.named_parameters()), **dict(n.named_buffers())} for n in networks]
        for name, tensor in states[0].items():
            tensor.data = torch.cat([state[name].detach() for state in states])
    return whole


def _only(network: Network, m: int) -> Network:
    """Network m of a stack, as a stack of one."""
    if network.n_networks == 1:
        return network
    one = deepcopy(network)
    tensors: dict[str, nn.Parameter | Tensor] = {**dict(one.named_parameters()), **dict(one.named_buffers())}
    for tensor in tensors.values():
        tensor.data = tensor.data[m : m + 1].clone()
    return one


def _vectorise(network: Network, vectorised: bool | None) -> None:
    for module in network.modules():
        if isinstance(module, Lifted):
            module.vectorised = vectorised


# Checks of the options that all methods with networks share.


def check_network_options(estimator: Any) -> None:
    """Refuse options of a `NetworkClassifier` that are out of range or do not go together."""
    for option in fields(estimator):
        if option.type is bool:
            true_or_false(getattr(estimator, option.name), option.name)
    for name in ("epochs", "batch_size", "patience"):
        whole(getattr(estimator, name), name, "for example 10", least=1)
    number(estimator.learning_rate, "learning_rate", "for example 0.001", low=0, ends="()")
    number(estimator.weight_decay, "weight_decay", "0 leaves weights alone", low=0, ends="[)")
    number(estimator.validation_fraction, "validation_fraction", "for example 0.1", low=0, high=1, ends="()")
    one_of(estimator.optimiser, "optimiser", OPTIMISERS, "choose one")
    number(estimator.momentum, "momentum", "for example 0.9", low=0, high=1, ends="[)")
    if estimator.momentum and estimator.optimiser != "sgd":
        got = f"got {estimator.momentum!r} with {estimator.optimiser!r}"
        fail("momentum", 'is an option of the optimiser "sgd"', got, 'leave it out or choose "sgd"', code="conflict")
    remedy = "give the epochs in rising order, for example (80, 120)"
    if not isinstance(estimator.rate_drops, (tuple, list)):
        fail("rate_drops", "must be a tuple of epochs", f"got {estimator.rate_drops!r}", remedy, code="type")
    drops = [whole(epoch, "rate_drops", remedy, least=1) for epoch in estimator.rate_drops]
    if any(later <= earlier for earlier, later in pairwise(drops)):
        fail("rate_drops", "must rise", f"got {estimator.rate_drops!r}", remedy, code="range")
    if estimator.augmentation is not None:
        one_of(estimator.augmentation, "augmentation", AUGMENTATIONS, "choose one")
    if estimator.image_size is not None:
        whole(estimator.image_size, "image_size", "for example 10", least=1)
    one_of(estimator.parallel, "parallel", PARALLEL, "choose one")
    check_device(estimator.device)


# The base class of all methods that train networks: options, standardised inputs, training, evaluation in pieces.
#
# A method defines its network, its loss and its prediction from the outputs; this class does the rest.

ONE_THREAD = 2**28  # multiplications of a forward pass; below, waiting for other threads costs more than they save
FREE = (
    "random_state",
    "epochs",
    "progress",
    "n_members",
    "n_samples",
)  # options that change neither a network nor its loss
CHUNK_BYTES = 2**25  # of activations in one piece of an evaluation
LARGE_CHUNK_BYTES = 2**28  # for resized images and large networks, for which pieces of few images take longer
ROUNDING = {4: 1e-7, 8: 1e-12}  # spread over mean of a constant column after rounding, by the bytes of a number
Floats = NDArray[np.float32]


# a dataclass stores options as given, and `fit` checks them: scikit-learn's rule
@dataclass(kw_only=True, eq=False, repr=False)
class NetworkClassifier(UncertaintyClassifier):
    """Options of all methods with networks.

    Parameters
    ----------
    backbone : str, tuple of int, torch.nn.Module or callable
        "mlp" (64, 64), hidden sizes, "cnn", "cnn-small", "cnn-valid", "resnet50", "eeg", "eeg-max-norm", or a module that
        maps ``(n, …)`` to features ``(n, d)``, to which the method adds its head; table in `uqassay.lab.methods.backbones`.
    epochs : int
        Passes through the training instances.
    batch_size : int
    learning_rate : float
    weight_decay : float
        With "adam" decoupled from the gradient, as in AdamW; with "sgd" added to it, as is usual there.
    optimiser : {"adam", "sgd"}
        AdamW, which without decay is Adam; or SGD with momentum, without dampening.
    momentum : float
        Of "sgd".
    rate_drops : tuple of int
        Epochs after which the learning rate falls to a tenth, for example (80, 120).
    augmentation : {"shift-flip"}, optional
        Every image of a training batch is shifted by whole pixels, at random up to a tenth of its height and of its width,
        with the nearest pixel in what is uncovered, and mirrored from left to right with probability 1/2. For images
        ``(n, C, H, W)`` or ``(n, H, W)``.
    image_size : int, optional
        Images are resized to this height and width in front of the backbone, bilinearly and batch by batch, in training (after
        the augmentation) and in prediction. For convolutional backbones.
    early_stopping : bool
        Hold out `validation_fraction` of the instances, stop if their loss was not lower for `patience` epochs, and keep the
        weights of the best epoch.
    patience : int
    validation_fraction : float
    standardise : bool
        Subtract the mean of the training instances and divide by their standard deviation: of each feature, or of each channel
        of images ``(n, C, H, W)`` and recordings, or of all pixels of images ``(n, H, W)``.
    device : str
        "auto" (the GPU if there is one), "cpu" or "cuda".
    mixed_precision : bool
        On a GPU, train with products in bfloat16.
    parallel : {"auto", "stacked", "processes", "sequential"}
        How several networks are trained: as one stack with batched products; in one process for each core; one after
        another. "auto" stacks dense networks, and convolutional ones on a GPU, where it trains "resnet50" in turn; on a CPU it
        sends convolutional networks to processes.
    progress : bool
        Show a progress bar on a terminal if training takes more than a second.
    classes : sequence, optional
        All labels, where y may lack some; the network has an output for each. By default those of y.
    random_state : int, generator or None
        None means seed 0, so that a rerun agrees.

    Attributes
    ----------
    network_ : Network
        All trained networks of the estimator, side by side, on the CPU.
    training_ : tuple of TrainingRecord
        For each network the epochs run, the best one, and the losses on the held-out instances.

    Notes
    -----
    On one device the same seed gives the same numbers. PyTorch's global state is left unchanged. Small dense networks train
    and predict on one thread; for larger ones and for convolutions, another number of threads changes numbers by rounding.
    """

    backbone: Any = "mlp"
    epochs: int = 100
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    optimiser: str = "adam"
    momentum: float = 0.0
    rate_drops: Any = ()
    augmentation: str | None = None
    image_size: int | None = None
    early_stopping: bool = False
    patience: int = 10
    validation_fraction: float = 0.1
    standardise: bool = True
    device: str = "auto"
    mixed_precision: bool = False
    parallel: str = "auto"
    progress: bool = True
    classes: Any = None
    random_state: Any = None

    # Whether several estimators may share a stack. The loss must then depend on the options alone.
    _stackable: ClassVar[bool] = True

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on instances ``(n, …)`` and their labels ``(n,)``."""
        task = self._task(X, y)
        (trained,) = train_tasks([task])
        self._finish(task, *trained)
        return self

    def predict_uncertainty(self, X: ArrayLike) -> Prediction:
        """The prediction for each instance; its kind depends on the method."""
        return self._statement(self._prepared(self._checked_inputs(X)))

    def check_options(self, input_shape: tuple[int, ...] | None = None, n_classes: int | None = None) -> None:
        """Refuse options that are out of range; nothing is trained. `fit` calls this first.

        Parameters
        ----------
        input_shape : tuple of int, optional
            Shape of one instance; with it, options that depend on the backbone are checked too.
        n_classes : int, optional
            With it, options that depend on the number of classes are checked too.
        """
        check_network_options(self)
        self._check_options()
        if input_shape is not None:
            self._new_backbone(input_shape)
        if n_classes is not None:
            self._check_classes(n_classes)

    # -- what a method defines; the defaults are those of a standard network --------------------------------------------

    @abstractmethod
    def _statement(self, x: Floats) -> Prediction:
        """The prediction for standardised instances; `_evaluate` runs the networks."""

    def _new_network(self, backbone: Backbone) -> Network:
        """One network (M = 1) with fresh weights, drawn from PyTorch's global random numbers, which are seeded here."""
        return Network(backbone.extractor(), dense_layers(backbone), Dense(backbone.n_features, self._n_classes))

    def _loss(self, network: Network, outputs: Any, batch: Batch) -> Tensor:
        """Loss of each instance, ``(M, B)``: the cross-entropy of logits ``(M, B, K)``."""
        each: Tensor = cross_entropy(outputs.flatten(0, 1), batch.y.flatten(), reduction="none")
        return each.view(batch.y.shape)

    def _n_networks(self) -> int:
        """How many networks one estimator trains."""
        return 1

    def _check_options(self) -> None:
        """Refuse options of the method that are out of range."""

    def _check_backbone(self, backbone: Backbone) -> None:
        """Refuse options that do not fit the backbone."""

    def _check_classes(self, n_classes: int) -> None:
        """Refuse options that do not fit the number of classes."""

    def _before_training(self, x: Floats, y: NDArray[np.int64]) -> None:
        """Prepare the method, from standardised instances and class indices."""

    def _after_training(self, x: Floats, y: NDArray[np.int64]) -> None:
        """Complete the method after its networks are trained, from the training instances."""

    # -- what methods use -----------------------------------------------------------------------------------------------

    @property
    def _n_classes(self) -> int:
        return len(self.classes_)

    def _evaluate(
        self, x: Floats, function: Callable[[Network, Tensor, Draws | None], Any], *, n_passes: int | None = None
    ) -> Any:
        """Apply the trained networks to standardised instances, piece by piece.

        Parameters
        ----------
        x : array (n, …)
        function : callable
            ``function(network, x (1, b, …), draws)``; gives ``(M, b, …)``, or a tuple of such.
        n_passes : int, optional
            Number T of stochastic passes. Each draws one network, the same for all instances and in every call.

        Returns
        -------
        float64 array (n, M or T, …), or a tuple of them
        """
        device = chosen_device(self.device)
        n_networks, dtype = self.network_.n_networks, next(self.network_.parameters()).dtype
        seeds: Any = self._seeds("passes").generate_state(n_passes) if n_passes else []
        widest = max([self.backbone_.n_features, *self.backbone_.hidden, *self.input_shape_])
        size, large = self.image_size, self.backbone_.large or self.image_size is not None
        entering = x[:1].nbytes if size is None else x.itemsize * math.prod(self.input_shape_[:-2]) * size**2
        per_row = entering * 8 + 8 * widest * max(n_passes or 1, n_networks)
        pieces: list[tuple[NDArray[np.float64], ...]] = []
        single = True
        with torch.no_grad(), private_torch(0, device), torch_threads(self._threads(len(x), n_networks)):
            network = self.network_.to(device).eval()
            try:
                for rows in row_chunks(len(x), per_row, chunk_bytes=LARGE_CHUNK_BYTES if large else CHUNK_BYTES):
                    generators = [torch.Generator(device).manual_seed(int(seed)) for seed in seeds]
                    piece = torch.from_numpy(x[rows]).to(device, dtype)[None]
                    done = function(network, piece, Draws(generators) if n_passes else None)
                    single = not isinstance(done, tuple)
                    parts = (done,) if single else done
                    pieces.append(tuple(part.transpose(0, 1).double().cpu().numpy() for part in parts))
            finally:
                self.network_.to("cpu")
        whole = tuple(np.concatenate(parts) for parts in zip(*pieces, strict=True))
        return whole[0] if single else whole

    # -- training -------------------------------------------------------------------------------------------------------

    def _new_backbone(self, input_shape: tuple[int, ...]) -> Backbone:
        """The backbone for instances of a shape, after checks of all options that depend on them."""
        if self.augmentation is not None:
            check_images("augmentation", self.backbone, input_shape)
        backbone = make_backbone(self.backbone, input_shape, self.image_size)
        self._check_backbone(backbone)
        return backbone

    def _task(self, X: ArrayLike, y: ArrayLike) -> Task:
        """Check options and data, learn the scale of the inputs, and describe the training."""
        self.check_options()
        array, codes = self._checked_training(X, y)
        self.backbone_: Backbone = self._new_backbone(self.input_shape_)
        self._check_classes(self._n_classes)
        self._scale(array)
        self.seed_: np.random.SeedSequence = seed_sequence(self.random_state)
        x = self._prepared(array)
        self._before_training(x, codes)
        return Task(
            kind=self._stack_kind(len(codes)),
            x=x,
            y=codes,
            jobs=self._jobs(len(codes)),
            new_network=partial(self._new_network, self.backbone_),
            loss=self._loss,
            training=self._training(),
            device=self.device,
            parallel=self.parallel,
            convolutional=self.backbone_.convolutional,
            large=self.backbone_.large,
            threads=partial(self._threads, self.batch_size),
        )

    def _stack_kind(self, n: int) -> tuple[Any, ...]:
        """Class, shapes and options that estimators must share to be trained as one stack."""
        options = {key: value for key, value in self.get_params(deep=False).items() if key not in FREE}
        same = tuple((name, id(value) if callable(value) else repr(value)) for name, value in sorted(options.items()))
        size = n if self.backbone_.convolutional else None  # a batch that is filled up would change batch norm
        return (type(self), self.input_shape_, self._n_classes, same, size, None if self._stackable else id(self))

    def _jobs(self, n: int) -> list[Job]:
        """One training for each network; network m does not depend on the number of networks."""
        rows = np.arange(n)
        jobs = []
        for m in range(self._n_networks()):
            seed = self._seeds("networks", m)
            trained, held_out = rows, rows[:0]
            if self.early_stopping:
                n_held_out = min(max(1, round(self.validation_fraction * len(rows))), len(rows) - 1)
                order = np.random.default_rng(self._seeds("held out", m)).permutation(rows)
                trained, held_out = np.sort(order[n_held_out:]), np.sort(order[:n_held_out])
            jobs.append(Job(trained, held_out, self.epochs, seed))
        return jobs

    def _training(self) -> Training:
        return Training(
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            optimiser=self.optimiser,
            momentum=self.momentum,
            rate_drops=tuple(self.rate_drops),
            augmentation=self.augmentation,
            patience=self.patience if self.early_stopping else None,
            mixed_precision=self.mixed_precision,
            rows_at_once=self.batch_size if self.backbone_.large or self.image_size is not None else None,
            progress=self.progress,
        )

    def _finish(self, task: Task, network: Network, records: Sequence[TrainingRecord]) -> None:
        """Keep the trained networks; dense ones are evaluated in double precision, so that slices of X agree."""
        network = network.to("cpu").eval().requires_grad_(False)
        self.network_ = network if self.backbone_.convolutional else network.double()
        self.training_ = tuple(records)
        self._after_training(task.x, task.y)

    def _threads(self, n_rows: int, n_networks: int) -> int | None:
        """One CPU thread if the products are small; None leaves PyTorch's setting."""
        sizes = self.backbone_.dense_sizes()
        work = n_networks * min(n_rows, 4096) * sum(a * b for a, b in sizes)
        return 1 if not self.backbone_.convolutional and work < ONE_THREAD else None

    def _seeds(self, purpose: str, index: int = 0) -> np.random.SeedSequence:
        """Independent seeds for the networks, their held-out parts, the stochastic passes and the posterior."""
        key = ("networks", "held out", "passes", "posterior").index(purpose)
        return np.random.SeedSequence(self.seed_.entropy, spawn_key=(*self.seed_.spawn_key, key, index))

    def _scale(self, array: NDArray[Any]) -> None:
        """Learn mean and standard deviation; they are 0 and 1 if `standardise` is off or nothing varies."""
        if array.ndim == 2:
            axes: tuple[int, ...] = (0,)
        elif array.ndim == 3 and not for_recordings(self.backbone):
            axes = (0, 1, 2)
        else:
            axes = (0, *range(2, array.ndim))
        with np.errstate(over="ignore", invalid="ignore"):  # `_prepared` refuses values that are too large
            mean = array.mean(axis=axes, keepdims=True, dtype=np.float64)[0]
            spread = array.std(axis=axes, keepdims=True, dtype=np.float64)[0]
            constant = spread <= ROUNDING[array.dtype.itemsize] * np.abs(mean)
        if self.standardise and not np.isfinite(spread).all():  # an infinite spread would turn all values into zeros
            row = int(np.abs(array).reshape(len(array), -1).max(axis=1).argmax())
            fail("X", "must fit single precision", f"row {row} is too large", "scale X down first", code="range")
        self.mean_ = mean if self.standardise else np.zeros_like(mean)
        self.spread_ = np.where(constant, 1.0, spread) if self.standardise else np.ones_like(spread)

    def _prepared(self, array: NDArray[Any]) -> Floats:
        """Standardised instances in single precision."""
        with np.errstate(over="ignore", invalid="ignore"):
            x: Floats = ((array - self.mean_) / self.spread_).astype(np.float32)
        if not np.isfinite(x).all():
            row = int(np.flatnonzero(~np.isfinite(x).reshape(len(x), -1).all(axis=1))[0])
            fail("X", "must fit single precision", f"row {row} is too large", "scale X down first", code="range")
        return x


def dense_layers(backbone: Backbone, after_each: Callable[[int], list[nn.Module]] | None = None) -> list[nn.Module]:
    """The dense layers of a backbone, each with its ReLU and the layers of `after_each(width)`."""
    layers: list[nn.Module] = []
    for inputs, outputs in backbone.dense_sizes():
        layers += [Dense(inputs, outputs), ReLU(), *(after_each(outputs) if after_each else [])]
    return layers


# Predictions of methods with several networks, or several passes of one: softmax members, or Gaussian logits of each.
#
# The head of Gaussian logits has two layers, mean μ and variance σ² of the logits; training draws logits z ~ N(μ, σ²)
# and takes the cross-entropy of their mean softmax (Kendall and Gal, 2017; App. A of the paper on disentanglement).

N_DRAWS = 100  # of the logits of an instance in training, the paper's number
CACHE_BYTES = 2**19  # of the draws of a few networks
LEAST_VARIANCE = 1e-6  # keeps the gradient of the standard deviation finite


@final
class GaussianHead(nn.Module):
    """Mean and variance of the logits, each ``(M, B, K)``, from two layers of the same features."""

    def __init__(self, mean: nn.Module, raw_variance: nn.Module) -> None:
        super().__init__()
        self.mean, self.raw_variance = mean, raw_variance

    def forward(self, x: Tensor, draws: Draws | None = None) -> tuple[Tensor, Tensor]:
        """The variance is the softplus of its layer."""
        return self.mean(x, draws), softplus(self.raw_variance(x, draws)) + LEAST_VARIANCE


@dataclass(kw_only=True, eq=False, repr=False)
class SampledClassifier(NetworkClassifier):
    """Base of the methods that state a sample of networks: `Members`, or `GaussianLogits` of each.

    Parameters
    ----------
    head : {"softmax", "gaussian-logits"}
        "softmax" states `Members`, "gaussian-logits" mean and variance of the logits of every network or pass.
    convention : {"exact", "paper-code"}
        For Gaussian logits: "paper-code" uses the second head as a standard deviation in training and as a variance in
        prediction, as the code of the paper on disentanglement does.

    Notes
    -----
    Probabilities from Gaussian logits are the mean softmax of draws that depend on the position of a row in X: a slice of X
    has the same means and variances, but its probabilities differ by the error of 100 draws.
    """

    head: str = "softmax"
    convention: str = "exact"

    def _check_options(self) -> None:
        one_of(self.head, "head", ("softmax", "gaussian-logits"), "choose one")
        one_of(self.convention, "convention", ("exact", "paper-code"), "choose one")

    def _new_head(self, backbone: Backbone, layer: Callable[[int, int], nn.Module] = Dense) -> nn.Module:
        """The head chosen, of layers ``layer(inputs, outputs)``."""
        sizes = (backbone.n_features, self._n_classes)
        return layer(*sizes) if self.head == "softmax" else GaussianHead(layer(*sizes), layer(*sizes))

    def _loss(self, network: Network, outputs: Any, batch: Batch) -> Tensor:
        if self.head == "softmax":
            return super()._loss(network, outputs, batch)
        mean, variance = outputs
        spread = variance.sqrt() if self.convention == "exact" else variance
        return sampled_logits_loss(mean, spread, batch.y, batch.draws)

    def _stated(self, outputs: Any) -> Members | GaussianLogits:
        """The prediction from what `_evaluate` gives: logits ``(n, M, K)``, or their means and variances."""
        if self.head == "softmax":
            return Members.from_logits(outputs, class_names=self.class_names_)
        mean, variance = outputs
        return GaussianLogits(mean, variance, variance_is="aleatoric", n_draws=N_DRAWS, class_names=self.class_names_)

    def _statement(self, x: NDArray[np.float32]) -> Members | GaussianLogits:
        return self._stated(self._evaluate(x, lambda network, x, draws: network(x, draws), n_passes=self._n_passes()))

    def _n_passes(self) -> int | None:
        """Stochastic passes through one network; None where the networks themselves are the sample."""
        return None


def sampled_logits_loss(mean: Tensor, spread: Tensor, y: Tensor, draws: Draws, n_draws: int = N_DRAWS) -> Tensor:
    """−ln of the mean over draws z ~ N(μ, σ²) of softmax(z) at the label, ``(M, B)``.

    Parameters
    ----------
    mean, spread : tensor (M, B, K)
        μ and the standard deviation σ.
    y : int tensor (M, B)
    """
    loss: Tensor = _SampledLoss.apply(mean, spread, y, draws, n_draws)
    return loss


class _SampledLoss(torch.autograd.Function):
    """The loss of `sampled_logits_loss` with its gradient in closed form.

    With p the softmax of a draw and w the draws' shares of the mean probability of the label, the gradient in μ is
    Σ w (p − e_y) and that in σ is Σ w (p − e_y) ε. A CPU takes a few networks at a time, whose draws stay in its cache:
    allocating all of them anew in each step costs more than the arithmetic.
    """

    @staticmethod
    def forward(ctx: Any, mean: Tensor, spread: Tensor, y: Tensor, draws: Draws, n_draws: int) -> Tensor:
        m, b, k = mean.shape
        size = m if mean.is_cuda else max(1, CACHE_BYTES // (4 * b * k * n_draws))
        parts = []
        for start in range(0, m, size):
            some = slice(start, start + size)
            noise = draws.of(some).normal_units(k * n_draws).view(-1, b, k, n_draws)
            parts.append(_loss_and_gradient(mean[some], spread[some], y[some], noise))
        loss, *gradients = parts[0] if len(parts) == 1 else map(torch.cat, zip(*parts, strict=True))
        ctx.save_for_backward(*gradients)
        return loss

    @staticmethod
    def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
        to_mean, to_spread = ctx.saved_tensors
        outer = given[0][..., None]
        return to_mean * outer, to_spread * outer, None, None, None


def _loss_and_gradient(mean: Tensor, spread: Tensor, y: Tensor, noise: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The loss ``(M, B)`` and its gradients in mean and spread; noise ``(M, B, K, S)``, draws last: sums over K are fast."""
    n_draws = noise.shape[3]
    label = y[..., None, None].expand(*y.shape, 1, n_draws)
    p = torch.addcmul(mean[..., None], spread[..., None], noise)  # logits
    p -= p.amax(dim=2, keepdim=True)
    at_label = p.gather(2, label)[:, :, 0]  # (M, B, S)
    normaliser = p.exp_().sum(dim=2)
    log_probs = at_label - normaliser.log()  # of the label in each draw
    log_sum = torch.logsumexp(log_probs, dim=-1)
    w = (log_probs - log_sum[..., None]).exp_()
    p *= (w / normaliser)[:, :, None]  # w p
    own, minus = y[..., None], -w
    to_mean = p.sum(dim=-1).scatter_add_(2, own, minus.sum(dim=-1, keepdim=True))
    minus *= noise.gather(2, label)[:, :, 0]
    to_spread = p.mul_(noise).sum(dim=-1).scatter_add_(2, own, minus.sum(dim=-1, keepdim=True))
    return math.log(n_draws) - log_sum, to_mean, to_spread
