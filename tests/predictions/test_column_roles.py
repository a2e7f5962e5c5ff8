"""Which columns of a table are classes, by names and sums."""

import dataclasses
import time

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.predictions.column_roles import Table, class_numbers, class_order, classes_of, roles_of, undecorated

P = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5], [0.2, 0.7, 0.1]])
DUMMIES = np.eye(3)[[2, 0, 1, 1]]
WORDS = ("cat", "dog", "a.b")


def table(columns):
    """A table of columns of numbers, or of text, which is a list."""
    numbers = frozenset(name for name, values in columns.items() if not isinstance(values, list))

    def matrix(names):
        return np.stack([np.asarray(columns[name], dtype=np.float64) for name in names], axis=1)

    return Table(list(columns), numbers, matrix)


def named(pattern, names=WORDS, probs=P, **further):
    """Columns of probabilities called as in a pattern, and further ones."""
    return {pattern.format(name): column for name, column in zip(names, probs.T, strict=True)} | further


DECORATED = (
    "proba_{}", "prob.{}", "prob_{}", "P (y={})", "p({})", ".pred_{}", "{}_probability", "{}.prob", "confidence({})",
    'Scored Probabilities for Class "{}"', "Scored Probabilities for Class '{}'", "PROB_{}", "score: {}", "softmax-{}",
)  # fmt: skip


@pytest.mark.parametrize("pattern", DECORATED)
def test_a_decoration_is_no_part_of_the_name(pattern):
    found = classes_of(table(named(pattern)))
    assert (found.names, found.order) == (WORDS, "columns")
    assert found.columns == tuple(pattern.format(name) for name in WORDS)
    assert undecorated(list(found.columns)) == (list(WORDS), True)
    turned = classes_of(table(dict(reversed(named(pattern).items()))))
    assert turned.names == WORDS[::-1]


@pytest.mark.parametrize("pattern", [*DECORATED, "{}", "{} (share)", "rating of {}", "[{}]+", "a{}a"])
def test_columns_named_like_the_labels(pattern):
    found = classes_of(table(named(pattern, age=np.arange(4), fold=np.zeros(4), other=P[:, 0])), like=WORDS[:2])
    assert found is not None
    assert set(found.names) == set(WORDS)


@pytest.mark.parametrize("word", ["a", "p", "o", "e", "1", "pr"])
def test_labels_that_occur_in_the_decoration_itself(word):
    for pattern in ("rating_{}", "prob of {}", "{} share", "P (y={})"):
        found = classes_of(table(named(pattern, (word, "x", "z"))), like=[word, "z", "x"])
        assert found is not None, pattern
        assert found.names == (word, "x", "z"), pattern


@pytest.mark.parametrize("word", ["a+", ".*", "(x", "[a]", "c\\d", "x|y", "$", "^", "é", "日本"])
def test_names_are_no_patterns(word):
    names = (word, "dog", "cat")
    for pattern in ("prob_{}", "{}_probability", "{}"):
        assert set(classes_of(table(named(pattern, names)), like=names).names) == set(names)
        assert set(classes_of(table(named(pattern, names))).names) == set(names)


def test_numbered_columns_are_sorted_by_number():
    twelve = np.full((4, 12), 1 / 12)
    columns = sorted(f"prob_{k}" for k in range(12))
    found = classes_of(table(dict.fromkeys(columns, twelve[:, 0])))
    assert found.columns == tuple(f"prob_{k}" for k in range(12))
    assert found.names is None
    assert class_order(["Class_2", "Class_10", "Class_1"]) == ([2, 0, 1], ("1", "2", "10"))
    assert class_order(["V3", "V4"]) == ([0, 1], ("V3", "V4"))
    assert class_order(["1", "2", "3"])[1] == ("1", "2", "3")
    assert class_numbers(["V3", "V4"], "columns") == [3, 4]
    assert class_numbers(["a1", "b2"], "columns") is class_numbers([], "columns") is None


