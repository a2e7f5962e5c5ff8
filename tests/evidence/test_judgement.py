"""The main call: same numbers as its parts, honest intervals, nothing silent."""

import json

import numpy as np
import pandas as pd
import pytest
from tests.kinds import KINDS, random_prediction
from tests.notes import said, texts
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.evidence import FINDING_COLUMNS

# -- the numbers ------------------------------------------------------------------------------------------------------


def test_findings_against_their_parts_for_all_kinds(all_kinds):
    models, y = all_kinds
    result = uq.assay(models, y, tradeoffs=(0.5,))
    table = result.findings()
    assert list(table.columns) == FINDING_COLUMNS
    assert set(table.run) == {"all"}
    for name, prediction in models.items():
        loss = uq.losses.unified_loss(y, prediction, tradeoff=0.5)
        rows = table[table.model == name].set_index("metric")
        assert rows.estimate["kl"] == pytest.approx(loss.distance.mean())
        assert rows.estimate["nonspecificity"] == pytest.approx(loss.nonspecificity.mean())
        assert rows.estimate["unified"] == pytest.approx(loss.total.mean())
        assert rows.estimate["accuracy"] == pytest.approx(uq.losses.is_correct(y, prediction).mean())
        np.testing.assert_array_equal(result[name].columns["distance"][0], loss.distance)
    undefined = table[(table.model == "Masses") & (table.metric == "epistemic-entropy")].iloc[0]
    assert np.isnan(undefined.estimate)
    assert texts(undefined) == ["epistemic-entropy is not defined for Masses"]


def test_real_predictions_against_the_paper_table(cifar10):
    rs = uq.Masses.from_beliefs(cifar10["beliefs"], cifar10["focal_sets"], class_names=cifar10["classes"])
    models = {"SNN": uq.Point(cifar10["snn"]), "DE Avg": uq.Point(cifar10["de_avg"]), "RS-NN": rs}
    names = {"class_names": cifar10["classes"]}
    result = uq.assay(models, cifar10["labels"], convention="paper", n_draws=200, calibration=(), **names)
    table = result.findings().set_index(["model", "metric"])

    def mean(model, metric):
        return float(table.loc[(model, metric), "estimate"])

    # Table 1: accuracy, ECE, KL of each
    assert round(mean("SNN", "accuracy"), 4) == 0.9025
    assert round(mean("DE Avg", "accuracy"), 4) == 0.9377
    assert round(mean("RS-NN", "accuracy"), 4) == 0.9299
    assert round(mean("SNN", "ece"), 3) == round(0.0668, 3)
    assert round(mean("DE Avg", "ece"), 4) == 0.0075
    assert round(mean("RS-NN", "ece"), 4) == 0.0509
    assert round(mean("RS-NN", "kl"), 3) == 0.398
    assert [r.model for r in result.ranked(1.0) if r.rank] == ["DE Avg", "RS-NN", "SNN"]
    # Table 7: KL by correctness
    split = result.table("subsets", by="correct").query("metric == 'kl'").set_index(["model", "subset"])
    assert round(split.loc[("SNN", "correct"), "estimate"], 3) == 0.021
    assert round(split.loc[("SNN", "wrong"), "estimate"], 3) == 4.735
    assert round(split.loc[("RS-NN", "wrong"), "estimate"], 3) == 5.562
    assert any("rows of masses were repaired" in w.text for w in result.warnings)
    assert any("below 1e-10" in w.text for w in result.warnings)


def test_published_credal_uncertainty_can_be_ranked(cifar10):
    rs = uq.Masses.from_beliefs(cifar10["beliefs"], cifar10["focal_sets"])
    models = {"RS-NN": rs, "DE Avg": uq.Point(cifar10["de_avg"])}
    options = {"convention": "paper", "nonspecificity": "credal-uncertainty", "n_draws": 50, "calibration": ()}
    result = uq.assay(models, cifar10["labels"], **options)
    table = result.ranking(0.1).table().set_index("model")
    assert abs(table.estimate["RS-NN"] - 0.726) <= 0.0005 * 2.1  # Table 6
    assert "vacuous" not in table.index
    assert any("The vacuous baseline is left out" in w.text for w in result.warnings)


