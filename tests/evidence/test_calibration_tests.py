"""Calibration tests of an assay: the library's own numbers, what is afforded, what is said, and that all of it is kept."""

import re

import numpy as np
import pytest
from tests.evidence.cases import drawn
from tests.kinds import PREDICTING, random_prediction
from tests.notes import said

import uqassay as uq
from uqassay.calibration.credal import credal_calibration_test
from uqassay.calibration.one_classifier import calibration_test
from uqassay.evidence import calibration as cost
from uqassay.evidence.calibration import (
    adjusted_pvalues,
    calibration_claims,
    choose_instances,
    classwise_errors,
)
from uqassay.evidence.data import ModelCalibration
from uqassay.evidence.sentences import calibration_sentence
from uqassay.metrics.reliability_diagrams import expected_calibration_error
from uqassay.report.sections import calibration_section

BOTH = ("kuiper-confidence", "ece-classwise")


@pytest.fixture(scope="module")
def judged():
    """An ensemble whose first member is the truth, a point that is too sure, and a Dirichlet."""
    g = np.random.default_rng(3)
    truth = g.dirichlet(np.ones(3), 150)
    members = np.stack([truth, g.dirichlet(np.ones(3), 150), g.dirichlet(np.ones(3), 150)], axis=1)
    sure = truth**4 / (truth**4).sum(axis=1, keepdims=True)
    y = drawn(truth, g)
    models = {"DE": uq.Members(members), "sure": uq.Point(sure), "EDL": uq.Dirichlet(0.5 + 8 * truth, n_draws=10)}
    return uq.assay(models, y, n_draws=20, tradeoffs=[0.5]), models, y


def one(assay, model, measure):
    found = [t for t in assay.calibration if (t.model, t.measure) == (model, measure)]
    assert len(found) == 1
    return found[0]


# -- the numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", BOTH)
def test_sets_are_tested_as_the_library_tests_them(measure, judged):
    assay, models, y = judged
    mine = one(assay, "DE", measure)
    given = {"measure": measure, "null": "sequential", "rng": np.random.default_rng([0, 21])}
    expected = credal_calibration_test(y, models["DE"], **given)
    assert (mine.tested, mine.n_members, mine.noun, mine.null_kind) == ("mixtures", 3, "members", "sequential")
    assert mine.statistic == expected.statistic
    assert mine.weights.tolist() == expected.weights.tolist()
    assert mine.null.tolist() == expected.null.tolist()
    assert mine.pvalue == expected.pvalue > 0.05  # no further draws
    assert (mine.n_draws, mine.notion) == (len(mine.null), expected.notion)
    assert mine.width == pytest.approx(np.ptp(models["DE"].probs, axis=1).mean())


@pytest.mark.parametrize("measure", BOTH)
def test_points_and_single_members_are_tested_as_the_library_tests_them(measure, judged):
    assay, models, y = judged
    stream = {"measure": measure, "rng": np.random.default_rng([0, 23])}
    point = one(assay, "sure", measure)
    expected = calibration_test(y, models["sure"], n_draws=999, **stream)
    assert (point.tested, point.n_members, point.n_draws) == ("mean", 1, len(point.null))
    assert point.statistic == expected.statistic
    assert point.null.tolist() == expected.null[: len(point.null)].tolist()
    assert point.pvalue == expected.pvalue if len(point.null) == 999 and not point.n_parts else True
    assert (point.weights.tolist(), point.member_values.size, point.width) == ([1.0], 0, 0.0)
    found = one(assay, "DE", measure)
    singles = [*models["DE"].probs.transpose(1, 0, 2), models["DE"].mean_probs()]
    each = [calibration_test(y, p, n_draws=99, measure=measure, rng=np.random.default_rng([0, 23])) for p in singles]
    assert [*found.member_values, found.mean_value] == pytest.approx([t.statistic for t in each], rel=1e-12)
    assert [*found.member_pvalues, found.mean_pvalue] == [t.pvalue for t in each]
    assert found.statistic <= min(found.mean_value, *found.member_values) + 1e-12