def test_a_class_that_is_never_predicted_stays_and_a_constant_does_not_come():
    never = np.column_stack([P[:, 0] + P[:, 1], P[:, 2], np.zeros(4)])
    assert classes_of(table(named("prob_{}", probs=never, fold=np.zeros(4)))).names == WORDS
    plain = named("{}", probs=never, fold=np.zeros(4))
    assert classes_of(table(plain)).columns == WORDS  # by the sums
    unseen = classes_of(table(plain), like=["cat", "dog"])
    assert (unseen.columns, unseen.by_sum) == (WORDS, True)  # neither label nor probability, which is told
    assert classes_of(table(plain | {"humidity": P[:, 1]}), like=WORDS).columns == WORDS


def test_columns_that_are_no_class_are_left_out():
    numbers = {
        "age": np.array([30, 41, 22, 67]),
        "humidity": P[:, 1] / 2,
        "loss": P[:, 2],
        "x1": np.ones(4) * 7,
        "x2": -np.ones(4),
    }
    found = classes_of(table(named("{}") | numbers))
    assert (found.columns, found.by_sum) == (WORDS, True)
    assert classes_of(table(named("prob.{}") | numbers)).by_sum is False
    broken = {"weather": np.array([np.nan, 0.1, 0.2, 0.3]), "note": ["a", "b", "c", "d"]}
    assert classes_of(table(named("{}") | broken)).columns == WORDS
    assert classes_of(table(named("prob_{}") | broken), like=WORDS).names == WORDS


def test_rounded_probabilities_are_found_by_their_sums():
    rng = np.random.default_rng(3)
    for k, digits in ((3, 2), (10, 2), (30, 2), (3, 1), (50, 3)):
        probs = rng.dirichlet(np.ones(k), 40).round(digits)
        columns = {f"{chr(97 + i % 26)}{'xyz'[i // 26]}": column for i, column in enumerate(probs.T)}
        assert classes_of(table(columns)).columns == tuple(columns), (k, digits)
        found = classes_of(table(columns | {"humidity": 0.2 + 0.7 * rng.random(40)}), like=list(columns))
        assert found.columns == tuple(columns)


@pytest.mark.parametrize(
    ("columns", "like"),
    [
        (named("prob_{}") | named("other_{}", probs=P[::-1]), WORDS),
        (named("prob_{}") | {f"share{k}": column for k, column in enumerate(P.T)}, ()),
        (named("{}") | {f"site_{k}": column for k, column in enumerate(DUMMIES.T)}, ()),
        (named("{}") | named("pred_{}", probs=DUMMIES), ()),
        (named("{}") | named("pred_{}", probs=DUMMIES), WORDS),
        (named("{}", probs=DUMMIES) | named("prob_{}"), WORDS),
        (named("{}", probs=DUMMIES) | {f"prob_{k}": column for k, column in enumerate(P.T)}, WORDS),
        (named("a_{}") | named("b_{}", probs=P[::-1]), WORDS),
    ],
)  # fmt: skip
def test_two_readings_are_refused_and_columns_choose(columns, like):
    with refuses("columns", "ambiguous") as refusal:
        classes_of(table(columns), like=like)
    asked = refusal.value.facts["columns"]
    assert classes_of(table(columns), asked=asked, like=like).columns == tuple(asked)
    for set_of in (list(columns)[:3], list(columns)[3:]):
        assert set(classes_of(table(columns), asked=set_of).columns) == set(set_of)


def test_features_are_no_classes_where_no_sum_tells():
    features = {"x1": np.ones(4) * 7, "x2": -np.ones(4)}
    assert classes_of(table(named("{}") | features)).columns == WORDS
    assert classes_of(table({"cat": P[:, 0], "dog": P[:, 1]} | features)) is None
    assert classes_of(table(features)).columns == ("x1", "x2")  # whose sums are refused with their remedy


