"""Files that other programs write: what each writes, how it is known, and how it becomes arrays or records of this package.

A new layout is one entry in `RECORD_LAYOUTS` (an instance of .jsonl and .json files) or in `FILE_LAYOUTS` (a whole file).

* `openai`: chat completions with `logprobs`, one to a line, alone or as a choice or in the output of a batch. OpenAI's API
  reference, the objects of chat completions and of batches.
* `lm-eval`: `samples_*.jsonl` of lm-evaluation-harness (``--log_samples``), tasks of multiple choice.
  EleutherAI/lm-evaluation-harness, ``lm_eval/loggers/evaluation_tracker.py``.
* `hugging-face`: pipelines of text or image classification with ``top_k=None``. Hugging Face transformers,
  ``TextClassificationPipeline``.
* `zip-map`: models of scikit-learn in ONNX, ``{class: p}``. sklearn-onnx, "Probabilities as a vector or as a ZipMap".
* `fd-shifts`: FD-Shifts (Jaeger et al., ICLR 2023), one array `arr_0` in an .npz named after it. IML-DKFZ/fd-shifts.
* `weka`: predictions as CSV with their distribution. ``weka.classifiers.evaluation.output.prediction.CSV``.
* `y-true-y-prob`: tables of two classes, named like the arguments of scikit-learn's metrics (``brier_score_loss``).
* `vectors`: tables with all probabilities of an instance as text in one cell, as NumPy's arrays and JSON's lists are shown.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import as_numeric
from uqassay.checks import fail
from uqassay.notes import Note
from uqassay.predictions.arrays_on_disk import Contents, StoredArray
from uqassay.predictions.keys import KNOWN_KEYS, shown_keys
from uqassay.text import listed

__all__ = [
    "FILE_LAYOUTS",
    "RECORD_LAYOUTS",
    "RecordLayout",
    "asks_layout",
    "file_layout",
    "option_bounds",
    "record_layout",
    "weka_header",
]


@dataclass(frozen=True)
class RecordLayout:
    """How one instance is written."""

    name: str
    recognises: Callable[[Any], bool]  #: True of a value of JSON that is such a record.
    #: The record as an object with `probs`, `logits`, or `lower` and `upper`, and `label`, `id`, `group`; the second
    #: argument are the names of the classes, empty unless `find_options` is given.
    read: Callable[[Any, tuple[str, ...]], dict[str, Any]]
    #: Finds the names of the classes in all records, where a record does not list them all.
    find_options: Callable[[Iterable[Any]], tuple[str, ...]] | None = None


@dataclass(frozen=True)
class FileLayout:
    """How a whole file is laid out."""

    name: str
    recognises: Callable[[Path, Contents], bool]  #: True of the path and contents of such a file.
    #: Its contents under the names of this package; the last argument is the name of the positive class, if it was
    #: given.
    read: Callable[[Path, Contents, str | None], Contents]
    may_be_asked: bool = False  #: `kind` may name the layout, for a file that does not show it.


def record_layout(first: Any) -> RecordLayout | None:
    """The layout of records of which this is the first, or None for this package's own."""
    return next((layout for layout in RECORD_LAYOUTS if layout.recognises(first)), None)


def file_layout(path: Path, contents: Contents, kind: str | None) -> FileLayout | None:
    """The layout that `kind` names, or that the file has; None for this package's own."""
    asked = next((each for each in FILE_LAYOUTS if asks_layout(kind, each)), None)
    return asked or next((each for each in FILE_LAYOUTS if each.recognises(path, contents)), None)


def asks_layout(kind: str | None, layout: FileLayout | None = None) -> bool:
    """Whether `kind` names the layout, or any layout that it may name."""
    named = kind.lower().replace("_", "-") if isinstance(kind, str) else ""
    return any(each.may_be_asked and each.name == named for each in ((layout,) if layout else FILE_LAYOUTS))


# -- OpenAI -----------------------------------------------------------------------------------------------------------


