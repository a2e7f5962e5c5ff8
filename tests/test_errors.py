"""Errors carry fields; the sentence is made from them in one place."""

import ast
import copy
import gc
import pickle
from pathlib import Path

import pytest

import uqassay
from uqassay.errors import CODES, FileFormatError, InputError, MissingDependencyError, TooManyClassesError, UqassayError

FIELDS = ("parameter", "rule", "got", "remedy", "code", "source", "facts")


def fields(problem):
    return {name: getattr(problem, name) for name in FIELDS}


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (
            InputError("level", "must be positive", "got -1", "write 0.95"),
            "level: must be positive; got -1; write 0.95.",
        ),
        (InputError("level", "must be positive", remedy="write 0.95"), "level: must be positive; write 0.95."),
        (InputError("level", "must be positive"), "level: must be positive."),
        (InputError("", "must be positive"), "must be positive."),
        (InputError("level", "is this 95 %?"), "level: is this 95 %?"),
        (InputError("level", "must be positive", source="a.toml"), "a.toml: level: must be positive."),
        (InputError("level", "ends by itself."), "level: ends by itself."),
    ],
)
def test_the_sentence_is_made_of_the_fields(problem, sentence):
    assert str(problem) == sentence


def test_the_value_found_is_cut_and_the_names_to_choose_from_are_not():
    names = ", ".join(f"name-{i}" for i in range(100))
    problem = InputError("metric", f"must be one of {names}", f"got\n{'x' * 1000}", f"choose one of {names}\nof these")
    sentence = str(problem)
    assert sentence.startswith(f"metric: must be one of {names}; got xxx")
    assert sentence.endswith(f"…; choose one of {names} of these.")
    assert "\n" not in sentence
    assert "x" * 300 not in sentence


def test_every_error_is_of_the_tree_and_of_the_builtin_that_callers_expect():
    assert issubclass(InputError, UqassayError)
    assert issubclass(InputError, ValueError)
    assert issubclass(TooManyClassesError, InputError)
    assert issubclass(FileFormatError, InputError)
    assert issubclass(MissingDependencyError, ImportError)
    assert not issubclass(MissingDependencyError, InputError)


def test_replace_changes_the_fields_named_and_no_others():
    problem = FileFormatError("probs", "rule", "got", "remedy", code="sum", source="a.npz", facts={"row": 3})
    other = problem.replace(parameter="--models", remedy="pass --normalise")
    assert type(other) is FileFormatError
    assert fields(other) == fields(problem) | {"parameter": "--models", "remedy": "pass --normalise"}
    assert problem.parameter == "probs"
    other.facts["row"] = 4
    assert problem.facts == {"row": 3}
    with pytest.raises(TypeError, match="rules"):
        problem.replace(rules="typing error")


def test_inside_names_the_owner():
    problem = InputError("probs", "rule", code="sum")
    assert problem.inside("models['DE']").parameter == "models['DE'].probs"
    assert problem.inside("b").inside("a").parameter == "a.b.probs"
    assert InputError("", "rule").inside("models['DE']").parameter == "models['DE']"
    assert problem.inside("m").code == "sum"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copies_keep_every_field(again):
    """Errors travel between processes: workers of a cluster send them back."""
    problem = FileFormatError("probs", "rule", "got", "remedy", code="sum", source="a.npz", facts={"row": 3})
    found = again(problem)
    assert type(found) is FileFormatError
    assert fields(found) == fields(problem)
    assert str(found) == str(problem)


def test_codes_are_words_with_their_meaning():
    assert CODES
    for code, meaning in CODES.items():
        assert code == code.lower()
        assert " " not in code
        assert meaning


# -- every place that makes an error ----------------------------------------------------------------------------------

