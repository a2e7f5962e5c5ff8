"""What a file says does not hang on how it is written: equal numbers or a refusal, for every reader.

Two models and their labels are written in every format and under many names of columns, with and without what identifies the
rows, and then changed in ways that mean nothing: rows and columns in another order, columns beside the classes, another type of
numbers, another format and back, another order of models. Every variant is read once; combinations of variants are judged, and
their numbers must be those of arrays, or an `InputError` must be raised.
"""

import itertools
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import uqassay as uq
from uqassay.errors import InputError
from uqassay.evidence.align import align
from uqassay.evidence.tables import ranking_json
from uqassay.predictions.files import LossyFormatWarning

pytestmark = pytest.mark.slow

N = 14
N_COMBINATIONS = 10_000
N_ASSAYS = 200
EVERY = 5  # of the variants one in so many is read; 1 reads all of them, which takes a minute
PACKAGES = ("pandas", "pyarrow", "safetensors", "torch", "zarr")
TABLES = (".csv", ".tsv", ".parquet")
RECORDS = (".jsonl", ".json")
ARRAYS = (".npz", ".npy", ".safetensors", ".zarr", ".pt")
WORDS = ("setosa", "no", "a.b")  # classes, in an order that sorting changes


@dataclass(frozen=True)
class Naming:
    """How a table calls its classes, what the classes are called then, and which whole number is the label of class k.

    `number` is None where a whole number has a meaning by position alone.
    """

    column: Callable[[int], str]
    names: tuple[str, ...]
    number: int | None = None


NAMINGS = {
    "plain": Naming(lambda k: WORDS[k], WORDS),
    "proba_name": Naming(lambda k: f"proba_{WORDS[k]}", WORDS),
    "mlr3": Naming(lambda k: f"prob.{WORDS[k]}", WORDS),
    "orange": Naming(lambda k: f"P (y={WORDS[k]})", WORDS),
    "tidymodels": Naming(lambda k: f".pred_{WORDS[k]}", WORDS),
    "azure": Naming(lambda k: f'Scored Probabilities for Class "{WORDS[k]}"', WORDS),
    "rapidminer": Naming(lambda k: f"confidence({WORDS[k]})", WORDS),
    "suffix": Naming(lambda k: f"{WORDS[k]}_probability", WORDS),
    "proba_0": Naming(lambda k: f"proba_{k}", ("0", "1", "2"), 0),
    "prob_8": Naming(lambda k: f"prob_{k + 8}", ("8", "9", "10"), 8),  # as text, 10 comes before 8
    "class_1": Naming(lambda k: f"Class_{k + 1}", ("1", "2", "3"), 1),
    "V3": Naming(lambda k: f"V{k + 3}", ("V3", "V4", "V5"), 3),
}
ROWS = ("none", "id", "key", "counting")  # what identifies them


@dataclass(frozen=True)
class World:
    """Two models, (n, 3) each, whose numbers 16 bits hold exactly, and the labels."""

    probs: dict[str, np.ndarray]
    y: np.ndarray
    ids: np.ndarray

    def numbers(self, model: str) -> np.ndarray:
        """Accuracy, Brier score and log loss by their formulas."""
        p = self.probs[model]
        own = p[np.arange(N), self.y]
        return np.array(
            [
                (p.argmax(axis=1) == self.y).mean(),
                ((p - np.eye(3)[self.y]) ** 2).sum(axis=1).mean(),
                -np.log(own).mean(),
            ]
        )


def world() -> World:
    """Rows of whole 64ths, none twice; A is right more often than B."""
    rng = np.random.default_rng(36)
    y = np.concatenate([[0, 1, 2], rng.integers(0, 3, N - 3)])
    probs = {}
    for model, accuracy in (("A", 0.8), ("B", 0.5)):
        said = np.where(rng.random(N) < accuracy, y, (y + rng.integers(1, 3, N)) % 3)
        probs[model] = (rng.multinomial(41, [0.2, 0.3, 0.5], size=N) + 20 * np.eye(3, dtype=int)[said] + 1) / 64
    return World(probs, y, np.array([f"case {i}" for i in rng.permutation(N)]))


