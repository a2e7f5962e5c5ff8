"""Odd arguments: values of every type and shape for constructors, readers of objects, saving and the main call."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
import torch

import uqassay as uq
from uqassay.predictions import Prediction

SETS = [[0], [1], [2], [0, 1, 2]]
FLOATS = (np.float16, np.float32, np.float64, np.longdouble, ">f4", ">f8")
OTHERS = (np.int8, np.int64, np.uint8, np.uint64, bool, complex, "U3", "S2", "M8[D]", "m8[s]", object, "V4", "f4,i2")
NUMBERS = (
    0.0,
    -0.0,
    1.0,
    0.5,
    -1e-9,
    1.0000001,
    2.0,
    -1.0,
    np.nan,
    np.inf,
    -np.inf,
    1e308,
    -1e308,
    5e-324,
    1e20,
    2.0**53,
)
TEXTS = ("", "a", "1", "1_0", "nan", "probs", "\0", "\ud800", "é" * 50, "point", "-1", "1e400", "[0, 1]", "\n")
SHAPES = (
    (),
    (0,),
    (1,),
    (3,),
    (0, 3),
    (3, 0),
    (1, 1),
    (4, 3),
    (3, 4),
    (4, 2, 3),
    (2, 4, 3),
    (4, 0, 3),
    (1, 1, 1, 1),
    (4, 1),
)


@dataclass(frozen=True)
class Case:
    """One malformed input: what it is in words, and the call."""

    words: str
    run: Callable[[], Any]


def pick(rng: np.random.Generator, items: Any) -> Any:
    """One of the items."""
    return items[int(rng.integers(len(items)))]


def odd_array(rng: np.random.Generator) -> np.ndarray:
    """An array of any type and shape, with odd numbers in it."""
    shape = pick(rng, SHAPES)
    if rng.random() < 0.5:
        array = (
            rng.dirichlet(np.ones(max(shape[-1], 1)), shape[:-1])[..., : shape[-1]]
            if len(shape) > 1
            else rng.random(shape)
        )
    else:
        array = rng.choice(NUMBERS, shape)
    if array.size and rng.random() < 0.5:
        array = np.array(array)
        array[tuple(rng.integers(n) for n in array.shape)] = pick(rng, NUMBERS)
    with np.errstate(all="ignore"):
        kind = pick(rng, FLOATS if rng.random() < 0.6 else OTHERS)
        try:
            array = np.zeros(array.shape, kind) if np.dtype(kind).kind in "VMm" else np.asarray(array).astype(kind)
        except (ValueError, TypeError, OverflowError):
            array = np.zeros(array.shape, kind)
    change = rng.integers(6)
    if change == 0 and array.ndim:
        array = array[::-1]
    elif change == 1:
        array = np.asfortranarray(array)
    elif change == 2 and array.flags.writeable:
        array.flags.writeable = False
    return array


def odd_value(rng: np.random.Generator) -> Any:
    """A value of any type."""
    array = odd_array(rng)
    makers: tuple[Callable[[], Any], ...] = (
        lambda: array,
        lambda: array,
        lambda: array.tolist(),
        lambda: np.ma.masked_array(array, mask=rng.random(array.shape) < 0.3) if array.dtype.kind != "V" else array,
        lambda: scipy.sparse.random(4, 3, density=0.5, random_state=int(rng.integers(9))),
        lambda: scipy.sparse.csr_array((4, 3)),
        lambda: pd.DataFrame(
            rng.random((4, 3)), columns=pick(rng, (list("abc"), [0, 1, 2], [2, 0, 1], [1, 2, 3], list("aab")))
        ),
        lambda: pd.DataFrame({"a": [1, None], "b": ["x", 2.0]}),
        lambda: pd.Series(rng.integers(0, 4, 4), index=pick(rng, ([0, 1, 2, 3], [3, 3, 1, 0], list("abcd")))),
        lambda: pd.Categorical(["a", "b", None]),
        lambda: pd.array([1, None, 3], dtype="Int64"),
        lambda: torch.full(
            (4, 3), pick(rng, (1 / 3, 0.5, float("nan"))), dtype=pick(rng, (torch.float32, torch.bfloat16))
        ),
        lambda: torch.eye(3).to_sparse(),
        lambda: torch.zeros(4, 3, dtype=torch.complex64),
        lambda: torch.full((4, 3), 1 / 3, requires_grad=True),
        lambda: torch.empty((4, 3), device="meta"),
        lambda: pick(rng, (None, True, 0, 1, -1, 2**70, 0.5, float("nan"), 1j, b"x", b"\xff")),
        lambda: pick(rng, TEXTS),
        lambda: [pick(rng, TEXTS) for _ in range(rng.integers(5))],
        lambda: {pick(rng, TEXTS): odd_array(rng) for _ in range(rng.integers(4))},
        lambda: {"probs": array, pick(rng, ("weights", "alpha", "ids", "kind", "n_draws", "notes")): odd_array(rng)},
        lambda: (row for row in [[0.5, 0.5], [1.0, 0.0]]),
        lambda: {0.5, 0.25},
        lambda: range(4),
        lambda: [[0.5, 0.5], [1.0]],
        lambda: [[0.5, None], [1.0, 0.0]],
        lambda: [[0.5, "x"], [1.0, 0.0]],
        lambda: [torch.full((4, 3), 1 / 3), torch.full((4, 3), 1 / 3)],
        lambda: [np.full((2, 2), 0.5), np.full((2, 2), 0.5)],
        lambda: object(),
        lambda: len,
        lambda: uq.Point([[0.5, 0.5]]),
        lambda: [uq.Point([[0.5, 0.5]])],
        lambda: np.array([{}, []], dtype=object),
        lambda: np.float64(0.5),
        lambda: memoryview(b"abcd"),
        lambda: nested(int(rng.integers(2, 80))),
    )
    return pick(rng, makers)()


def nested(depth: int) -> list[Any]:
    """A list in a list in a list."""
    value: list[Any] = [0.5]
    for _ in range(depth):
        value = [value]
    return value


def valid_arguments(rng: np.random.Generator, kind: str) -> dict[str, Any]:
    """Arguments that a constructor takes, n = 4, K = 3."""
    point = rng.dirichlet(np.ones(3), 4)
    members = rng.dirichlet(np.ones(3), (4, 2))
    return {
        "Point": {"probs": point},
        "Members": {"probs": members, "weights": [0.5, 0.5], "member_axis": 1},
        "Dirichlet": {"alpha": point * 9 + 0.1, "n_draws": 5, "seed": 1},
        "Intervals": {"lower": point * 0.5, "upper": np.minimum(point * 1.5 + 0.1, 1)},
        "ClassSets": {"sets": point > 0.3},
        "Masses": {"masses": rng.dirichlet(np.ones(4), 4), "focal_sets": SETS, "n_classes": 3},
        "Vertices": {"vertices": members},
        "GaussianLogits": {"mean": members, "variance": members, "variance_is": "epistemic", "n_draws": 5, "seed": 1},
    }[kind]


CARRIED = {"class_names": ["a", "b", "c"], "ids": ["w", "x", "y", "z"], "groups": [1, 1, 2, 2]}
KINDS = ("Point", "Members", "Dirichlet", "Intervals", "ClassSets", "Masses", "Vertices", "GaussianLogits")
MAKERS = ("Point.from_logits", "Point.from_binary", "Members.from_logits", "Members.from_binary", "Masses.from_beliefs")


def with_odd(rng: np.random.Generator, arguments: dict[str, Any], *, at_least: int = 1) -> dict[str, Any]:
    """The arguments with one or two of them replaced."""
    names = list(arguments)
    for name in rng.choice(names, min(len(names), at_least + int(rng.random() < 0.2)), replace=False):
        arguments[str(name)] = odd_value(rng)
    return arguments


def shown(value: Any) -> str:
    """A value for a message."""
    if isinstance(value, np.ndarray):
        return f"{type(value).__name__}({value.dtype}, {value.shape}, {str(value.ravel()[:3].tolist())[:60]})"
    return f"{type(value).__name__} {str(value)[:60]!r}"


def described(name: str, arguments: dict[str, Any]) -> str:
    """A call for a message."""
    return f"{name}({', '.join(f'{key}={shown(value)}' for key, value in arguments.items())})"


def check_prediction(prediction: Any) -> None:
    """What was taken must be a prediction whose numbers are distributions."""
    assert isinstance(prediction, Prediction), type(prediction)
    n, k = prediction.n_instances, prediction.n_classes
    assert n >= 1
    assert k >= 2
    if n * k > 10**5:
        return
    lower, upper, mean = prediction.lower_probs(), prediction.upper_probs(), prediction.mean_probs()
    for values in (lower, upper, mean):
        assert values.shape == (n, k)
        assert np.isfinite(values).all(), values
    signed = bool(getattr(prediction, "signed", False))
    assert signed or (np.abs(mean.sum(axis=1) - 1) < 0.02).all(), mean.sum(axis=1)
    assert signed or (lower <= upper + 1e-9).all()
    if not isinstance(prediction, uq.ClassSets):
        assert prediction.labels().shape == (n,)


def constructor(rng: np.random.Generator, folder: Path) -> Case:
    """A constructor with one odd argument."""
    if rng.random() < 0.7:
        name = pick(rng, KINDS)
        arguments = with_odd(rng, valid_arguments(rng, name) | {k: v for k, v in CARRIED.items() if rng.random() < 0.3})
        make = getattr(uq, name)
    else:
        name = pick(rng, MAKERS)
        arguments = {"probs" if "binary" in name else "logits": odd_value(rng)}
        if "beliefs" in name:
            arguments = with_odd(rng, {"beliefs": rng.random((4, 4)), "focal_sets": SETS, "n_classes": 3})
        if name.startswith("Members"):
            arguments["member_axis"] = pick(rng, (0, 1, None, 2, "x"))
        owner, _, method = name.partition(".")
        make = getattr(getattr(uq, owner), method)
    return Case(described(name, arguments), lambda: check_prediction(make(**arguments)))


def from_object(rng: np.random.Generator, folder: Path) -> Case:
    """An odd object, or a mapping with one odd value."""
    arguments: dict[str, Any] = {"obj": odd_value(rng)}
    if rng.random() < 0.4:
        arguments["obj"] = with_odd(rng, valid_arguments(rng, pick(rng, KINDS)) | CARRIED)
    for name, values in (
        ("kind", ("point", "members", "logits", "dirichlet", "nonsense", 3, None, ["point"])),
        ("member_axis", (0, 1, -1, 5, None, "1", True)),
        ("normalise", (True, False, None, "yes")),
    ):
        if rng.random() < 0.3:
            arguments[name] = pick(rng, values)
    if rng.random() < 0.2:
        arguments[pick(rng, ("class_names", "ids", "groups"))] = odd_value(rng)
    return Case(described("from_object", arguments), lambda: check_prediction(uq.from_object(**arguments)))


def valid_prediction(rng: np.random.Generator) -> Prediction:
    """A prediction of any kind, n = 4, K = 3."""
    kind = pick(rng, KINDS)
    carried = {name: value for name, value in CARRIED.items() if rng.random() < 0.5}
    prediction: Prediction = getattr(uq, kind)(**valid_arguments(rng, kind), **carried)
    return prediction


EXTENSIONS = (".npz", ".npy", ".csv", ".tsv", ".parquet", ".jsonl", ".json", ".safetensors", ".zarr", ".pt")


def saving(rng: np.random.Generator, folder: Path) -> Case:
    """Saving with odd labels, an odd path or an odd prediction, and loading again."""
    prediction: Any = valid_prediction(rng)
    path: Any = folder / f"saved{pick(rng, EXTENSIONS)}"
    labels: Any = pick(rng, (None, [0, 1, 2, 1], ["a", "b", "c", "a"]))
    part = rng.integers(4)
    if part == 0:
        path = pick(
            rng,
            (odd_value(rng), folder, folder / "none" / "p.npz", str(folder / "p.xyz"), folder / ("x" * 300 + ".npz")),
        )
    elif part == 1:
        prediction = odd_value(rng)
    else:
        labels = odd_value(rng)
    words = f"save({shown(prediction)}, {shown(path)}, labels={shown(labels)})"

    def run() -> None:
        uq.save(prediction, path, labels=labels)
        check_prediction(uq.load(path))
        if labels is not None:
            assert len(uq.load_labels(path)) == prediction.n_instances

    return Case(words, run)


def judging(rng: np.random.Generator, folder: Path) -> Case:
    """The main call with one odd argument."""
    arguments: dict[str, Any] = {
        "predictions": {"A": valid_prediction(rng)},
        "y_true": [0, 1, 2, 1],
        "calibration": (),
        "n_draws": 10,
        "tradeoffs": (0.5,),
    }
    options = (
        "predictions", "y_true", "tradeoffs", "distance", "nonspecificity", "convention", "focal_sets", "floor", "measures",
        "calibration", "groups", "subgroups", "prior", "repair", "common_members", "level", "n_draws", "rng", "class_names",
    )  # fmt: skip
    name = pick(rng, options)
    value = odd_value(rng)
    if name in ("n_draws", "rng", "common_members") and isinstance(value, int) and value > 10**4:
        value = -value  # a number that is merely large is asked for, and takes long
    if name == "predictions" and rng.random() < 0.7:
        value = {pick(rng, TEXTS): odd_value(rng)}
    arguments[name] = value
    return Case(described("assay", arguments), lambda: uq.assay(**arguments))