def test_accuracy_and_diagrams_before_and_after(judged):
    _, models, y = judged
    (found,) = uq.assay({"DE": models["DE"]}, y, n_draws=5, calibration=["ece-confidence"]).calibration
    for probs, accuracy, diagram, value in (
        (models["DE"].mean_probs(), found.accuracy_mean, found.before, found.mean_value),
        (found.weights @ models["DE"].probs, found.accuracy_weighted, found.after, found.statistic),
    ):
        assert accuracy == pytest.approx((probs.argmax(axis=1) == y).mean())
        filled = diagram.count > 0
        gaps = np.abs(diagram.accuracy - diagram.confidence)[filled]
        assert (diagram.count[filled] * gaps).sum() / 150 == pytest.approx(value)
        assert diagram.count.sum() == 150


def test_the_smallest_pvalue_of_a_set_gets_further_draws(judged):
    """They count as many as a search of every draw, or more."""
    _, models, y = judged
    wrong = y.copy()
    wrong[:100] = (y[:100] + 1) % 3
    p = uq.Members(models["DE"].probs[:, :2])
    found = one(uq.assay({"DE": p}, wrong, n_draws=5, calibration=["ece-confidence"]), "DE", "ece-confidence")
    plain = credal_calibration_test(wrong, p, rng=np.random.default_rng([0, 21]))
    assert plain.pvalue == 0.01
    assert (found.n_draws, len(found.null)) == (19_999, 99)
    assert 1 / 20_000 <= found.pvalue < 0.01
    searched = credal_calibration_test(wrong, p, n_draws=999)
    assert found.pvalue >= searched.pvalue - 0.002


def test_adjusted_for_all_tests(judged):
    assay, _, _ = judged
    rows = assay.rows("calibration")
    assert [row["pvalue_adjusted"] for row in rows] == pytest.approx(uq.statistics.holm([r["pvalue"] for r in rows]))
    assert [row["pvalue_adjusted"] for row in rows] == pytest.approx(adjusted_pvalues(assay.calibration))
    table = assay.table("calibration")
    assert len(table) == len(assay.calibration) == 6
    assert table.run.tolist() == [1] * 6
    assert list(table.columns) == list(ModelCalibration.row(assay.calibration[0])) or set(table.columns) == set(rows[0])


# -- what is tested ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PREDICTING)
def test_every_kind_is_tested(kind, random_generator):
    p = random_prediction(kind, random_generator, n=20, n_classes=3)
    found = uq.assay({"m": p}, random_generator.integers(0, 3, 20), n_draws=5, tradeoffs=[0.5]).calibration
    assert [t.measure for t in found] == list(BOTH)
    tested, n, noun = {
        "Members": ("mixtures", 3, "members"),
        "Vertices": ("mixtures", 3, "vertices"),
        "Intervals": ("mixtures", 6, "vertices"),
        "Masses": ("mixtures", 6, "vertices"),
    }.get(kind, ("mean", 1, "members"))
    for t in found:
        assert (t.tested, t.n_members, t.noun) == (tested, n, noun)
        assert t.weights.sum() == pytest.approx(1.0)
        assert 0 < t.pvalue <= 1
        assert len(t.member_values) == len(t.member_pvalues) == (3 if kind in ("Members", "Vertices") else 0)
        assert t.width == pytest.approx(float((p.upper_probs() - p.lower_probs()).mean()))
    assert ("draw number m means something different" in said(found[0])) == (kind in ("Dirichlet", "GaussianLogits"))