def test_votes_as_labels(random_generator):
    votes = random_generator.integers(0, 5, size=(30, 3)) + np.eye(3, dtype=int)[random_generator.integers(3, size=30)]
    models = {kind: random_prediction(kind, random_generator, 30, 3) for kind in KINDS}
    result = uq.assay(models, votes, n_draws=20)
    for kind, prediction in models.items():
        loss = uq.losses.unified_loss(votes, prediction)
        np.testing.assert_array_equal(result[kind].columns["distance"][0], loss.distance)
    assert float(result.ranked(0.0)[0].estimate) == pytest.approx(0.0, abs=1e-6)  # the vacuous one
    assert set(result.table("subsets", by="correct").subset) == {"correct", "wrong"}


# -- alignment --------------------------------------------------------------------------------------------------------


def test_pandas_input_is_aligned_by_index():
    frame = pd.DataFrame({"cat": [0.9, 0.2, 0.6], "dog": [0.1, 0.8, 0.4]}, index=["x", "y", "z"])
    shuffled = frame.loc[["z", "x", "y"]]
    truth = pd.Series(["dog", "cat", "cat"], index=["y", "z", "x"])
    result = uq.assay({"a": uq.Point(frame), "b": uq.Point(shuffled)}, truth, n_draws=20)
    np.testing.assert_array_equal(result["a"].columns["distance"], result["b"].columns["distance"])
    assert result["a"].columns["correct"].mean() == 1
    assert result.class_names == ("cat", "dog")
    assert result.scores().instance.tolist()[:3] == ["x", "y", "z"]


def test_every_way_of_giving_pandas_is_aligned(random_generator):
    perm = [2, 0, 3, 1]
    probs = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.1, 0.7], [0.6, 0.3, 0.1]])
    truth = pd.Series(probs.argmax(axis=1))
    frame = pd.DataFrame(probs)
    shuffled = frame.iloc[perm]
    ways = {
        "frame": shuffled,
        "point": uq.Point(shuffled),
        "logits": uq.Point.from_logits(np.log(shuffled)),
        "dirichlet": uq.Dirichlet(1000 * shuffled),
        "intervals": uq.Intervals(0.9 * shuffled, (shuffled + 0.05).clip(upper=1).iloc[[3, 1, 0, 2]]),
        "gaussian": uq.GaussianLogits(np.log(shuffled), 0 * frame, variance_is="epistemic"),
        "masses": uq.Masses(shuffled, [[0], [1], [2]], n_classes=3),
        "columns": uq.Point(shuffled[[2, 0, 1]]),
    }
    site = pd.Series(["a", "b", "c", "d"])
    for name, way in ways.items():
        result = uq.assay({name: way}, truth, subgroups={"site": site}, groups=site, n_draws=20)
        assert result[name].columns["correct"].mean() == 1, name
        assert result.ids.tolist() == perm
        assert result.groups.tolist() == ["c", "a", "d", "b"]
        assert result.subgroups["site"].tolist() == ["c", "a", "d", "b"]
        if name != "frame":
            assert (uq.losses.is_correct(truth, way) == 1).all()
            loss = uq.losses.unified_loss(truth, way)
            np.testing.assert_array_equal(loss.distance, result[name].columns["distance"][0])
    votes = pd.DataFrame(10 * probs, columns=list("xyz"))
    named = uq.Point(pd.DataFrame(probs, columns=list("xyz")))
    np.testing.assert_allclose(uq.losses.unified_loss(votes[["z", "x", "y"]], named).distance, 0, atol=1e-6)


def test_what_pandas_leaves_open_is_refused():
    probs = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.1, 0.7]])
    plain, named = uq.Point(probs), uq.Point(pd.DataFrame(probs, index=["b", "a", "c"]))
    truth = pd.Series([0, 1, 2], index=["a", "b", "c"])
    with refuses("models['plain'].ids", "missing"):
        uq.assay({"plain": plain, "named": named}, truth)
    with refuses("probs", "duplicate", got="'x' occurs twice"):
        uq.Point(pd.DataFrame(probs, columns=["x", "x", "y"]))
    with refuses("upper", "ids", got="'z' first"):
        uq.Intervals(pd.DataFrame(0 * probs, columns=list("xyz")), pd.DataFrame(probs + 0.2, columns=list("xyw")))
    frames = {"a": pd.DataFrame(probs, columns=list("xyz")), "b": plain, "c": pd.DataFrame(probs, columns=list("zxw"))}
    with refuses(
        "models['c'].class_names", "mismatch", got="'w', number 3 here, is not in the first model that has names"
    ):
        uq.assay(frames, [0, 1, 2])


