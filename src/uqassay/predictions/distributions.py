"""Predictions from distribution objects with PyTorch's interface: `batch_shape`, `event_shape` and a family's parameters.

The name of the class, or of one of its base classes, determines the family. Parameters alone do not: `Categorical` and
`Geometric` both have `probs`. No library is imported, since the classes of GPyTorch and Pyro derive from those of PyTorch.

| family | becomes |
|---|---|
| `Categorical`, `OneHotCategorical`; `Bernoulli` (p of class 1) | `Point`; `Members` for a batch of two axes |
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
    """True if the object has the attributes common to all distributions of PyTorch."""
    return hasattr(obj, "batch_shape") and hasattr(obj, "event_shape")


def arrays_of_distribution(obj: Any, *, member_axis: int | None) -> dict[str, Any]:
    """Named arrays: the axes of the batch, then the classes.

    Raises
    ------
    InputError
        An unknown family; a batch of two axes without `member_axis`; Gaussian logits that are correlated across classes.
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
                "is needed for a distribution whose batch has two axes, instances and members",
                f"got {key} of shape {tuple(values.shape)} from a {family}",
                "pass from_object(obj, member_axis=0) if the samples come first, as in PyTorch and GPyTorch",
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
    """Mean and variance (…, K) of logits that are independent across classes."""
    if hasattr(obj, "lazy_covariance_matrix") and not hasattr(obj, "num_tasks"):
        raise InputError(
            "obj",
            "the batch of a MultivariateNormal of GPyTorch is ambiguous, because its covariance is between instances",
            f"got {type(obj).__name__} with a mean of shape {tuple(obj.mean.shape)}",
            "if the batch holds the classes, pass MultitaskMultivariateNormal.from_batch_mvn(obj)",
            code="member-axis",
        )
    # the tasks of GPyTorch are the classes; the covariance between instances is dropped
    each = obj.to_data_independent_dist(jitter_val=0.0) if hasattr(obj, "num_tasks") else obj
    variance = as_numeric(each.variance, "variance")  # (…, K)
    scale = np.sqrt(variance)
    between = np.abs(as_numeric(each.covariance_matrix, "covariance")) * ~np.eye(scale.shape[-1], dtype=bool)
    if (between > tolerance_of(variance) * scale[..., :, None] * scale[..., None, :]).any():
        raise InputError(
            "obj",
            "the logits must be independent across classes, as those of GaussianLogits",
            f"got a {type(obj).__name__} with covariances up to {float(between.max()):.3g}",
            "pass draws from it, Members.from_logits(obj.sample(torch.Size([100])), member_axis=0)",
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
