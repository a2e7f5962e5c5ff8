"""Every public metric, loss and measure: probabilities that float16 holds give the same numbers in float16, 32 and 64.

The functions are found from the public names, so that a new one must be covered here or be listed with its reason.
"""

import inspect
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import uqassay as uq
from uqassay.measures.registry import score_names

N, M, K = 60, 4, 3
OTHERS = {"free_energy": "logits", "gaussian_logits_decomposition": "logits"}
TYPES = (np.float16, np.float32, np.float64)
ROOMS = (uq.metrics, uq.losses, uq.measures)
NO_PROBABILITIES = {  # they take numbers of other kinds: curves over shares, correlations, sizes, names, λ
    "below_chance_test": "curves of correlations",
    "calibration_measure": "a name",
    "correlation_study": "values of metrics of many models",
    "counts_of_votes": "votes",
    "disentanglement_error": "curves of correlations",
    "expected_absolute_correlation": "a number of conditions",
    "paired_disentanglement_test": "results",
    "recombined_error": "correlations",
    "swap_test": "curves of correlations",
    "tradeoff_range": "costs",
}


def shares(rng, *shape):
    """Multiples of 1/1024, exact in float16 and with values next to the edges .3, .6 and .7 of float16."""
    found = rng.dirichlet(np.ones(K), shape)
    found[..., :2] = np.floor(found[..., :2] * 1024) / 1024
    found[..., 2] = 1 - found[..., 0] - found[..., 1]
    near = np.float64(np.float16(0.3)), np.float64(np.float16(0.6)), np.float64(np.float16(0.7))
    rows = np.array([[near[0], 0.5, 0.5 - near[0]], [1 - near[1], near[1], 0], [near[2], 0, 1 - near[2]], [1, 0, 0]])
    flat = found.reshape(-1, K)
    flat[::4] = rows[rng.integers(4, size=len(flat[::4]))]
    assert (found == found.astype(np.float16)).all()
    return found


def arguments():
    """Values by the name of a parameter; all probabilities and uncertainties are exact in float16."""
    rng = np.random.default_rng(0)
    points, members, more = shares(rng, N), shares(rng, N, M), shares(rng, N)
    y = rng.integers(K, size=N)
    uncertainty = np.round(rng.random(N) * 64) / 64
    errors = (rng.random(N) < uncertainty).astype(float)
    grid = np.round(rng.random((5, 3, 8)) * 64) / 64
    return {
        "y_true": y,
        "labels": y,
        "probs": points,
        "prediction": members,
        "y_prob": points,
        "before": points,
        "after": more,
        "label_probs": more,
        "predicted": points,
        "label_distribution": more,
        "votes": rng.integers(1, 9, (N, K)),
        "uncertainty": uncertainty,
        "epistemic": uncertainty,
        "mapped": uncertainty,
        "errors": errors,
        "correct": 1 - errors,
        "confidence": points.max(axis=1),
        "gap": points[np.arange(N), y],
        "is_out": np.arange(N) % 3 == 0,
        "truth": errors,
        "gain": np.round(rng.random(N) * 64) / 64,
        "gains": np.round(rng.random(N) * 64) / 64,
        "edges": np.linspace(0, 1, 5),
        "distance": {"a": uncertainty, "b": errors},
        "nonspecificity": {"a": errors, "b": uncertainty},
        "distances": uncertainty,
        "kl": 2 * uncertainty,
        "estimates": {"a": uncertainty, "b": errors + uncertainty},
        "a": (errors, uncertainty),
        "b": (errors, 1 - uncertainty),
        "rankings": {"a": (errors, uncertainty), "b": (errors, 1 - uncertainty)},
        "coverage": 0.7,
        "risk": 0.3,
        "shares": [0.1, 0.5, 1.0],
        "grid": grid,
        "name": None,
        "names": ["total-entropy", "variation-ratio", "epistemic-entropy"],
        "abstention_allowed": None,
    }