def test_mixed_groups_and_dates_as_subgroups(random_generator):
    point = uq.Point(random_generator.dirichlet(np.ones(3), 8))
    groups = np.array(["a", 1, 2.5, "a", 1, 2.5, "b", "b"], dtype=object)
    days = pd.Series(pd.to_datetime(["2026-01-01", None] * 4))
    result = uq.assay({"m": point}, [0] * 8, groups=groups, subgroups={"day": days}, n_draws=20)
    assert "4 groups" in said(result.findings().query("metric == 'kl' and model == 'm'").iloc[0])
    assert {name[:10] for name in result.table("subsets", by="day").subset} == {"2026-01-01", "NaT"}
    assert "m" in result
    assert "x" not in result


def test_a_series_with_other_entries_is_refused():
    frame = pd.DataFrame({"cat": [0.9, 0.2], "dog": [0.1, 0.8]}, index=["x", "y"])
    with refuses("y_true", "ids", got="1 are missing, 'y' first"):
        uq.assay({"a": uq.Point(frame)}, pd.Series([0, 1], index=["x", "q"]))


def test_common_members_by_subsampling(random_generator):
    wide = uq.Members(random_generator.dirichlet(np.ones(3), (50, 20)))
    narrow = uq.Members(wide.probs[:, :5])
    y = random_generator.integers(3, size=50)
    models = {"wide": wide, "narrow": narrow, "drawn": uq.Dirichlet(np.ones((50, 3)))}
    differing = uq.assay(models, y, n_draws=20)
    assert any("common_members=5" in w.text for w in differing.warnings)
    common = uq.assay(models, y, n_draws=20, common_members=5)
    assert {m.n_points for m in common.candidates} == {5}
    assert not any("common_members" in w.text for w in common.warnings)
    assert common["wide"].columns["nonspecificity"].mean() < differing["wide"].columns["nonspecificity"].mean()


