"""The disentanglement benchmark for any estimator and any data."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from uqassay.arrays import RandomState, as_array, generator
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.evidence import DisentanglementStudy, join_studies
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.datasets.dataset import Dataset, as_features, stratified_split
from uqassay.lab.papers.disentangling.trainings import (
    FUNCTION,
    Conditions,
    Decompositions,
    block_cells,
    block_result,
    blocks_of,
    check_data,
    chosen_decompositions,
    measure_runs,
    study_of,
    train_block,
)
from uqassay.lab.papers.estimators import (
    check_estimator,
    coded_labels,
    identity_of,
    labels_of_rows,
    run_seeds,
    stored_result,
)
from uqassay.records import packed
from uqassay.text import shown

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
    key: str = "",
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
        a method of `uqassay.lab.methods` or a class written by hand. It is copied for every training. If it has the options
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
    key : str
        Your own text in the key of stored runs, such as a version of your code. Functions without a name of their own (lambdas
        and functions inside functions) need it with `folder`.
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
    The key of stored runs holds the data, the options, the names of the classes and functions given, the versions of their
    packages and that of uqassay. It does not hold their source code: change `key` when your own code changes.

    Source: disentanglement, sections 4 and 5.

    Examples
    --------
    >>> import uqassay as uq
    >>> from sklearn.datasets import load_iris
    >>> forest = uq.lab.methods.RandomForest(n_members=10)
    >>> few = uq.lab.papers.Conditions(shares=(0.1, 0.5, 1.0), noise_levels=(0.0, 0.5, 1.0), left_out=())
    >>> study = uq.lab.papers.disentanglement(forest, *load_iris(return_X_y=True), runs=2, conditions=few)
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
        fail("conditions", "must be of type Conditions", got, "give uq.lab.papers.Conditions(…)", code="type")
    base = int(generator(rng).integers(2**32))
    data = _dataset(X, y, test, base)
    check_data(data, conditions)
    seeds = run_seeds(base, runs)
    studies = []
    for block in blocks_of(seeds, estimator, data.X_train.shape[1:]):
        first_run = seeds.index(block[0]) + 1
        train = partial(
            measure_runs,
            estimator,
            data,
            conditions,
            block,
            decompositions=chosen,
            first_run=first_run,
            progress=progress,
        )
        if folder is None:
            studies.append(train())
        else:
            cell = _given_cell(estimator, data, conditions, block, chosen, key)
            studies.append(study_of(stored_result(folder, cell, partial(_packed_of, train))))
    return join_studies(studies)


# -- helpers -------------------------------------------------------------------------------------------------------------


def _packed_of(train: Callable[[], DisentanglementStudy]) -> CellResult:
    return block_result(train())


def _given_cell(
    estimator: Any,
    data: Dataset,
    conditions: Conditions,
    block: Sequence[int],
    decomposition: dict[str, Any] | None,
    key: str,
) -> Cell:
    """The cell of an estimator and data at hand. Its key holds all that the result depends on; only this process can run it."""
    return Cell(
        FUNCTION,
        dataset=data.name,
        method=type(estimator).__name__,
        seed=block[0],
        params={
            "key": key,
            "estimator": identity_of(estimator, key=key),
            "seeds": list(block),
            "conditions": packed(conditions)[0],
            "options": {"decompositions": identity_of(decomposition, "decomposition", key=key)},
        },
        data_hash=data.content_hash,
    )


def _dataset(X: ArrayLike, y: ArrayLike, test: Any, seed: int) -> Dataset:
    """The data with a test part, given or held out, and labels as indices."""
    features = as_features(X, "X")
    given = isinstance(test, (tuple, list))
    if given and len(test) != 2:
        fail("test", "must be (X_test, y_test)", f"got {len(test)} parts", "give both", code="shape")
    labels = labels_of_rows(y, len(features))
    names, codes = coded_labels({"y": labels, "y_test": as_array(test[1], "y_test")} if given else {"y": labels})
    if given:
        parts = features, codes[: len(labels)], as_features(test[0], "X_test"), codes[len(labels) :]
    else:
        try:
            train_rows, test_rows = stratified_split(codes, test, seed)
        except InputError as problem:
            renamed = "test" if problem.parameter == "test_size" else problem.parameter
            raise problem.replace(parameter=renamed) from problem
        parts = features[train_rows], codes[train_rows], features[test_rows], codes[test_rows]
    return Dataset("data", *parts, class_names=names)
