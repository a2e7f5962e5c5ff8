"""The evaluation of epistemic uncertainty by the gain from more data, for any estimator and any data."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import RandomState, generator
from uqassay.checks import fail
from uqassay.evidence import GainStudy
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.store import Store
from uqassay.lab.datasets.dataset import Dataset, as_features
from uqassay.lab.methods.training import progress_bar
from uqassay.lab.papers.estimators import (
    check_estimator,
    coded_labels,
    identity_of,
    labels_of_rows,
    run_seeds,
    stored_result,
)
from uqassay.lab.papers.gain.run import (
    Estimates,
    checked_losses,
    chosen_estimates,
    measured_run,
    packed_run,
    study_of,
)
from uqassay.lab.papers.gain.worlds import GainTask, RunDivision, check_splitter, divided_run, known_label_probs
from uqassay.lab.papers.options import NamedOptions

__all__ = ["epistemic_gain"]

FUNCTION = "uqassay.lab.papers.gain.study:epistemic_gain"


def epistemic_gain(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    split: Any,
    *,
    calibration: Any = "same",
    scores: NamedOptions = None,
    losses: str | Sequence[str] = ("zero-one",),
    runs: int = 6,
    truth: Callable[[NDArray[Any]], ArrayLike] | ArrayLike | None = None,
    folder: str | os.PathLike[str] | None = None,
    key: str = "",
    rng: RandomState = None,
    progress: bool = True,
) -> GainStudy:
    """Do instances with a great epistemic estimate gain from more training data?

    The split takes most training instances out of some regions. The estimator is trained without them, on D_train, and with
    them, on D_aug. On test instances of these regions the gain is the loss of the first model minus the loss of the second. It
    is compared with the epistemic uncertainty that the first model states.

    Parameters
    ----------
    estimator : object
        Unfitted, with ``fit(X, y)`` and ``predict_uncertainty(X)``, which gives a prediction or an array (n, K) or (n, M, K):
        a method of `uqassay.lab.methods` or a class written by hand. A classifier with `predict_proba` alone offers the
        entropy. It is copied for every training. If it has the options `random_state` or `classes`, they are set.
    X : array (n, …)
    y : array (n,)
        Labels of any kind.
    split : object
        With ``divide(X, random_state=int)``, which gives row numbers `train`, `test` and `augmented`:
        `uqassay.lab.datasets.BallSplit`.
    calibration : "same", object or None
        The split of D_train into D_train2, D_test2 and D_aug2, from which estimates are mapped to gains. None leaves them out.
    scores : str, callable, several, or dict, optional
        Estimates: names of `uqassay.measures.SCORES`, or functions of a prediction that give (n,) values; a dict names
        functions, and a value (function, (low, high)) states their range. By default "mutual-information" and "entropy", as
        far as the prediction offers them. Entropies are in nats.
    losses : str or several
        "zero-one", "log" (in nats) or "brier".
    runs : int
        Each with its own split and its own seed of the estimator.
    truth : function X → array (n, K), or array (n, K), optional
        P(y|x) with the classes in sorted order, if it is known.
    folder : path, optional
        Runs that are finished are stored there and not trained again; the folder may be that of a benchmark.
    key : str
        Your own text in the key of stored runs, such as a version of your code. Functions without a name of their own (lambdas
        and functions inside functions) need it with `folder`.
    rng : int, Generator or None
        None means seed 0. More runs with the same seed contain the fewer ones.
    progress : bool
        Show progress on a terminal.

    Returns
    -------
    GainStudy
        ``study.result(score)`` has the correlation, the calibration error and the delay curve of a score.

    Raises
    ------
    InputError
        An estimator or a split without these methods; a split with an empty part, of D_train too; one class alone in
        D_train; a class of D_test that D_train lacks, under the log loss; predictions or estimates of a wrong shape or with
        NaN; with `folder`, options from which no key can be made.

    Notes
    -----
    Within a run all models have the same seed, so that they differ by their training data alone. A class without an instance in
    the training data has the probability 0 if the predictions have no column for it.

    The key of stored runs holds the data, the options, the names of the classes and functions given, the versions of their
    packages and that of uqassay. It does not hold their source code: change `key` when your own code changes.

    Source: epistemic gain, sections 3 to 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> import uqassay as uq
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.uniform(size=(600, 2)), rng.integers(0, 2, 600)
    >>> split = uq.lab.datasets.BallSplit(0.2, centres=[[0.3, 0.3], [0.7, 0.7]], train_share=0.1, test_share=0.4)
    >>> forest = uq.lab.methods.RandomForest(n_members=10)
    >>> study = uq.lab.papers.epistemic_gain(forest, X, y, split, calibration=None, runs=2)
    >>> study.method, study.n_runs, study.scores
    ('RandomForest', 2, ('mutual-information', 'entropy'))
    """
    check_estimator(estimator, probabilities_suffice=True)
    estimates, losses = chosen_estimates(scores), checked_losses(losses)
    base = int(generator(rng).integers(2**32))
    seeds = run_seeds(base, runs)
    task = _task(X, y, split, calibration, truth)
    check_options = getattr(estimator, "check_options", None)
    if callable(check_options):
        check_options(task.X.shape[1:], task.n_classes)
    names = {seed: f"run {r}" for r, seed in enumerate(seeds, start=1)}
    cells = {} if folder is None else {s: _cell(estimator, task, estimates, losses, s, key) for s in seeds}
    divisions = {
        seed: divided_run(task, seed, losses=losses, name=names[seed])
        for seed in seeds
        if folder is None or not _is_done(folder, cells[seed])
    }
    total = sum(division.n_trainings for division in divisions.values())
    results: list[Any] = []
    with progress_bar(f"{total} trainings", total, shown=progress) as show:
        train = _Trainer(estimator, task, estimates, losses, divisions, names, show)
        for seed in seeds:
            results.append(train(seed) if folder is None else stored_result(folder, cells[seed], partial(train, seed)))
    return study_of(results)


# -- helpers -------------------------------------------------------------------------------------------------------------


class _Trainer:
    """Trains runs and counts the trainings."""

    def __init__(
        self,
        estimator: Any,
        task: GainTask,
        estimates: Estimates,
        losses: Sequence[str],
        divisions: dict[int, RunDivision],
        names: Mapping[int, str],
        show: Callable[[int], None],
    ) -> None:
        self.estimator, self.task, self.estimates, self.losses = estimator, task, estimates, losses
        self.divisions, self.names, self.show, self.done = divisions, names, show, 0

    def __call__(self, seed: int) -> CellResult:
        """The result of one run; a stored one that turned out to be damaged is divided only now."""
        division = self.divisions.pop(seed, None) or divided_run(
            self.task, seed, losses=self.losses, name=self.names[seed]
        )
        measured = measured_run(
            self.estimator, self.task, division, estimates=self.estimates, losses=self.losses, step=self._step
        )
        facts = {"instances": len(self.task.X), "classes": self.task.n_classes}
        return packed_run(measured, {"method": type(self.estimator).__name__, "dataset": "data", "study": facts})

    def _step(self) -> None:
        self.done += 1
        self.show(self.done)


def _task(X: ArrayLike, y: ArrayLike, split: Any, calibration: Any, truth: Any) -> GainTask:
    features = as_features(X, "X")
    names, codes = coded_labels({"y": labels_of_rows(y, len(features))})
    if len(names) < 2:
        fail("y", "must hold at least two classes", f"got {', '.join(names) or 'none'}", "add instances", code="empty")
    check_splitter(split, "split")
    if isinstance(calibration, str):
        if calibration != "same":
            rule = 'must be "same", None or a splitter'
            fail("calibration", rule, f"got {calibration!r}", '"same" takes that of split', code="choice")
        calibration = split
    elif calibration is not None:
        check_splitter(calibration, "calibration")
    return GainTask(
        X=features,
        y=codes,
        class_names=names,
        split=split,
        calibration=calibration,
        label_probs=known_label_probs(truth, features, len(names)),
    )


def _cell(estimator: Any, task: GainTask, estimates: Estimates, losses: Sequence[str], seed: int, key: str) -> Cell:
    """The cell of one run with objects at hand. Its key holds all that the result depends on; only this process can run it."""
    data = Dataset("data", task.X, task.y, task.X[:0], task.y[:0], class_names=task.class_names)
    return Cell(
        FUNCTION,
        dataset="data",
        method=type(estimator).__name__,
        seed=seed,
        params={
            "key": key,
            "estimator": identity_of(estimator, key=key),
            "split": identity_of(task.split, "split", key=key),
            "calibration": identity_of(task.calibration, "calibration", key=key),
            "scores": identity_of(estimates.chosen, "scores", key=key),
            "ranges": identity_of(dict(estimates.ranges), "scores", key=key),
            "losses": list(losses),
            "truth": identity_of(task.label_probs, "truth", key=key),
        },
        data_hash=data.content_hash,
    )


def _is_done(folder: str | os.PathLike[str], cell: Cell) -> bool:
    return Store(folder).states([cell.key], verify=True)[0].state == "done"
