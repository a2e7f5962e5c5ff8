"""A Gaussian-process classifier for many instances: inducing points, Pólya-Gamma augmentation, natural gradients.

Model: g ~ GP(0, k) with a scaled RBF kernel, P(y = 1 | g) = σ(g) (epistemic gain, 3.1). Inference: Wenzel et al. (2019),
*Efficient Gaussian process classification using Pólya-Gamma data augmentation*.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.spatial import KDTree
from sklearn.cluster import MiniBatchKMeans

from uqassay.arrays import Floats
from uqassay.checks import fail, number, one_of, true_or_false, whole
from uqassay.errors import InputError
from uqassay.lab.methods.base import seed_sequence
from uqassay.lab.methods.gaussian_process import GaussianProcess, latent_targets, unit_of
from uqassay.lab.methods.sparse_training import SparseRecord, SparseSchedule, n_steps, train_latent, training_notes
from uqassay.lab.methods.training import check_device, chosen_device, progress_bar, torch_threads
from uqassay.predictions import GaussianLogits, Members

__all__ = ["SparseGaussianProcess"]

INDUCING = ("k-means", "subset")
PRECISION = {"double": torch.float64, "single": torch.float32}
CANDIDATES = 20  # instances for each inducing point that k-means sees
CHUNK_BYTES = 2**26  # of A in one piece of a prediction
ONE_THREAD = 2**26  # multiplications of a step; below, waiting for other threads costs more than they save
ROUNDING = 1e-7  # spread over mean of a constant column after rounding, also in single precision


@dataclass(kw_only=True, eq=False, repr=False)
class SparseGaussianProcess(GaussianProcess):
    """Sparse variational Gaussian process; states `GaussianLogits` (epistemic) or, one class versus the rest, `Members`.

    Parameters
    ----------
    n_inducing : int
        Inducing points of each latent function, at most as many as there are distinct instances.
    inducing : {"k-means", "subset"}
        First inducing points: centres of the instances, or a random subset of them.
    learn_inducing, learn_kernel : bool
        Whether Adam moves the inducing points and learns length scales and prior variance.
    ard : bool
        A length scale for each feature instead of a common one.
    lengthscale : float or sequence of float, optional
        Of the RBF kernel at the start, in units of the standardised features if `standardise`. By default the median distance
        between an inducing point and its nearest neighbour.
    signal_variance : float
        Of the latent values at the start.
    epochs, batch_size : int
        Epochs of batches. 0: passes over all instances alone, for kernel and inducing points that stay as they are.
    learning_rate : float
        Of Adam, for the logarithms of the hyper-parameters and for inducing points in units of the length scale.
    natural_rate : float
        Rate ρ of the natural-gradient steps, in (0, 1]; batches of all instances have rate 1.
    final_passes : int
        Most passes of coordinate ascent over all instances after the epochs, with kernel and inducing points fixed. They remove
        the noise of the batches; they end early when the latent means no longer change. In few dimensions a pass makes use of
        the locality of the kernel (`uqassay.lab.methods.sparse_latent`), and is much faster than an epoch.
    standardise : bool
        Subtract the mean of each feature and divide by its standard deviation.
    precision : {"double", "single"}
        Of kernel matrices in the epochs; q and the final passes are always in double precision. "single" is for GPUs.
    device : str
        "auto" (the GPU if there is one), "cpu" or "cuda".
    progress : bool
    multiclass, n_draws, classes, random_state
        As in `GaussianProcess`: treatment of more than two classes, labels that y may lack, and the seed of the inducing points
        and of the order of the batches.

    Attributes
    ----------
    latents_ : tuple of SparseLatent
        GPyTorch models, one for each latent function: one for two classes, else one for each class.
    training_ : tuple of SparseRecord

    Notes
    -----
    Needs GPyTorch (`uqassay[lab]`). X with more than two axes is flattened. The probabilities of two classes are integrals over
    the Gaussian of the latent value by quadrature, not draws (the epistemic gain paper uses draws).

    Predictions carry a note "not-settled" if the last pass or the last epoch still changed the model. Whether the number of
    inducing points is enough, no note can tell: a latent variance that does not fall where instances are dense is a sign of
    too few.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import SparseGaussianProcess
    >>> x = np.linspace(-2, 2, 40)[:, None]
    >>> gp = SparseGaussianProcess(n_inducing=10, epochs=20).fit(x, np.where(x[:, 0] > 0, "hot", "cold"))
    >>> gp.predict([[-1.5], [1.5]]).tolist()
    ['cold', 'hot']
    >>> near, far = gp.latent([[1.0], [30.0]])[1][:, 0]
    >>> bool(near < far)
    True
    """

    n_inducing: int = 500
    inducing: str = "k-means"
    learn_inducing: bool = True
    learn_kernel: bool = True
    ard: bool = False
    lengthscale: Any = None
    signal_variance: float = 4.0
    epochs: int = 100
    batch_size: int = 1024
    learning_rate: float = 0.02
    natural_rate: float = 0.1
    final_passes: int = 5
    standardise: bool = True
    precision: str = "double"
    device: str = "auto"
    progress: bool = True

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from instances ``(n, …)`` and their labels ``(n,)``.

        Raises
        ------
        InputError
            Options out of range, NaN in X, labels of one class only; a learning rate so great that training ends with a lower
            bound on ln p(y) than it started with.
        MissingDependencyError
            GPyTorch is not installed.
        """
        self.check_options()
        from uqassay.lab.methods.sparse_latent import SparseLatent  # needs GPyTorch, which `check_options` does not

        array, codes = self._checked_training(X, y)
        self._check_lengthscale(int(np.prod(self.input_shape_)))
        device = chosen_device(self.device)
        flat = array.reshape(len(array), -1).astype(np.float64)
        self._learn_scale(flat)
        x = self._prepared(flat)
        choice, *orders = seed_sequence(self.random_state).spawn(1 + len(self.classes_))
        points = _first_inducing(x, self.n_inducing, self.inducing, choice)
        lengthscale = self._first_lengthscale(points)
        schedule = SparseSchedule(**{field.name: getattr(self, field.name) for field in fields(SparseSchedule)})
        data = torch.from_numpy(x).to(device, PRECISION[self.precision])
        targets = latent_targets(codes, len(self.classes_)) - 0.5
        latents: list[Any] = []
        records: list[SparseRecord] = []
        total, done = targets.shape[1] * n_steps(len(x), schedule), 0
        with (
            _without_denormals(self.precision == "single"),
            torch_threads(self._threads(len(points), self.batch_size)),
            progress_bar(f"training {targets.shape[1]} latent functions", total, shown=self.progress) as show,
        ):

            def step() -> None:
                nonlocal done
                done += 1
                show(done)

            for target, order in zip(targets.T, orders[: targets.shape[1]], strict=True):
                start = torch.tensor(points, dtype=data.dtype, device=device)
                latent = SparseLatent(start, torch.tensor(lengthscale), float(self.signal_variance))
                kappa = torch.tensor(target, dtype=data.dtype, device=device)
                records.append(train_latent(latent, data, kappa, schedule, seed=order, show=step))
                latents.append(latent.in_double())
        self.latents_: tuple[Any, ...] = tuple(latents)
        self.training_ = tuple(records)
        return self

    def predict_uncertainty(self, X: ArrayLike) -> GaussianLogits | Members:
        """As in `GaussianProcess`, with the notes of the training."""
        said = super().predict_uncertainty(X)
        return replace(said, notes=(*said.notes, *training_notes(self.training_)))

    def latent(self, X: ArrayLike) -> tuple[Floats, Floats]:
        """Means and variances of the latent values, ``(n, L)``: L = 1 for two classes, else one for each class."""
        array = self._checked_inputs(X)
        x = torch.from_numpy(self._prepared(array.reshape(len(array), -1).astype(np.float64)))
        device = chosen_device(self.device)
        m = max(len(latent.inducing) for latent in self.latents_)
        size = max(1, CHUNK_BYTES // (8 * m))
        moments = np.empty((2, len(x), len(self.latents_)))
        with torch.no_grad(), torch_threads(self._threads(m, len(x))):
            for k, latent in enumerate(self.latents_):
                latent.on(device)
                for start in range(0, len(x), size):
                    rows = slice(start, start + size)
                    mean, variance = latent.moments(x[rows].to(device))
                    moments[0, rows, k], moments[1, rows, k] = mean.cpu().numpy(), variance.cpu().numpy()
                latent.on("cpu")
        return moments[0], moments[1]

    def check_options(self, input_shape: tuple[int, ...] | None = None, n_classes: int | None = None) -> None:
        """Refuse options that are out of range; nothing is trained. `fit` calls this first."""
        for name in ("n_inducing", "batch_size", "final_passes"):
            whole(getattr(self, name), name, "for example 10", least=1)
        whole(self.epochs, "epochs", "for example 20", least=0)
        for name in ("learn_inducing", "learn_kernel", "ard", "standardise", "progress"):
            value = getattr(self, name)
            true_or_false(value, name)
        number(self.signal_variance, "signal_variance", "for example 4", low=0, ends="()")
        number(self.learning_rate, "learning_rate", "for example 0.02", low=0, ends="()")
        number(self.natural_rate, "natural_rate", "for example 0.1", low=0, high=1, ends="(]")
        one_of(self.inducing, "inducing", INDUCING, "choose one")
        one_of(self.precision, "precision", tuple(PRECISION), "choose one")
        self._check_classes_options()
        check_device(self.device)
        self._check_lengthscale(None if input_shape is None else int(np.prod(input_shape)))

    def _check_lengthscale(self, n_features: int | None) -> None:
        given = self.lengthscale
        if given is None:
            return
        several = isinstance(given, (list, tuple, np.ndarray)) and np.ndim(given) > 0
        for one in given if several else [given]:
            number(one, "lengthscale", "for example 1", low=0, ends="()")
        if not several:
            return
        if not self.ard:
            rule = "must be one number for a common length scale"
            fail("lengthscale", rule, f"got {given!r}", "set ard=True, or give one number", code="conflict")
        if n_features is not None and len(given) != n_features:
            rule = f"must have one number for each of the {n_features} features"
            fail("lengthscale", rule, f"got {len(given)}", "give as many, or one number", code="shape")

    def _first_lengthscale(self, points: Floats) -> Floats:
        """Length scales at the start, ``(1,)`` or with ARD ``(d,)``."""
        scale = _spacing(points) if self.lengthscale is None else np.asarray(self.lengthscale, dtype=np.float64)
        return np.broadcast_to(scale, (points.shape[1] if self.ard else 1,)).copy()

    def _learn_scale(self, flat: Floats) -> None:
        """Mean, which distances do not depend on but their rounding does, and standard deviation of each feature."""
        unit = np.array([unit_of(column) for column in flat.T])
        mean, spread = (flat / unit).mean(axis=0), (flat / unit).std(axis=0)
        constant = spread <= ROUNDING * np.abs(mean)
        self.mean_ = mean * unit
        self.spread_ = np.where(constant, 1.0, spread * unit) if self.standardise else np.ones_like(spread)

    def _prepared(self, flat: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            x: Floats = (flat - self.mean_) / self.spread_
        # greater ones have squared distances that overflow in single precision
        if not (np.abs(x) < 1e18).all():
            raise _too_large(flat)
        return x

    def _threads(self, m: int, rows: int) -> int | None:
        """One CPU thread if the products are small; None leaves PyTorch's setting."""
        return 1 if m * m * min(rows, 4096) < ONE_THREAD else None


@contextmanager
def _without_denormals(wanted: bool) -> Iterator[None]:
    """Round tiny numbers to 0 within the block; without it, products of small covariances in single precision are slow."""
    rounded_before = bool((torch.full((1,), 1e-40) * 1.0 == 0).all())
    if not wanted or rounded_before:
        yield
        return
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def _first_inducing(x: Floats, n: int, how: str, seed: np.random.SeedSequence) -> Floats:
    """At most n distinct points, ``(m, d)``, in random order."""
    rng = np.random.default_rng(seed)
    seen = rng.permutation(len(x))[: max(CANDIDATES * n, n)] if how == "k-means" else rng.permutation(len(x))
    distinct = np.unique(x[seen], axis=0)
    distinct = distinct[rng.permutation(len(distinct))]
    if how == "subset" or len(distinct) <= n:
        return distinct[:n]
    means = MiniBatchKMeans(n, batch_size=4096, max_iter=20, n_init=1, random_state=int(rng.integers(2**31)))
    return np.asarray(means.fit(distinct).cluster_centers_, dtype=np.float64)


def _spacing(points: Floats) -> float:
    """Median distance between a point and its nearest neighbour; 1 for a single point."""
    if len(points) < 2:
        return 1.0
    return float(np.median(KDTree(points).query(points, k=2)[0][:, 1]))


def _too_large(flat: Floats) -> InputError:
    row = int(np.abs(flat).max(axis=1).argmax())
    return InputError(
        "X", "is too large for distances between instances", f"row {row}", "scale X down first", code="range"
    )