@dataclass(frozen=True)
class Variant:
    """One way to write a model (or, with `model` empty, the labels alone)."""

    model: str
    suffix: str
    naming: str  # of NAMINGS; "unnamed" and "named" arrays; "list" and "object" of records
    rows: str
    moved: bool = False  # the rows, by what identifies them
    turned: bool = False  # the columns
    beside: str = ""  # what stands in the file, too
    dtype: str = "float64"
    labels: str = ""  # inside: "names" or "numbers"
    through: str = ""  # a format into which the file is converted

    @property
    def family(self) -> str:
        """What the classes are called."""
        return (
            NAMINGS[self.naming].names[0]
            if self.naming in NAMINGS
            else {"unnamed": "unnamed", "list": "unnamed"}.get(self.naming, "setosa")
        )


BESIDE: dict[str, Callable[[World, np.ndarray, np.random.Generator], dict[str, np.ndarray]]] = {
    "": lambda w, p, rng: {},
    "age": lambda w, p, rng: {"age": rng.integers(18, 80, N)},
    "fold": lambda w, p, rng: {"fold": np.zeros(N)},
    "fold number": lambda w, p, rng: {"fold": np.arange(N) % 5},
    "confidence": lambda w, p, rng: {"confidence": p.max(axis=1)},
    "loss": lambda w, p, rng: {"loss": -np.log(p[np.arange(N), w.y])},
    "entropy": lambda w, p, rng: {"entropy": -(p * np.log(p)).sum(axis=1)},
    "weight": lambda w, p, rng: {"weight": rng.random(N)},
    "several": lambda w, p, rng: {"age": rng.integers(18, 80, N), "fold": np.zeros(N), "conf": p.max(axis=1)},
    "logits": lambda w, p, rng: {f"logit_{name}": np.log(p[:, k]) for k, name in enumerate(WORDS)},
    "numbered logits": lambda w, p, rng: {f"logit_{k}": np.log(p[:, k]) + 3 for k in range(3)},
    "features": lambda w, p, rng: {f"x{k}": rng.normal(size=N) for k in range(4)},
    "features V": lambda w, p, rng: {f"V{k}": rng.normal(size=N) for k in range(11, 15)},
    "shares": lambda w, p, rng: {f"share{k}": v for k, v in enumerate(rng.dirichlet([1, 1], N).T.round(3))},
    "unknown": lambda w, p, rng: {"humidity": rng.random(N).round(2)},
    "unknown constant": lambda w, p, rng: {"humidity": np.zeros(N)},
    "text": lambda w, p, rng: {"note": np.array(["x", "y"] * (N // 2))},
    "prediction": lambda w, p, rng: {"prediction": np.array(WORDS)[p.argmax(axis=1)]},
    "predicted number": lambda w, p, rng: {"predicted_label": p.argmax(axis=1)},
    "index": lambda w, p, rng: {"Unnamed: 0": np.arange(N)},
    "another model": lambda w, p, rng: {f"other_{name}": np.roll(p, 1, axis=0)[:, k] for k, name in enumerate(WORDS)},
    "another model by number": lambda w, p, rng: {f"other_{k}": np.roll(p, 1, axis=0)[:, k] for k in range(3)},
    "dummies": lambda w, p, rng: {f"site_{k}": v for k, v in enumerate(np.eye(3)[rng.integers(0, 3, N)].T)},
    "named dummies": lambda w, p, rng: dict(zip(("red", "green", "blue"), np.eye(3)[rng.integers(0, 3, N)].T, strict=True)),
    "truth": lambda w, p, rng: {f"true_{name}": v for name, v in zip(WORDS, np.eye(3)[w.y].T, strict=True)},
    "truth by number": lambda w, p, rng: {f"true_{k}": v for k, v in enumerate(np.eye(3)[w.y].T)},
    "chosen": lambda w, p, rng: {f"pred_{name}": v for name, v in zip(WORDS, np.eye(3)[p.argmax(axis=1)].T, strict=True)},
    "chosen by number": lambda w, p, rng: {f"pred_{k}": v for k, v in enumerate(np.eye(3)[p.argmax(axis=1)].T)},
    "classes named alone": lambda w, p, rng: dict(zip(WORDS, np.roll(p, 1, axis=0).T, strict=True)),
    "five shares": lambda w, p, rng: {f"f{k}": rng.random(N).round(3) for k in range(5)},
    "counts": lambda w, p, rng: {f"n{k}": rng.integers(1, 9, N) for k in range(3)},
    "a class of zeros": lambda w, p, rng: {"zeros": np.zeros(N)},
}  # fmt: skip


def table_of(one: Variant, w: World, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], list[str]]:
    """Columns in the order in which they are written, and those of them that are classes."""
    naming = NAMINGS[one.naming]
    columns: dict[str, np.ndarray] = {}
    classes = []
    if one.model:
        p = w.probs[one.model]
        turn = [2, 0, 1] if one.turned else [0, 1, 2]
        classes = [naming.column(k) for k in turn]
        columns = {naming.column(k): p[:, k].astype(one.dtype) for k in turn}
        columns = BESIDE[one.beside](w, p, rng) | columns
    if one.labels == "names":
        columns["label"] = np.array([naming.names[k] for k in w.y])
    elif one.labels == "numbers":
        columns["label"] = w.y + (naming.number or 0)
    if one.rows == "id":
        columns["id"] = w.ids
    elif one.rows == "key":
        columns["image"] = w.ids
    elif one.rows == "counting":
        columns["id"] = np.arange(N)
    order = list(classes)
    for name in columns:
        if name not in classes:
            order.insert(int(rng.integers(len(order) + 1)), name)
    if one.beside == "index":
        order.sort(key=lambda name: name != "Unnamed: 0")
    return {name: columns[name] for name in order}, classes


def write(one: Variant, w: World, path: Path, rng: np.random.Generator) -> None:
    """The variant as a file of its format."""
    place = rng.permutation(N) if one.moved else np.arange(N)
    if one.suffix in TABLES:
        columns, _ = table_of(one, w, rng)
        frame = pd.DataFrame(columns).iloc[place]
        if one.suffix == ".parquet":
            frame.reset_index(drop=True).to_parquet(path)
        else:
            frame.rename(columns={"Unnamed: 0": ""}).to_csv(
                path, index=False, sep="\t" if one.suffix == ".tsv" else ","
            )
        return
    turn = [2, 0, 1] if one.turned and one.naming in ("named", "object") else [0, 1, 2]
    names = np.array(WORDS)[turn]
    beside = {} if not one.model else BESIDE[one.beside](w, w.probs[one.model], rng)
    carried: dict[str, np.ndarray] = {}
    own_numbers = np.argsort(turn)[w.y]  # indices among the class names of this file
    if one.labels:
        carried["label"] = names[own_numbers] if one.labels == "names" else own_numbers
    if one.rows in ("id", "counting"):
        carried["id"] = w.ids if one.rows == "id" else np.arange(N)
    elif one.rows == "key":
        carried["image"] = w.ids
    carried = {key: value[place] for key, value in (carried | beside).items()}
    p = w.probs[one.model][place][:, turn].astype(one.dtype) if one.model else None
    if one.suffix in RECORDS:
        records = []
        for i in range(N):
            record: dict[str, Any] = {key: value[i].item() for key, value in carried.items()}
            if p is not None:
                values = p[i].astype(float).tolist()
                record["probs"] = values if one.naming == "list" else dict(zip(names.tolist(), values, strict=True))
            records.append(record)
        text = json.dumps(records) if one.suffix == ".json" else "\n".join(map(json.dumps, records))
        path.write_text(text, encoding="utf-8")
        return
    arrays: dict[str, np.ndarray] = {} if p is None else {"probs": p}
    arrays |= {{"label": "labels", "id": "ids"}.get(key, key): value for key, value in carried.items()}
    if one.naming == "named":
        arrays["class_names"] = names
    write_arrays(one.suffix, arrays, path)


def write_arrays(suffix: str, arrays: dict[str, np.ndarray], path: Path) -> None:
    if suffix == ".npy":
        np.save(path, next(iter(arrays.values())))
    elif suffix == ".npz":
        np.savez(path, **arrays)
    else:
        from uqassay.predictions import arrays_on_disk

        getattr(arrays_on_disk, f"write_{suffix[1:]}")(path, arrays)


@dataclass
class Read:
    """What was read of a variant: a prediction and its labels, or what was refused."""

    variant: Variant
    prediction: Any = None
    labels: Any = None
    problem: InputError | None = field(default=None, repr=False)


def read(one: Variant, w: World, folder: Path, number: int) -> Read:
    rng = np.random.default_rng([number, 7])
    path = folder / f"{number}{one.suffix}"
    write(one, w, path, rng)
    like = (
        NAMINGS[one.naming].names if one.naming in NAMINGS and number % 2 and NAMINGS[one.naming].number is None else ()
    )
    try:
        prediction = uq.load(path, like=like) if one.model else None
        labels = uq.load_labels(path) if one.labels or not one.model else None
        if one.through:
            again = folder / f"{number}-again{one.through}"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LossyFormatWarning)
                uq.save(prediction, again, labels=labels)
            prediction, labels = uq.load(again), None if labels is None else uq.load_labels(again)
    except InputError as problem:
        return Read(one, problem=problem)
    return Read(one, prediction, labels)


def variants_of_models() -> Iterator[Variant]:
    for model in "AB":
        for suffix, naming, rows in itertools.product(TABLES, NAMINGS, ROWS):
            moves = (False, True) if rows != "none" else (False,)
            for moved, turned in itertools.product(moves, (False, True)):
                yield Variant(model, suffix, naming, rows, moved, turned)
            yield Variant(model, suffix, naming, rows, labels="names")
            yield Variant(model, suffix, naming, rows, labels="numbers")
            yield Variant(model, suffix, naming, rows, rows != "none", True, labels="names")
            yield Variant(
                model,
                suffix,
                naming,
                rows,
                rows != "none",
                True,
                dtype="float16" if suffix == ".parquet" else "float32",
            )
            yield Variant(model, suffix, naming, rows, rows != "none", dtype="float32")
        for naming, beside in itertools.product(NAMINGS, BESIDE):
            for suffix, rows, labels in ((".csv", "none", ""), (".csv", "id", "names"), (".parquet", "key", "")):
                yield Variant(model, suffix, naming, rows, rows != "none", beside=beside, labels=labels)
        for suffix, rows in itertools.product((".npz", ".safetensors", ".zarr", ".pt"), ("none", "id", "counting")):
            for naming, turned, dtype in (
                ("unnamed", False, "float32"),
                ("named", False, "float16"),
                ("named", True, "float64"),
            ):
                for labels in ("", "names", "numbers"):
                    if labels != "names" or naming == "named":
                        yield Variant(model, suffix, naming, rows, rows != "none", turned, dtype=dtype, labels=labels)
                yield Variant(model, suffix, naming, rows, False, turned, beside="several", dtype=dtype)
        yield Variant(model, ".npy", "unnamed", "none")
        yield Variant(model, ".npy", "unnamed", "none", dtype="float16")
        for suffix, naming, rows, turned in itertools.product(RECORDS, ("list", "object"), ROWS, (False, True)):
            if naming == "object" or not turned:
                for labels in ("", "names", "numbers"):
                    if (labels != "names" or naming == "object") and not (labels == "numbers" and naming == "object"):
                        yield Variant(model, suffix, naming, rows, rows != "none", turned, labels=labels)
                yield Variant(model, suffix, naming, rows, beside="several", turned=turned)
        for naming, through in itertools.product(
            ("plain", "proba_0", "class_1", "V3", "orange"),
            (*TABLES, *RECORDS, ".npz", ".pt", ".zarr", ".safetensors", ".npy"),
        ):
            for rows, turned in (("id", True), ("key", False), ("none", True)):
                for labels in ("", "names") if through != ".npy" else ("",):
                    if through == ".npy" and rows != "none":
                        continue  # which loses what identifies the rows
                    yield Variant(model, ".csv", naming, rows, rows != "none", turned, through=through, labels=labels)
        for through in (*TABLES, *RECORDS, ".npz", ".pt", ".zarr", ".safetensors"):
            yield Variant(model, ".npz", "named", "id", True, True, through=through, labels="numbers")
            yield Variant(model, ".jsonl", "object", "id", True, True, through=through, labels="names")
            yield Variant(model, ".jsonl", "object", "none", False, True, through=through)


def variants_of_labels() -> Iterator[Variant]:
    for suffix, naming, rows, labels in itertools.product(TABLES, NAMINGS, ROWS, ("names", "numbers")):
        for moved in (False, True) if rows != "none" else (False,):
            yield Variant("", suffix, naming, rows, moved, labels=labels)
    for suffix, rows in itertools.product((".npz", ".safetensors", ".zarr", ".pt"), ("none", "id", "counting")):
        for naming, turned in (("unnamed", False), ("named", False), ("named", True)):
            yield Variant("", suffix, naming, rows, rows != "none", turned, labels="numbers")
    yield Variant("", ".npy", "unnamed", "none", labels="numbers")
    for suffix, rows, labels in itertools.product(RECORDS, ROWS, ("names", "numbers")):
        yield Variant("", suffix, "named" if labels == "numbers" else "object", rows, rows != "none", labels=labels)


# -- combinations -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def variants(tmp_path_factory) -> tuple[World, dict[str, list[Read]]]:
    """Every variant, read once: those of A, of B, and of labels alone."""
    w, folder = world(), tmp_path_factory.mktemp("variants")
    found: dict[str, list[Read]] = {"A": [], "B": [], "": []}
    for number, one in list(enumerate((*variants_of_models(), *variants_of_labels())))[::EVERY]:
        found[one.model].append(read(one, w, folder, number))
    return w, found


def family_of(one: Variant) -> str:
    """What the classes are called: variants of one family can be judged together."""
    naming = NAMINGS.get(one.naming)
    return "unnamed" if one.naming in ("unnamed", "list", "proba_0") else "words" if naming is None else naming.names[0]


def may_tell(one: Variant, others: list[Variant]) -> bool:
    """Whether something else in the combination has what identifies the rows of this one."""
    role = {"counting": "id"}.get(one.rows, one.rows)
    return any({"counting": "id"}.get(other.rows, other.rows) == role for other in others)


def combinations_of(
    found: dict[str, list[Read]], n: int, rng: np.random.Generator
) -> Iterator[tuple[Read, Read, Read]]:
    """A model A, a model B and labels of one family, where everything that stands in another order can be told."""
    whole = {model: [one for one in reads if one.problem is None] for model, reads in found.items()}
    families = {model: {} for model in whole}
    for model, reads in whole.items():
        for one in reads:
            families[model].setdefault(family_of(one.variant), []).append(one)
    made = 0
    while made < n:
        a = whole["A"][rng.integers(len(whole["A"]))]
        family = family_of(a.variant)
        alike = families["B"][family]
        if rng.random() < 0.5:  # otherwise most combinations are refused for their rows
            alike = [one for one in alike if one.variant.rows == a.variant.rows] or alike
        b = alike[rng.integers(len(alike))]
        inside = [one for one in (a, b) if one.labels is not None]
        apart = families[""].get(family, []) + (families[""].get("setosa", []) if family == "words" else [])
        apart = [one for one in apart if one.variant.rows == a.variant.rows] if rng.random() < 0.5 else apart
        among = inside if inside and rng.random() < 0.4 else apart
        if not among:
            continue
        labels = among[rng.integers(len(among))]
        parts = [a.variant, b.variant] + ([labels.variant] if labels not in (a, b) else [])
        if all(may_tell(one, [other for other in parts if other is not one]) for one in parts if one.moved):
            made += 1
            yield (a, b, labels) if rng.random() < 0.5 else (b, a, labels)


def by_statement(one: Read, other: Read, labels: Read) -> bool:
    """Whether numbers are labels by a position that all models state alike, in another order than the labels were made in."""
    turned = one.variant.turned and other.variant.turned
    return turned and labels.variant.labels == "numbers" and labels.labels.class_names is None


def differing(w: World, one: Read, other: Read, labels: Read, numbers: Callable[..., dict[str, np.ndarray]]) -> str:
    """ "equal", "refused", "stated", or the numbers that differ."""
    try:
        got = numbers({one.variant.model: one.prediction, other.variant.model: other.prediction}, labels.labels)
    except InputError:
        return "refused"
    wrong = {
        model: (v.round(4).tolist(), w.numbers(model).round(4).tolist())
        for model, v in got.items()
        if not np.allclose(v, w.numbers(model)[-len(v) :], atol=1e-6)
    }
    return "equal" if not wrong else "stated" if by_statement(one, other, labels) else f"{wrong}"


def of_aligned(models: dict[str, Any], labels: Any) -> dict[str, np.ndarray]:
    found = align(models, labels)
    y, rows = found.labels, np.arange(N)
    numbers = {}
    for model, (run,) in found.models.items():
        p = np.asarray(run.probs, dtype=np.float64)
        numbers[model] = np.array(
            [(p.argmax(axis=1) == y).mean(), ((p - np.eye(3)[y]) ** 2).sum(axis=1).mean(), -np.log(p[rows, y]).mean()]
        )
    return numbers


def test_no_combination_of_files_gives_other_numbers(variants, needs):
    needs(*PACKAGES)
    w, found = variants
    count: Counter[str] = Counter()
    flaws = []
    for one, other, labels in combinations_of(found, N_COMBINATIONS, np.random.default_rng(42)):
        ended = differing(w, one, other, labels, of_aligned)
        known = ended in ("equal", "refused", "stated")
        count[ended if known else "differs"] += 1
        if not known:
            flaws.append(f"{one.variant}\n{other.variant}\n{labels.variant}\n{ended}")
    assert not flaws, f"{len(flaws)} of {N_COMBINATIONS}\n\n" + "\n\n".join(flaws[:5])
    assert count["equal"] > N_COMBINATIONS / 4, count  # a refusal of everything would pass, too


def test_no_assay_of_files_gives_other_numbers(variants, needs):
    needs(*PACKAGES)

    def of_assay(models: dict[str, Any], labels: Any) -> dict[str, np.ndarray]:
        judged = ranking_json(uq.assay(models, labels, calibration=(), n_draws=20), [0.5])["tradeoff"][0]["ranking"]
        return {
            row["model"]: np.array([row["estimate"]]) for row in judged if row["model"] in models
        }  # E is the log loss

    w, found = variants
    ended = Counter(
        differing(w, one, other, labels, of_assay)
        for one, other, labels in combinations_of(found, N_ASSAYS, np.random.default_rng(4))
    )
    assert set(ended) <= {"equal", "refused", "stated"}, ended
    assert ended["equal"] > N_ASSAYS / 4, ended
