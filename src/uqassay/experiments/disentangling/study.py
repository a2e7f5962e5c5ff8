"""The disentanglement benchmark for any estimator and any data."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState, generator, shown
from uqassay.bench.cell import Cell
from uqassay.bench.store import Store
from uqassay.datasets.dataset import Dataset, as_features
from uqassay.datasets.splits import stratified_split
from uqassay.errors import InputError
from uqassay.evidence.disentanglement import DisentanglementStudy, joined
from uqassay.experiments.disentangling.blocks import (
    FUNCTION,
    block_cells,
    blocks_of,
    packed,
    study_of,
    train_block,
)
from uqassay.experiments.disentangling.conditions import Conditions, check_data
from uqassay.experiments.disentangling.identity import identity_of
from uqassay.experiments.disentangling.reduction import Decompositions, chosen_decompositions
from uqassay.experiments.disentangling.trainings import check_estimator, measure_runs

__all__ = ["block_cells", "disentanglement", "study_of", "train_block"]

TEST_SIZE = 0.2


def disentanglement(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    test: tuple[ArrayLike, ArrayLike] | float | int = TEST_SIZE,
    decomposition: Decompositions = None,
    runs: int = 5,
    conditions: Conditions | None = None,
    folder: str | os.PathLike[str] | None = None,
    rng: RandomState = None,
    progress: bool = True,
) -> DisentanglementStudy:
    """Do the aleatoric and the epistemic estimate move only when they should?

    The estimator is trained on growing shares of the data, on labels of which a growing share is permuted, and without one of
    the classes. More data should lower the epistemic estimate alone, permuted labels raise the aleatoric one alone.

    Parameters
    ----------
    estimator : object
        Unfitted, with ``fit(X, y)`` and ``predict_uncertainty(X)``, which gives a prediction or an array (n, K) or (n, M, K):
        a method of `uqassay.methods` or a class written by hand. It is copied for every training. If it has the options
        `random_state`, `epochs` or `classes`, they are set; `epochs` grows as 1 / share.
    X : array (n, …)
    y : array (n,)
        Labels of any kind.
    test : (X_test, y_test), float or int
        Test instances, or the share or number of instances that a stratified split holds out. The same instances are the test
        in all runs.
    decomposition : str, callable, or several, optional
        Names of `uqassay.measures.DECOMPOSITIONS`, or functions of a prediction; a dict names functions. By default all
        that the predictions offer.
    runs : int
        Each with its own subsets, permuted rows and initial weights.
    conditions : Conditions, optional
        By default those of the paper.
    folder : path, optional
        Blocks of runs that are finished are stored there and not trained again; the folder may be that of a benchmark.
    rng : int, Generator or None
        None means seed 0. More runs with the same seed contain the fewer ones.
    progress : bool
        Show progress on a terminal.

    Returns
    -------
    DisentanglementStudy
        ``study.error(name)`` is the disentanglement error of a decomposition.

    Raises
    ------
    InputError
        An estimator without these methods; a class that has no training instance, or is left out and has no test instance;
        predictions of a wrong shape or with NaN; with `folder`, options from which no key can be made.

    Notes
    -----
    Source: paper 004, sections 4 and 5.

    Examples
    --------
    >>> import uqassay as uq
    >>> from sklearn.datasets import load_iris
    >>> forest = uq.methods.RandomForest(n_members=10)
    >>> few = uq.experiments.Conditions(shares=(0.1, 0.5, 1.0), noise_levels=(0.0, 0.5, 1.0), left_out=())
    >>> study = uq.experiments.disentanglement(forest, *load_iris(return_X_y=True), runs=2, conditions=few)
    >>> study.method, study.n_runs, list(study.measured)
    ('RandomForest', 2, ['dataset-size', 'label-noise'])
    >>> bool(0 <= study.error("information-theoretic").error <= 2)
    True
    """
    check_estimator(estimator)
    chosen = chosen_decompositions(decomposition)
    conditions = Conditions() if conditions is None else conditions
    if not isinstance(conditions, Conditions):
        got = f"got {shown(conditions)}"
        raise InputError(
            "conditions", "must be of type Conditions", got, "give uq.experiments.Conditions(…)", code="type"
        )
    base = int(generator(rng).integers(2**32))
    data = _dataset(X, y, test, base)
    check_data(data, conditions)
    seeds = _seeds(base, runs)
    studies = []
    for block in blocks_of(seeds, estimator, data.X_train.shape[1:]):
        train = partial(measure_runs, estimator, data, conditions, block, decompositions=chosen, progress=progress)
        if folder is None:
            studies.append(train())
        else:
            studies.append(_stored(folder, _given_cell(estimator, data, conditions, block, chosen), train))
    return joined(studies)


# -- helpers -------------------------------------------------------------------------------------------------------------


def _stored(
    folder: str | os.PathLike[str], cell: Cell, train: Callable[[], DisentanglementStudy]
) -> DisentanglementStudy:
    """The stored result of a cell, or that of `train`, which is stored then."""
    store = Store(folder)
    store.recover([cell.key])
    if store.states([cell.key], verify=True)[0].state != "done":
        start = time.perf_counter()
        store.finish(cell, packed(train()), seconds=time.perf_counter() - start)
    return study_of(store.result(cell.key))


def _given_cell(
    estimator: Any, data: Dataset, conditions: Conditions, block: Sequence[int], decomposition: Decompositions
) -> Cell:
    """The cell of an estimator and data at hand. Its key holds all that the result depends on; only this process can run it."""
    return Cell(
        FUNCTION,
        dataset=data.name,
        method=type(estimator).__name__,
        seed=block[0],
        params={
            "estimator": identity_of(estimator),
            "seeds": list(block),
            "conditions": conditions.to_dict(),
            "options": {"decompositions": identity_of(decomposition, "decomposition")},
        },
        data_hash=data.content_hash,
        rests_on=_modules_of(estimator),
    )


def _modules_of(estimator: Any) -> tuple[str, ...]:
    """Modules whose code trains the estimator: of this package, and of the user where they can be imported."""
    found = []
    for kind in type(estimator).__mro__:
        top = kind.__module__.partition(".")[0]
        released = top != "uqassay" and hasattr(sys.modules.get(top), "__version__")
        if top not in ("builtins", "abc", "__main__") and not released and _has_file(kind.__module__):
            found.append(kind.__module__)
    return (*dict.fromkeys(found), "uqassay.methods.together")


def _has_file(module: str) -> bool:
    return getattr(sys.modules.get(module), "__file__", None) is not None


def _dataset(X: ArrayLike, y: ArrayLike, test: Any, seed: int) -> Dataset:
    """The data with a test part, given or held out, and labels as indices."""
    features, labels = as_features(X, "X"), np.asarray(y)
    given = isinstance(test, (tuple, list))
    if given and len(test) != 2:
        raise InputError("test", "must be (X_test, y_test)", f"got {len(test)} parts", "give both", code="shape")
    if labels.ndim != 1 or len(labels) != len(features):
        raise InputError(
            "y",
            "must hold one label for each row of X",
            f"got shape {labels.shape} for {len(features)} rows",
            "give one label for each instance",
            code="shape",
        )
    names, codes = _coded(labels, np.asarray(test[1]) if given else labels[:0])
    if given:
        parts = features, codes[: len(labels)], as_features(test[0], "X_test"), codes[len(labels) :]
    else:
        try:
            train_rows, test_rows = stratified_split(codes, test, seed)
        except InputError as problem:
            renamed = "test" if problem.parameter == "test_size" else problem.parameter
            raise problem.replace(parameter=renamed) from problem
        parts = features[train_rows], codes[train_rows], features[test_rows], codes[test_rows]
    return Dataset("data", *parts, class_names=tuple(str(name) for name in names.tolist()))


def _coded(labels: NDArray[Any], test_labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct labels, sorted, and the place of each label among them, those of the test part last."""
    if test_labels.ndim != 1:
        got = f"got shape {test_labels.shape}"
        raise InputError("y_test", "must hold one label for each row", got, "give one axis", code="shape")
    for name, part in (("y", labels), ("y_test", test_labels)):
        missing = [i for i, label in enumerate(part.tolist()) if label is None or label != label]
        if missing:
            remedy = "fill in missing labels, or drop such rows"
            raise InputError(
                name, "must hold a label in each row", f"row {missing[0]} has none", remedy, code="missing"
            )
    try:
        names, codes = np.unique(np.concatenate([labels, test_labels]), return_inverse=True)
    except TypeError as problem:
        kinds = sorted({type(label).__name__ for label in (*labels.tolist(), *test_labels.tolist())})
        got = f"got {' and '.join(kinds)}"
        raise InputError("y", "must hold labels of one type", got, "convert all to text", code="type") from problem
    return names, codes.astype(np.int64)


def _seeds(base: int, runs: int) -> list[int]:
    if isinstance(runs, bool) or not isinstance(runs, (int, np.integer)) or runs < 1:
        raise InputError("runs", "must be a whole number from 1 up", f"got {runs!r}", "for example 5", code="range")
    return [int(np.random.SeedSequence(base, spawn_key=(r,)).generate_state(1)[0]) for r in range(runs)]