def test_logits_and_counts_are_found_by_names_alone():
    logits = named("logit_{}", probs=np.log(P)) | named("prob_{}") | {"x1": P[:, 0], "x2": P[:, 1]}
    assert classes_of(dataclasses.replace(table(logits), of="logits")).columns == tuple(f"logit_{w}" for w in WORDS)
    for of, probs in (("logits", np.log(P)), ("counts", DUMMIES * 3)):
        alone = dataclasses.replace(table(named("{}", probs=probs)), of=of)
        assert classes_of(alone, like=WORDS).columns == WORDS
        beside = dataclasses.replace(table(named("{}", probs=probs, n_words=np.arange(4))), of=of)
        assert classes_of(beside, like=WORDS) is None  # one more class, or no class: no sum tells


@pytest.mark.parametrize("pattern", ["prob_{}", "P (y={})", "{}_probability", "{}"])
def test_numbers_with_a_sign_are_names(pattern):
    found = classes_of(table(named(pattern, ("1", "-1", "0"))))
    assert found.names == ("-1", "0", "1")
    assert class_numbers(["-1", "+1"]) == [-1, 1]
    assert class_numbers(["site-0", "site-1"], "columns") == [0, 1]


def test_neither_of_two_sums_is_taken():
    assert classes_of(table(named("{}") | dict(zip(("red", "green", "blue"), DUMMIES.T, strict=True)))) is None
    assert classes_of(table({"a": P[:, 0], "b": P[:, 1]})) is None
    assert classes_of(table({"a": np.ones(4)})) is classes_of(table({})) is None
    empty = table({"a": np.empty(0), "b": np.empty(0)})
    assert classes_of(empty) is None


def test_columns_asked_for():
    found = classes_of(table(named("{}", age=P[:, 0])), asked=["dog", "age", "cat"])
    assert (found.columns, found.names, found.order) == (("dog", "age", "cat"), ("dog", "age", "cat"), "stated")
    assert classes_of(table(named("prob_{}")), asked=["prob_dog", "prob_cat"]).names == ("dog", "cat")
    for asked, code in (
        (["cat", "bird"], "choice"),
        (["cat"], "duplicate"),
        ([], "duplicate"),
        (["cat", "cat"], "duplicate"),
    ):
        with refuses("columns", code):
            classes_of(table(named("{}")), asked=asked)


def test_one_row_and_two_classes():
    for pattern in ("prob_{}", "{}", "P (y={})"):
        columns = named(pattern, ("no", "yes"), np.array([[0.4, 0.6]]))
        assert classes_of(table(columns)).names == ("no", "yes")
        assert classes_of(table(columns | {"age": np.array([40])}), like=["no"]).names == ("no", "yes")
    assert classes_of(table(named("{}", ("no", "yes"), P[:, :2]))) is None


def test_many_columns_are_no_matter_of_time():
    rng = np.random.default_rng(0)
    started = time.process_time()
    names = tuple(f"word{chr(97 + k % 26)}{chr(97 + k // 26 % 26)}{chr(97 + k // 676)}" for k in range(1000))
    probs = rng.dirichlet(np.ones(1000), 50)
    assert classes_of(table(named("prob_{}", names, probs)), like=names).names == names
    assert classes_of(table(named("{}", names, probs)), like=names[:40]).columns == names
    assert len(classes_of(table({f"p{k}": column for k, column in enumerate(probs.T)})).columns) == 1000
    features = {f"{name}!": column for name, column in zip(names[:500], rng.random((50, 500)).T, strict=True)}
    assert classes_of(table(features)) is None
    assert classes_of(table(features | named("{}", probs=rng.dirichlet(np.ones(3), 50))), like=WORDS).columns == WORDS
    assert time.process_time() - started < 20


def test_roles_of_columns():
    columns = named("prob_{}", Label=["cat"] * 4, ID=np.arange(4), group=["x"] * 4, age=np.arange(4))
    found = roles_of(table(columns), label_values=lambda name: ["cat"])
    assert (found.labels, found.ids, found.groups, found.others) == ("Label", "ID", "group", ("age",))
    assert found.used == {"labels": "Label", "ids": "ID", "groups": "group"}
    assert found.classes.names == WORDS
    assert roles_of(table(columns), id="age").ids == "age"
    assert roles_of(table(columns | {"index": np.arange(4)}), index=["index"]).ids == "ID"
    with refuses("id", "choice"):
        roles_of(table(columns), id="name")