def test_class_sets_state_no_probabilities_to_be_tested(random_generator):
    models = {
        "sets": random_prediction("ClassSets", random_generator, n=20),
        "p": random_prediction("Point", random_generator, n=20),
    }
    found = uq.assay(models, random_generator.integers(0, 4, 20), n_draws=5, tradeoffs=[0.5])
    tested = {t.model: t.tested for t in found.calibration}
    assert tested == {"sets": "nothing", "p": "mean"}
    assert all("state no probabilities" in said(t) for t in found.calibration if t.model == "sets")
    assert not [note for note in found.warnings if note.code == "calibration-sample"]


def test_no_measures_no_tests(judged):
    _, models, y = judged
    found = uq.assay(models, y, calibration=(), n_draws=5)
    assert (found.calibration, found.rows("calibration"), found.to_json()["calibration"]) == ((), [], [])
    assert found.table("calibration").empty
    metrics = {row["metric"] for row in found.rows("findings")}
    assert "calibration-pvalue" not in metrics
    assert "ece-classwise" in metrics
    assert "calibrat" not in " ".join(found.verdict())


def test_label_distributions_are_not_tested(judged):
    _, models, _ = judged
    votes = np.random.default_rng(0).integers(1, 5, (150, 3))
    found = uq.assay(models, votes, n_draws=5)
    assert {(t.tested, t.n_tested, np.isnan(t.pvalue)) for t in found.calibration} == {("nothing", 0, True)}
    rows = [r for r in found.rows("findings") if r["metric"] == "calibration-pvalue"]
    assert len(rows) == 6
    assert all(np.isnan(r["estimate"]) and "label distributions are not tested" in said(r) for r in rows)
    assert any(w.text.startswith("Calibration is not tested") for w in found.warnings)
    assert "calibrat" not in " ".join(found.verdict())


def test_groups_are_warned_of_and_kept_whole(judged):
    _, models, y = judged
    groups = np.repeat(np.arange(50), 3)
    found = uq.assay(models, y, groups=groups, n_draws=5, calibration=["ece-confidence"])
    for t in found.calibration:
        assert said(t).count("those of one group depend on each other") == (t.model == "DE")
        assert t.null_kind == ("sequential" if t.model == "DE" else "signs")
    assert any("calibration tests of DE take labels for independent" in w.text for w in found.warnings)
    rows = choose_instances(150, 31, groups, 4)
    assert len(rows) == 33
    assert np.unique(groups[rows], return_counts=True)[1].tolist() == [3] * 11
    assert (np.diff(rows) > 0).all()
    assert choose_instances(150, 40, None, 4).size == 40
    assert choose_instances(5, 9, None, 4).tolist() == [0, 1, 2, 3, 4]


def test_runs_are_tested_one_by_one(judged):
    _, models, y = judged
    runs = [models["sure"], uq.Point(models["DE"].probs[:, 0])]
    found = uq.assay({"two": runs}, y, n_draws=5, calibration=["ece-confidence"])
    assert [t.run for t in found.calibration] == [0, 1]
    rows = [r for r in found.rows("findings") if r["metric"] == "calibration-pvalue"]
    adjusted = adjusted_pvalues(found.calibration)
    assert [(r["run"], r["estimate"]) for r in rows] == [("all", min(adjusted)), ("1", adjusted[0]), ("2", adjusted[1])]
    assert rows[0]["method"] == "the mean is not calibrated in some run, adjusted by Holm for 2 tests"
    alone = [uq.assay({"one": run}, y, n_draws=5, calibration=["ece-confidence"]).calibration[0] for run in runs]
    assert [t.pvalue for t in alone] == [t.pvalue for t in found.calibration]


# -- what is afforded -------------------------------------------------------------------------------------------------


