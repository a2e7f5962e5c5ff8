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

An object with `batch_shape` and `event_shape` is a distribution of PyTorch, GPyTorch or Pyro. The name of its class, or of
one of its base classes, determines the family. Parameters alone do not: `Categorical` and `Geometric` both have `probs`.

| family | becomes |
|---|---|
| `Categorical`, `OneHotCategorical`; `Bernoulli` (p of class 1) | `Point`; `Members` for a batch of two axes |
| `Dirichlet` | `Dirichlet` |
| `Normal`; `MultivariateNormal`, `LowRankMultivariateNormal` without covariance between classes | `GaussianLogits` |

A fitted model of laplace-torch is not a prediction; `from_laplace` computes one from it. A mixture of distributions
(`components` with `mixture_weights`) is refused, because no kind represents it; draws from it are `Members`. Also refused are
conformal intervals (`set_size`), probabilities with scores (`softmax`), and lists of distributions.

A list with one object for each instance (`{class: p}` of ONNX, `[{"label": …, "score": …}, …]` of a pipeline of Hugging Face)
is read as a JSON file of these objects is; see `other_programs`. An object with `predictions` and `label_ids` is the output of
a Trainer of Hugging Face; its predictions may be anything, so `kind` is needed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import as_numeric, one_row_for_each_pixel, tolerance_of
from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.frames import Frame, as_frame, is_frame
from uqassay.predictions.base import Prediction
from uqassay.predictions.keys import (
    classes_in_order,
    form_of_kind,
    holds_truth_values,
    key_of_bare_array,
    needed_keys,
    prediction_from_arrays,
    roles,
    variance_meaning,
)
from uqassay.predictions.points import Members, Point, two_columns
from uqassay.predictions.second_order import GaussianLogits
from uqassay.predictions.tables_on_disk import is_record, read_objects
from uqassay.text import listed, said

__all__ = [
    "PredictionLike",
    "as_prediction",
    "from_classifier",
    "from_laplace",
    "from_object",
    "is_classifier",
    "is_one_prediction",
    "member_probs",
    "predicted_by_classifiers",
]

# Conversion of arguments to predictions, shared by all public functions that take predictions.

PredictionLike = Prediction | ArrayLike


def as_prediction(value: Any, name: str = "prediction") -> Prediction:
    """Convert a value to a prediction.

    Parameters
    ----------
    value : Prediction or array-like
        A `Prediction`, or an object with its methods, is returned unchanged. An array (n, K) becomes a `Point`, one of truth
        values `ClassSets`, and an array (n, M, K) `Members`. `from_object` converts mappings and objects of other libraries.
    name : str
        Parameter that errors are about.

    Returns
    -------
    Prediction

    Raises
    ------
    InputError
        A value of unknown form, or one that breaks a rule of its kind.

    Examples
    --------
    >>> as_prediction([[0.7, 0.3]])
    Point(probs=(1, 2))
    """
    if isinstance(value, Prediction) or callable(getattr(value, "upper_probs", None)):
        return value
    try:
        return from_object(value)
    except InputError as problem:
        raise _raised_as(problem, value, name) from problem


def _raised_as(problem: InputError, value: Any, name: str) -> InputError:
    """The error of a value that becomes a prediction, about the parameter of the function that took it."""
    if problem.parameter == "variance_is" and problem.code == "missing":
        remedy = 'make it by uq.from_object(…, variance_is="aleatoric") or variance_is="epistemic"'
        return problem.replace(parameter=f"{name}.variance_is", remedy=remedy)
    if isinstance(value, Mapping) and problem.parameter != "obj":
        return problem.inside(name)  # prediction.lower
    # normalise is no option of the calling function
    if problem.facts.get("look") == "counts" and problem.facts.get("axis") is None:
        remedy = (
            "pass uq.Point or uq.Members with normalise=True if these are counts, per cent or rounded, or from_logits"
        )
        return problem.replace(parameter=name, remedy=remedy)
    return problem.replace(parameter=name)


# Predictions from objects.