SOURCE = Path(uqassay.__file__).parent
PASSED_ON = {  # places whose code is computed; `tests.refusals` checks the codes that they yield
    ("checks.py", "code"),
    ("arrays.py", "'not-probabilities' if probabilities else 'range'"),
    ("lab/bench/cell.py", "'finite' if isinstance(problem, ValueError) else 'type'"),
    ("cli/report.py", "**value"),
    ("evidence/align.py", "'member-axis' if first else 'mismatch'"),
    ("evidence/align.py", "'member-axis' if members_first else 'mismatch'"),
    ("predictions/adapters.py", "'shape' if values.ndim == 1 else 'one-column'"),
    ("lab/datasets/ball_split.py", "'type' if share.dtype.kind not in 'fiu' else 'shape'"),
    ("lab/papers/gain/run.py", "code"),
    ("losses/votes.py", "'type' if counts.dtype == bool else 'range'"),
    ("predictions/tables_on_disk.py", "code"),
    ("files.py", "'unreadable' if done == 'read' else 'unwritable'"),
    ("files.py", "code"),
    ("files.py", "problem.code"),
    ("statistics/units.py", "code"),
}


def name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


@pytest.fixture(scope="module")
def nodes() -> list[tuple[str, ast.ClassDef | ast.Call]]:
    """Every class and every call of the package, with its file."""
    found = []
    gc.disable()  # nothing of this is garbage
    for path in SOURCE.rglob("*.py"):
        file = path.relative_to(SOURCE).as_posix()
        tree = ast.parse(path.read_text("utf-8"))
        found += [(file, node) for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.Call)]
    gc.freeze()
    gc.enable()
    return found


@pytest.fixture(scope="module")
def errors(nodes) -> set[str]:
    """Names of the classes that derive from UqassayError, in any module."""
    classes = [node for _, node in nodes if isinstance(node, ast.ClassDef)]
    names = {"UqassayError"}
    while new := {c.name for c in classes if names & {name_of(base) for base in c.bases}} - names:
        names |= new
    return names


@pytest.fixture(scope="module")
def calls(nodes, errors) -> list[tuple[str, ast.Call]]:
    """Every place that makes an error, with its file."""
    made = [(file, node) for file, node in nodes if isinstance(node, ast.Call) and name_of(node.func) in errors]
    coded = [(file, node) for file, node in nodes if isinstance(node, ast.Call) and name_of(node.func) == "fail"]
    return made + [(file, node) for file, node in coded if "code" in [k.arg for k in node.keywords]]  # `checks.fail`


def literals(node: ast.expr) -> set[str]:
    """Texts that an expression may be; the condition of a choice is not one of them."""
    if isinstance(node, ast.IfExp):
        return literals(node.body) | literals(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) else set()


def test_the_walk_finds_the_errors(errors, calls):
    assert {"InputError", "FileFormatError", "MissingDependencyError", "TooManyClassesError"} <= errors
    assert len(calls) > 500


def test_every_error_states_its_parameter_its_rule_and_a_known_code(calls):
    wrong, passed_on = [], set()
    for file, call in calls:
        place = f"{file}:{call.lineno} {name_of(call.func)}"
        given = {k.arg: k.value for k in call.keywords}
        if None in given:
            passed_on.add((file, f"**{ast.unparse(given[None])}"))
            continue
        fields = {*given, *("parameter", "rule", "got", "remedy")[: len(call.args)]}
        wrong += [f"{place}: no {name}" for name in ("parameter", "rule", "code") if name not in fields]
        if "code" in given:
            wrong += [f"{place}: {code!r}" for code in literals(given["code"]) if code not in CODES]
            if not isinstance(given["code"], ast.Constant):
                passed_on.add((file, ast.unparse(given["code"])))
    assert not wrong
    assert passed_on == PASSED_ON


def test_every_code_is_used(calls):
    used = {
        code
        for _, call in calls
        for keyword in call.keywords
        if keyword.arg == "code"
        for code in literals(keyword.value)
    }
    assert set(CODES) - used == set()


def test_the_rule_is_required():
    with pytest.raises(TypeError, match="rule"):
        InputError("level: must be positive")