BAD = [
    ({}, [0], {}, ("predictions", "empty", "got none")),
    ([1], [0], {}, ("predictions", "type", "got list")),
    ({"vacuous": "P"}, [0, 1], {}, ("predictions", "choice", "'vacuous'")),
    ({" ": "P"}, [0, 1], {}, ("predictions", "choice", "' '")),
    ({"a": "P", "b": "K3"}, [0, 1], {}, ("models['b']", "mismatch", "K = 3, and a has K = 2")),
    ({"a": "P", "b": "N3"}, [0, 1], {}, ("models['b']", "mismatch", "3 instances, and a has 2")),
    ({"a": ["P", "N3"]}, [0, 1], {}, ("models['a']", "mismatch", r"they have 2 and 3 instances.*np.concatenate")),
    ({"a": ["P", "M"]}, [0, 1], {}, ("models['a']", "type", "Members, Point")),
    ({"a": [[[0.5, 0.5]], [[0.5, 0.5]]]}, [0, 1], {}, ("models['a']", "shape", "three axes")),
    ({"a": "P"}, [0], {}, ("y_true", "mismatch", "2 instances; got 1")),
    ({"a": "P"}, [0, 1], {"tradeoffs": ()}, ("tradeoffs", "empty", "got none")),
    ({"a": "P"}, [0, 1], {"tradeoffs": (-1,)}, ("tradeoffs", "range", "got -1")),
    ({"a": "P"}, [0, 1], {"tradeoffs": ["a"]}, ("tradeoffs", None, "got 'a'")),
    ({"a": "P"}, [0, 1], {"level": 95}, ("level", "range", "got 95")),
    ({"a": "P"}, [0, 1], {"level": "0.95"}, ("level", "range", "got '0.95'")),
    ({"a": "P"}, [0, 1], {"floor": "a"}, ("floor", "range", "got 'a'")),
    ({"a": "P"}, [0, 1], {"n_draws": 0}, ("n_draws", None, "got 0")),
    ({"a": "P"}, [0, 1], {"tolerance": -1}, ("tolerance", "range", "got -1")),
    ({"a": "M"}, [0, 1], {"common_members": 2.5}, ("common_members", None, "got 2.5")),
    ({"a": "M"}, [0, 1], {"common_members": 9}, ("common_members", "range", "got 9, and 'a' has 2 members")),
    ({"a": "P"}, [0, 1], {"nonspecificity": "smets"}, ("nonspecificity", "choice", "got 'smets'")),
    ({1: "P", "1": "M"}, [0, 1], {}, ("predictions", "duplicate", "1 and '1'")),
    ({"a": "P"}, [0, 1], {"measures": ("size",)}, ("measures", "choice", "got 'size'")),
    ({"a": "P"}, [0, 1], {"groups": [1]}, ("groups", "mismatch", r"shape \(1,\)")),
    ({"a": "P"}, [0, 1], {"groups": [1.0, np.nan]}, ("groups", "missing", "row 1 holds nan")),
    ({"a": "P"}, [0, 1], {"groups": [None, "a"]}, ("groups", "missing", "row 0 holds None")),
    ({"a": "P"}, [0, 1], {"groups": np.ma.masked_array([1, 2], [0, 1])}, ("groups", "masked", "")),
    ({"a": "P"}, np.ma.masked_array([0, 1], [0, 1]), {}, ("y_true", "masked", "")),
    ({"a": "P"}, [0, 1], {"subgroups": {"site": [1]}}, ("subgroups['site']", "mismatch", r"shape \(1,\)")),
    ({"a": "P"}, [0, 1], {"subgroups": {"age": [np.nan, 2]}}, ("subgroups['age']", "finite", "row 0 is nan")),
    (
        {"a": "P"},
        [0, 1],
        {"subgroups": {"age": np.ma.masked_array([1, 2], [0, 1])}},
        ("subgroups['age']", "masked", ""),
    ),
    ({"a": "P"}, [0, 1], {"subgroups": {"class": [1, 2]}}, ("subgroups", "choice", "got 'class'")),
    ({"a": "P"}, [0, 1], {"subgroups": {1: [1, 2], "1": [1, 2]}}, ("subgroups", "choice", "got '1'")),
    ({"a": "P"}, [0, 1], {"subgroups": [1, 2]}, ("subgroups", "type", "got list")),
    ({"a": "P"}, [0, 1], {"prior": [1.0]}, ("prior", "mismatch", r"shape \(1,\)")),
    ({"a": "P"}, [0, 1], {"prior": [0.9, 0.2]}, ("prior", "sum", "row 0 sums to 1.1")),
    ({"a": "P"}, [0, 1], {"rng": "x"}, ("rng", "type", "got 'x'")),
    ({"a": "P"}, ["x", "y"], {}, ("y_true", "class-names", "row 0 holds 'x'")),
    ({"a": "P"}, [0, 1], {"class_names": ["x"]}, ("class_names", "mismatch", "2 classes; got 1")),
    ({"a": "P"}, [0, 1], {"class_names": 5}, ("class_names", "type", "got int")),
    ({"a": "P"}, [0, 1], {"class_names": ["x", "x"]}, ("class_names", "duplicate", "'x'")),
    (
        {"a": "XY"},
        [0, 1],
        {"class_names": ["x", "z"]},
        ("models['a'].class_names", "mismatch", "'y', number 2 here, is not among the class names given"),
    ),
]


@pytest.mark.parametrize(("models", "y", "options", "refusal"), BAD)
def test_bad_input_is_named(models, y, options, refusal):
    make = {
        "P": uq.Point(np.full((2, 2), 0.5)),
        "XY": uq.Point(np.full((2, 2), 0.5), class_names=["x", "y"]),
        "K3": uq.Point(np.full((2, 3), 1 / 3)),
        "N3": uq.Point(np.full((3, 2), 0.5)),
        "M": uq.Members(np.full((2, 2, 2), 0.5)),
    }

    def made(value):
        return make[value] if isinstance(value, str) else value

    if isinstance(models, dict):
        models = {k: [made(x) for x in v] if isinstance(v, list) else made(v) for k, v in models.items()}
    with refuses(*refusal):
        uq.assay(models, y, **options)


