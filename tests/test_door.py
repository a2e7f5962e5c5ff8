"""The door: what a file says is what is judged, through the library and through the command line.

150 instances of three classes, of which the model gets 145 right (96.7 %), in the layouts that people have. Every case has its
right number, or is refused; then the remedy that the error names is obeyed, which gives the right number.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import uqassay as uq
from tests.refusals import refuses
from uqassay.cli import main
from uqassay.evidence.align import align
from uqassay.evidence.tables import ranking_json

NAMES = ("setosa", "versicolor", "virginica")
N = 150
RNG = np.random.default_rng(150)
Y = np.repeat([0, 1, 2], 50)[RNG.permutation(N)]
SAID = np.where(np.isin(np.arange(N), RNG.choice(N, 5, replace=False)), (Y + 1) % 3, Y)
P = (RNG.multinomial(300, [0.2, 0.3, 0.5], size=N) + 700 * np.eye(3, dtype=int)[SAID]) / 1000 * 0.97 + 0.01
LOSS = float(-np.log(P[np.arange(N), Y]).mean())
RIGHT = 145 / 150
TEXT = np.array(NAMES)[Y]
TURN = np.random.default_rng(1).permutation(N)
IMAGE = np.array([f"img{i:03}.png" for i in RNG.permutation(N)])


def accuracy(prediction: Any, labels: Any, **options: Any) -> float:
    """The share of right classes after models and labels were brought into one order."""
    found = align({"m": prediction}, labels, **options)
    probs = np.asarray(found.models["m"][0].probs)
    return float((probs.argmax(axis=1) == found.labels).mean())


@pytest.fixture
def rank(tmp_path, capsys) -> Callable[..., Any]:
    """Mean E of the model m, which is its log loss, by the command line; else the one line of its error."""

    def call(*argv: object) -> Any:
        capsys.readouterr()
        code = main(["rank", *map(str, argv), "--json"])
        out, err = capsys.readouterr()
        if code:
            assert code == 2, err
            return err
        rows = json.loads(out)["tradeoff"][0]["ranking"]
        return next(row["estimate"] for row in rows if row["model"] == "m")

    return call


def table(pattern: str = "{}", names: Any = NAMES, values: np.ndarray = P, **further: Any) -> pd.DataFrame:
    return pd.DataFrame(dict(zip([pattern.format(name) for name in names], values.T, strict=True)) | further)


def written(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


def test_the_data():
    assert (P.argmax(axis=1) == Y).mean() == RIGHT
    assert accuracy(P, Y) == RIGHT


# -- wrong before -------------------------------------------------------------------------------------------------------


def test_numbers_as_labels_of_columns_in_two_orders(tmp_path, rank):
    a = pd.DataFrame([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]], columns=["no", "yes"])
    for models in ({"A": a, "B": a[["yes", "no"]]}, {"B": a[["yes", "no"]], "A": a}):
        with refuses("y_true", "class-order"):
            align(models, [0, 1, 0])
        found = align(models, [0, 1, 0], class_names=["no", "yes"])
        assert all((runs[0].probs.argmax(axis=1) == [0, 1, 0]).all() for runs in found.models.values())
    m, b = written(table(), tmp_path / "m.csv"), written(table()[[*NAMES[::-1]]], tmp_path / "b.csv")
    np.save(tmp_path / "y.npy", Y)
    for order in ((f"m={m}", f"b={b}"), (f"b={b}", f"m={m}")):
        assert "different orders" in rank(*order, "--labels", tmp_path / "y.npy")
        names = ("--class-names", ",".join(NAMES))
        assert rank(*order, "--labels", tmp_path / "y.npy", *names) == pytest.approx(LOSS)


def test_keys_of_json_objects_have_no_order(tmp_path, rank):
    turned = [2, 0, 1]
    records = [{"probs": {NAMES[k]: P[i, k] for k in turned}} for i in range(N)]
    for label, right in ((Y, None), (TEXT, LOSS)):
        path = tmp_path / "m.jsonl"
        path.write_text("\n".join(json.dumps(r | {"label": v}) for r, v in zip(records, label.tolist(), strict=True)))
        if right is None:
            with refuses("y_true", "class-order"):
                align({"m": uq.load(path)}, uq.load_labels(path))
            assert "keys of JSON objects" in rank(f"m={path}")
            assert rank(f"m={path}", "--class-names", ",".join(NAMES)) == pytest.approx(LOSS)
        else:
            assert accuracy(uq.load(path), uq.load_labels(path)) == RIGHT
            assert rank(f"m={path}") == pytest.approx(LOSS)


@pytest.mark.parametrize("prefix", ["prob_", "class_", "p", "proba_", "y_pred_"])
def test_numbered_columns_are_in_the_order_of_their_numbers(prefix, tmp_path, rank):
    y = np.arange(144) % 12
    probs = np.full((144, 12), 0.02) + 0.76 * np.eye(12)[y]
    columns = sorted(f"{prefix}{k}" for k in range(12))
    frame = pd.DataFrame({name: probs[:, int(name.removeprefix(prefix))] for name in columns})
    for suffix in (".csv", ".parquet"):
        path = written(frame.assign(label=y), tmp_path / f"m{suffix}")
        assert accuracy(uq.load(path), uq.load_labels(path)) == accuracy(uq.load(path), y) == 1
        assert rank(f"m={path}") == pytest.approx(-np.log(0.78))


def test_classes_numbered_from_one(tmp_path, rank):
    kept = Y < 2
    for label, right in ((Y[kept] + 1, True), (Y[kept], False)):
        path = written(table("Class_{}", (1, 2, 3), P[kept], label=label), tmp_path / "m.csv")
        if right:
            assert accuracy(uq.load(path), uq.load_labels(path)) == (P[kept].argmax(axis=1) == Y[kept]).mean()
            assert rank(f"m={path}") == pytest.approx(-np.log(P[kept, Y[kept]]).mean())
        else:
            with refuses("labels", "class-names", got="holds 0"):
                uq.load_labels(path)
            with refuses("y_true", "class-names", got="holds 0"):
                align({"m": uq.load(path)}, Y[kept])
            assert "holds 0" in rank(f"m={path}")


BESIDE = {
    "confidence": P.max(axis=1),
    "loss": -np.log(P[np.arange(N), Y]),
    "weight": np.linspace(0.1, 0.9, N),
    "age": np.arange(N) % 60 + 18,
    "fold": np.zeros(N),
    "humidity": np.linspace(0, 1, N),
    "entropy": -(P * np.log(P)).sum(axis=1),
}


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("pattern", ["{}", "prob.{}", "P (y={})"])
def test_columns_beside_the_classes_are_left_out(name, pattern, tmp_path, rank):
    for labels in (TEXT, Y):
        frame = table(pattern, label=labels, **{name: BESIDE[name]})
        frame = frame[[name, *frame.columns.drop(name)]]
        path = written(frame, tmp_path / "m.csv")
        assert uq.load(path).n_classes == 3
        assert accuracy(uq.load(path), uq.load_labels(path)) == RIGHT
        further = ("--normalise",) if labels is Y else ("--columns", ",".join(pattern.format(n) for n in NAMES))
        assert rank(f"m={path}", *further) == pytest.approx(LOSS)


@pytest.mark.parametrize("pattern", ["{}", "logit_{}", "score.{}"])
def test_logits_in_csv(pattern, tmp_path, rank):
    path = written(table(pattern, values=np.log(P) + 3, label=TEXT, age=BESIDE["age"]), tmp_path / "m.csv")
    with refuses("columns" if pattern == "{}" else "probs", error=uq.errors.FileFormatError, got='kind="logits"'):
        uq.load(path, like=NAMES)
    assert accuracy(uq.load(path, kind="logits"), uq.load_labels(path)) == RIGHT
    assert "logits" in rank(f"m={path}")
    assert rank(f"m={path}", "--kind", "logits") == pytest.approx(LOSS)
    both = written(table(pattern, values=np.log(P) + 3, label=TEXT).join(table("prob_{}")), tmp_path / "both.csv")
    if pattern == "logit_{}":
        assert rank(f"m={both}") == rank(f"m={both}", "--kind", "logits") == pytest.approx(LOSS)


def test_three_annotators_of_three_classes_are_no_votes():
    votes = np.array([[0, 0, 1], [1, 1, 2], [2, 2, 1], [0, 1, 0]] * 10)
    majority = np.array([0, 1, 2, 0] * 10)
    probs = np.eye(3)[np.where(np.arange(40) % 3 == 0, (majority + 1) % 3, majority)] * 0.94 + 0.02
    for call in (
        lambda **o: uq.assay({"m": probs}, votes, calibration=(), n_draws=20, **o),
        lambda **o: align({"m": probs}, votes, **o),
    ):
        with refuses("y_true", "ambiguous", got="votes_are"):
            call()
    found = align({"m": probs}, votes, votes_are="single").labels
    share = (found / found.sum(axis=1, keepdims=True))[np.arange(40), probs.argmax(axis=1)].mean()
    counted = np.stack([(votes == k).mean(axis=1) for k in range(3)], axis=1)
    assert share == pytest.approx(counted[np.arange(40), probs.argmax(axis=1)].mean())


def test_bins_have_the_type_of_the_probabilities():
    error = uq.metrics.confidence_calibration_error
    assert error([1, 0], np.float32([[0.7, 0.3], [0.6, 0.4]])) == pytest.approx(0.55)
    assert error([1, 0], np.array([[0.7, 0.3], [0.6, 0.4]])) == pytest.approx(0.55)


def test_float32_and_float64_of_the_same_predictions_rank_alike():
    sure = np.eye(3)[SAID]  # the logarithm of 0 has one floor
    for probs in (P, sure):
        judged = uq.assay({"a": probs, "b": probs.astype(np.float32)}, Y, calibration=(), n_draws=50)
        rows = {row["model"]: row for row in ranking_json(judged, [0.5])["tradeoff"][0]["ranking"]}
        assert rows["a"]["estimate"] == pytest.approx(rows["b"]["estimate"], rel=1e-5)
        if probs is sure:
            assert rows["a"]["estimate"] == rows["b"]["estimate"]
            assert rows["a"]["rank_low"] == rows["b"]["rank_low"]


@pytest.mark.parametrize("pattern", ["{}", "votes_{}"])
def test_tables_of_one_hot_labels_and_votes(pattern, tmp_path, rank):
    m = written(table("prob.{}"), tmp_path / "m.csv")
    for votes in (np.eye(3, dtype=int)[Y], 5 * np.eye(3, dtype=int)[Y]):
        turned = [2, 0, 1]
        path = written(table(pattern, np.array(NAMES)[turned], votes[:, turned]), tmp_path / "truth.csv")
        found = align({"m": uq.load(m)}, uq.load_labels(path)).labels
        assert (found.argmax(axis=1) == Y).all()
        assert rank(f"m={m}", "--labels", path) == pytest.approx(LOSS)


@pytest.mark.parametrize("key", ["image", "file name", "case", "id"])
def test_a_column_on_both_sides_aligns_the_rows(key, tmp_path, rank):
    for suffix in (".csv", ".parquet"):
        m = written(table("prob_{}", **{key: IMAGE}), tmp_path / f"m{suffix}")
        truth = written(pd.DataFrame({key: IMAGE[TURN], "label": TEXT[TURN]}), tmp_path / f"truth{suffix}")
        assert accuracy(uq.load(m), uq.load_labels(truth)) == RIGHT
        assert rank(f"m={m}", "--labels", truth) == pytest.approx(LOSS)
        other = written(
            pd.DataFrame({key: np.char.add(IMAGE[TURN], "x"), "label": TEXT[TURN]}), tmp_path / f"other{suffix}"
        )
        assert key in rank(f"m={m}", "--labels", other) or "ids" in rank(f"m={m}", "--labels", other)
    # one more model without the column: in which of the two orders?
    np.savez(tmp_path / "b.npz", probs=P, class_names=np.array(NAMES))
    for order in ((f"m={m}", f"b={tmp_path / 'b.npz'}"), (f"b={tmp_path / 'b.npz'}", f"m={m}")):
        assert "ids" in rank(*order, "--labels", truth)
    np.savez(tmp_path / "b.npz", probs=P, class_names=np.array(NAMES), ids=IMAGE)
    if key == "id":
        assert rank(*order, "--labels", truth) == pytest.approx(LOSS)


def test_a_class_that_is_never_predicted_and_a_constant_column(tmp_path, rank):
    probs = np.column_stack([P, np.zeros(N)])
    names = (*NAMES, "rare")
    for pattern in ("prob_{}", "P (y={})", "{}"):
        path = written(table(pattern, names, probs, fold=np.zeros(N), label=TEXT), tmp_path / "m.csv")
        found = uq.load(path)
        assert found.class_names == names
        assert accuracy(found, uq.load_labels(path)) == RIGHT
        assert rank(f"m={path}") == pytest.approx(LOSS)
    parquet = written(
        table("prob_{}", (0, 1, 2), np.column_stack([P[:, :2].sum(axis=1), np.zeros(N, dtype=int), P[:, 2]])),
        tmp_path / "z.parquet",
    )
    assert uq.load(parquet).n_classes == 3


def test_parquet_with_columns_named_by_classes(tmp_path, rank):
    for dtype in (np.float64, np.float32):
        path = written(table(values=P.astype(dtype)).assign(label=TEXT), tmp_path / "m.parquet")
        if dtype is np.float64:
            assert accuracy(uq.load(path), uq.load_labels(path)) == RIGHT
            assert rank(f"m={path}") == pytest.approx(LOSS)


# -- issue 42: class orders, ids in files, truth values ------------------------------------------------------------------


def test_labels_belong_to_the_class_order_of_what_holds_them(tmp_path, rank):
    turned = [2, 0, 1]
    own = np.argsort(turned)[Y]
    np.savez(tmp_path / "m.npz", probs=P, class_names=np.array(NAMES))
    np.savez(tmp_path / "b.npz", probs=P[:, turned], class_names=np.array(NAMES)[turned])
    np.savez(tmp_path / "inside.npz", probs=P[:, turned], class_names=np.array(NAMES)[turned], labels=own)
    np.savez(tmp_path / "labels.npz", labels=own, class_names=np.array(NAMES)[turned])
    np.savez(tmp_path / "also.npz", probs=P, class_names=np.array(NAMES), labels=Y)
    np.save(tmp_path / "y.npy", Y)
    m, b, inside, also = (
        f"{name}={tmp_path / file}.npz" for name, file in (("m", "m"), ("b", "b"), ("i", "inside"), ("j", "also"))
    )
    for models in ((m, b), (b, m)):
        assert "different orders" in rank(*models, "--labels", tmp_path / "y.npy")
        assert rank(*models, "--labels", tmp_path / "y.npy", "--class-names", ",".join(NAMES)) == pytest.approx(LOSS)
        assert rank(*models, "--labels", tmp_path / "labels.npz") == pytest.approx(LOSS)
    for models in ((m, inside), (inside, m), (m, b, inside), (inside, also, m), (also, m, inside)):
        assert rank(*models) == pytest.approx(LOSS)
    assert accuracy(uq.load(tmp_path / "m.npz"), uq.load_labels(tmp_path / "labels.npz")) == RIGHT
    assert uq.losses.is_correct(uq.load_labels(tmp_path / "labels.npz"), uq.load(tmp_path / "m.npz")).mean() == RIGHT


@pytest.mark.parametrize("ids", [IMAGE, RNG.permutation(N) + 1000])
def test_an_index_in_a_file_aligns_the_rows(ids, tmp_path, rank):
    frame = table("prob_{}").set_axis(ids)
    truth = pd.DataFrame({"label": TEXT}, index=ids).iloc[TURN]
    frame.to_parquet(tmp_path / "m.parquet")
    truth.to_parquet(tmp_path / "truth.parquet")
    frame.rename_axis("id").to_csv(tmp_path / "m.csv")
    truth.rename_axis("id").to_csv(tmp_path / "truth.csv")
    frame.to_csv(tmp_path / "unnamed.csv")
    truth.to_csv(tmp_path / "unnamed truth.csv")
    for m, labels in (
        ("m.parquet", "truth.parquet"),
        ("m.csv", "truth.csv"),
        ("m.parquet", "truth.csv"),
        ("unnamed.csv", "unnamed truth.csv"),
    ):
        assert accuracy(uq.load(tmp_path / m), uq.load_labels(tmp_path / labels)) == RIGHT, (m, labels)
        assert rank(f"m={tmp_path / m}", "--labels", tmp_path / labels) == pytest.approx(LOSS)
    with refuses("models['b'].ids", "missing"):
        align({"m": uq.load(tmp_path / "m.csv"), "b": uq.Point(P, class_names=NAMES)}, TEXT)
    np.savez(tmp_path / "b.npz", probs=P, class_names=np.array(NAMES))
    assert "ids" in rank(f"m={tmp_path / 'm.csv'}", f"b={tmp_path / 'b.npz'}", "--labels", tmp_path / "truth.csv")


def test_truth_values_as_labels():
    probs = np.column_stack([P[:, 0], 1 - P[:, 0]])
    truth = SAID > 0
    assert accuracy(probs, truth) == 1
    with refuses("y_true", "ambiguous"):
        align({"m": uq.Point(probs, class_names=["yes", "no"])}, truth)
    with refuses("y_true", "ambiguous"):
        align({"m": P}, truth)
    assert accuracy(uq.Point(probs, class_names=["False", "True"]), truth) == 1
    assert accuracy(uq.Point(probs[:, ::-1], class_names=["True", "False"]), truth) == 1


def test_a_label_that_no_object_has_a_probability_for(tmp_path, rank):
    path = tmp_path / "m.jsonl"
    path.write_text('{"probs": {"b": 1.0, "c": 0.0}, "label": "a"}\n{"probs": {"b": 0.5, "c": 0.5}, "label": "b"}')
    with refuses("labels", "class-names", got="'a'"):
        uq.load_labels(path)
    with refuses("y_true", "class-names", got="'a'"):
        align({"m": uq.load(path)}, ["a", "b"])
    assert "'a'" in rank(f"m={path}")


def test_labels_saved_with_a_prediction_are_in_its_order(tmp_path):
    point = uq.Point(P, class_names=NAMES, ids=IMAGE)
    truth = written(pd.DataFrame({"id": IMAGE[TURN], "label": TEXT[TURN]}), tmp_path / "truth.csv")
    keyed = written(table("prob_{}", image=IMAGE), tmp_path / "keyed.csv")
    by_key = written(pd.DataFrame({"image": IMAGE[TURN], "label": TEXT[TURN]}), tmp_path / "by key.csv")
    for prediction, labels in ((point, truth), (uq.load(keyed), by_key)):
        uq.save(prediction, tmp_path / "both.npz", labels=uq.load_labels(labels))
        assert accuracy(uq.load(tmp_path / "both.npz"), uq.load_labels(tmp_path / "both.npz")) == RIGHT
        assert uq.losses.is_correct(uq.load_labels(labels), prediction).mean() == RIGHT


# -- remedies that are obeyed -------------------------------------------------------------------------------------------

COUNTS = RNG.multinomial(20, [0.1, 0.2, 0.7], size=N)
BROKEN: dict[str, tuple[Callable[[], pd.DataFrame], str, str, dict[str, Any], tuple[str, ...], bool]] = {
    # how the table is broken: its columns, parameter and code of the error, the remedy of the library and of the command line
    "rounded": (lambda: table("prob_{}", values=P.round(2)), "probs", "sum", {"normalise": True}, ("--normalise",), False),
    "per cent": (lambda: table("prob_{}", values=P * 100), "probs", "", {"normalise": True}, ("--normalise",), True),
    "logits": (lambda: table("prob_{}", values=np.log(P) + 2), "probs", "", {"kind": "logits"}, ("--kind", "logits"), True),
    "plain logits": (lambda: table(values=np.log(P) - 1), "columns", "missing", {"kind": "logits", "columns": NAMES},
                     ("--kind", "logits", "--columns", ",".join(NAMES)), True),
    "plain per cent": (lambda: table(values=P * 100), "columns", "missing", {"normalise": True}, ("--normalise",), True),
    "two models in one table": (
        lambda: table("a_{}").join(table("b_{}", values=P[::-1])),
        "columns", "missing", {"columns": [f"a_{n}" for n in NAMES]}, ("--columns", ",".join(f"a_{n}" for n in NAMES)), True,
    ),
    "dummies beside the classes": (
        lambda: table().join(table("site_{}", range(3), np.eye(3)[np.arange(N) % 3])),
        "columns", "ambiguous", {"columns": NAMES}, ("--columns", ",".join(NAMES)), True,
    ),
    "two sets that sum to 1": (
        lambda: table().join(table("{}", ("red", "green", "blue"), np.eye(3)[np.arange(N) % 3])),
        "columns", "missing", {"columns": NAMES}, ("--columns", ",".join(NAMES)), True,
    ),
    "too many features": (
        lambda: table().join(table("f{}", range(4), RNG.random((N, 4)).round(3))),
        "columns", "missing", {"columns": NAMES}, ("--columns", ",".join(NAMES)), True,
    ),
    "one column": (
        lambda: pd.DataFrame({"y_true": np.where(Y == 0, "yes", "no"), "y_prob": P[:, 0]}),
        "columns", "", {"positive": "yes"}, ("--positive", "yes"), False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_the_remedy_of_a_table_is_obeyed(broken, tmp_path, rank):
    make, parameter, code, options, typed, whole = BROKEN[broken]
    path = written(make(), tmp_path / "m.csv")
    labels = tmp_path / "y.npy"
    np.save(labels, Y)
    with pytest.raises(uq.errors.InputError) as caught:
        uq.load(path)
    if code:
        assert (caught.value.parameter, caught.value.code) == (parameter, code)
    words = {"normalise": "normalise=True", "kind": "logits", "columns": "columns=", "positive": "positive="}[
        next(iter(options))
    ]
    assert words in str(caught.value)
    found = uq.load(path, **options)
    if broken == "one column":
        right = -np.log(np.where(Y == 0, P[:, 0], 1 - P[:, 0])).mean()
        assert rank(f"m={path}", *typed) == pytest.approx(right)
        return
    assert accuracy(found, Y) == pytest.approx(RIGHT, abs=0.02 if not whole else 0)
    assert "m.csv" in rank(f"m={path}", "--labels", labels)
    assert rank(f"m={path}", "--labels", labels, *typed) == pytest.approx(LOSS, rel=1e-6 if whole else 0.05)


@pytest.mark.parametrize(("ignored", "others"), [(-1, Y), (-100, Y), (255, Y)])
def test_labels_that_mark_no_class_are_left_out_by_name(ignored, others, tmp_path, rank):
    labels = np.where(np.arange(N) % 10 == 3, ignored, others)
    kept = np.arange(N) % 10 != 3
    path = written(table("prob_{}", (0, 1, 2), label=labels), tmp_path / "m.csv")
    assert str(ignored) in rank(f"m={path}")
    assert rank(f"m={path}", "--ignore-label", ignored) == pytest.approx(-np.log(P[kept, Y[kept]]).mean())
    with pytest.raises(uq.errors.InputError, match="ignore_label"):
        uq.assay({"m": P}, labels, calibration=(), n_draws=20)
    assert uq.assay({"m": P}, labels, ignore_label=ignored, calibration=(), n_draws=20).n_instances == kept.sum()


def test_a_name_that_marks_no_class_is_left_out():
    labels = np.where(np.arange(N) % 10 == 3, "?", TEXT)
    point = uq.Point(P, class_names=NAMES)
    with pytest.raises(uq.errors.InputError, match=r"'\?'"):
        align({"m": point}, labels)
    assert uq.assay({"m": point}, labels, ignore_label="?", calibration=(), n_draws=20).n_instances == 135


def test_a_missing_cell_is_named_by_its_column(tmp_path, rank):
    frame = table("prob_{}", label=TEXT)
    frame.loc[4, "prob_setosa"] = np.nan
    path = written(frame, tmp_path / "m.csv")
    assert "prob_setosa" in rank(f"m={path}")
    frame.drop(index=4).to_csv(path, index=False)
    kept = np.arange(N) != 4
    assert rank(f"m={path}") == pytest.approx(-np.log(P[kept, Y[kept]]).mean())


def test_header_and_cells_are_trimmed_alike(tmp_path, rank):
    y = np.where(Y == 0, " >50K", " <=50K")
    frame = pd.DataFrame({" <=50K": 1 - P[:, 0], " >50K": P[:, 0], "label": y})
    path = written(frame, tmp_path / "m.csv")
    right = -np.log(np.where(Y == 0, P[:, 0], 1 - P[:, 0])).mean()
    assert rank(f"m={path}") == pytest.approx(right)
    assert rank(f"m={path}", "--class-names", "<=50K,>50K") == pytest.approx(right)


def test_negative_rounding_is_treated_alike():
    probs = P.copy()
    probs[0] = [1 + 2e-16, -2e-16, 0]
    assert uq.Point(probs, normalise=True).probs[0].tolist() == pytest.approx([1, 0, 0])
    assert uq.Point(probs).n_classes == 3


def test_members_on_the_first_axis():
    members = np.stack([P, P, P, P])
    with refuses("models['ens']", "member-axis", got="member_axis=0"):
        align({"m": P, "ens": members}, Y)
    found = align({"m": P, "ens": uq.Members(members, member_axis=0)}, Y)
    assert (found.models["ens"][0].probs.mean(axis=1).argmax(axis=1) == Y).mean() == RIGHT


def test_an_image_and_independent_labels_are_refused_with_what_works():
    images = RNG.dirichlet(np.ones(3), (4, 2, 5)).transpose(0, 3, 1, 2)
    with refuses("models['m']", "shape", got=re.escape("probs.transpose(0, 2, 3, 1).reshape(-1, 3)")):
        align({"m": images}, np.zeros(4))
    pixels = images.transpose(0, 2, 3, 1).reshape(-1, 3)
    truth = pixels.argmax(axis=1).reshape(4, 2, 5)
    assert accuracy(pixels, truth.reshape(-1)) == 1.0
    sigmoids = RNG.random((N, 3))
    with refuses("models['m']", "sum", got=re.escape("Point.from_binary(values[:, k])")):
        align({"m": sigmoids}, Y)
    assert accuracy(uq.Point.from_binary(sigmoids[:, 1]), sigmoids[:, 1] > 0.5) == 1.0


def test_logits_of_one_class(tmp_path):
    logits = RNG.normal(size=N)
    np.save(tmp_path / "m.npy", logits)
    with refuses("logits", "shape", got=re.escape('uq.from_object(array, kind="logits", positive=1)')):
        uq.load(tmp_path / "m.npy", kind="logits")
    assert accuracy(uq.from_object(logits, kind="logits", positive=1), (logits > 0).astype(int)) == 1.0


def test_a_list_beside_named_numbers_has_no_order(tmp_path):
    path = tmp_path / "m.jsonl"
    for first, second in (({"a": 0.6, "b": 0.4}, [0.3, 0.7]), ([0.3, 0.7], {"a": 0.6, "b": 0.4})):
        path.write_text(f"{json.dumps({'probs': first})}\n{json.dumps({'probs': second})}\n")
        with refuses("probs", got="line 2"):
            uq.load(path)
    for first, second in (({"a": 3, "b": 1}, [1, 3]), ([1, 3], {"a": 3, "b": 1})):
        path.write_text(f"{json.dumps({'label': first})}\n{json.dumps({'label': second})}\n")
        with refuses("label", got="line 2"):
            uq.load_labels(path)


def test_predictions_of_one_class_each_are_judged_alike_in_every_type():
    hard = np.eye(3)[P.argmax(axis=1)]
    reports = {str(uq.assay({"m": hard.astype(kind)}, Y, rng=0)) for kind in ("f2", "f4", "f8", "i8", "?")}
    assert len(reports) == 1


def test_arrays_of_the_caller_may_be_used_again():
    groups = np.arange(N) % 7
    labels = Y.copy()
    found = uq.assay({"m": P}, labels, groups=groups, rng=0)
    groups[:], labels[:] = 0, 0
    assert str(found.ranking(0.5)) == str(uq.assay({"m": P}, Y, groups=np.arange(N) % 7, rng=0).ranking(0.5))
    buffers = {"p": np.empty((30, 3)), "y": np.empty(30, int), "g": np.empty(30, int)}
    streams = {name: uq.AssayStream(rng=0) for name in ("buffers", "arrays")}
    for at in range(0, N, 30):
        rows = slice(at, at + 30)
        buffers["p"][:], buffers["y"][:], buffers["g"][:] = P[rows], Y[rows], np.arange(N)[rows] % 7
        streams["buffers"].update({"m": buffers["p"]}, buffers["y"], groups=buffers["g"])
        streams["arrays"].update({"m": P[rows]}, Y[rows], groups=np.arange(N)[rows] % 7)
    one, other = (str(stream.compute().ranking(0.5)) for stream in streams.values())
    assert one == other