def option_bounds(listed_log: Mapping[str, float], options: Sequence[str]) -> tuple[list[float], list[float]]:
    """Bounds of the probabilities of the options, given that the answer is one of them.

    The interface lists the most likely tokens (20 at most). A token that is not listed is no more likely than the last one
    that is, and all of them together have what the listed ones leave. With S the probability of the options that are listed,
    m the bound of one that is not, and u the bound of all u_j together, an option i that is listed has a probability in
    [p_i / (S + u), p_i / S] and one that is not in [0, m / (S + m)]. These bounds are attained: no narrower intervals hold all
    distributions that agree with the list. The probability of an option is that of its tokens in the list, which differ in
    spaces ("A" and " A").

    Examples
    --------
    >>> import math
    >>> lower, upper = option_bounds({"A": math.log(0.6), "B": math.log(0.2), "x": math.log(0.1)}, ["A", "B", "C"])
    >>> [round(p, 3) for p in lower], [round(p, 3) for p in upper]
    ([0.667, 0.222, 0.0], [0.75, 0.25, 0.111])
    """
    found = dict.fromkeys(options, 0.0)
    for token, log in listed_log.items():
        if token.strip() in found:  # " A" and "A" are two tokens and one answer
            found[token.strip()] += math.exp(log)
    inside = {option for option in options if any(token.strip() == option for token in listed_log)}
    total, rest = sum(found.values()), max(0.0, 1.0 - sum(map(math.exp, listed_log.values())))
    one = min(math.exp(min(listed_log.values())), rest) if listed_log else 1.0
    others = min(one * (len(options) - len(inside)), rest)
    if not total:
        return [0.0] * len(options), [1.0] * len(options)
    lower = [found[option] / (total + others) for option in options]
    upper = [found[option] / total if option in inside else one / (total + one) for option in options]
    return lower, upper


def _choice(record: Any) -> Any:
    """The first choice of a completion, of the response of a batch, or of a record that is the choice itself."""
    if not isinstance(record, dict):
        return None
    body = record.get("response")
    body = body.get("body") if isinstance(body, dict) else record
    choices = body.get("choices") if isinstance(body, dict) else None
    return choices[0] if isinstance(choices, list) and choices else body


def _first_token(record: Any) -> Any:
    choice = _choice(record)
    logprobs = choice.get("logprobs") if isinstance(choice, dict) else None
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    return content[0] if isinstance(content, list) and content else None


def _is_openai(record: Any) -> bool:
    token = _first_token(record)
    return isinstance(token, dict) and isinstance(token.get("top_logprobs"), list)


def _read_openai(record: Any, options: tuple[str, ...]) -> dict[str, Any]:
    token = _first_token(record)
    remedy = "ask for logprobs=True and top_logprobs=20"
    top = token.get("top_logprobs") if isinstance(token, dict) else None
    if not isinstance(top, list) or not top:
        fail("logprobs", "must list the most likely first tokens", "it lists none", remedy, code="missing")
    log: dict[str, float] = {}
    for each in top:
        name, value = (each.get("token"), each.get("logprob")) if isinstance(each, dict) else (None, None)
        if not isinstance(name, str) or isinstance(value, bool) or not isinstance(value, (int, float)) or value > 1e-6:
            rule, got = "must be a token and the logarithm of its probability", f"it is {json.dumps(each):.40}"
            fail("top_logprobs", rule, got, "repair or drop it", code="type")
        if value > -9999.0:  # which stands for "very unlikely"
            log[name] = min(float(value), 0.0)
    lower, upper = option_bounds(log, options)
    own = {key: record[key] for key in ("label", "group") if key in record}
    if "custom_id" in record:
        own["id"] = record["custom_id"]
    elif "id" in record and "choices" not in record:  # else the id of the answer, which is another for every model
        own["id"] = record["id"]
    return {"lower": lower, "upper": upper} | own


def _openai_options(records: Iterable[Any]) -> tuple[str, ...]:
    found: set[str] = set()
    for record in records:
        options = record.get("options") if isinstance(record, dict) else None
        if isinstance(options, list) and all(isinstance(option, str) for option in options):
            return tuple(dict.fromkeys(options))
        label = record.get("label") if isinstance(record, dict) else None
        found |= {label} if isinstance(label, str) else set()
    if len(found) < 2:
        remedy = 'add the key options to the first object, for example "options": ["A", "B", "C", "D"]'
        fail("options", "the possible answers must be known", "the file names none", remedy, code="missing")
    return tuple(sorted(found))