def test_bad_arrays_name_the_model_and_the_run():
    good, bad = np.full((3, 2), 0.5), np.array([[0.5, 0.5], [0.9, 0.3], [0.5, 0.5]])
    with refuses("models['DE']", "sum", got="row 1 sums to 1.2"):
        uq.assay({"SNN": good, "DE": bad}, [0, 1, 0])
    with refuses("models['DE'][1]", "sum", got="row 1 sums to 1.2"):
        uq.assay({"SNN": good, "DE": [good, bad]}, [0, 1, 0])
    with refuses("models['DE'].probs", "sum", got="row 1 sums to 1.2"):
        uq.assay({"DE": {"probs": bad}}, [0, 1, 0])


def test_runs_may_be_arrays_and_tensors(random_generator):
    torch = pytest.importorskip("torch")
    runs = random_generator.dirichlet(np.ones(3), (2, 40))
    y = random_generator.integers(3, size=40)
    named = uq.assay({"m": [uq.Point(run) for run in runs]}, y, n_draws=20)
    for given in (list(runs), tuple(runs), [torch.tensor(run) for run in runs]):
        found = uq.assay({"m": given}, y, n_draws=20)
        assert found["m"].n_runs == 2
        np.testing.assert_array_equal(found.loss("m"), named.loss("m"))
    one = uq.assay({"m": runs[0].tolist()}, y, n_draws=20)  # nested lists of one array are one run
    assert one["m"].n_runs == 1
    np.testing.assert_array_equal(one.loss("m")[0], named.loss("m")[0])


@pytest.mark.parametrize("kind", KINDS)
def test_named_columns_in_another_order_are_the_same_statement(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 30, 3)
    y = random_generator.integers(3, size=30)
    named = prediction.with_metadata(class_names=["a", "b", "c"])
    plain = uq.assay({"m": prediction}, y, n_draws=20, calibration=())
    text = np.array(["a", "b", "c"])[y]
    for names, labels in ((["a", "b", "c"], text), (["c", "a", "b"], text), (["b", "c", "a"], text)):
        found = uq.assay({"m": named}, labels, class_names=names, n_draws=20, calibration=())
        assert found.class_names == tuple(names)
        assert [found.class_names[k] for k in found.classes] == text.tolist()
        if kind in ("Dirichlet", "GaussianLogits"):  # their sets are drawn anew
            assert found["m"].columns["log-loss"].mean() == pytest.approx(
                plain["m"].columns["log-loss"].mean(), rel=0.1
            )
        else:
            np.testing.assert_allclose(found.loss("m"), plain.loss("m"), atol=1e-12)


def test_class_names_are_given_to_unnamed_columns():
    p = uq.Point([[0.9, 0.1], [0.2, 0.8]])
    found = uq.assay({"m": p}, ["dog", "cat"], class_names=["dog", "cat"])
    assert (found.class_names, found.classes.tolist()) == (("dog", "cat"), [0, 1])
    years = uq.assay({"m": p}, [2024, 2025], class_names=[2024, 2025])  # a number means the class of that name
    assert (years.class_names, years.classes.tolist()) == (("2024", "2025"), [0, 1])