def test_large_test_sets_are_tested_in_part(monkeypatch, judged):
    _, models, y = judged
    monkeypatch.setattr(cost, "FEWEST", 20)
    monkeypatch.setattr(cost, "SET_WORK", 2_600)  # n K (M + 16) + 2 n M
    found = uq.assay(models, y, n_draws=5)
    assert {t.model: t.n_tested for t in found.calibration} == {"DE": 41, "sure": 150, "EDL": 150}
    assert {t.n_instances for t in found.calibration} == {150}
    assert all(said(t).startswith("tested on 41 of 150 cases") == (t.model == "DE") for t in found.calibration)
    assert any("calibration tests of DE took 41 of the 150 cases" in w.text for w in found.warnings)
    rows = choose_instances(150, 41, None, 0)
    part = credal_calibration_test(y[rows], models["DE"][rows], rng=np.random.default_rng([0, 21]))
    assert one(found, "DE", part.measure).statistic == part.statistic
    row = next(r for r in found.rows("findings") if r["metric"] == "calibration-pvalue")
    assert (row["model"], row["n"]) == ("DE", 41)


def test_the_runs_of_a_set_share_a_budget(monkeypatch, judged):
    _, models, y = judged
    monkeypatch.setattr(cost, "RUNS_WORK", 20_000)  # 150 instances of 63 each: two runs
    found = uq.assay(
        {"DE": [models["DE"]] * 5, "P": [models["sure"]] * 3}, y, n_draws=5, calibration=["ece-confidence"]
    )
    assert [(t.model, t.run) for t in found.calibration] == [("DE", 0), ("DE", 1), ("P", 0), ("P", 1), ("P", 2)]
    assert "only runs 1 to 2 of 5 are tested" in said(found.calibration[0])
    rows = [r for r in found.rows("findings") if r["metric"] == "calibration-pvalue" and r["model"] == "DE"]
    assert [r["run"] for r in rows] == ["all", "1", "2"]
    monkeypatch.setattr(cost, "RUNS_WORK", 10_000)
    found = uq.assay({"DE": [models["DE"]] * 5}, y, n_draws=5, calibration=["ece-confidence"])
    assert [t.run for t in found.calibration] == [0]
    assert "only run 1 of 5 is tested" in said(found.calibration[0])


def test_sets_that_cost_too_much_are_tested_by_their_mean(monkeypatch, judged):
    _, models, y = judged
    monkeypatch.setattr(cost, "LARGEST_WORK", 300 * 50)
    t = one(uq.assay({"DE": models["DE"]}, y, n_draws=5, calibration=["ece-confidence"]), "DE", "ece-confidence")
    assert (t.tested, t.n_members) == ("mean", 1)
    assert "only the mean is tested, because mixtures of 3 points over 3 classes take too long here" in said(t)
    assert t.statistic == pytest.approx(
        expected_calibration_error(models["DE"].labels() == y, models["DE"].mean_probs().max(axis=1))
    )


# -- what is said and kept --------------------------------------------------------------------------------------------


def test_one_pvalue_wherever_it_is_written(judged):
    """Findings, tables, JSON, claims and the page hold the adjusted p-value under the same name."""
    assay, _, _ = judged
    adjusted = adjusted_pvalues(assay.calibration).tolist()
    rows = [r for r in assay.rows("findings") if r["metric"] == "calibration-pvalue"]
    assert [(r["model"], r["run"], r["score"], r["estimate"], r["n"]) for r in rows] == [
        (t.model, "all", t.measure, p, t.n_tested) for t, p in zip(assay.calibration, adjusted, strict=True)
    ]
    assert [r["pvalue_adjusted"] for r in assay.to_json()["calibration"]] == adjusted
    assert [c.pvalue for c in calibration_claims(assay)] == adjusted
    page = calibration_section(assay)["tests"]["rows"]
    assert [r["pvalue"] for r in page] == pytest.approx(adjusted, rel=1e-3)
    methods = {r["model"]: r["method"] for r in rows}
    assert methods["DE"] == "no mixture is calibrated, adjusted by Holm for 6 tests"
    assert methods["sure"] == "the mean is not calibrated, adjusted by Holm for 6 tests"


