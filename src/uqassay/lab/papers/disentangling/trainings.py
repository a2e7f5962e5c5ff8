"""One method trained under all conditions and runs of the three experiments of the paper."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import Floats
from uqassay.checks import different, fail, number, one_of, true_or_false, whole
from uqassay.errors import InputError
from uqassay.evidence import DisentanglementStudy, Measured
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.conditions import changed_data
from uqassay.lab.bench.store import StoredResult
from uqassay.lab.datasets.dataset import NOISE, STEPS, SUBSET, TRAINING, Dataset, class_shares, run_stream
from uqassay.lab.datasets.registry import load_dataset
from uqassay.lab.methods.registry import build_method
from uqassay.lab.methods.training import progress_bar
from uqassay.lab.papers.estimators import check_estimator, unfitted_copy
from uqassay.lab.papers.options import named_options
from uqassay.lab.papers.trainings import record_of
from uqassay.measures import DECOMPOSITIONS, Decomposition, decompose, decomposition_names
from uqassay.notes import Note
from uqassay.predictions import GaussianLogits, Members, Point, Prediction, as_prediction
from uqassay.records import packed, unpacked
from uqassay.text import counted, listed

__all__ = [
    "AS_AUTHORS",
    "FUNCTION",
    "PARTS",
    "Conditions",
    "Decompositions",
    "Reduction",
    "RunCondition",
    "TrainingSet",
    "block_cells",
    "block_result",
    "blocks_of",
    "chosen_decompositions",
    "has_dense_networks",
    "measure_runs",
    "smoothed_name",
    "study_of",
    "train_block",
    "training_sets",
]


# The conditions of the three experiments: the rows and labels on which each condition trains and tests.
#
# Every run has its own subsets and its own permuted rows. Within a run conditions are nested: the 5 % of the instances
# contain the 1 %, and the 20 % of the rows with permuted labels contain the 10 %. The test instances are the same in
# all runs.

Labels = NDArray[np.int64]
Rows = NDArray[np.intp]

SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
LEAST = 3  # conditions: the correlation of two points is always 1 or −1
ROUNDING = 1e-9  # 100 / 0.05 must not become 1999


@final
@dataclass(frozen=True, kw_only=True)
class Conditions:
    """The conditions of the three experiments.

    Parameters
    ----------
    shares : tuple of float in (0, 1]
        Shares of the training instances of each class, at least one instance of each; () leaves the experiment out.
    noise_levels : tuple of float in [0, 1]
        Shares of the rows whose labels are permuted; () leaves the experiment out.
    left_out : "all" or tuple of int
        Classes left out of the training, one at a time; () leaves the experiment out, and so does "all" of two classes.
    epochs_by_share : bool
        Train ⌊epochs / share⌋ epochs on a share of the instances, so that the number of steps hardly changes.
    nested_noise : bool
        The rows permuted at a level are among those of every higher level; otherwise each level draws new ones, as the
        authors' code does.
    delete_column : bool
        The estimates for a class left out take the probabilities of the other classes, not renormalised, as the authors' code
        does.

    Examples
    --------
    >>> conditions = Conditions(shares=(0.1, 0.5, 1.0), noise_levels=(0.0, 0.5, 1.0), left_out=())
    >>> conditions.values(3)
    {'dataset-size': (0.1, 0.5, 1.0), 'label-noise': (0.0, 0.5, 1.0)}
    """

    shares: tuple[float, ...] = SHARES
    noise_levels: tuple[float, ...] = LEVELS
    left_out: str | tuple[int, ...] = "all"
    epochs_by_share: bool = True
    nested_noise: bool = True
    delete_column: bool = False

    def __post_init__(self) -> None:
        for name in ("epochs_by_share", "nested_noise", "delete_column"):
            true_or_false(getattr(self, name), name)
            object.__setattr__(self, name, bool(getattr(self, name)))
        object.__setattr__(self, "shares", _checked_shares("shares", self.shares, least_open=True))
        object.__setattr__(self, "noise_levels", _checked_shares("noise_levels", self.noise_levels))
        object.__setattr__(self, "left_out", _checked_classes(self.left_out))
        if not (self.shares or self.noise_levels or self.left_out):
            fail("shares", "must leave at least one experiment", "all three are empty", "give shares", code="empty")

    def values(self, n_classes: int) -> dict[str, tuple[float, ...]]:
        """The values of each experiment that is not left out, by its name."""
        classes = self.left_out
        if classes == "all":  # one of two classes alone is nothing to learn from
            classes = tuple(range(n_classes)) if n_classes > 2 else ()
        for k in classes:
            if not 0 <= int(k) < n_classes:
                fail("left_out", f"must hold classes 0 … {n_classes - 1}", f"got {k}", "see class_names", code="range")
        found = {
            "dataset-size": self.shares,
            "label-noise": self.noise_levels,
            "left-out-class": tuple(float(k) for k in classes),
        }
        return {name: values for name, values in found.items() if values}


@final
@dataclass(frozen=True, eq=False)
class TrainingSet:
    """One condition of one run."""

    experiment: str
    place: int  #: Of the condition in its experiment
    value: float  #: Share, level, or class left out
    rows: Rows  #: (n_train,): Training instances
    y_train: Labels  #: (n_train,): Their labels
    y_test: Labels  #: (n_test,): Labels of all test instances
    share: float  #: Of the training instances; epochs are divided by it
    seed: np.random.SeedSequence  #: Of the training, fixed by the run's seed, the experiment and the value alone

    @property
    def left_out(self) -> int | None:
        """The class left out, if any."""
        return int(self.value) if self.experiment == "left-out-class" else None

    @property
    def name(self) -> str:
        """The condition for a reader."""
        return f"{self.experiment} {self.value:g}"

    def epochs(self, epochs: int) -> int:
        """Epochs for this share of the instances: ⌊epochs / share⌋."""
        return int(epochs / self.share + ROUNDING)


def training_sets(data: Dataset, conditions: Conditions, seed: int) -> Iterator[TrainingSet]:
    """The conditions of one run, experiment by experiment.

    Parameters
    ----------
    seed : int
        Of the run.
    """
    check_data(data, conditions)
    make = {"dataset-size": _smaller, "label-noise": _noisy, "left-out-class": _without_class}
    for experiment, values in conditions.values(data.n_classes).items():
        for place, value in enumerate(values):
            rows, y_train, y_test, share = make[experiment](data, conditions, seed, value)
            key = (list(make).index(experiment), round(value * STEPS))
            own = run_stream(seed, TRAINING, *key)
            yield TrainingSet(experiment, place, value, rows, y_train, y_test, share, own)


def check_data(data: Dataset, conditions: Conditions) -> None:
    """Refuse data on which a condition is not defined."""
    counts = np.bincount(data.y_train, minlength=data.n_classes)
    if not counts.all():
        k = int(np.flatnonzero(counts == 0)[0])
        rule = "every class needs at least one training instance, which the smallest share then holds"
        got = f"class {data.class_names[k]!r} has none in {counted(len(data.y_train), 'training instance')}"
        fail("y", rule, got, "add instances of it, or leave the class out of class_names", code="empty")
    if not len(data.y_test):
        fail("X_test", "must hold test instances", "got none", "split the data or give a test part", code="empty")
    classes = conditions.values(data.n_classes).get("left-out-class", ())
    if classes and data.n_classes < 3:
        rule = "needs at least three classes, so that the training still has two"
        fail("left_out", rule, f"got {data.n_classes}", "leave this experiment out by left_out=()", code="conflict")
    in_test = np.bincount(data.y_test, minlength=data.n_classes)
    for k in map(int, classes):
        if in_test[k] in (0, len(data.y_test)):
            here = "no test instance" if in_test[k] == 0 else "all test instances"
            rule = "a class left out, and the others, need test instances that can be told apart"
            remedy = "leave only other classes out, or give another test part"
            fail("left_out", rule, f"class {data.class_names[k]!r} has {here}", remedy, code="empty")


# -- the three experiments -----------------------------------------------------------------------------------------------

Changed = tuple[Rows, Labels, Labels, float]


def _smaller(data: Dataset, conditions: Conditions, seed: int, share: float) -> Changed:
    """A share of the training instances of every class; n_k = max(1, ⌊share · n_k⌋)."""
    rows = class_shares(data.y_train, data.n_classes, share, run_stream(seed, SUBSET))
    return rows, data.y_train[rows], data.y_test, share if conditions.epochs_by_share else 1.0


def _noisy(data: Dataset, conditions: Conditions, seed: int, level: float) -> Changed:
    """Labels of a share of the rows permuted among each other, in the training and the test part separately."""
    stream = (NOISE,) if conditions.nested_noise else (NOISE, round(level * STEPS))
    noisy = data.with_label_noise(level, rng=run_stream(seed, *stream))
    return np.arange(len(data.y_train)), noisy.y_train, noisy.y_test, 1.0


def _without_class(data: Dataset, conditions: Conditions, seed: int, k: float) -> Changed:
    rows = np.flatnonzero(data.y_train != int(k))
    return rows, data.y_train[rows], data.y_test, 1.0


# -- checks --------------------------------------------------------------------------------------------------------------


def _checked_shares(name: str, values: Any, *, least_open: bool = False) -> tuple[float, ...]:
    """Numbers in [0, 1] or (0, 1], each once, none or at least three."""
    given = tuple(values) if isinstance(values, (Sequence, np.ndarray)) and not isinstance(values, str) else (values,)
    for value in given:
        number(value, name, "1 is all of them", low=0, high=1, ends="(]" if least_open else "[]")
    found = tuple(float(value) for value in given)
    different(found, name, "must hold each value once", "remove one")
    if 0 < len(found) < LEAST:
        rule = f"must hold at least {LEAST} conditions, because the correlation of two points is always 1 or -1"
        got = f"got {counted(len(found), 'condition')}"
        fail(name, rule, got, "add some, or give () to leave this experiment out", code="empty")
    return found


def _checked_classes(left_out: Any) -> str | tuple[int, ...]:
    if isinstance(left_out, str):
        return one_of(left_out, "left_out", ("all",), "or give a tuple of classes, for example (0, 2)")
    classes = tuple(left_out) if isinstance(left_out, (Sequence, np.ndarray, range)) else (left_out,)
    for k in classes:
        whole(k, "left_out", "give indices of classes, for example (0, 2)")
    different(classes, "left_out", "must hold each class once", "remove one")
    return tuple(int(k) for k in classes)


# The estimates of the authors' code: entropies −Σ p ln(p + ε), and for a class left out of the training over the other
# classes, whose probabilities are not renormalised. This function is concave in p, so the difference stays ≥ 0.


def _information_theoretic(prediction: Prediction, k: int | None, convention: str, epsilon: float) -> Decomposition:
    """The entropy of the mean, the mean entropy of the members, and the difference."""
    members = prediction.credal()
    if not isinstance(members, Members):
        members = Members(members.hull_points())
    probs = np.asarray(members.probs, dtype=np.float64)
    shares = np.full((1, probs.shape[1]), 1 / probs.shape[1]) if members.weights is None else members.weights
    total = _entropy(members.mean_probs(), k, epsilon)
    aleatoric = (np.atleast_2d(shares) * _entropy(probs, k, epsilon)).sum(axis=1)
    return Decomposition(total, aleatoric, np.maximum(total - aleatoric, 0.0))


def _gaussian_logits(prediction: GaussianLogits, k: int | None, convention: str, epsilon: float) -> Decomposition:
    """As `uqassay.measures.gaussian_logits_decomposition`, with that entropy."""
    mean, variance = (np.asarray(values, dtype=np.float64) for values in (prediction.mean, prediction.variance))
    aleatoric = np.sqrt(variance).mean(axis=1) ** 2 if convention == "paper-code" else variance.mean(axis=1)
    epistemic = mean.var(axis=1)
    centre = mean.mean(axis=1)

    def entropy(of: Floats) -> Floats:
        one = GaussianLogits(
            centre[:, None], of[:, None], variance_is="epistemic", n_draws=prediction.n_draws, seed=prediction.seed
        )
        return _entropy(one.mean_probs(), k, epsilon)

    return Decomposition(entropy(aleatoric + epistemic), entropy(aleatoric), entropy(epistemic))


def _entropy(probs: Floats, k: int | None, epsilon: float) -> Floats:
    """−Σ p ln(p + ε) in nats over all classes, or over all but k; p are probabilities ``(…, K)``."""
    counted = probs if k is None else np.delete(probs, k, axis=-1)
    logs = np.log(counted + epsilon, out=np.zeros_like(counted), where=counted > 0)
    return -np.asarray((counted * logs).sum(axis=-1)) + 0.0


def smoothed_name(decomposition: str) -> str:
    """The name under which a decomposition with ε in its entropies is kept."""
    return f"{decomposition}, epsilon"


# by the name of the decomposition: (prediction, class left out or None, convention of the decomposition, ε)
AS_AUTHORS: dict[str, Callable[..., Decomposition]] = {
    "information-theoretic": _information_theoretic,
    "gaussian-logits": _gaussian_logits,
}


# One prediction of the benchmark, reduced to mean probabilities and the parts of its decompositions.

Decompose = Callable[[Any], Any]
Decompositions = str | Decompose | Sequence[str | Decompose] | Mapping[str, str | Decompose] | None

PARTS = ("total", "aleatoric", "epistemic")


@final
@dataclass(frozen=True, eq=False)
class Reduced:
    """What is kept of a prediction."""

    probs: Floats  #: (n, K): Mean probabilities
    parts: dict[str, Decomposition]
    padded: bool  #: Whether the class left out had no column


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Reduction:
    """How predictions are reduced.

    Parameters
    ----------
    n_instances, n_classes : int
        n test instances and K classes.
    chosen : dict of str to str or callable, optional
        Decompositions by name; None takes all that a prediction offers.
    convention : {"exact", "paper-code"}
        Of the decompositions.
    delete_column : bool
        Delete the column of the class left out, as the authors do, for the decompositions of `AS_AUTHORS`.
    epsilon : float
        Where it is not 0, these decompositions are kept twice: as they are, and as `smoothed_name` with entropies
        −Σ p ln(p + ε).
    """

    n_instances: int
    n_classes: int
    chosen: Mapping[str, str | Decompose] | None = None
    convention: str = "exact"
    delete_column: bool = False
    epsilon: float = 0.0

    def __call__(self, said: Any, given: TrainingSet, where: str) -> Reduced:
        """Reduce what `predict_uncertainty` returned.

        Parameters
        ----------
        given : TrainingSet
            On which the estimator was trained.
        where : str
            Estimator, condition and run, for errors.
        """
        prediction = self._checked(said, given, where)
        present = np.unique(given.y_train)
        padded = prediction.n_classes < self.n_classes
        probs = np.zeros((self.n_instances, self.n_classes))
        probs[:, present if padded else slice(None)] = prediction.mean_probs()
        chosen = self.chosen
        if chosen is None:
            chosen = {name: name for name in decomposition_names(prediction)}
        if not chosen:
            rule = "must give predictions with a distribution over distributions, or a decomposition must be given"
            got = f"{where} gave {type(prediction).__name__}"
            fail("estimator", rule, got, "give a function that decomposes it", code="no-distribution")
        deleted = given.left_out if self.delete_column and not padded else None
        parts = {name: self._parts(prediction, name, how, deleted, 0.0, where) for name, how in chosen.items()}
        if self.epsilon:
            parts |= {
                smoothed_name(name): self._parts(prediction, name, how, deleted, self.epsilon, where)
                for name, how in chosen.items()
                if how in AS_AUTHORS
            }
        return Reduced(probs, parts, padded)

    def _checked(self, said: Any, given: TrainingSet, where: str) -> Prediction:
        try:
            prediction = as_prediction(said)
            if isinstance(prediction, GaussianLogits):
                prediction = prediction.with_draws()  # each decomposition would draw them again
        except InputError as problem:
            got = f"{problem.got}, from {where}" if problem.got else f"from {where}"
            raise problem.replace(parameter="estimator", got=got) from problem
        n, k = self.n_instances, self.n_classes
        if prediction.n_instances != n or prediction.n_classes not in (k, len(np.unique(given.y_train))):
            fail(
                "estimator",
                f"must predict {n} instances and {k} classes",
                f"{prediction.n_instances} and {prediction.n_classes}, from {where}",
                "give one row for each row of X, and one column for each label",
                code="shape",
            )
        return prediction

    def _parts(
        self,
        prediction: Prediction,
        name: str,
        how: str | Decompose,
        deleted: int | None,
        epsilon: float,
        where: str,
    ) -> Decomposition:
        """The estimates of one decomposition: finite arrays ``(n,)``."""
        compute: Callable[[], Decomposition] = partial(decompose, prediction, how, convention=self.convention)
        if (deleted is not None or epsilon) and how in AS_AUTHORS:
            compute = partial(AS_AUTHORS[str(how)], prediction, deleted, self.convention, epsilon)
        try:
            parts = compute()
        except InputError as problem:
            got = f"{problem.got}, from {where}" if problem.got else f"from {where}"
            raise problem.replace(parameter=f"decomposition[{name!r}]", got=got) from problem
        for part in PARTS:
            wrong = np.flatnonzero(~np.isfinite(getattr(parts, part)))
            if len(wrong):
                fail(
                    f"decomposition[{name!r}]",
                    f"the {part} part must be finite",
                    f"row {wrong[0]} is {getattr(parts, part)[wrong[0]]}, from {where}",
                    "mend the estimator or the function",
                    code="finite",
                )
        return parts


def chosen_decompositions(decompositions: Decompositions) -> dict[str, str | Decompose] | None:
    """Names and functions by name; None stands for all that a prediction offers."""
    return named_options(decompositions, "decomposition", DECOMPOSITIONS)


# Train one method under all conditions and runs, and keep its mean probabilities and its two estimates for each test
# instance.
#
# Networks of all conditions, runs and members are trained side by side; other estimators one after another. Predictions
# are reduced at once, so that no members are kept.

BLOCK_BYTES = 2**28  # of training instances, each condition with its own standardised copy
BLOCK_NETWORKS = 128  # more of them no longer fit the cache


@final
@dataclass(frozen=True, eq=False)
class RunCondition:
    """One condition of one run."""

    run: int  #: Its place among the seeds
    seed: int
    given: TrainingSet
    name: str  #: What errors call the run

    def where(self, estimator: Any) -> str:
        """Estimator, condition and run, for errors."""
        return f"{type(estimator).__name__} under {self.given.name} in {self.name}"


@final
@dataclass
class _Table:
    """What is kept of one experiment while the runs are trained."""

    conditions: tuple[float, ...]
    labels: NDArray[np.int64]  # (R, C, n)
    probs: Floats  # (R, C, n, K)
    parts: dict[str, Floats] = field(default_factory=dict)  # (3, R, C, n)

    def measured(self) -> Measured:
        parts = {name: Decomposition(*values) for name, values in self.parts.items()}
        return Measured(self.conditions, self.labels, self.probs, parts)


def measure_runs(
    estimator: Any,
    data: Dataset,
    conditions: Conditions,
    seeds: Sequence[int],
    *,
    decompositions: Decompositions = None,
    method: str = "",
    convention: str | None = None,
    epsilon: float = 0.0,
    first_run: int | None = None,
    progress: bool = False,
) -> DisentanglementStudy:
    """The three experiments for one method.

    Parameters
    ----------
    estimator : object
        An unfitted template with ``fit(X, y)`` and ``predict_uncertainty(X)``; it is copied and stays as it is. Its
        `random_state`, `epochs` and `classes` are set if it has them.
    seeds : sequence of int
        One for each run. The results of a run depend on its seed and not on the other runs, to rounding.
    decompositions : str, callable, or several, optional
        Names of `uqassay.measures.DECOMPOSITIONS`, or functions of a prediction; in a dict functions have names of their own.
        By default all that the predictions offer.
    method : str
        Name for the reader, by default that of the class.
    convention : {"exact", "paper-code"}, optional
        Of the decompositions: see `uqassay.measures.decompose`. By default that of the estimator if it has one.
    epsilon : float
        Where it is not 0, "information-theoretic" and "gaussian-logits" are also kept with entropies −Σ p ln(p + ε), under the
        names of `smoothed_name`; the authors' code has 1e-6.
    first_run : int, optional
        Number of the first run in errors; by default runs are named by their seeds.
    progress : bool
        Show progress on a terminal.

    Raises
    ------
    InputError
        An estimator without these methods, data on which a condition is not defined, or predictions of a wrong shape or with
        NaN; the error names estimator, condition and run.
    """
    check_estimator(estimator)
    seeds = _checked_seeds(seeds)
    chosen = chosen_decompositions(decompositions)
    reduce = Reduction(
        n_instances=len(data.y_test),
        n_classes=data.n_classes,
        chosen=chosen,
        convention=str(convention or getattr(estimator, "convention", "exact")),
        delete_column=conditions.delete_column,
        epsilon=number(epsilon, "epsilon", "0 is the exact entropy", low=0, high=1, ends="[)"),
    )
    check_data(data, conditions)
    values = conditions.values(data.n_classes)
    n, k = len(data.y_test), data.n_classes
    tables = {
        name: _Table(v, np.empty((len(seeds), len(v), n), np.int64), np.empty((len(seeds), len(v), n, k)))
        for name, v in values.items()
    }
    jobs = [
        RunCondition(run, seed, one, f"the run of seed {seed}" if first_run is None else f"run {first_run + run}")
        for run, seed in enumerate(seeds)
        for one in training_sets(data, conditions, seed)
    ]
    start = time.perf_counter()
    padded = 0
    for job, model in _trained(estimator, data, jobs, progress):
        said = reduce(model.predict_uncertainty(data.X_test), job.given, job.where(model))
        table, at = tables[job.given.experiment], (job.run, job.given.place)
        table.labels[at], table.probs[at] = job.given.y_test, said.probs
        for name, parts in said.parts.items():
            if name not in table.parts:
                table.parts[name] = np.full((3, len(seeds), len(table.conditions), n), np.nan)
            for part, of_part in zip(PARTS, table.parts[name], strict=True):
                of_part[at] = getattr(parts, part)
        padded += said.padded
    return DisentanglementStudy(
        method or type(estimator).__name__,
        data.name,
        tuple(seeds),
        data.class_names,
        {name: table.measured() for name, table in tables.items()},
        facts={"seconds": time.perf_counter() - start, "trainings": len(jobs), "conditions": packed(conditions)[0]},
        notes=_notes(conditions, data, padded),
    )


# -- training ------------------------------------------------------------------------------------------------------------


def _trained(
    estimator: Any, data: Dataset, jobs: Sequence[RunCondition], progress: bool
) -> Iterator[tuple[RunCondition, Any]]:
    """Each job with its fitted copy of the estimator."""
    if not _has_networks(estimator):
        with progress_bar(f"{len(jobs)} trainings", len(jobs), shown=progress) as show:
            for done, job in enumerate(jobs, start=1):
                model = _copied(estimator, job.given, data.n_classes, progress=False)
                model.fit(data.X_train[job.given.rows], job.given.y_train)
                yield job, model
                show(done)
        return
    from uqassay.lab.methods import fit_together

    for block in _blocks(estimator, data, jobs):
        models = [_copied(estimator, job.given, data.n_classes, progress) for job in block]
        fit_together(models, [(data.X_train[job.given.rows], job.given.y_train) for job in block])
        yield from zip(block, models, strict=True)


def has_dense_networks(estimator: Any, shape: tuple[int, ...]) -> bool:
    """Whether it trains dense networks, for instances of this shape, which are faster side by side on any device."""
    if not _has_networks(estimator):
        return False
    from uqassay.lab.methods.backbones import make_backbone

    return not make_backbone(estimator.backbone, shape).convolutional


def _has_networks(estimator: Any) -> bool:
    """Whether it is a `NetworkClassifier`; only then their module, and PyTorch, is loaded."""
    module = sys.modules.get("uqassay.lab.methods.networks")
    return module is not None and isinstance(estimator, module.NetworkClassifier)


def _blocks(estimator: Any, data: Dataset, jobs: Sequence[RunCondition]) -> Iterator[list[RunCondition]]:
    """Jobs that are trained together, bounded in networks and memory; those with most epochs come first."""
    bytes_per_row = 4 * int(np.prod(data.X_train.shape[1:]))
    members = int(getattr(estimator, "n_members", 1))
    block: list[RunCondition] = []
    held = 0
    for job in sorted(jobs, key=lambda job: job.given.share):
        size = bytes_per_row * len(job.given.rows)
        if block and (held + size > BLOCK_BYTES or (len(block) + 1) * members > BLOCK_NETWORKS):
            yield block
            block, held = [], 0
        block.append(job)
        held += size
    if block:
        yield block


def _copied(estimator: Any, given: TrainingSet, n_classes: int, progress: bool) -> Any:
    """An unfitted copy with the seed, the epochs and the classes of a condition, as far as it has such options."""
    seed = int(given.seed.generate_state(1)[0])
    own: dict[str, Any] = {"random_state": seed, "classes": tuple(range(n_classes)), "progress": progress}
    if hasattr(estimator, "epochs"):
        own["epochs"] = given.epochs(estimator.epochs)
    return unfitted_copy(estimator, own)


# -- small things --------------------------------------------------------------------------------------------------------


def _checked_seeds(seeds: Sequence[int]) -> list[int]:
    found = []
    for seed in seeds:
        whole(seed, "seeds", "for example 0", least=0)
        found.append(int(seed))
    if not found:
        fail("seeds", "must hold at least one", "got none", "give one for each run", code="empty")
    different(found, "seeds", "must be different", "remove one")
    return found


def _notes(conditions: Conditions, data: Dataset, padded: int) -> tuple[Note, ...]:
    notes = []
    if padded:
        notes.append(
            Note(
                "left-out",
                f"{padded} predictions had no column for the class left out, which then has probability 0",
                {"predictions": padded},
            )
        )
    if conditions.left_out == "all" and "left-out-class" not in conditions.values(data.n_classes):
        notes.append(
            Note(
                "left-out",
                "no class was left out, because a training on one class of two says nothing",
                {"classes": data.n_classes},
            )
        )
    return tuple(notes)


# Blocks of runs as cells of a benchmark: all conditions of several runs of one method on one data set.

FUNCTION = "uqassay.lab.papers.disentangling.trainings:train_block"
RUNS_PER_BLOCK = 10  # of dense networks, which are trained side by side; other estimators have one run in a block
OPTIONS = ("decompositions", "convention", "epsilon")


def block_cells(
    dataset: str,
    method: str,
    params: Mapping[str, Any],
    seeds: Sequence[int],
    *,
    source: str = "",
    label: str = "",
    conditions: Conditions | None = None,
    options: Mapping[str, Any] | None = None,
    limits: Mapping[str, int] | None = None,
) -> list[Cell]:
    """The cells of one method on one data set, each with a block of runs.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    method : str
        A name of `uqassay.lab.methods.METHODS`.
    params : dict
        Options of the method.
    seeds : sequence of int
        One for each run.
    source : str
        Argument of `uqassay.lab.datasets.load_dataset`, by default `dataset`.
    label : str
        Name of the method for the reader, by default `method`.
    options : dict, optional
        ``decompositions``, ``convention`` and ``epsilon`` of `measure_runs`, and ``runs_per_block``.
    limits : dict, optional
        ``train_limit`` and ``test_limit``: the greatest numbers of instances.

    Examples
    --------
    >>> cells = block_cells("wine", "random-forest", {"n_members": 10}, range(3), options={"runs_per_block": 2})
    >>> [cell.params["seeds"] for cell in cells]
    [[0, 1], [2]]
    """
    conditions = Conditions() if conditions is None else conditions
    options = dict(options or {})
    loaded = _loaded(source or dataset)
    data = changed_data(loaded, limits or {})
    check_data(data, conditions)
    estimator = _built(method, params)
    estimator.check_options(data.X_train.shape[1:], data.n_classes)
    size = options.pop("runs_per_block", None)
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        rule = f"must be {listed([*OPTIONS, 'runs_per_block'], last='or')}"
        fail("options", rule, f"got {unknown[0]!r}", "remove it", code="choice")
    return [
        Cell(
            FUNCTION,
            dataset=dataset,
            method=label or method,
            seed=block[0],
            params={
                "method": method,
                "params": dict(params),
                "seeds": block,
                "conditions": packed(conditions)[0],
                "options": options,
            },
            condition=dict(limits or {}),
            data_hash=loaded.content_hash,
            source=source,
        )
        for block in blocks_of(seeds, estimator, data.X_train.shape[1:], size)
    ]


def train_block(cell: Cell) -> CellResult:
    """Train the runs of one cell of `block_cells`; `study_of` reads the result."""
    place = cell.source or cell.dataset
    data = _loaded(place)
    if data.content_hash != cell.data_hash:
        _loaded.cache_clear()
        data = _loaded(place)
    if data.content_hash != cell.data_hash:
        rule = "must hold the same data at the worker and at the driver"
        fail("dataset", rule, f"those of {cell.dataset} differ", "copy the same files", code="mismatch")
    data = replace(data, name=cell.dataset)
    given = cell.params
    study = measure_runs(
        _built(given["method"], given["params"]),
        changed_data(data, cell.condition),
        unpacked(Conditions, given["conditions"]),
        given["seeds"],
        method=cell.method,
        **given["options"],
    )
    return block_result(study)


def study_of(result: CellResult | StoredResult) -> DisentanglementStudy:
    """The study of a block of runs, from the result of its cell; `uqassay.evidence.join_studies` joins blocks."""
    return record_of(result, DisentanglementStudy)


def block_result(study: DisentanglementStudy) -> CellResult:
    """The result of a cell: the study; its predictions are those of the first run under the last condition."""
    first = next(iter(study.measured.values()))
    said = Point(first.probs[0, -1], class_names=study.class_names)
    return CellResult(said, first.labels[0, -1], record=study)


def blocks_of(seeds: Sequence[int], estimator: Any, shape: tuple[int, ...], size: int | None = None) -> list[list[int]]:
    """The seeds in blocks whose runs are trained together; without a size, one that suits the estimator."""
    if size is None:
        size = RUNS_PER_BLOCK if has_dense_networks(estimator, shape) else 1
    return [[int(seed) for seed in seeds[i : i + size]] for i in range(0, len(seeds), size)]


# -- helpers -------------------------------------------------------------------------------------------------------------


def _built(method: str, params: Mapping[str, Any]) -> Any:
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in params.items()}
    return build_method(method, **options)


@lru_cache(maxsize=2)
def _loaded(source: str) -> Dataset:
    return load_dataset(source)
