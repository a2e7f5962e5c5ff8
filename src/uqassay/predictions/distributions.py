"""Predictions from distribution objects with PyTorch's interface: `batch_shape`, `event_shape` and a family's parameters.

The family is known by the name of its class or of a class that it derives from, since parameters alone do not tell
(`Categorical` and `Geometric` both have `probs`). Nothing is imported: GPyTorch and Pyro derive theirs from PyTorch's.

| family | becomes |
|---|---|
| `Categorical`, `OneHotCategorical`; `Bernoulli`, whose p is that of class 1 | `Point`; `Members` with a batch of two axes |
| `Dirichlet` | `Dirichlet` |
| `Normal`; `MultivariateNormal`, `LowRankMultivariateNormal` without covariance between classes | `GaussianLogits` |
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from uqassay._array import as_numeric, tolerance_of
from uqassay.errors import InputError
from uqassay.predictions.point import two_columns


def is_distribution(obj: Any) -> bool:
    """Whether the object has the attributes that all of PyTorch's distributions have."""
    return hasattr(obj, "batch_shape") and hasattr(obj, "event_shape")


def arrays_of_distribution(obj: Any, *, member_axis: int | None) -> dict[str, Any]:
    """Named arrays, classes last, the axes before them as in the batch of the distribution.

    Raises
    ------
    InputError
        Another family; a batch of two axes while nothing says which of them holds the members; Gaussian logits that are
        correlated across classes.
    """
    family = next((cls.__name__ for cls in type(obj).__mro__ if cls.__name__ in _FAMILIES), None)
    if family is None:
        raise InputError(
            "obj",
            f"a distribution must be one of {', '.join(_FAMILIES)}",
            f"got {type(obj).__name__}",
            "give its class probabilities as an array",
            code="type",
        )
    arrays = _FAMILIES[family](obj)
    for key, values in arrays.items():
        if key != "alpha" and np.ndim(values) == 3 and member_axis is None:
            raise InputError(
                "member_axis",
                "a distribution whose batch has two axes, instances and members, needs member_axis",
                f"got {key} of shape {tuple(values.shape)} from a {family}",
                "pass from_object(obj, member_axis=0) where the samples come first, as PyTorch and GPyTorch stack them",
                code="member-axis",
            )
    return arrays


def _categorical(obj: Any) -> dict[str, Any]:
    return {"probs": obj.probs}


def _bernoulli(obj: Any) -> dict[str, Any]:
    return {"probs": two_columns(as_numeric(obj.probs, "probs", ndim=(1, 2)))}


def _dirichlet(obj: Any) -> dict[str, Any]:
    return {"alpha": obj.concentration}


def _normal(obj: Any) -> dict[str, Any]:
    return {"mean": obj.mean, "variance": obj.variance}


def _multivariate_normal(obj: Any) -> dict[str, Any]:
    """Mean and variance (…, K), where the logits of an instance are independent of each other."""
    if hasattr(obj, "lazy_covariance_matrix") and not hasattr(obj, "num_tasks"):
        raise InputError(
            "obj",
            "the batch of a MultivariateNormal of GPyTorch does not say what it holds, because its covariance is between "
            "instances",
            f"got {type(obj).__name__} with a mean of shape {tuple(obj.mean.shape)}",
            "where the batch holds the classes, pass MultitaskMultivariateNormal.from_batch_mvn(obj)",
            code="member-axis",
        )
    # GPyTorch's tasks are the classes; the covariance between instances is not needed
    each = obj.to_data_independent_dist(jitter_val=0.0) if hasattr(obj, "num_tasks") else obj
    variance = as_numeric(each.variance, "variance")  # (…, K)
    scale = np.sqrt(variance)
    between = np.abs(as_numeric(each.covariance_matrix, "covariance")) * ~np.eye(scale.shape[-1], dtype=bool)
    if (between > tolerance_of(variance) * scale[..., :, None] * scale[..., None, :]).any():
        raise InputError(
            "obj",
            "GaussianLogits are independent across classes",
            f"got a {type(obj).__name__} with covariances up to {float(between.max()):.3g}",
            "draw from it, Members.from_logits(obj.sample(torch.Size([100])), member_axis=0)",
            code="undefined",
        )
    return {"mean": obj.mean, "variance": variance}


_FAMILIES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "Categorical": _categorical,
    "OneHotCategorical": _categorical,
    "Bernoulli": _bernoulli,
    "Dirichlet": _dirichlet,
    "Normal": _normal,
    "MultivariateNormal": _multivariate_normal,
    "LowRankMultivariateNormal": _multivariate_normal,
}
