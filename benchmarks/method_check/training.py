"""One cell of the check of the methods: train, predict, and measure what can only be seen while the method is at hand.

The prediction on the test instances is kept as for a benchmark. Beside it stand numbers for each test instance, by method:

| method | numbers |
|---|---|
| evidential | vacuity K / Σ α and size of the inputs, also with the pixels shuffled, and of noise in their place |
| creinn | by how much the prediction of the middle logits leaves the intervals |
| rs-nn | least mass before the repair |
| laplace-bridge | errors of the Dirichlet against draws from the same Gaussian |
| ddu | density of the features |
"""

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import available_cores, row_chunks
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.conditions import CONDITIONS, changed_data
from uqassay.predictions import Members, Point

if TYPE_CHECKING:
    from uqassay.lab.datasets.dataset import Dataset

__all__ = ["LEFT_OUT", "bridge_errors", "shuffled_and_noise", "train_and_measure"]

LEFT_OUT = "left_out"  # key of a condition: the class that is kept from the training
N_DRAWS = 2000  # from the Gaussian of an instance; an error of about 0.005 in the probability of a class
DATA_SEED = 0  # of noise, shuffled pixels and draws, so that all runs meet the same
Floats = NDArray[np.float64]


def train_and_measure(cell: Cell) -> CellResult:
    """Train the method of a cell, let it predict the test instances, and measure it.

    Where the condition leaves a class out of the training, that class has probability 0 in the prediction; its test
    instances stay.
    """
    from uqassay.lab.datasets import load_dataset
    from uqassay.lab.methods import build_method

    limits = {key: value for key, value in cell.condition.items() if key in CONDITIONS}
    data = changed_data(load_dataset(cell.dataset), limits)
    left_out = cell.condition.get(LEFT_OUT)
    seen = data if left_out is None else data.without_class(left_out)[0]
    model = build_method(cell.params["method"], **cell.params["params"], random_state=cell.seed)
    start = time.process_time()  # of this process alone, whatever else the machine does
    model.fit(seen.X_train, seen.y_train)
    facts = {
        "fit_seconds": time.process_time() - start,
        "cores": available_cores(),
        "n_train": len(seen.y_train),
        "n_test": len(data.y_test),
        "train_accuracy": float(model.score(seen.X_train, seen.y_train)),
    }
    said = model.predict_uncertainty(data.X_test)
    scores = _measured(cell.params["method"], model, data)
    if left_out is not None:
        said = Point(np.insert(said.mean_probs(), left_out, 0.0, axis=1))
    return CellResult(said.with_metadata(class_names=data.class_names), data.y_test, scores=scores, facts=facts)


def shuffled_and_noise(data: "Dataset") -> tuple[NDArray[Any], NDArray[Any]]:
    """Each test instance with its features in an order of its own, and uniform noise over the range of the training's.

    Parameters
    ----------
    data : Dataset

    Returns
    -------
    shuffled, noise : array (n_test, …)

    Examples
    --------
    >>> from uqassay.lab.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> shuffled, noise = shuffled_and_noise(digits)
    >>> bool(shuffled.sum().round(6) == digits.X_test.sum().round(6)), bool(noise.max() <= digits.X_train.max())
    (True, True)
    """
    rng = np.random.default_rng(DATA_SEED)
    x = data.X_test
    shuffled = rng.permuted(x.reshape(len(x), -1), axis=1).reshape(x.shape)
    noise = rng.uniform(data.X_train.min(), data.X_train.max(), x.shape).astype(x.dtype)
    return shuffled, noise