def test_subgroups_may_be_a_table(random_generator):
    ids = [f"i{j}" for j in range(30)]
    p = random_prediction("Point", random_generator, 30, 3).with_metadata(ids=ids)
    y = random_generator.integers(3, size=30)
    table = pd.DataFrame({"site": ["n", "s"] * 15, "age": np.arange(30) // 10}, index=ids)
    found = uq.assay({"m": p}, y, subgroups=table.iloc[::-1], n_draws=20)
    assert list(found.subgroups) == ["site", "age"]
    assert found.subgroups["site"].tolist() == table.site.tolist()
    assert found.subgroups["age"].tolist() == table.age.tolist()
    twice = pd.DataFrame(np.zeros((30, 2)), columns=["a", "a"])
    with refuses("subgroups", "duplicate", got="'a' occurs twice"):
        uq.assay({"m": p}, y, subgroups=twice)


# -- edges and keeping ------------------------------------------------------------------------------------------------


def test_one_instance_says_that_it_has_no_interval():
    result = uq.assay({"a": uq.Point([[0.5, 0.5]]), "b": uq.Point([[0.6, 0.4]])}, [0])
    row = next(r for r in result.ranked(0.5) if r.rank == 1)
    assert row.model == "b"
    assert row.below == ("vacuous", "class-prior")
    assert np.isnan(row.estimate.low)
    assert "1 case: no interval" in said(row.estimate)
    assert any("Only 1 case:" in w.text for w in result.warnings)


def test_infinite_losses_are_said_and_lose():
    models = {"sure": uq.Point([[0.0, 1.0], [0.0, 1.0]]), "unsure": uq.Point([[0.5, 0.5], [0.5, 0.5]])}
    result = uq.assay(models, [0, 1], floor=0, n_draws=20)
    assert result.ranked(0.1)[-1].model == "sure"
    assert float(result.ranked(0.1)[-1].estimate) == np.inf
    assert result.winners() == ((0.0, np.inf, ("unsure",)),)
    assert "sure: in 1 of 2 rows the label's upper probability is 0, an infinite loss: look at these rows." in [
        w.text for w in result.warnings
    ]
    json.dumps(result.to_json(), allow_nan=False)


def test_the_same_predictions_in_other_number_types_have_the_same_rank(random_generator):
    p = random_generator.multinomial(64, [0.7, 0.2, 0.1], size=300) / 64  # exact in float16
    p[:9] = np.eye(3)[0]
    labels = random_generator.integers(3, size=300)
    models = {str(np.dtype(t)): uq.Point(p.astype(t)) for t in (np.float16, np.float32, np.float64)}
    found = uq.assay(models, labels, n_draws=20, calibration=())
    for name in models:
        np.testing.assert_array_equal(found[name].columns["distance"], found["float64"].columns["distance"])
    ranks = {(row["rank_low"], row["rank_high"]) for row in found.rows("ranking") if row["model"] in models}
    assert len(ranks) == 1


def test_hard_labels_give_one_choice_in_all_number_types(random_generator):
    labels = random_generator.integers(3, size=200)
    said = np.eye(3)[np.where(np.arange(200) < 2, (labels + 1) % 3, labels)]
    answers = []
    for pair in ((np.float64, np.float64), (np.float16, np.float64), (np.float64, np.float16)):
        models = {name: uq.Point(said.astype(t)) for name, t in zip("ab", pair, strict=True)}
        answers.append(uq.assay(models, labels, n_draws=20).verdict())
    assert answers[0] == answers[1] == answers[2]
    assert "The same loss in every case: a and b." in answers[0]


def test_saved_and_loaded_assays_agree(tmp_path, all_kinds):
    models, y = all_kinds
    labelled = {
        k: v.with_metadata(class_names=list("wxyz"), ids=[f"i{j}" for j in range(60)]) for k, v in models.items()
    }
    result = uq.assay(labelled, y, subgroups={"odd": np.arange(60) % 2}, groups=np.arange(60) // 3, n_draws=50)
    folder = result.save(tmp_path / "kept")
    result.save(folder)  # over an earlier one
    again = uq.Assay.load(folder)
    pd.testing.assert_frame_equal(again.findings(), result.findings())
    pd.testing.assert_frame_equal(again.ranking(0.7).table(), result.ranking(0.7).table())
    pd.testing.assert_frame_equal(again.table("subsets", by="odd"), result.table("subsets", by="odd"))
    assert json.dumps(again.to_json()) == json.dumps(result.to_json())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kept"]


def test_a_family_of_events_is_used_and_kept(tmp_path, all_kinds):
    models, y = all_kinds
    family = [[0], [1], [2], [3], [0, 1], [2, 3]]
    result = uq.assay(models, y, convention="paper", focal_sets=family, n_draws=20)
    loss = uq.losses.unified_loss(y, models["Members"], convention="paper", focal_sets=result.settings.focal_sets)
    np.testing.assert_array_equal(result["Members"].columns["nonspecificity"][0], loss.nonspecificity)
    again = uq.Assay.load(result.save(tmp_path / "kept"))
    np.testing.assert_array_equal(again.settings.focal_sets, result.settings.focal_sets)
    with refuses("focal_sets", "needs-paper-convention"):
        uq.assay(models, y, focal_sets=family)


def test_what_is_no_assay_is_refused(tmp_path):
    with refuses(str(tmp_path), "unreadable", got="No such file", error=FileFormatError):
        uq.Assay.load(tmp_path)
    (tmp_path / "precious.txt").write_text("keep")
    with refuses(str(tmp_path), "unwritable", error=FileFormatError):
        uq.assay({"a": uq.Point([[0.5, 0.5]])}, [0]).save(tmp_path)
    assert (tmp_path / "precious.txt").read_text() == "keep"


def test_json_is_strict_and_carries_a_schema(all_kinds):
    models, y = all_kinds
    found = uq.assay(models, y, tradeoffs=(0.5,), n_draws=20).to_json()
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text)["schema"] == "uqassay.assay/5"
    row = found["tradeoff"][0]["ranking"][0]
    assert {"model", "estimate", "low", "high", "win_share"} <= set(row)
    assert found["breakpoints"][-1]["high"] == "Infinity"


def test_labels_may_be_a_tensor(needs):
    needs("torch")
    import torch

    models = {"m": uq.Point(np.full((4, 2), 0.5))}
    assert uq.assay(models, torch.tensor([0, 1, 1, 0])).findings().equals(uq.assay(models, [0, 1, 1, 0]).findings())


@pytest.mark.parametrize("with_ids", [True, False])
def test_everything_given_with_an_index_follows_it(random_generator, with_ids):
    n = 60
    ids = [f"case {i}" for i in range(n)]
    p = random_generator.dirichlet(np.ones(3), n)
    y = pd.Series(random_generator.integers(0, 3, n), index=ids)
    given = {
        "groups": pd.Series(np.arange(n) // 3, index=ids),
        "subgroups": pd.DataFrame({"site": np.arange(n) % 2, "sex": ["f", "m", "m"] * (n // 3)}, index=ids),
        "density": pd.Series(random_generator.random(n), index=ids),
    }
    model = pd.DataFrame(p, index=ids) if with_ids else p

    def judged(order):
        moved = {name: values.loc[order(ids)] for name, values in given.items()}
        scores = {"m": {"density": moved.pop("density")}}
        return uq.assay({"m": model}, y, uncertainties=scores, **moved, n_draws=50)

    wanted, found = judged(list), judged(lambda labels: list(random_generator.permutation(labels)))
    assert found.findings().equals(wanted.findings())
    plain = uq.assay(
        {"m": p},
        y.to_numpy(),
        uncertainties={"m": {"density": given["density"].to_numpy()}},
        groups=given["groups"].to_numpy(),
        subgroups={name: values.to_numpy() for name, values in given["subgroups"].items()},
        n_draws=50,
    )
    assert plain.findings().equals(wanted.findings())


@pytest.mark.parametrize("library", ["polars", "pyarrow", "xarray"])
def test_models_in_other_tables(random_generator, library, needs):
    needs(library)
    names, n = ["a", "b", "c"], 40
    p, q = random_generator.dirichlet(np.ones(3), (2, n))
    y = np.array(names)[random_generator.integers(0, 3, n)]

    def table(values, columns):
        frame = pd.DataFrame(values, columns=names)[columns]
        if library == "polars":
            import polars

            return polars.from_pandas(frame)
        if library == "pyarrow":
            import pyarrow

            return pyarrow.Table.from_pandas(frame)
        import xarray

        return xarray.DataArray(frame.to_numpy(), dims=("case", "class"), coords={"class": columns})

    wanted = uq.assay({"p": pd.DataFrame(p, columns=names), "q": pd.DataFrame(q, columns=names)}, y)
    found = uq.assay({"p": table(p, names), "q": table(q, ["c", "a", "b"])}, y)
    assert found.findings().equals(wanted.findings())
    subgroups = table(p, names) if library != "xarray" else None
    if subgroups is not None:
        assert set(uq.assay({"p": p}, [0, 1] * (n // 2), subgroups=subgroups).subgroups) == set(names)