OWN = {  # arguments of one function whose names mean something else there
    "doubt_sources": lambda a: (
        a | {"probs": shares(np.random.default_rng(1), 5, 3, 8), "epistemic": a["grid"], "labels": a["labels"][:8]}
    ),
    "epistemic_trend_test": lambda a: a | {"epistemic": a["grid"]},
    "lower_envelope": lambda a: a | {"distance": np.array([0.25, 0.5]), "nonspecificity": np.array([0.5, 0.125])},
    "ranking_changes": lambda a: a | {"distance": np.array([0.25, 0.5]), "nonspecificity": np.array([0.5, 0.125])},
}


def cast(value, dtype):
    """The floating-point arrays in a value, in another type."""
    if isinstance(value, np.ndarray):
        return value.astype(dtype) if value.dtype.kind == "f" else value
    if isinstance(value, dict):
        return {key: cast(one, dtype) for key, one in value.items()}
    return tuple(cast(one, dtype) for one in value) if isinstance(value, tuple) else value


def numbers(found):
    """All numbers in a result, one after the other."""
    if isinstance(found, uq.statistics.Estimate):
        return [float(found), found.low, found.high]
    if isinstance(found, (bool, int, float, np.number)):
        return [float(found)]
    if isinstance(found, np.ndarray):
        return np.asarray(found, dtype=float).ravel().tolist() if found.dtype.kind in "fiub" else []
    if isinstance(found, dict):
        return [n for one in found.values() for n in numbers(one)]
    if isinstance(found, (list, tuple)):
        return [n for one in found for n in numbers(one)]
    if is_dataclass(found):
        return [n for field in fields(found) for n in numbers(getattr(found, field.name))]
    return []


def functions():
    for room in ROOMS:
        for name in room.__all__:
            found = getattr(room, name)
            if inspect.isfunction(found) and name not in NO_PROBABILITIES | OTHERS:
                yield pytest.param(found, id=f"{room.__name__.rpartition('.')[2]}.{name}")


def calls(function):
    """The function with its required arguments, for each kind of options that it has by name."""
    given = OWN.get(function.__name__, dict)(arguments())
    parameters = inspect.signature(function).parameters
    needed = {name: given[name] for name, p in parameters.items() if p.default is p.empty}
    if function.__name__ == "uncertainty_score":
        return [needed | {"name": name} for name in score_names(uq.Members(given["prediction"]), on_request=True)]
    options = [{}]
    for name, values in (
        ("binning", ("width", "mass")),
        ("loss", ("zero-one", "log", "brier")),
        ("n_bins", (3, 10, 15)),
    ):
        p = parameters.get(name)
        if p is not None and (p.default in values or name == "n_bins"):
            options += [{name: value} for value in values]
    if "distance" in parameters and parameters["distance"].default == "kl":
        options += [{"distance": value} for value in ("js", "tv", "brier")]
    return [needed | option for option in options]


@pytest.mark.parametrize("function", list(functions()))
def test_float16_values_give_the_same_numbers_in_all_types(function):
    for given in calls(function):
        half, single, double = (numbers(function(**cast(given, dtype))) for dtype in TYPES)
        for found in (half, single):
            np.testing.assert_allclose(found, double, rtol=1e-12, atol=1e-13, err_msg=str(set(given)))


def test_every_metric_by_name_gives_the_same_numbers():
    members, y = arguments()["prediction"], arguments()["y_true"]
    names = ("unified", "distance", "nonspecificity", "accuracy", "log-loss", "brier", *uq.metrics.RANKING_METRICS)
    for name in names:
        found = [numbers(uq.metrics.prediction_metric(y, cast(members, t), metric=name)) for t in TYPES]
        np.testing.assert_allclose(found[0], found[2], rtol=1e-12)
        np.testing.assert_allclose(found[1], found[2], rtol=1e-12)
        streamed = []
        for dtype in TYPES:
            metric = uq.metrics.StreamingMetric(name)
            for rows in (slice(0, 7), slice(7, N)):
                metric.update(members[rows].astype(dtype), y[rows])
            streamed.append(numbers(metric.compute()))
        np.testing.assert_allclose(streamed[0], streamed[2], rtol=1e-12)
        np.testing.assert_allclose(streamed[2], found[2], rtol=1e-12)


def test_the_exceptions_exist():
    for name in NO_PROBABILITIES | OTHERS:
        assert any(name in room.__all__ for room in ROOMS), name