def test_classwise_error_against_brute_force(judged):
    assay, models, y = judged
    edges = np.linspace(0, 1, 11)

    def by_hand(p, observed):
        total = 0.0
        for k in range(3):
            place = np.clip(np.searchsorted(edges, p[:, k], side="left") - 1, 0, 9)
            total += sum(abs((p[place == b, k] - observed[place == b, k]).sum()) for b in range(10))
        return total / 3 / len(p)

    rows = {r["model"]: r for r in assay.rows("findings") if r["metric"] == "ece-classwise" and r["run"] == "all"}
    assert set(rows) == {"DE", "sure", "EDL", "class-prior"}
    for name, model in models.items():
        assert rows[name]["estimate"] == pytest.approx(by_hand(model.mean_probs(), np.eye(3)[y]))
    assert rows["class-prior"]["estimate"] == pytest.approx(0, abs=1e-12)
    assert one(assay, "sure", "ece-classwise").statistic == pytest.approx(rows["sure"]["estimate"])
    votes = np.random.default_rng(0).dirichlet(np.ones(3), 150)
    a, b = models["sure"], uq.Point(models["DE"].probs[:, 1])
    pooled, *each = classwise_errors([a, b], votes)
    assert each == pytest.approx([by_hand(p.probs, votes) for p in (a, b)])
    assert pooled == pytest.approx(by_hand(np.concatenate([a.probs, b.probs]), np.concatenate([votes, votes])))


def test_the_sentence_names_what_is_rejected(judged):
    assay, models, y = judged
    said = calibration_sentence(assay)
    assert said.endswith(", adjusted by Holm for 6 tests.")
    assert re.search(r"sure is too sure by \d+ points, and its probabilities of single classes are off \(p ", said)
    assert "DE" not in said
    wrong = calibration_sentence(uq.assay({"DE": models["DE"], "DF": models["DE"]}, (y + 1) % 3, n_draws=5))
    assert wrong.startswith(
        "Reweighting the members of DE or DF cannot calibrate the confidence or probabilities of single classes (p < .001)"
    )
    one_test = {"n_draws": 5, "calibration": ["ece-classwise"]}
    alone = calibration_sentence(uq.assay({"DE": models["DE"]}, (y + 1) % 3, **one_test))
    assert alone.startswith(
        "Reweighting the 3 members of DE cannot calibrate the probabilities of single classes (p < .001)"
    )
    assert alone.endswith(", in a test.")
    fine = calibration_sentence(uq.assay({"DE": models["DE"]}, y, **one_test))
    assert fine.startswith(
        "The calibration tests could not tell the best mixture of the members from a calibrated one (p = "
    )


def test_the_same_seed_gives_the_same_tests(judged):
    assay, models, y = judged
    again = uq.assay(models, y, n_draws=5)
    other = uq.assay({"DE": models["DE"]}, y, n_draws=5, rng=1)
    alone = uq.assay({"DE": models["DE"]}, y, n_draws=5, calibration=BOTH[::-1])
    for t in assay.calibration:
        same = one(again, t.model, t.measure)
        assert (same.pvalue, same.null.tolist()) == (t.pvalue, t.null.tolist())
    for t in alone.calibration:  # neither other models nor the order of the measures matter
        assert t.null.tolist() == one(assay, "DE", t.measure).null.tolist()
    assert other.calibration[0].null.tolist() != one(assay, "DE", BOTH[0]).null.tolist()


def test_chunks_do_not_matter(judged, monkeypatch):
    from uqassay.calibration import mixtures
    from uqassay.calibration import nulls as random_null
    from uqassay.evidence import calibration as classwise_error

    assay, models, y = judged
    for room in (mixtures, random_null):
        monkeypatch.setattr(room, "CHUNK_BYTES", 20_000)
    monkeypatch.setattr(classwise_error, "PART_BYTES", 400)
    small = uq.assay(models, y, n_draws=5)
    for t, s in zip(assay.calibration, small.calibration, strict=True):
        assert s.pvalue == t.pvalue
        assert s.null == pytest.approx(t.null, abs=1e-12)
    assert small.classwise_error["sure"] == pytest.approx(assay.classwise_error["sure"], abs=1e-12)