AVERAGES = 1e-6  # greatest difference between the average of members and what their ensemble predicts
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
    positive: str | int | None = None,
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
        * one column (n,) or (n, 1) for one of two classes, with `positive`,
        * a list with one object for each instance: `{class: p}` of ONNX, `[{"label": …, "score": …}, …]` of Hugging Face,
        * the output of a Trainer of Hugging Face (`predictions`, `label_ids`), with `kind`: "logits" in most cases,
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
    positive : str or int, optional
        The class whose probability, or logit with `kind="logits"`, one column holds: one of two `class_names`, or 0 or 1.
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
    >>> uq.from_object([0.25], positive="spam", class_names=["ham", "spam"]).probs.tolist()
    [[0.75, 0.25]]
    >>> uq.from_object([[{"label": "ham", "score": 0.75}, {"label": "spam", "score": 0.25}]]).class_names
    ('ham', 'spam')
    """
    carried = {"class_names": class_names, "ids": ids, "groups": groups}
    carried = {key: value for key, value in carried.items() if value is not None}
    logits = kind is not None and form_of_kind(kind) == "logits"
    if positive is not None and (isinstance(obj, (Prediction, Mapping)) or (kind is not None and not logits)):
        rule, got = "is for one column of probabilities or logits", f"got {type(obj).__name__} and kind={kind!r:.40}"
        fail("positive", rule, got, "leave it out", code="conflict")
    if isinstance(obj, Prediction):
        if isinstance(obj, GaussianLogits):
            variance_meaning("gaussian-logits", obj.variance_is, variance_is)
        return obj.with_metadata(**carried) if carried else obj  # type: ignore[arg-type]
    if positive is not None:
        arrays = {"logits" if logits else "probs": _of_one_class(obj, positive, class_names, logits=logits)}
    elif isinstance(obj, Mapping):
        _refuse_members_last(obj, member_axis)
        arrays = {key: obj[key] for key in needed_keys(obj, kind)}
    elif callable(getattr(obj, "predictive_samples", None)):
        raise _unknown(obj)
    elif _is_distribution(obj):
        arrays = _arrays_of_distribution(obj, member_axis=member_axis)
    elif _is_trainer_output(obj):
        arrays = _of_trainer(obj, kind)
    elif _holds_records(obj):
        return _of_records(obj, kind=kind, normalise=normalise, carried=carried)
    elif (stated := _stated_by_attributes(obj)) is not None:
        arrays, member_axis = stated, 1
    elif (
        isinstance(obj, (list, tuple))
        or is_frame(obj)
        or any(hasattr(obj, name) for name in ("__array__", "detach", "__dlpack__"))
    ):
        _refuse_list_of_models(obj, member_axis)
        arrays = _of_array(obj, kind)
    elif hasattr(obj, "nnz") and hasattr(obj, "shape"):
        as_numeric(obj, "obj")  # refuses sparse arrays, and says how to make them dense
        raise _unknown(obj)
    else:
        raise _unknown(obj)
    axis = 1 if member_axis is None else member_axis
    return prediction_from_arrays(
        arrays | carried, kind=kind, member_axis=axis, normalise=normalise, variance_is=variance_is
    )


def is_one_prediction(obj: Any) -> bool:
    """True for lists and tuples that are no training runs: samples, one object for each instance, outputs of a Trainer."""
    return _is_listed_sample(obj) or _is_trainer_output(obj) or _holds_records(obj)


# -- arrays -----------------------------------------------------------------------------------------------------------


def _of_array(obj: Any, kind: str | None) -> dict[str, Any]:
    """One array under its key."""
    values = as_frame(obj, "obj") or _numeric(obj, "obj")
    logits = kind is not None and form_of_kind(kind) == "logits"
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        with np.errstate(invalid="ignore"):
            column = np.asarray(values)
            inside = column.dtype.kind in "biuf" and bool(((column >= -1e-6) & (column <= 1 + 1e-6)).all())
        remedy = "pass from_object(probs, positive=1) for probabilities of class 1"
        if np.asarray(values).dtype.kind in "iub" and not logits:
            remedy = "pass probabilities, as of predict_proba, not the predicted labels"
        elif logits or not inside:
            remedy = 'pass from_object(logits, kind="logits", positive=1) for logits of class 1'
        fail(
            "logits" if logits else "probs",
            "must be (n, K), one column per class",
            f"got shape {tuple(values.shape)}",
            remedy,
            code="shape" if values.ndim == 1 else "one-column",
            facts={"bare": True},
        )
    if values.ndim == 4:
        fail(
            "logits" if logits else "probs",
            "must be (n, K) for one distribution per instance or (n, M, K) for members",
            f"got shape {tuple(values.shape)}",
            one_row_for_each_pixel("logits" if logits else "probs", values.shape[1], tensor=hasattr(obj, "permute")),
            code="shape",
        )
    return {key_of_bare_array(kind, values): values}


def _of_one_class(obj: Any, positive: str | int, class_names: Sequence[str] | None, *, logits: bool) -> Any:
    """Two columns from the probabilities or logits ``(n,)`` or ``(n, 1)`` of one of two classes."""
    names = ["0", "1"] if class_names is None else [str(name) for name in class_names]
    at = names.index(str(positive)) if str(positive) in names else -1
    if at < 0 or len(names) != 2:
        rule = "must be one of two class_names, or 0 or 1"
        got = f"got {positive!r:.60} with {'no class_names' if class_names is None else f'{len(names)} class_names'}"
        fail("positive", rule, got, "pass both class_names in the order of the labels 0 and 1", code="choice")
    frame = as_frame(obj, "obj")
    column = as_numeric(frame or _numeric(obj, "obj"), "obj", ndim=(1, 2))
    if column.ndim == 2 and column.shape[1] != 1:
        rule, got = "has an effect on one column alone, (n,) or (n, 1)", f"got shape {column.shape}"
        fail("positive", rule, got, "leave it out", code="conflict")
    column = column.reshape(len(column))
    # the softmax of (0, z) is the sigmoid of z
    both = np.stack([np.zeros_like(column), column], axis=-1) if logits else two_columns(column)
    both = both if at == 1 else both[:, ::-1]
    return both if frame is None else Frame(both, (frame.index, None))


# -- one object for each instance ---------------------------------------------------------------------------------------


def _holds_records(obj: Any) -> bool:
    """Whether this is a list with one object for each instance, as `other_programs` describes them."""
    return isinstance(obj, (list, tuple)) and not _is_listed_sample(obj) and len(obj) > 0 and is_record(obj[0])


def _of_records(obj: Sequence[Any], *, kind: str | None, normalise: bool, carried: Mapping[str, Any]) -> Prediction:
    """The prediction of such a list; class names that are given say the order of its keys, and rename nothing."""
    try:
        contents = roles(read_objects(obj))
        arrays = {key: contents.arrays[key].read() for key in needed_keys(contents.arrays, kind)}
    except InputError as problem:
        if (line := problem.facts.get("line")) is not None and problem.parameter == f"row {line}":
            raise problem.replace(parameter="obj", got=f"{problem.parameter}: {problem.got}") from None
        raise
    own = {key: value for key, value in carried.items() if key != "class_names"}
    notes = {"notes": contents.notes} if contents.notes else {}
    found = prediction_from_arrays(arrays | notes | own, kind=kind, normalise=normalise)
    names = carried.get("class_names")
    return (
        found
        if names is None
        else classes_in_order(found, names, "obj", of="class_names").with_metadata(class_names=names)
    )


def _is_trainer_output(obj: Any) -> bool:
    """True for `PredictionOutput` and `EvalPrediction` of transformers; the first is a tuple."""
    return hasattr(obj, "predictions") and hasattr(obj, "label_ids")


def _of_trainer(obj: Any, kind: str | None) -> dict[str, Any]:
    values, name = obj.predictions, type(obj).__name__
    if isinstance(values, (list, tuple)):  # a model with several outputs, or batches that were not joined
        shapes = ", ".join(str(np.shape(each)) for each in values[:4])
        fail(
            "obj",
            "must hold one array of predictions",
            f"{name}.predictions has {len(values)} of shapes {shapes}",
            'pass the one with the logits, from_object(output.predictions[0], kind="logits"), or join batches by '
            "np.concatenate(output.predictions)",
            code="ambiguous",
        )
    if kind is None:
        fail(
            "obj",
            "the output of a Trainer needs kind, because its predictions are what the model returns: logits in most cases",
            f"got {name} without kind",
            'pass from_object(output, kind="logits") for logits, or kind="point" for probabilities',
            code="missing",
        )
    return _of_array(values, kind)


# -- what is refused --------------------------------------------------------------------------------------------------


def _refuse_list_of_models(obj: Any, member_axis: int | None) -> None:
    """Refuse lists of predictions, and lists of arrays (n, K) without `member_axis`, which are ambiguous."""
    items = obj if isinstance(obj, (list, tuple)) else ()
    if (
        items
        and isinstance(items[0], Mapping)
        and items[0]
        and all(isinstance(value, (int, float)) for value in items[0].values())
    ):
        fail(
            "obj",
            "a list of {class: p} must hold probabilities that sum to 1",
            f"row 0 has {listed([f'{key!r}: {value:.4g}' for key, value in items[0].items()], most=4)}",
            "pass [{'logits': row} for row in rows] if these are logits, or judge independent labels one label at a time",
            code="not-probabilities",
        )
    if any(isinstance(item, (Prediction, Mapping)) for item in items):
        remedy = "pass them one by one, or to uq.assay, where a list holds the training runs of a model"
        fail("obj", "must be one prediction", f"got a list of {len(items)}", remedy, code="type")
    shapes = [tuple(getattr(item, "shape", ())) for item in items]
    if len({shape[:1] for shape in shapes}) > 1 and len({shape[1:] for shape in shapes}) == 1 and len(shapes[0]) > 1:
        fail(
            "obj",
            "arrays with different numbers of instances are no members, training runs or instances",
            f"got {len(items)} arrays, the first of shapes {shapes[0]} and {next(s for s in shapes if s != shapes[0])}",
            "join them by np.concatenate(list) if they are batches",
            code="ragged",
        )
    model = next((item for item in items if _is_model(item)), None)
    if model is not None:
        fail(
            "obj",
            "must hold predictions, not the models that make them",
            f"got a list of {len(items)} with {type(model).__name__}",
            "pass the predictions of each model: from_object([probs_1, probs_2, …], member_axis=0) for arrays (n, K)",
            code="type",
        )
    stated = next((item for item in items if not is_frame(item) and _distribution(item) is not None), None)
    if stated is not None:
        fail(
            "obj",
            "a list of distributions could hold members, training runs or instances",
            f"got {len(items)} of type {type(stated).__name__}",
            "pass the probabilities of each member: from_object([probs_1, probs_2, …], member_axis=0) for arrays (n, K)",
            code="member-axis",
        )
    each = (as_frame(items[0], "obj") or items[0]) if len(items) else None
    if member_axis is None and getattr(each, "ndim", 0) == 2:
        fail(
            "obj",
            "a list of arrays (n, K) could hold members, training runs, instances or batches",
            f"got {len(items)} arrays, the first of shape {tuple(getattr(each, 'shape', ()))}",
            "pass from_object(list, member_axis=0) for the members of one ensemble, member_axis=1 for instances (M, K), or "
            "np.concatenate(list) for batches; in uq.assay a list holds training runs",
            code="member-axis",
        )


def _refuse_members_last(arrays: Mapping[str, Any], member_axis: int | None) -> None:
    """Refuse three-axis logits beside `pred`, as lightning-uq-box returns them, (n, K, M), without `member_axis`."""
    if member_axis is None and {"pred", "logits"} <= set(arrays) and np.ndim(arrays["logits"]) == 3:
        rule = "with three axes beside pred could have the members on the last axis, as in lightning-uq-box"
        remedy = "if they are there, pass Members.from_logits(logits.swapaxes(1, 2)), otherwise member_axis=1"
        fail("logits", rule, f"got shape {tuple(np.shape(arrays['logits']))}", remedy, code="member-axis")


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
        rule = "must have the method predictive_samples, as models of laplace-torch have"
        fail("model", rule, f"got {type(model).__name__}", "pass its predictions to from_object", code="type")
    likelihood = getattr(model, "likelihood", "classification")
    if likelihood != "classification":
        got = f"got one with likelihood {getattr(likelihood, 'value', likelihood)!r}"
        fail("model", "must be a classifier", got, 'fit it with likelihood="classification"', code="type")
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
        rule = "must be a prediction, without scores"
        remedy = "pass obj.softmax, and its scores by uq.assay(…, uncertainties={model: {score: values}})"
        fail("obj", rule, f"{type(obj).__name__} holds class probabilities (softmax) and scores", remedy, code="type")
    for exact, approximate in (("nominal", "radius"), ("alphas", "threshold")):
        if _value(obj, exact) is not None and _value(obj, approximate) is not None:
            got = f"{type(obj).__name__} is a set around its {exact}, limited by its {approximate}"
            remedy = "use Intervals(obj.lower(), obj.upper()) for the smallest box around it"
            fail("obj", "no kind represents this set exactly", got, remedy, code="undefined")
    held = next((value for name in ("array", "tensor") if (value := _value(obj, name)) is not None), None)
    axis = next((value for name in ("sample_axis", "sample_dim") if (value := _value(obj, name)) is not None), None)
    if _is_listed_sample(obj):
        return _sample(obj, _stacked(obj), 0)
    if held is not None and axis is not None:
        return _sample(obj, _arrays_of(held), axis if axis >= 0 else axis + np.ndim(held))
    if held is not None and _value(obj, "set_size") is not None:
        sets = _numeric(held, "obj")
        if holds_truth_values(sets):
            return {"sets": sets}
        rule, got = "needs sets of classes, not intervals of values", f"got {type(obj).__name__} of {sets.dtype}"
        fail("obj", rule, got, "predict a class", code="class-sets")
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


def _is_listed_sample(obj: Any) -> bool:
    """True for a list that calls itself a sample, as `ListSample` of probly: its entries are draws, not training runs."""
    return isinstance(obj, list) and isinstance(getattr(obj, "sample_size", None), int)


def _stacked(sample: list[Any]) -> dict[str, Any]:
    """Named arrays (M, n, K) of the draws in a list."""
    draws = [_arrays_of(draw) for draw in sample]
    if len({tuple((key, values.shape) for key, values in draw.items()) for draw in draws}) != 1:
        rule, got = "draws of one sample must be of one kind and shape", f"got {type(sample).__name__} of {len(sample)}"
        fail("obj", rule, got, "give every draw for the same instances and classes", code="shape")
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
            got = f"got {key} of shape {values.shape}"
            remedy = "keep the axis of the instances, and give probabilities rather than sampled labels"
            fail("obj", "samples must be distributions over classes, (n, M, K) in any order", got, remedy, code="shape")
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


# -- distributions of PyTorch, GPyTorch and Pyro ----------------------------------------------------------------------


def _is_distribution(obj: Any) -> bool:
    """True if the object has the attributes common to all distributions of PyTorch."""
    return hasattr(obj, "batch_shape") and hasattr(obj, "event_shape")


def _arrays_of_distribution(obj: Any, *, member_axis: int | None) -> dict[str, Any]:
    """Named arrays: the axes of the batch, then the classes."""
    family = next((cls.__name__ for cls in type(obj).__mro__ if cls.__name__ in _FAMILIES), None)
    if family is None:
        rule = f"a distribution must be one of {', '.join(_FAMILIES)}"
        fail("obj", rule, f"got {type(obj).__name__}", "give its class probabilities as an array", code="type")
    arrays = _FAMILIES[family](obj)
    for key, values in arrays.items():
        if key != "alpha" and np.ndim(values) == 3 and member_axis is None:
            rule = "is needed for a distribution whose batch has two axes, instances and members"
            got = f"got {key} of shape {tuple(values.shape)} from a {family}"
            remedy = "pass from_object(obj, member_axis=0) if the samples come first, as in PyTorch and GPyTorch"
            fail("member_axis", rule, got, remedy, code="member-axis")
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
        rule = "the batch of a MultivariateNormal of GPyTorch is ambiguous, because its covariance is between instances"
        got = f"got {type(obj).__name__} with a mean of shape {tuple(obj.mean.shape)}"
        remedy = "if the batch holds the classes, pass MultitaskMultivariateNormal.from_batch_mvn(obj)"
        fail("obj", rule, got, remedy, code="member-axis")
    # the tasks of GPyTorch are the classes; the covariance between instances is dropped
    each = obj.to_data_independent_dist(jitter_val=0.0) if hasattr(obj, "num_tasks") else obj
    variance = as_numeric(each.variance, "variance")  # (…, K)
    scale = np.sqrt(variance)
    between = np.abs(as_numeric(each.covariance_matrix, "covariance")) * ~np.eye(scale.shape[-1], dtype=bool)
    if (between > tolerance_of(variance) * scale[..., :, None] * scale[..., None, :]).any():
        rule = "the logits must be independent across classes, as those of GaussianLogits"
        got = f"got a {type(obj).__name__} with covariances up to {float(between.max()):.3g}"
        remedy = "pass draws from it, Members.from_logits(obj.sample(torch.Size([100])), member_axis=0)"
        fail("obj", rule, got, remedy, code="undefined")
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


# -- classifiers of scikit-learn --------------------------------------------------------------------------------------


def from_classifier(
    classifier: Any, X: Any, *, members: bool = False, ids: ArrayLike | None = None, groups: ArrayLike | None = None
) -> Prediction:
    """Predict with a fitted classifier of scikit-learn, or of this package.

    Parameters
    ----------
    classifier : object
        With `classes_`, which order the columns, and `predict_proba`: a classifier, a pipeline, a search. One of
        `uqassay.lab.methods` states its own kind of prediction by `predict_uncertainty`.
    X : array (n, D), DataFrame, or what else the classifier takes
    members : bool
        Take the members of an ensemble (the trees of a forest, the estimators of bagging or soft voting) in place of their
        average. The average is what such a classifier predicts; its members span a credal set. Fully grown trees give 0 or 1,
        and such a set says little: set `min_samples_leaf`.
    ids, groups : optional
        Identifiers and groups of the instances; see `Prediction`.

    Returns
    -------
    Point, or Members with `members`
        With the classes as class names, unless they are 0, 1, …, K − 1. The ids are by default the index of a DataFrame, if no
        entry occurs twice; labels in a Series are then aligned to it.

    Raises
    ------
    InputError
        A classifier that is not fitted or has no `predict_proba`, inputs that it refuses, an ensemble that is not the average
        of its members.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> x, y = [[-1.0], [-0.8], [0.8], [1.0]] * 8, ["no", "no", "yes", "yes"] * 8
    >>> forest = RandomForestClassifier(5, min_samples_leaf=4, random_state=0).fit(x, y)
    >>> from_classifier(forest, [[-2.0], [2.0]]).class_names
    ('no', 'yes')
    >>> from_classifier(forest, [[-2.0], [2.0]], members=True)
    Members(probs=(2, 5, 2))
    """
    index: Any = getattr(X, "index", None)
    if ids is None and getattr(index, "nlevels", 0) == 1 and index.is_unique:
        ids = index.to_numpy()
    states = getattr(classifier, "predict_uncertainty", None)
    if callable(states) and not members:
        found: Prediction = _asked(classifier, states, X)
        return found.with_metadata(ids=ids, groups=groups) if ids is not None or groups is not None else found
    classes = _classes(classifier)
    probs = _asked(classifier, classifier.predict_proba, X)
    if isinstance(probs, list):
        got = f"got {len(probs)}"
        fail("classifier", "must predict one label for each instance", got, "judge them one by one", code="shape")
    names = None if classes == [str(k) for k in range(len(classes))] else tuple(classes)
    carried: dict[str, Any] = {"class_names": names, "ids": ids, "groups": groups}
    if not members:
        return Point(probs, **carried)
    each = _members(classifier, X)
    if np.abs(each.mean(axis=1) - probs).max() > AVERAGES:
        raise _no_average(classifier)
    return Members(each, **carried)


def is_classifier(value: Any) -> bool:
    """True for objects whose type has the methods of a classifier, fitted or not, and for such a type."""
    kind = value if isinstance(value, type) else type(value)
    methods = [name for name in ("fit", "predict", "predict_proba") if callable(getattr(kind, name, None))]
    return len(methods) > 1


def member_probs(ensemble: Any, X: Any) -> NDArray[np.float64]:
    """Probabilities of every member of a fitted forest, bagging or voting ensemble, ``(n, M, K)``.

    A member that has not seen a class gives it 0.
    """
    features = getattr(ensemble, "estimators_features_", None)
    if not hasattr(ensemble, "named_estimators_"):  # its members were trained on arrays, without names of columns
        X = X.to_numpy() if hasattr(X, "to_numpy") else X if hasattr(X, "tocsr") else np.asarray(X)
    probs = np.zeros((_n_rows(X), len(ensemble.estimators_), len(ensemble.classes_)))
    for m, member in enumerate(ensemble.estimators_):
        seen = np.asarray(member.classes_).astype(np.intp)  # a member numbers the classes of its ensemble
        probs[:, m, seen] = member.predict_proba(X if features is None else X[:, features[m]])
    return probs


def predicted_by_classifiers(predictions: Any, X: Any) -> Any:
    """The same models, with predictions on X in place of classifiers; a classifier alone is named by its type."""
    if is_classifier(predictions):
        predictions = {type(predictions).__name__: predictions}
    found = {}
    for name, value in predictions.items() if isinstance(predictions, Mapping) else ():
        runs = isinstance(value, (list, tuple))
        places = [f"models[{str(name)!r}]" + (f"[{r}]" if runs else "") for r in range(len(value) if runs else 1)]
        taken = list(zip(value if runs else [value], places, strict=True))
        if any(is_classifier(one) for one, _ in taken):
            each = [_predicted(one, X, place) if is_classifier(one) else one for one, place in taken]
            found[name] = each if runs else each[0]
    if X is not None and not found:
        fail("X", "has no effect without a fitted classifier", "got predictions", "leave it out", code="conflict")
    return {name: found.get(name, value) for name, value in predictions.items()} if found else predictions


def _predicted(classifier: Any, X: Any, place: str) -> Prediction:
    if X is None:
        rule = "is needed, because a classifier is given in place of its predictions"
        fail("X", rule, f"got none for {place}, a {type(classifier).__name__}", "write X=X_test", code="missing")
    try:
        return from_classifier(classifier, X)
    except InputError as problem:
        raise (problem.replace(parameter=place) if problem.parameter == "classifier" else problem) from problem


def _classes(classifier: Any) -> list[str]:
    """Names of the classes of a fitted classifier, in the order of its columns."""
    kind = classifier.__name__ if isinstance(classifier, type) else type(classifier).__name__
    if not callable(getattr(classifier, "predict_proba", None)):
        fail(
            "classifier",
            "must have predict_proba",
            f"got {kind}",
            "calibrate it by scikit-learn's CalibratedClassifierCV, or choose a classifier that gives probabilities",
            code="type",
        )
    classes = getattr(classifier, "classes_", None)
    if classes is None or isinstance(classifier, type):
        fail("classifier", "must be fitted", f"got {kind} without classes_", "call fit first", code="missing")
    return [str(name) for name in np.asarray(classes).tolist()] if np.ndim(classes) == 1 else []


def _asked(classifier: Any, method: Any, X: Any) -> Any:
    """What a method of the classifier says of X."""
    wanted, shape = getattr(classifier, "n_features_in_", None), np.shape(X)
    if wanted is not None and len(shape) == 2 and shape[1] != wanted:
        rule = f"must have the {wanted} columns that {type(classifier).__name__} was fitted to"
        fail("X", rule, f"got shape {shape}", "pass the same features as in fit", code="shape")
    try:
        return method(X)
    except (ValueError, TypeError, KeyError) as problem:
        if type(problem).__name__ == "NotFittedError":
            got = f"got {type(classifier).__name__}"
            raise InputError("classifier", "must be fitted", got, "call fit first", code="missing") from problem
        if isinstance(problem, InputError):
            raise
        rule = f"must be inputs that {type(classifier).__name__} takes"
        raise InputError("X", rule, f"it says: {said(problem)}", "pass the test inputs", code="type") from problem


def _members(classifier: Any, X: Any) -> NDArray[np.float64]:
    each = list(getattr(classifier, "estimators_", ()))
    numbers = range(len(classifier.classes_))
    if not each or not all(hasattr(one, "predict_proba") and set(one.classes_) <= set(numbers) for one in each):
        raise _no_average(classifier)
    return member_probs(classifier, X)


def _no_average(classifier: Any) -> InputError:
    return InputError(
        "classifier",
        "must predict the plain average of its members' probabilities",
        f"got {type(classifier).__name__}",
        "leave members out",
        code="type",
    )


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
