"""Errors and notes of the library in the words of the command line.

An error keeps its rule and what was found. Its parameter becomes the option that the user typed, and its remedy, where the
library advises Python, becomes an option too. Both go by the fields of the error (`parameter`, `code`, `facts`), never by
its words. Errors and notes without an entry are shown as they are.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from uqassay.cli.screen import shell_line
from uqassay.errors import InputError, UqassayError
from uqassay.notes import Note
from uqassay.text import listed, named, visible

__all__ = ["NOTES", "OPTIONS", "WORDINGS", "about_files", "in_options", "note_text", "option_of"]

_COMMON = {
    "alpha": "--alpha",
    "calibration": "--calibration",
    "class_names": "--class-names",
    "client": "--cluster",
    "common_members": "--common-members",
    "convention": "--convention",
    "distance": "--distance",
    "floor": "--floor",
    "focal_sets": "--focal-sets",
    "groups": "--groups",
    "kind": "--kind",
    "level": "--level",
    "margin": "--margin",
    "critical": "--critical",
    "measure": "--measure",
    "measures": "--score",
    "member_axis": "--member-axis",
    "members": "--members",
    "n_draws": "--draws",
    "nonspecificity": "--nonspecificity",
    "columns": "--columns",
    "missing": "--missing-confidence",
    "model_column": "--model-column",
    "id": "--id",
    "ignore_label": "--ignore-label",
    "normalise": "--normalise",
    "positive": "--positive",
    "votes_are": "--votes-are",
    "null": "--null",
    "predictions": "models",
    "repair": "--repair",
    "resample": "--resample",
    "rng": "--seed",
    "sample_weight": "--weights",
    "seed": "--seed",
    "subgroups": "--subgroup",
    "tradeoff": "--tradeoff",
    "tradeoffs": "--tradeoff",
    "variance_is": "--variance-is",
    "y_true": "--labels",
}
_OF_COMMAND = {
    "bench": {
        name: f"--{name.replace('_', '-')}"
        for name in (
            "common_members",
            "condition",
            "dataset",
            "decomposition",
            "method",
            "param",
            "preset",
            "scheduler",
            "seeds",
            "threads",
        )
    }
    | {"workers": "--workers", "params": "--param", "output": "--output"},
    "compare": {
        **{name: f"--{name}" for name in ("metric", "rope", "score")},
        **dict.fromkeys(("assays", "data_sets", "folder", "values"), "folders"),
        "models": "--model",
    },
    "convert": {"labels": "--labels"},
    "demo": {"folder": "--output", "seed": "--seed"},
    "gain": {
        **{name: f"--{name}" for name in ("binning", "bins", "loss")},
        "cross_fit": "--cross-fit",
        "losses": "--loss",
        "scores": "--score",
    },
    "ood": {
        "groups_in": "--groups",
        "groups_out": "--out-groups",
        "error_cost": "--error-cost",
        "inside": "models",
        "labels": "--labels",
        "outside": "--out",
        "positive": "--positive",
        "share_out": "--share-out",
        "ties": "--ties",
        "score": "--score",
        "scores": "--score",
    },
    "refuse": {name: f"--{name}" for name in ("confidence", "risk", "run", "score", "share")},
    "reproduce": {
        name: f"--{name}"
        for name in (
            "backbone",
            "data",
            "dataset",
            "decomposition",
            "figure",
            "figures",
            "method",
            "preset",
            "resume",
            "runs",
            "spread",
            "sweep",
            "where",
            "workers",
        )
    }
    | {"train_share": "--train-share"},
    "second-order": {
        "votes": "--votes",
        "by": "--by",
        "buckets": "--buckets",
        "few_votes": "--leave-out-few",
    },
    "tradeoff": {"abstention": "--abstention", "abstention_cost": "--cost"},
}
OPTIONS: Mapping[str, Mapping[str, str]] = {"": _COMMON} | {
    command: _COMMON | own for command, own in _OF_COMMAND.items()
}
# The library's name of one model, of one of its runs, and of an array of that: models['DE'][1].probs
_MODEL_IN_TEXT = re.compile(r"""\b(?:models|inside|outside)\[(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\](?:\[\d+\])?""")
_MODEL = re.compile(r"""(\w+)\[('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\](?:\[(\d+)\])?(?:\.(.+))?""", re.DOTALL)
# Options that say how a file is read: they are meant even where the error is about that file
_OF_READING = (
    "columns",
    "id",
    "kind",
    "member_axis",
    "missing",
    "model_column",
    "normalise",
    "positive",
    "variance_is",
)
_OF_COMMON_INSTANCES = ("rank", "refuse", "report")  # commands with --common-instances
_WITHOUT_VOTES = ("calibration-test", "gain", "refuse")  # commands without --votes-are
_MOST_TYPED = 12  # names that a remedy spells out


# -- remedies ---------------------------------------------------------------------------------------------------------

Facts = Mapping[str, Any]
Wording = str | Callable[[Facts], dict[str, str]]

_MEANINGS = "pass --variance-is aleatoric or --variance-is epistemic"
_LOGITS = "name the array logits if these are logits"
_ONE_LABEL = "judge independent labels (sigmoids) one label at a time, each in a file with its p and 1 - p"


def _names(option: str, names: Sequence[str], otherwise: str) -> str:
    """An option with names and commas between them, as it can be typed."""
    typed = ",".join(names) if len(names) <= _MOST_TYPED and all(_can_be_listed(name) for name in names) else otherwise
    return f"{option} {shell_line([typed])}"


def _can_be_listed(name: str) -> bool:
    return _can_be_typed(name) and "," not in name


def _probabilities(facts: Facts) -> dict[str, str]:
    if facts.get("axis") is not None:
        return {}
    rules = {
        "rows": "--normalise needs finite, non-negative rows with a positive sum",
        "sums": "--normalise repairs rounding, per cent and counts: rows that sum to 1 or 100 within 1 %, or whole numbers",
    }
    rule = {"rule": rules[facts["normalising"]]} if "normalising" in facts else {}
    if facts.get("normalising") == "sums" and "columns" in facts:
        columns = _names("--columns", facts["columns"], "A,B,C")
        return rule | {"remedy": f"leave out what is no probability of a class; all columns are {columns}"}
    logits = "pass --kind logits if these are logits" if "columns" in facts else _LOGITS
    if facts.get("look") == "sigmoids":
        return rule | {"remedy": f"leave out the columns that are no classes, or {_ONE_LABEL}"}
    if facts.get("look") == "counts":
        return {"remedy": f"pass --normalise if these are counts, per cent or rounded, or {logits}"}
    return rule | {"remedy": f"drop or repair such rows, or {logits}"}


def _columns(facts: Facts) -> dict[str, str]:
    """A table in which no columns are probabilities, by what its columns look like."""
    columns = facts.get("columns", ())
    choose = f"name those columns that are classes: {_names('--columns', columns, 'A,B,C')}"
    if facts.get("look") == "binary":
        return {"remedy": "name the column y_prob and the labels y_true, and pass --positive NAME with its class"}
    if len(columns) < 2:
        return {}
    if facts.get("look") == "sigmoids":
        return {"remedy": f"{_ONE_LABEL}, or {choose}"}
    option = {"logits": "--kind logits", "counts": "--normalise"}.get(facts.get("look", ""))
    return {"remedy": choose if option is None or facts.get("said") else f"pass {option} if they are, and {choose}"}


def _too_few_columns(facts: Facts) -> dict[str, str]:
    return {"remedy": "name one column for each class, or call the one column y_prob and the labels y_true"}


def _positive(facts: Facts) -> dict[str, str]:
    names = [name for name in facts.get("found", ()) if _can_be_typed(name)][:2]
    options = [f"--positive {shell_line([name])}" for name in names] or ["--positive NAME"]
    return {"remedy": f"pass {listed(options, last='or')}"}


def _class_order(facts: Facts) -> dict[str, str]:
    """Numbers as labels of classes without an order, or a model without names beside others.

    The names are not written out: any order that stands here would be copied, and would be wrong without a word.
    """
    if "class_names" in facts:
        columns = "pass --class-names with these names in the order of its columns"
        return {"remedy": f"{columns}, or name the classes in its file"}
    return {"remedy": "give the labels by name, or pass --class-names with these names, that of class 0 first"}


def _class_names(facts: Facts) -> dict[str, str]:
    if "ignorable" in facts:
        return {"remedy": f"give the labels by these names, or {_outside_the_classes(facts)['remedy']}"}
    if facts.get("named", True):
        return {"remedy": "give the labels by these names, or rename the classes in the prediction files"}
    stated = _names("--class-names", facts["found"], "A,B,C")
    return {"remedy": f"name the classes in the order of the columns, such as {stated}"}


def _mismatch(facts: Facts) -> dict[str, str]:
    """Models of other classes or instances."""
    if "class_names" in facts:
        stated = _names("--class-names", facts["class_names"], "A,B,C")
        return {"remedy": f"leave --class-names out, or pass the names of the model, such as {stated}"}
    if "instances" in facts and facts["command"] in _OF_COMMON_INSTANCES:
        return {"remedy": "pass --common-instances to judge those that all files have by their ids, or check the files"}
    return {}


def _ambiguous(facts: Facts) -> dict[str, str]:
    if "votes_are" not in facts:
        return {}
    if facts["command"] in _WITHOUT_VOTES:
        return {"remedy": "give one label for each instance"}
    return {"remedy": "pass --votes-are counts or --votes-are single"}


def _outside_the_classes(facts: Facts) -> dict[str, str]:
    if "ignorable" in facts:
        return {"remedy": f"leave such rows out by --ignore-label {shell_line([str(facts['ignorable'])])}"}
    if "from_one" in facts:
        numbers = [str(k + 1) for k in range(facts["from_one"])]
        stated = _names("--class-names", numbers, f"FILE with the names 1 to {facts['from_one']}")
        return {"remedy": f"subtract 1 from labels that count from 1, or pass {stated}"}
    return {}


def _ids(facts: Facts) -> dict[str, str]:
    """Rows of two things that do not fit together."""
    if "columns" in facts:  # that put the rows in different orders
        options = [f"--id {shell_line([name])}" for name in facts["columns"] if _can_be_typed(name)]
        return (
            {"remedy": f"name the column that identifies the instances: {listed(options, last='or')}"}
            if options
            else {}
        )
    if "column" in facts or "without" in facts:
        return {}
    if "moved" in facts:
        return {"remedy": "give a file with the ids of the predictions, or put all files into one order"}
    if facts.get("part", "ids") in ("columns", "names", "labels"):
        return {"remedy": "give both the same class names"}
    if not _MODEL.fullmatch(facts["parameter"]):
        return {
            "remedy": "give it for every instance of the predictions, or leave the others out of the prediction files"
        }
    if facts["command"] in _OF_COMMON_INSTANCES:
        return {
            "remedy": "pass --common-instances to judge those that every file has, or check that they belong together"
        }
    return {"remedy": "give files of the same instances, or check that they belong together"}


def _column(facts: Facts) -> dict[str, str]:
    """A file with several columns of which none has the name that is looked for."""
    if not facts.get("found"):
        return {"remedy": "give another file"}
    typed = [name for name in facts["found"] if _can_be_typed(name) and ":" not in name]
    if not typed:
        return {"remedy": "give the columns names of letters and digits, or give another file"}
    return {"remedy": "name the column after the file, such as " + shell_line([f"{facts['file']}:{typed[0]}"])}


def _can_be_typed(name: str) -> bool:
    """Whether a name can be part of a command: it is not empty, and keeps its ends and its characters there."""
    return bool(name) and name == name.strip() and name == visible(name)


def _keys(facts: Facts) -> dict[str, str]:
    if facts.get("meant") == "counts":
        key = named(facts["key"])
        return {"remedy": f"count how often {key} has each class, give the counts as probs, and pass --normalise"}
    return {} if facts.get("meant") else {"remedy": "rename the keys, for example to probs"}


def _kind(facts: Facts) -> dict[str, str]:
    return {
        "remedy": "choose one by " + listed([f"--kind {kind}" for kind in facts.get("kinds", ("KIND",))], last="or")
    }


def _alpha(facts: Facts) -> dict[str, str]:
    if "smallest" not in facts:
        return {}
    rule = f"the smallest p-value that --draws {facts['n_draws']} can reach is {facts['smallest']:.4g}"
    if "needed" in facts:
        return {"rule": rule, "remedy": f"pass --draws {facts['needed']} or more"}
    return {
        "rule": rule,
        "remedy": f"choose --alpha above {facts['offset']:g}, which the confidence set takes for itself",
    }


def _resample(facts: Facts) -> dict[str, str]:
    remedy = {"remedy": "pass --null random, or leave --resample out"}
    return remedy | ({"got": f"got --null {facts['null']}"} if "null" in facts else {})


def _type(facts: Facts) -> dict[str, str]:
    return {"remedy": "write it again with numbers"} if "dtype" in facts else {}


def _bare_array(facts: Facts) -> dict[str, str]:
    remedy = "give one column for each class; a file of labels alone is for --labels"
    return {"remedy": remedy} if facts.get("bare") else {}


def _paper_convention(facts: Facts) -> dict[str, str]:
    return {
        "got": "got a family with --convention exact",
        "remedy": "pass --convention paper, or leave --focal-sets out",
    }


def _few_votes(facts: Facts) -> dict[str, str]:
    every = "n" in facts and facts.get("few") == facts["n"]
    return {"remedy": "collect a second vote" if every else "pass --leave-out-few to leave such rows out"}


def _shape_of_votes(facts: Facts) -> dict[str, str]:
    if facts.get("votes_are") == "single":
        return {}
    return {"remedy": "pass --votes-are single if each column is a vote; one label for each instance is not enough"}


def _unnamed(facts: Facts) -> dict[str, str]:
    """One of two predictions has no class names."""
    if "class_names" not in facts:
        return _column(facts) if "file" in facts else {}
    return {"remedy": "pass --class-names with the names in the order of its columns, or name the classes of both"}


def _votes(facts: Facts) -> dict[str, str]:
    return {"remedy": "give numbers of votes, or pass --votes-are single"} if "dtype" in facts else {}


def _run(facts: Facts) -> dict[str, str]:
    remedy = f"pass --run 1 to --run {facts['runs']}" if "runs" in facts else "choose one by --run"
    return {"remedy": remedy, "got": f"got {facts['run'] + 1}"} if "run" in facts else {"remedy": remedy}


def _correct(facts: Facts) -> dict[str, str]:
    """A column of what was right that is not there, or holds something else."""
    return {} if "row" in facts else {"remedy": "name it by --correct-column"}


# By code, or by parameter and code, which goes first: a remedy, or a function of the facts that gives fields of the error.
# Among the facts are the name of the command and the parameter of the error.
WORDINGS: Mapping[str | tuple[str, str], Wording] = {
    "class-sets": "give the array the key sets: truth values, one column per class",
    "ambiguous": _ambiguous,
    "class-names": _class_names,
    "class-order": _class_order,
    "member-axis": "pass --member-axis 0 where the members stand on the first axis, or --member-axis NAME=0 for one model",
    "not-belief-functions": "pass --repair to clip and renormalise them, or --convention paper",
    "not-probabilities": _probabilities,
    "one-column": "give one column for each class, that of the other class too",
    "pickle": "save the arrays as numbers or text, for example as .npz",
    "needs-paper-convention": _paper_convention,
    "sum": _probabilities,
    "missing": _unnamed,
    "type": _type,
    "needs-draws": _alpha,
    ("beliefs", "not-probabilities"): "give beliefs between 0 and 1",
    "ids": _ids,
    "mismatch": _mismatch,
    "range": _outside_the_classes,
    ("calibration", "choice"): "choose from them, or pass --calibration none",
    ("confidence", "choice"): "name it by --confidence-column",
    (
        "confidence",
        "missing",
    ): "pass --missing-confidence 0 to count them as least sure, or leave them out of all files",
    ("correct", "choice"): _correct,
    ("correct", "missing"): "name it by --correct-column",
    ("model_column", "choice"): "name the column that has the name of the model by --model-column",
    ("columns", "ambiguous"): _columns,
    ("columns", "duplicate"): _too_few_columns,
    ("columns", "missing"): _columns,
    ("common_members", "common-members"): "pass a smaller --common-members",
    ("encoding", "encoding"): "save the file as UTF-8",
    ("keys", "ambiguous"): _kind,
    ("keys", "choice"): _keys,
    ("log_partition", "shape"): "leave it out, or give the logits instead",
    ("lower", "not-probabilities"): "give probabilities, not logits",
    ("masses", "not-probabilities"): "name the array beliefs if these are beliefs",
    ("masses", "sum"): "name the array beliefs if these are beliefs, and pass --repair to clip and renormalise them",
    ("measure", "choice"): "choose one of them",
    ("positive", "choice"): _positive,
    ("positive", "missing"): _positive,
    ("logits", "shape"): _bare_array,
    ("probs", "shape"): _bare_array,
    ("resample", "conflict"): _resample,
    ("run", "missing"): _run,
    ("run", "range"): _run,
    ("score", "missing"): "pass --score total-entropy, say",
    ("tradeoffs", "empty"): "write --tradeoff 0.1,0.5",
    ("upper", "not-probabilities"): "give probabilities, not logits",
    ("variance_is", "choice"): _MEANINGS,
    ("variance_is", "missing"): _MEANINGS,
    ("votes", "empty"): _few_votes,
    ("votes", "ids"): "give the votes the class names of the predictions",
    ("votes", "shape"): _shape_of_votes,
    ("votes", "type"): _votes,
}


# -- notes ------------------------------------------------------------------------------------------------------------


def _different_members(facts: Facts) -> str:
    each = ", ".join(f"{named(name)} {members}" for name, members in facts["members"].items())
    return (
        f"The sets are spanned by different numbers of members or draws ({each}); non-specificity grows with that number, so "
        f"compare with --common-members {facts['common_members']}."
    )


NOTES: Mapping[str, Callable[[Facts], str]] = {
    "different-numbers-of-members": _different_members,
}


# -- errors and notes in the words of the command line ----------------------------------------------------------------


def option_of(parameter: str, command: str = "") -> str:
    """The option of a command behind a parameter of the library, or a part of it; else the parameter itself.

    Examples
    --------
    >>> option_of("n_draws", "rank"), option_of("outside", "ood"), option_of("probs", "rank")
    ('--draws', '--out', 'probs')
    >>> option_of("params.snn.epochs", "bench")
    '--param snn.epochs'
    >>> option_of("models['DE'][1].probs", "rank"), option_of("outside['DE'].ids", "ood")
    ('DE, run 2, probs', '--out DE, ids')
    """
    options = OPTIONS.get(command, OPTIONS[""])
    if found := _MODEL.fullmatch(parameter):
        owner, name, run, part = found.groups()
        option = options.get(owner, "")
        model = (f"{option} " if option.startswith("--") else "") + ast.literal_eval(name)
        words = [model, *([f"run {int(run) + 1}"] if run else []), *([part] if part else [])]
        return ", ".join(words)
    whole, dot, part = parameter.partition(".")
    if dot and whole in options:
        return f"{options[whole]} {part}"
    return options.get(parameter, parameter)


def in_options(problem: UqassayError, command: str = "") -> UqassayError:
    """The same error as a user of `command` should read it.

    Examples
    --------
    >>> problem = InputError("n_draws", "must be at least 1", "got 0", "99 is usual", code="range")
    >>> print(in_options(problem, "rank"))
    --draws: must be at least 1; got 0; 99 is usual.
    """
    parameter = problem.parameter
    if not problem.source or parameter in _OF_READING or _MODEL.fullmatch(parameter):
        parameter = option_of(parameter, command)
    wording = WORDINGS.get((problem.parameter, problem.code), WORDINGS.get(problem.code, problem.remedy))
    fields = (
        {"remedy": wording}
        if isinstance(wording, str)
        else wording(problem.facts | {"command": command, "parameter": problem.parameter})
    )
    found = {"parameter": parameter, "rule": problem.rule, "got": problem.got, **fields}
    found |= {part: _MODEL_IN_TEXT.sub(lambda at: option_of(at[0], command), found[part]) for part in ("rule", "got")}
    return problem.replace(**found)


def note_text(note: Note) -> str:
    """A note as a reader at a terminal should see it.

    Examples
    --------
    >>> note_text(Note("groups", "12 groups"))
    '12 groups'
    """
    wording = NOTES.get(note.code)
    return note.text if wording is None or not note.facts else wording(note.facts)


@contextmanager
def about_files(files: Mapping[str, Path | None], shown: Mapping[str, str] | None = None) -> Iterator[None]:
    """Name the file in every error about an argument that was read from it.

    Parameters
    ----------
    files : dict of str to Path or None
        The file of each parameter of the library.
    shown : dict of str to str, optional
        What to call a parameter after the name of its file; by default, its own name.
    """
    try:
        yield
    except InputError as problem:
        path = files.get(problem.parameter)
        if path is None or problem.source:
            raise
        parameter = (shown or {}).get(problem.parameter, problem.parameter)
        raise problem.replace(source=path.name, parameter=parameter) from problem
