"""The base class of all methods that train networks: options, standardised inputs, training, evaluation in pieces.

A method defines its network, its loss and its prediction from the outputs; this class does the rest.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from uqassay._array import row_chunks
from uqassay.errors import InputError
from uqassay.methods.backbones import Backbone, check_images, make_backbone
from uqassay.methods.base import UncertaintyClassifier, seed_sequence
from uqassay.methods.devices import chosen_device, private_torch, torch_threads
from uqassay.methods.layers import Dense, Draws, Network, ReLU
from uqassay.methods.network_options import check_network_options
from uqassay.methods.stacking import Task, train_tasks
from uqassay.methods.training import Batch, Job, Training, TrainingRecord
from uqassay.predictions import Prediction

__all__ = ["NetworkClassifier", "dense_layers"]

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
        "mlp" (64, 64), hidden sizes, "cnn", "cnn-small", "resnet50", "eeg", or a module that maps ``(n, …)`` to features
        ``(n, d)``, to which the method adds its head; table in `uqassay.methods.backbones`.
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
        """Train on instances ``(n, …)`` and their labels ``(n,)``.

        Raises
        ------
        InputError
            Options out of range, NaN in X, labels of one class only, instances that do not fit the backbone, or a training
            that overflowed.
        """
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

        Raises
        ------
        InputError
            Its `parameter` is the name of the option, or "X" if instances of this shape do not fit the backbone.
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
        elif array.ndim == 3 and self.backbone != "eeg":
            axes = (0, 1, 2)
        else:
            axes = (0, *range(2, array.ndim))
        with np.errstate(over="ignore", invalid="ignore"):  # `_prepared` refuses values that are too large
            mean = array.mean(axis=axes, keepdims=True, dtype=np.float64)[0]
            spread = array.std(axis=axes, keepdims=True, dtype=np.float64)[0]
            constant = spread <= ROUNDING[array.dtype.itemsize] * np.abs(mean)
        if self.standardise and not np.isfinite(spread).all():  # an infinite spread would turn all values into zeros
            row = int(np.abs(array).reshape(len(array), -1).max(axis=1).argmax())
            raise InputError(
                "X", "must fit single precision", f"row {row} is too large", "scale X down first", code="range"
            )
        self.mean_ = mean if self.standardise else np.zeros_like(mean)
        self.spread_ = np.where(constant, 1.0, spread) if self.standardise else np.ones_like(spread)

    def _prepared(self, array: NDArray[Any]) -> Floats:
        """Standardised instances in single precision."""
        with np.errstate(over="ignore", invalid="ignore"):
            x: Floats = ((array - self.mean_) / self.spread_).astype(np.float32)
        if not np.isfinite(x).all():
            row = int(np.flatnonzero(~np.isfinite(x).reshape(len(x), -1).all(axis=1))[0])
            raise InputError(
                "X", "must fit single precision", f"row {row} is too large", "scale X down first", code="range"
            )
        return x


def dense_layers(backbone: Backbone, after_each: Callable[[int], list[nn.Module]] | None = None) -> list[nn.Module]:
    """The dense layers of a backbone, each with its ReLU and the layers of `after_each(width)`."""
    layers: list[nn.Module] = []
    for inputs, outputs in backbone.dense_sizes():
        layers += [Dense(inputs, outputs), ReLU(), *(after_each(outputs) if after_each else [])]
    return layers