# -- other records ----------------------------------------------------------------------------------------------------


def _is_lm_eval(record: Any) -> bool:
    return isinstance(record, dict) and {"doc_id", "filtered_resps", "target"} <= set(record)


def _read_lm_eval(record: Any, _: tuple[str, ...]) -> dict[str, Any]:
    """Pairs (log-likelihood, is_greedy) of the options; newer versions write all values as text."""
    if not _is_lm_eval(record):
        fail("doc_id", "filtered_resps and target must be there, too", "one is missing", "repair it", code="missing")
    answers, logits = record["filtered_resps"], []
    for answer in answers if isinstance(answers, list) else [answers]:
        value: Any = answer[0] if isinstance(answer, list) and len(answer) == 2 else None
        try:
            if str(answer[1]).lower() not in ("true", "false"):
                raise ValueError
            logits.append(float(value))
        except (TypeError, ValueError, IndexError, KeyError):
            rule, got = "must be pairs of a log-likelihood and is_greedy", f"one is {json.dumps(answer):.40}"
            fail("filtered_resps", rule, got, "run a task whose output_type is multiple_choice", code="type")
    if len(logits) < 2:
        rule, remedy = "must hold two options at least", "run a task whose output_type is multiple_choice"
        fail("filtered_resps", rule, f"it holds {len(logits)}", remedy, code="empty")
    target = record["target"]
    label = int(target) if isinstance(target, str) and re.fullmatch(r"\d{1,9}", target, re.ASCII) else target
    return {"logits": logits, "label": label, "id": record["doc_id"]}