def bridge_errors(said: Any, mean: Floats, covariance: Floats, *, n_draws: int = N_DRAWS) -> dict[str, Floats]:
    """How far a Dirichlet is from the softmax of the Gaussian logits that it stands for.

    Parameters
    ----------
    said : Dirichlet
        Of n instances.
    mean : array (n, K)
    covariance : array (n, K, K)
    n_draws : int
        From each Gaussian, an even number.

    Returns
    -------
    dict of str to array (n,)
        "mean-variation": total variation between the means; "total-entropy": difference of the entropies of the means;
        "aleatoric-entropy": difference of the mean entropies (both absolute, in nats); "draws-variation": the error that
        the number of draws leaves in the first, from halves of the draws.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> errors = bridge_errors(uq.Dirichlet([[3.0, 1.0]]), np.array([[0.0, 0.0]]), np.zeros((1, 2, 2)), n_draws=2)
    >>> {name: round(float(error[0]), 3) for name, error in errors.items()}
    {'mean-variation': 0.25, 'total-entropy': 0.131, 'aleatoric-entropy': 0.235, 'draws-variation': 0.0}
    """
    from uqassay.measures import entropy_decomposition

    rng = np.random.default_rng(DATA_SEED)
    n, k = mean.shape
    drawn_mean, halves = np.empty((n, k)), np.empty(n)
    total, aleatoric = np.empty(n), np.empty(n)
    values, vectors = np.linalg.eigh(covariance)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]  # root rootᵀ = Σ
    for rows in row_chunks(n, 8 * 8 * n_draws * k):
        part = roots[rows]
        noise = rng.standard_normal((len(part), n_draws, k))
        draws = Members.from_logits(mean[rows, None] + noise @ part.transpose(0, 2, 1))
        drawn_mean[rows] = draws.mean_probs()
        first, second = (draws.probs[:, i::2].mean(axis=1) for i in range(2))
        halves[rows] = np.abs(first - second).sum(axis=1) / 4  # each half has √2 times the error of the whole
        parts = entropy_decomposition(draws)
        total[rows], aleatoric[rows] = parts.total, parts.aleatoric
    stated = entropy_decomposition(said)
    return {
        "mean-variation": np.abs(said.mean_probs() - drawn_mean).sum(axis=1) / 2,
        "total-entropy": np.abs(stated.total - total),
        "aleatoric-entropy": np.abs(stated.aleatoric - aleatoric),
        "draws-variation": halves,
    }


# ---- helpers ---------------------------------------------------------------------------------------------------------


def _measured(method: str, model: Any, data: "Dataset") -> dict[str, Floats]:
    """Numbers for each test instance, of the methods that have any."""
    x = data.X_test
    if method == "evidential":
        shuffled, noise = shuffled_and_noise(data)
        inputs = {"": x, "-shuffled": shuffled, "-noise": noise}
        vacuities = {f"vacuity{what}": _vacuity(model, given) for what, given in inputs.items()}
        return vacuities | {f"size{what}": _size(model, given) for what, given in inputs.items()}
    if method == "creinn":
        return {"outside": _outside(model, x)}
    if method == "rs-nn":
        raw = model.set_params(repair=False).predict_uncertainty(x)
        return {"least-raw-mass": raw.masses.min(axis=1)}
    if method == "laplace-bridge":
        return bridge_errors(model.predict_uncertainty(x), *model.logit_distribution(x))
    scores: dict[str, Floats] = model.uncertainty_scores(x) if method == "ddu" else {}
    return scores


def _vacuity(model: Any, x: NDArray[Any]) -> Floats:
    """K / Σ α, 1 without evidence."""
    alpha = model.predict_uncertainty(x).alpha
    vacuity: Floats = alpha.shape[1] / alpha.sum(axis=1)
    return vacuity


def _size(model: Any, x: NDArray[Any]) -> Floats:
    """Root mean square of what the network sees of each instance."""
    seen = model._prepared(x).reshape(len(x), -1).astype(np.float64)
    size: Floats = np.sqrt((seen**2).mean(axis=1))
    return size


def _outside(model: Any, x: NDArray[Any]) -> Floats:
    """Greatest excess of the softmax of the middle logits over its interval; negative inside."""
    lower, upper = model._evaluate(model._prepared(x), lambda network, part, draws: network(part))
    middle = Members.from_logits((lower + upper) / 2).probs[:, 0]  # (n, K), from (n, 1, K)
    said = model.predict_uncertainty(x)
    outside: Floats = np.maximum(said.lower - middle, middle - said.upper).max(axis=1)
    return outside