def test_saved_and_loaded_tests_agree(judged, tmp_path):
    assay, models, _ = judged
    undefined = uq.assay(models, np.full((150, 3), 1 / 3), n_draws=5)
    for kept in (assay, undefined):
        again = uq.Assay.load(kept.save(tmp_path / "kept"))
        assert again.classwise_error == kept.classwise_error
        for a, b in zip(kept.calibration, again.calibration, strict=True):
            for name in ModelCalibration.__dataclass_fields__:
                first, second = getattr(a, name), getattr(b, name)
                if name in ("before", "after"):
                    assert (first is None) == (second is None)
                    first, second = (x and {k: v.tolist() for k, v in vars(x).items()} for x in (first, second))
                elif isinstance(first, np.ndarray):
                    first, second = first.tolist(), second.tolist()
                assert repr(first) == repr(second), name
        assert repr(again.rows("calibration")) == repr(kept.rows("calibration"))
        assert again.verdict() == kept.verdict()


def test_json_holds_the_tests(judged):
    assay, _, _ = judged
    rows = assay.to_json()["calibration"]
    assert [(r["model"], r["measure"], r["pvalue"]) for r in rows] == [
        (t.model, t.measure, t.pvalue) for t in assay.calibration
    ]
    assert rows[0]["weights"] == assay.calibration[0].weights.tolist()
    assert rows[0]["before"]["count"] == assay.calibration[0].before.count.tolist()
    assert "null" not in rows[0]


def test_the_mean_of_weighted_members_is_noted(judged):
    _, models, y = judged
    weighted = uq.Members(models["DE"].probs, [0.8, 0.1, 0.1])
    t = one(uq.assay({"DE": weighted}, y, n_draws=5, calibration=["brier"]), "DE", "brier")
    mean = np.einsum("nmk,m->nk", weighted.probs, [0.8, 0.1, 0.1])
    assert t.mean_value == pytest.approx(((mean - np.eye(3)[y]) ** 2).sum(axis=1).mean())
    assert "the mean uses the given weights of the members" in said(t)
    plain = one(uq.assay({"DE": models["DE"]}, y, n_draws=5, calibration=["brier"]), "DE", "brier")
    assert plain.weights.tolist() == t.weights.tolist()
    assert not any("weights given with" in note.text for note in plain.notes)


@pytest.mark.slow
def test_three_networks(cifar10):
    """Each network is too sure, by every test; their mixtures are far closer to calibrated (as in its Table 1)."""
    assay = uq.assay({"three": uq.Members(cifar10["three"])}, cifar10["labels"], n_draws=5)
    for t in assay.calibration:
        assert (t.n_tested, t.n_instances) == (1500, 10_000)
        assert t.member_pvalues.tolist() == [0.01] * 3
        assert t.statistic < t.mean_value < t.member_values.min()
        assert abs(t.accuracy_weighted - t.accuracy_mean) < 0.02


def test_passes_of_gaussian_logits_are_tested_as_their_members(random_generator):
    mean, variance = random_generator.normal(size=(20, 3, 4)), random_generator.uniform(size=(20, 3, 4))
    passes = uq.GaussianLogits(mean, variance, variance_is="aleatoric")
    y = random_generator.integers(0, 4, 20)
    found, members = (
        uq.assay({"m": run}, y, n_draws=5, tradeoffs=[0.5], rng=1).calibration for run in (passes, passes.members())
    )
    for a, b in zip(found, members, strict=True):
        assert (a.tested, a.n_members, a.statistic, a.pvalue) == (b.tested, 3, b.statistic, b.pvalue)
        assert a.width == pytest.approx(b.width)
        assert len(a.member_values) == 3
