"""Predictions from arrays and from objects of other libraries, recognised by their attributes.

None of these libraries is imported. The attributes of objects of probly (version 0.9.1):

| attributes | becomes |
|---|---|
| `array` or `tensor`, with `sample_axis` or `sample_dim` | `Members`; `GaussianLogits` for samples of Gaussians |
| `sample_size`, of a list of arrays or distributions, one for each draw | the same |
| `alphas` | `Dirichlet` |
| `lower_bounds` and `upper_bounds` | `Intervals` |
| `mean` and `var` that are arrays | `GaussianLogits`, with `variance_is` of the call |
| `array` or `tensor` with several distributions per instance (convex and discrete credal sets) | `Vertices` |
| `array` of truth values, with `set_size` (conformal sets) | `ClassSets` |
| `array` or `tensor` with one distribution, or `probabilities` (singletons, categorical distributions) | `Point` |

An object with `batch_shape` and `event_shape` is a distribution of PyTorch, GPyTorch or Pyro; see `distributions`.
A fitted model of laplace-torch is not a prediction; `from_laplace` computes one from it. A mixture of distributions
(`components` with `mixture_weights`) is refused, because no kind represents it; draws from it are `Members`. Also refused are
conformal intervals (`set_size`), probabilities with scores (`softmax`), and lists of distributions.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uqassay._array import as_numeric
from uqassay._frames import as_frame, is_frame
from uqassay.errors import InputError
from uqassay.predictions.base import Prediction
from uqassay.predictions.distributions import arrays_of_distribution, is_distribution
from uqassay.predictions.gaussian_logits import GaussianLogits
from uqassay.predictions.keys import holds_truth_values, key_of_bare_array, needed_keys
from uqassay.predictions.named_arrays import prediction_from_arrays, variance_meaning

_DISTRIBUTIONS = (  # attributes of distributions and credal sets, and their keys
    {"lower_bounds": "lower", "upper_bounds": "upper"},
    {"alphas": "alpha"},
    {"probabilities": "probs"},
    {"mean": "mean", "var": "variance"},
)


def from_object(
    obj: Any,
    *,
    kind: str | None = None,
    member_axis: int | None = None,
    normalise: bool = False,
    variance_is: str | None = None,
    class_names: Sequence[str] | None = None,
    ids: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Prediction:
    """Make a prediction from an array or from an object of another library.

    Parameters
    ----------
    obj : object
        One of:

        * a prediction of this library, which is returned unchanged,
        * a mapping with the keys of a file (see `load`),
        * an array, tensor or table: (n, K) becomes a `Point`, (n, M, K) `Members`; truth values (n, K) become `ClassSets`,
        * a list of arrays (n, K), with `member_axis=0` for the members of one ensemble (in `uq.assay` a list holds runs),
        * a distribution with PyTorch's interface: Categorical, OneHotCategorical, Bernoulli, Dirichlet, Gaussian logits,
        * an object with attributes such as `alphas`, or `lower_bounds` and `upper_bounds`, as in probly.
    kind : str, optional
        As in `load`: "logits", "dirichlet", …, for an array without a name or a mapping with the keys of several kinds.
    member_axis : int, optional
        Axis of the members in an array of three axes, by default 1. Objects with a sample axis ignore it. A distribution
        whose batch has two axes needs it: 0 if the samples come first.
    normalise : bool
        Divide non-negative probabilities by their sums first.
    variance_is : {"aleatoric", "epistemic"}, optional
        Meaning of the variance of Gaussian logits. Needed for objects, which do not state it, and for mappings without it;
        see `GaussianLogits`.
    class_names, ids, groups : optional
        Names, identifiers and groups of the prediction; see `Prediction`.

    Raises
    ------
    InputError
        An object of unknown form; a set that no kind represents exactly; values that break a rule of the kind.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> uq.from_object(np.array([[0.7, 0.3]]))
    Point(probs=(1, 2))
    >>> uq.from_object({"lower": [[0.1, 0.3]], "upper": [[0.5, 0.9]]})
    Intervals(lower=(1, 2), upper=(1, 2))
    """
    carried = {"class_names": class_names, "ids": ids, "groups": groups}
    carried = {key: value for key, value in carried.items() if value is not None}
    if isinstance(obj, Prediction):
        if isinstance(obj, GaussianLogits):
            variance_meaning("gaussian-logits", obj.variance_is, variance_is)
        return obj.with_metadata(**carried) if carried else obj  # type: ignore[arg-type]
    if isinstance(obj, Mapping):
        _refuse_members_last(obj, member_axis)
        arrays = {key: obj[key] for key in needed_keys(obj, kind)}
    elif callable(getattr(obj, "predictive_samples", None)):
        raise _unknown(obj)
    elif is_distribution(obj):
        arrays = arrays_of_distribution(obj, member_axis=member_axis)
    elif (stated := _stated_by_attributes(obj)) is not None:
        arrays, member_axis = stated, 1
    elif (
        isinstance(obj, (list, tuple))
        or is_frame(obj)
        or any(hasattr(obj, name) for name in ("__array__", "detach", "__dlpack__"))
    ):
        _refuse_list_of_models(obj, member_axis)
        values = as_frame(obj, "obj") or _numeric(obj, "obj")
        arrays = {key_of_bare_array(kind, values): values}
    elif hasattr(obj, "nnz") and hasattr(obj, "shape"):
        as_numeric(obj, "obj")  # refuses sparse arrays, and says how to make them dense
        raise _unknown(obj)
    else:
        raise _unknown(obj)
    axis = 1 if member_axis is None else member_axis
    return prediction_from_arrays(
        arrays | carried, kind=kind, member_axis=axis, normalise=normalise, variance_is=variance_is
    )


def _refuse_list_of_models(obj: Any, member_axis: int | None) -> None:
    """Refuse lists of predictions, and lists of arrays (n, K) without `member_axis`, which are ambiguous."""
    items = obj if isinstance(obj, (list, tuple)) else ()
    if any(isinstance(item, (Prediction, Mapping)) for item in items):
        remedy = "pass them one by one, or to uq.assay, where a list holds the training runs of a model"
        raise InputError("obj", "must be one prediction", f"got a list of {len(items)}", remedy, code="type")
    model = next((item for item in items if _is_model(item)), None)
    if model is not None:
        raise InputError(
            "obj",
            "must hold predictions, not the models that make them",
            f"got a list of {len(items)} with {type(model).__name__}",
            "pass the predictions of each model: from_object([probs_1, probs_2, …], member_axis=0) for arrays (n, K)",
            code="type",
        )
    stated = next((item for item in items if not is_frame(item) and _distribution(item) is not None), None)
    if stated is not None:
        raise InputError(
            "obj",
            "a list of distributions could hold members, training runs or instances",
            f"got {len(items)} of type {type(stated).__name__}",
            "pass the probabilities of each member: from_object([probs_1, probs_2, …], member_axis=0) for arrays (n, K)",
            code="member-axis",
        )
    each = (as_frame(items[0], "obj") or items[0]) if len(items) else None
    if member_axis is None and getattr(each, "ndim", 0) == 2:
        raise InputError(
            "obj",
            "a list of arrays (n, K) could hold members, training runs or instances",
            f"got {len(items)} arrays, the first of shape {tuple(getattr(each, 'shape', ()))}",
            "pass from_object(list, member_axis=0) for the members of one ensemble; in uq.assay a list holds training runs",
            code="member-axis",
        )


def _refuse_members_last(arrays: Mapping[str, Any], member_axis: int | None) -> None:
    """Refuse three-axis logits beside `pred`, as lightning-uq-box returns them, (n, K, M), without `member_axis`."""
    if member_axis is None and {"pred", "logits"} <= set(arrays) and np.ndim(arrays["logits"]) == 3:
        raise InputError(
            "logits",
            "with three axes beside pred could have the members on the last axis, as in lightning-uq-box",
            f"got shape {tuple(np.shape(arrays['logits']))}",
            "if they are there, pass Members.from_logits(logits.swapaxes(1, 2)), otherwise member_axis=1",
            code="member-axis",
        )


def _numeric(values: Any, name: str) -> Any:
    """Numbers of an array of any library; InputError for objects that only look like one, as embeddings of probly do."""
    try:
        return as_numeric(values, name)
    except (TypeError, ValueError, RuntimeError, NotImplementedError) as problem:
        if isinstance(problem, InputError):
            raise
        raise _unknown(values) from problem


def _is_model(obj: Any) -> bool:
    """True for models of scikit-learn, PyTorch and laplace-torch."""
    return any(callable(getattr(obj, name, None)) for name in ("predict_proba", "forward", "predictive_samples"))


def _unknown(obj: Any) -> InputError:
    """The refusal of an object of unknown form; for models the remedy names the call that gives predictions."""
    remedy = "pass its arrays in a mapping such as {'probs': …}"
    if callable(getattr(obj, "predictive_samples", None)):
        remedy = "pass from_laplace(model, x), the predictions of the model"
    elif _is_model(obj):
        remedy = "pass the predictions of the model, not the model"
    return InputError(
        "obj",
        "must be a prediction, an array (n, K) or (n, M, K), a mapping with the keys of a file, a distribution, or an object "
        "with array and sample_axis, alphas, lower_bounds and upper_bounds, mean and var, or probabilities",
        f"got {type(obj).__name__}",
        remedy,
        code="type",
    )


def from_laplace(
    model: Any,
    x: Any,
    *,
    n_samples: int = 100,
    pred_type: str | None = None,
    generator: Any = None,
    class_names: Sequence[str] | None = None,
    ids: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Prediction:
    """Draw samples from the predictive distribution of a fitted laplace-torch classifier.

    Parameters
    ----------
    model : object
        A fitted `laplace.Laplace`, or another object whose `predictive_samples(x, n_samples=…)` returns (M, n, K).
    x : tensor (n, …) or mapping
        Inputs in the form that the model takes.
    n_samples : int
        Number of samples M.
    pred_type : str, optional
        "glm", "nn" or "gp"; the default of the model if not given.
    generator : torch.Generator, optional
        Random generator, for repeatable samples; by default the global one of PyTorch.
    class_names, ids, groups : optional
        Names, identifiers and groups of the prediction; see `Prediction`.

    Returns
    -------
    Members

    Raises
    ------
    InputError
        An object without `predictive_samples`, or a model with the likelihood of regression.

    Notes
    -----
    With "nn", sample m comes from one network for all instances of the call. With "glm", laplace-torch draws the logits of
    each instance from their Gaussian: the samples are correct for each instance, but sample m is not one network. The samples
    include the full covariance of the logits across classes.

    Examples
    --------
    >>> import numpy as np
    >>> class Fitted:  # in place of laplace.Laplace(network, "classification")
    ...     likelihood = "classification"
    ...     def predictive_samples(self, x, n_samples):
    ...         return np.full((n_samples, len(x), 2), 0.5)
    >>> from_laplace(Fitted(), np.zeros((5, 3)), n_samples=20)
    Members(probs=(5, 20, 2))
    """
    if not callable(getattr(model, "predictive_samples", None)):
        raise InputError(
            "model",
            "must have the method predictive_samples, as models of laplace-torch have",
            f"got {type(model).__name__}",
            "pass its predictions to from_object",
            code="type",
        )
    likelihood = getattr(model, "likelihood", "classification")
    if likelihood != "classification":
        raise InputError(
            "model",
            "must be a classifier",
            f"got one with likelihood {getattr(likelihood, 'value', likelihood)!r}",
            'fit it with likelihood="classification"',
            code="type",
        )
    options = {"pred_type": pred_type, "generator": generator}
    chosen = {name: value for name, value in options.items() if value is not None}
    samples = model.predictive_samples(x, n_samples=n_samples, **chosen)
    return from_object(samples, kind="members", member_axis=0, class_names=class_names, ids=ids, groups=groups)


def _stated_by_attributes(obj: Any) -> dict[str, Any] | None:
    """Named arrays, members on the second axis; None for an object without the attributes."""
    if isinstance(obj, np.ndarray) or is_frame(obj):
        return None
    if hasattr(obj, "components") and hasattr(obj, "mixture_weights"):
        raise _mixture(obj)
    if _value(obj, "softmax") is not None:
        raise InputError(
            "obj",
            "must be a prediction, without scores",
            f"{type(obj).__name__} holds class probabilities (softmax) and scores",
            "pass obj.softmax, and its scores by uq.assay(…, uncertainties={model: {score: values}})",
            code="type",
        )
    for exact, approximate in (("nominal", "radius"), ("alphas", "threshold")):
        if _value(obj, exact) is not None and _value(obj, approximate) is not None:
            raise InputError(
                "obj",
                "no kind represents this set exactly",
                f"{type(obj).__name__} is a set around its {exact}, limited by its {approximate}",
                "use Intervals(obj.lower(), obj.upper()) for the smallest box around it",
                code="undefined",
            )
    held = next((value for name in ("array", "tensor") if (value := _value(obj, name)) is not None), None)
    axis = next((value for name in ("sample_axis", "sample_dim") if (value := _value(obj, name)) is not None), None)
    if is_listed_sample(obj):
        return _sample(obj, _stacked(obj), 0)
    if held is not None and axis is not None:
        return _sample(obj, _arrays_of(held), axis if axis >= 0 else axis + np.ndim(held))
    if held is not None and _value(obj, "set_size") is not None:
        sets = _numeric(held, "obj")
        if holds_truth_values(sets):
            return {"sets": sets}
        rule, got = "needs sets of classes, not intervals of values", f"got {type(obj).__name__} of {sets.dtype}"
        raise InputError("obj", rule, got, "predict a class", code="class-sets")
    own = _distribution(obj)
    if own and len(getattr(own.get("alpha"), "shape", ())) == 3:
        raise _dirichlets(obj, own["alpha"].shape)
    if own is not None or held is None:
        return own
    values = _numeric((_distribution(held) or {"probs": held}).get("probs", held), "obj")
    shape = getattr(obj, "shape", None)  # objects of probly give the shape of the instances, without other axes
    several = values.ndim - len(shape) > 1 if shape is not None and len(shape) < values.ndim else values.ndim > 2
    return {"vertices" if several else "probs": values}


def _mixture(obj: Any) -> InputError:
    return InputError(
        "obj",
        "no kind represents a mixture of second-order distributions",
        f"got {type(obj).__name__}",
        "pass draws from it, from_object(obj.sample(100))",
        code="undefined",
    )


def _dirichlets(obj: Any, shape: tuple[int, ...]) -> InputError:
    return InputError(
        "obj",
        "no kind represents several Dirichlet distributions per instance, or a mixture of them",
        f"got {type(obj).__name__} with alphas of shape {tuple(shape)}",
        "pass their means, Members(alphas / alphas.sum(axis=-1, keepdims=True)), or draws from them as Members",
        code="undefined",
    )


def is_listed_sample(obj: Any) -> bool:
    """True for a list that calls itself a sample, as `ListSample` of probly: its entries are draws, not training runs."""
    return isinstance(obj, list) and isinstance(getattr(obj, "sample_size", None), int)


def _stacked(sample: list[Any]) -> dict[str, Any]:
    """Named arrays (M, n, K) of the draws in a list."""
    draws = [_arrays_of(draw) for draw in sample]
    if len({tuple((key, values.shape) for key, values in draw.items()) for draw in draws}) != 1:
        rule, got = "draws of one sample must be of one kind and shape", f"got {type(sample).__name__} of {len(sample)}"
        raise InputError("obj", rule, got, "give every draw for the same instances and classes", code="shape")
    return {key: np.stack([draw[key] for draw in draws]) for key in draws[0]}


def _arrays_of(held: Any) -> dict[str, Any]:
    """Named arrays of numbers or of a distribution."""
    return {key: _numeric(value, key) for key, value in (_distribution(held) or {"probs": held}).items()}


def _sample(obj: Any, arrays: dict[str, Any], axis: int) -> dict[str, Any]:
    """Named arrays (n, M, K) from samples along any axis."""
    if "alpha" in arrays or "lower" in arrays:
        raise _mixture(obj)
    for key, values in arrays.items():
        if values.ndim != 3:
            raise InputError(
                "obj",
                "samples must be distributions over classes, (n, M, K) in any order",
                f"got {key} of shape {values.shape}",
                "keep the axis of the instances, and give probabilities rather than sampled labels",
                code="shape",
            )
    arrays = {key: np.moveaxis(values, axis, 1) for key, values in arrays.items()}
    weights = _value(obj, "weights")
    return arrays if weights is None else arrays | {"weights": as_numeric(weights, "weights")}


def _distribution(obj: Any) -> dict[str, Any] | None:
    """Named arrays from the attributes of a distribution or a credal set; None without them."""
    for names in _DISTRIBUTIONS:
        values = {key: _value(obj, name) for name, key in names.items()}
        if all(value is not None for value in values.values()):
            return values
    return None


def _value(obj: Any, name: str) -> Any:
    """The attribute; None if it is missing or a method."""
    value = getattr(obj, name, None)
    return None if callable(value) else value