def _scores(value: Any) -> bool:
    """Whether a value is a list of ``{"label": …, "score": …}``."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) and set(each) == {"label", "score"} for each in value)
    )


def _score_key(record: Any) -> str | None:
    """The one key of a record whose value is such a list."""
    keys = [key for key, value in record.items() if _scores(value)] if isinstance(record, dict) else []
    return keys[0] if len(keys) == 1 and not {"probs", "logits"} & set(record) else None


def _is_hugging_face(record: Any) -> bool:
    return _scores(record) or _scores([record]) or _score_key(record) is not None


def _read_hugging_face(record: Any, _: tuple[str, ...]) -> dict[str, Any]:
    key = _score_key(record)
    scores = record if key is None else record[key]
    if not _scores(scores):
        rule, got = "must be a list of the scores of all classes", f"it is {json.dumps(scores):.40}"
        fail("scores", rule, got, "call the pipeline on a list with top_k=None", code="shape")
    labels = [each["label"] for each in scores]
    if not all(isinstance(label, str) for label in labels) or len(set(labels)) < len(labels):
        got = f"they have {listed([repr(label) for label in labels], most=6)}"
        fail("scores", "must have each label once, as text", got, "repair them", code="type")
    probs = {each["label"]: each["score"] for each in scores}
    own = {} if key is None else {name: value for name, value in record.items() if name != key}
    return {"probs": probs} | own


def _is_zip_map(record: Any) -> bool:
    """Whether an object holds the probabilities of two classes or more and nothing else."""
    if not isinstance(record, dict) or len(record) < 2 or KNOWN_KEYS & set(record):
        return False
    values = list(record.values())
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
    return numbers and all(0 <= value <= 1 for value in values) and abs(sum(values) - 1) < 0.01


def _read_zip_map(record: Any, _: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(record, dict):
        rule = "must be an object of probabilities by class, as the first"
        fail("probs", rule, f"it is {json.dumps(record):.40}", "repair it", code="type")
    return {"probs": record}


RECORD_LAYOUTS = (
    RecordLayout("openai", _is_openai, _read_openai, _openai_options),
    RecordLayout("lm-eval", _is_lm_eval, _read_lm_eval),
    RecordLayout("hugging-face", _is_hugging_face, _read_hugging_face),
    RecordLayout("zip-map", _is_zip_map, _read_zip_map),
)


# -- FD-Shifts --------------------------------------------------------------------------------------------------------

FD_SHIFTS = ("raw_logits", "raw_output")


def _is_fd_shifts(path: Path, contents: Contents) -> bool:
    return path.suffix.lower() == ".npz" and path.name.startswith(FD_SHIFTS) and list(contents.arrays) == ["arr_0"]


def _read_fd_shifts(path: Path, contents: Contents, _: str | None) -> Contents:
    """Give the parts of the one array their names.

    | file | array | holds |
    |---|---|---|
    | `raw_logits.npz`, `raw_output.npz` | (N, C + 2) | C logits (softmax outputs), the label, the index of the data set |
    | `raw_logits_dist.npz`, `raw_output_dist.npz` | (N, C, M) | logits (softmax outputs) of M dropout passes, no labels |

    One file holds all test sets, one after the other. All rows are read; a note says how many belong to each data set,
    and ``load_labels(path, key="dataset_idx")`` gives the index of every row, so that ``prediction[dataset_idx == 1]`` is
    one set.
    """
    if len(contents.arrays) != 1:
        found = f"found {shown_keys(contents.everything() | contents.columns)}"
        fail("kind", "'fd-shifts' needs a file with the one array arr_0", found, "leave kind out", code="missing")
    stored = next(iter(contents.arrays.values()))
    key = "probs" if path.name.startswith("raw_output") else "logits"
    if len(stored.shape) == 3:  # (N, C, M) → (N, M, C)
        n, n_classes, n_members = stored.shape
        moved = StoredArray(
            (n, n_members, n_classes), stored.dtype, lambda: np.moveaxis(as_numeric(stored.read(), key), 2, 1)
        )
        return Contents({key: moved})
    if len(stored.shape) != 2 or stored.shape[1] < 4:
        rule = "must be (N, C + 2) with C logits, the label and the index of the data set, or (N, C, M)"
        fail("arr_0", rule, f"got shape {stored.shape}", "leave kind out or rename the file", code="shape")

    @cache
    def table() -> NDArray[Any]:
        return as_numeric(stored.read(), "arr_0")

    labels, dataset_idx = (_whole_column(table()[:, i], name) for i, name in ((-2, "label"), (-1, "dataset_idx")))
    n, width = stored.shape
    arrays = {
        key: StoredArray((n, width - 2), stored.dtype, lambda: table()[:, :-2]),
        "labels": StoredArray.in_memory(labels),
    }
    return Contents(arrays, {"dataset_idx": StoredArray.in_memory(dataset_idx)}, notes=_sets_note(dataset_idx))


def _whole_column(values: NDArray[Any], name: str) -> NDArray[np.int64]:
    wide = values.astype(np.float64)
    broken = ~(np.abs(wide) < 2**53)  # nan, too; greater numbers of this type are no counts
    broken |= wide != np.round(np.where(broken, 0.0, wide))
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        rule = "its last two columns must be whole numbers, the label and the index of the data set"
        got, remedy = f"row {row} holds {float(wide[row]):g} as {name}", "rename the file if it holds something else"
        fail("arr_0", rule, got, remedy, code="type", facts={"row": row})
    return wide.astype(np.int64)


def _sets_note(dataset_idx: NDArray[np.int64]) -> tuple[Note, ...]:
    indices, counts = np.unique(dataset_idx, return_counts=True)
    if len(indices) == 1:
        return ()
    rows = dict(zip(indices.tolist(), counts.tolist(), strict=True))
    shares = ", ".join(f"{i}: {n}" for i, n in rows.items())
    return (Note("data-sets", f"rows of {len(indices)} data sets by dataset_idx ({shares})", {"rows": rows}),)


# -- Weka -------------------------------------------------------------------------------------------------------------

WEKA = ["inst#", "actual", "predicted", "error", "distribution"]


def weka_header(header: list[str]) -> list[str]:
    """Weka names the first column of the distribution alone; those to its right get names here. Others stay as they are."""
    if header[: len(WEKA)] != WEKA:
        return header
    filled = list(header)
    for i in range(len(WEKA), len(header)):
        if header[i]:
            break
        filled[i] = f"distribution {i - len(WEKA) + 2}"
    return filled


def _is_weka(_: Path, contents: Contents) -> bool:
    return list(contents.columns)[: len(WEKA)] == WEKA


def _read_weka(_path: Path, contents: Contents, _: str | None) -> Contents:
    """A star marks the predicted class; ``2:yes`` is the class "yes", the second in the file of the data.

    A class that is neither the true nor the predicted one of any instance is called by its number, "class 3". `inst#` counts
    from 1 in each fold of a cross-validation; it is the id only if no number comes twice.
    """
    columns = contents.columns
    parts = [name for name in columns if name == "distribution" or re.fullmatch(r"distribution \d+", name)]
    texts = [_texts(columns[name]) for name in parts]
    rows = [f"[{','.join(cells).replace('*', '')}]" for cells in zip(*texts, strict=True)]
    probs = _vectors(rows, "distribution")
    pairs = {name: [text.partition(":") for text in _texts(columns[name])] for name in ("actual", "predicted")}
    names: dict[int, str] = {}
    for key, split in pairs.items():
        for row, (number, colon, name) in enumerate(split):
            if not colon or not number.isdigit() or not 1 <= int(number) <= probs.shape[1]:
                rule, got = (
                    "must be the number and the name of a class, 1:yes",
                    f"row {row} holds {number + colon + name!r:.40}",
                )
                fail(key, rule, got, "write the file again", code="type", facts={"row": row})
            if name != "?":
                names[int(number)] = name
    in_order = [names.get(k, f"class {k}") for k in range(1, probs.shape[1] + 1)]
    arrays = {"probs": StoredArray.in_memory(probs), "class_names": StoredArray.in_memory(np.array(in_order))}
    actual = [name for _number, _colon, name in pairs["actual"]]
    if "?" not in actual:  # else the classes of a test set that has none
        arrays["labels"] = StoredArray.in_memory(np.array(actual), "actual")
    rest = {name: column for name, column in columns.items() if name not in (*WEKA, *parts)}
    numbers = columns["inst#"].read()
    if len(set(numbers.tolist())) == len(numbers):
        arrays["ids"] = columns["inst#"]
    return replace(contents, arrays=arrays, columns=rest)


# -- probabilities of one of two classes ------------------------------------------------------------------------------

TRUTHS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}


def _is_binary(_: Path, contents: Contents) -> bool:
    return {"y_true", "y_prob"} <= set(contents.columns)


def _read_binary(_: Path, contents: Contents, positive: str | None) -> Contents:
    """`y_prob` is the probability of the class 1 of `y_true`, or of the class that `positive` names."""
    from_file = contents.columns["y_true"]
    truths = _texts(from_file)
    p = np.asarray(contents.matrix(["y_prob"]))[:, 0]
    arrays = {"probs": StoredArray.in_memory(np.stack([1 - p, p], axis=1), "y_prob")}
    found = sorted(set(truths))
    if positive is not None:
        if positive not in found or len(found) > 2:
            got = f"y_true holds {listed(found, most=6)}"
            rule = f"must be one of the two values of y_true, not {positive!r}"
            fail("positive", rule, got, "name one", code="choice", facts={"found": tuple(found)})
        other = next((value for value in found if value != positive), f"not {positive}")
        arrays["class_names"] = StoredArray.in_memory(np.array([other, positive]))
        arrays["labels"] = StoredArray.in_memory(np.array(truths), "y_true")
    else:
        bad = next((row for row, value in enumerate(truths) if value.lower() not in TRUTHS), None)
        values = np.array(truths if bad is not None else [TRUTHS[value.lower()] for value in truths])
        arrays["labels"] = StoredArray.in_memory(values, "y_true")
        if (
            bad is not None
        ):  # the labels can be read; the probabilities are of one of two classes, and which is not said
            refuse = partial(_refuse_names, truths, bad, found)
            arrays["probs"] = StoredArray((len(p), 2), "float64", refuse, name="y_prob")
    rest = {name: column for name, column in contents.columns.items() if name not in ("y_true", "y_prob")}
    return replace(contents, arrays=arrays, columns=rest)


def _refuse_names(truths: Sequence[str], row: int, names: Sequence[str]) -> NoReturn:
    rule = "must name the class that y_prob is of, because y_true is not 0 or 1"
    got = f"row {row} holds {truths[row]!r:.40}"
    remedy = f"pass {listed([f'positive={name!r}' for name in names[:2]], last='or')}"
    fail("positive", rule, got, remedy, code="missing", facts={"row": row, "found": tuple(names)})


# -- vectors as text --------------------------------------------------------------------------------------------------

FLOAT = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
LIST = rf"{FLOAT}(?:\s*[,;|\s]\s*{FLOAT})+\s*,?"
VECTOR = re.compile(rf"\s*(?:\[\s*{LIST}\s*\]|\(\s*{LIST}\s*\)|{FLOAT}(?:\s*[;|\s]\s*{FLOAT})+)\s*", re.ASCII)
VECTOR_KEYS = ("probs", "logits", "alpha")


def _vector_column(contents: Contents) -> str | None:
    """The one column of text whose first cell is a list of numbers, or the one that is named as such."""
    found = []
    for name, column in contents.columns.items():
        if column.dtype == "str" and column.shape[0] and _is_vector(str(column.rows(0, 1)[0])):
            found.append(name)
    named = [name for name in found if name in VECTOR_KEYS]
    return named[0] if len(named) == 1 else found[0] if len(found) == 1 else None


def _is_vector(cell: str) -> bool:
    """Whether a cell is a list of two numbers or more; brackets tell "[2 3]" from a place and "[1,5]" from a number."""
    return VECTOR.fullmatch(cell) is not None and ("[" in cell or "." in cell)


def _is_vectors(_: Path, contents: Contents) -> bool:
    return _vector_column(contents) is not None


def _read_vectors(_: Path, contents: Contents, _positive: str | None) -> Contents:
    """``[0.7 0.2 0.1]``, ``0.7;0.2;0.1`` and the like: probabilities, or `logits` or `alpha` in a column of that name."""
    name = _vector_column(contents)
    assert name is not None  # recognised
    values = _vectors(_texts(contents.columns[name]), name)
    rest = {key: column for key, column in contents.columns.items() if key != name}
    key = name if name in VECTOR_KEYS else "probs"
    return replace(contents, arrays={key: StoredArray.in_memory(values, name)}, columns=rest)


def _vectors(cells: Sequence[str], name: str) -> NDArray[np.float64]:
    """Lists of numbers of one length as rows ``(n, K)``."""
    out: NDArray[np.float64] | None = None
    for row, cell in enumerate(cells):
        numbers = re.findall(FLOAT, cell, re.ASCII) if VECTOR.fullmatch(cell) else []
        width = len(numbers) if out is None else out.shape[1]
        if not numbers or len(numbers) != width:
            wanted = f"{width} numbers, as in the first row" if out is not None else "numbers"
            facts = {"row": row, "value": cell}
            got = f"row {row} holds {cell!r:.40}"
            remedy = "repair or drop that row"
            fail(name, f"every cell must be a list of {wanted}", got, remedy, code="type", facts=facts)
        out = np.empty((len(cells), width)) if out is None else out
        out[row] = [float(number) for number in numbers]
    return np.empty((0, 0)) if out is None else out


def _texts(column: StoredArray) -> list[str]:
    """The cells of a column as text."""
    written = column.written or column
    return [str(value) for value in np.asarray(written.read()).tolist()]


FILE_LAYOUTS = (
    FileLayout("fd-shifts", _is_fd_shifts, _read_fd_shifts, may_be_asked=True),
    FileLayout("weka", _is_weka, _read_weka),
    FileLayout("y-true-y-prob", _is_binary, _read_binary),
    FileLayout("vectors", _is_vectors, _read_vectors),
)
