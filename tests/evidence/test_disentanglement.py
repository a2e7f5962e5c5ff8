"""The lens of the disentanglement: studies, measurements, behaviour, readings, rankings, sentences, and what is kept."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score
from tests.evidence.disentanglement_data import NOISE, SHARES, made_study
from tests.evidence.saved_folders import change_arrays, change_facts
from tests.metrics.test_doubts import SHARES as TRAINING_SHARES
from tests.metrics.test_doubts import Family
from tests.notes import codes, said
from tests.refusals import refuses
from tests.shown_results import check_shown

from uqassay.errors import FileFormatError
from uqassay.evidence import contenders_of, disentanglement_sentences
from uqassay.evidence.disentanglement import (
    DisentanglementStudy,
    disentanglement_behaviour,
    join_studies,
    study_correlations,
)
from uqassay.evidence.disentanglement_runs import Contender, Measured, by_dataset, rank_disentanglement
from uqassay.evidence.disentanglement_words import (
    class_sentences,
    contender_sentences,
    disentanglement_lines,
    experiment_sentences,
    joint_level,
    legend_sentences,
    read_classes,
    read_experiments,
)
from uqassay.measures import Decomposition
from uqassay.statistics import holm, mean_estimate
from uqassay.text import number

# -- Studies of the disentanglement benchmark: known errors, checks, joining -------------------------------------------


IT = "information-theoretic"


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("perfect", 0.05, 0.25),
        ("swapped", 0.9, 1.1),
        ("together", 0.5, 0.5),
        ("constant", 0.5, 0.5),
        ("reversed", 1, 1.3),
    ],
)
def test_error_of_made_up_studies_against_theory(kind, low, high):
    # jitter in the estimates that should not move costs .15; constants are right about those two and wrong about the others
    found = float(made_study(kind, n_runs=30).error(IT).error)
    assert low - 1e-9 <= found <= high + 1e-9


def test_jitter_is_chance_and_the_perfect_one_is_at_the_floor():
    for kind, reference in (("jitter", "chance"), ("perfect", "floor")):
        found = made_study(kind, n_runs=40).error(IT)
        assert found.error.low <= getattr(found, reference) <= found.error.high


def test_arguments_of_a_study():
    study = made_study("perfect")
    with refuses("seeds", "duplicate"):
        replace(study, seeds=(1, 1, 2, 3, 4))
    with refuses("measured['dataset-size']", "mismatch", got="5 runs of 3 classes for 2 seeds"):
        replace(study, seeds=(1, 2))
    with refuses("measured['dataset-size']", "mismatch"):
        replace(study, class_names=("a", "b"))
    with refuses("measured", "choice", got="size"):
        replace(study, measured={"size": study.measured["dataset-size"]})
    with refuses("measured", "empty"):
        replace(study, measured={})
    left_out = study.measured["left-out-class"]
    with refuses("measured['left-out-class']", "range", got="0 to 3"):
        replace(study, measured={"left-out-class": replace(left_out, conditions=(0, 1, 3))})
    with refuses("decomposition", "choice", got="variance"):
        study.error("variance")
    with refuses("name", "choice", got="curve"):
        study.rows("curve")


def test_joined_runs_stand_one_after_another():
    blocks = [made_study("together", n_runs=2, seed=i, first_seed=2 * i) for i in range(3)]
    whole = join_studies(blocks)
    assert whole.seeds == tuple(range(6))
    errors = np.concatenate([block.error(IT).per_run for block in blocks])
    np.testing.assert_allclose(whole.error(IT).per_run, errors)
    assert join_studies(blocks[:1]).seeds == (0, 1)


def test_studies_that_cannot_be_joined():
    one = made_study("together", n_runs=2)
    with refuses("studies", "empty"):
        join_studies([])
    with refuses("studies", "mismatch", got="other"):
        join_studies([one, made_study("together", "other", first_seed=9)])
    with refuses("studies", "mismatch", got="dataset-size"):
        join_studies([one, made_study("together", first_seed=9, without=("dataset-size",))])
    with refuses("studies", "mismatch", got="variance"):
        join_studies([one, made_study("together", first_seed=9, decomposition="variance")])
    with refuses("studies", "mismatch", got="90 and 60"):
        join_studies([one, made_study("together", first_seed=9, n=60)])
    with refuses("seeds", "duplicate"):
        join_studies([one, made_study("together", n_runs=2)])


def test_wrong_kinds_of_arguments():
    study = made_study("perfect", n_runs=2)
    with refuses("seeds", "type", got="'a'"):
        replace(study, seeds="ab")
    with refuses("seeds", "type", got="0.5"):
        replace(study, seeds=(0.5, 1))
    with refuses("measured['label-noise']", "type"):
        replace(study, measured={"label-noise": [1, 2]})
    with refuses("facts", "type"):
        replace(study, facts=[1])
    assert join_studies(one for one in [study]).seeds == study.seeds


def test_it_is_shown_by_the_sentences_of_its_verdict():
    study = made_study("together")
    shown = " ".join(check_shown(study, IT).split())
    assert all(" ".join(sentence.split()) in shown for sentence in disentanglement_sentences(contenders_of(study)))


def test_a_study_without_the_experiments_of_the_error_is_shown():
    study = made_study("perfect", without=("dataset-size", "left-out-class"))
    check_shown(study)
    assert study._shown_table().rows[0].cells[1].text == "–"


# -- Results of one experiment: curves, shapes, odd values -------------------------------------------------------------


def test_accuracy_and_means_are_those_of_the_instances():
    study = made_study("perfect", n_runs=2)
    row = study.rows("curves")[8]  # run 2, second share
    measured = study.measured["dataset-size"]
    r, c = 1, SHARES.index(row["condition"])
    assert (row["run"], row["seed"], row["experiment"]) == (2, 1, "dataset-size")
    assert row["accuracy"] == np.mean(measured.probs[r, c].argmax(axis=1) == measured.labels[r, c])
    assert row["epistemic"] == pytest.approx(measured.parts[IT].epistemic[r, c].mean(), abs=1e-12)
    assert row["total"] == pytest.approx(row["aleatoric"] + row["epistemic"])
    assert len(study.rows("curves")) == 2 * (len(SHARES) + len(NOISE) + 3)


def test_constant_in_single_precision_is_constant():
    study = made_study("perfect", n_runs=3)
    measured = study.measured["label-noise"]
    parts = measured.parts[IT]
    wobble = 1e-8 * np.random.default_rng(0).normal(size=parts.total.shape)
    single = replace(parts, epistemic=(0.0 * parts.total + wobble).astype(np.float32))
    curves = replace(measured, parts={IT: single}).curves(IT)
    study = replace(study, measured={**study.measured, "label-noise": replace(measured, parts={IT: single})})
    assert curves.epistemic.shape == (3, len(NOISE))
    assert study.error(IT).terms[3].constant.all()


def test_shapes_that_do_not_fit():
    measured = made_study("perfect").measured["dataset-size"]
    parts = measured.parts[IT]
    with refuses("labels", "shape", got=r"\(7, 90\)"):
        replace(measured, labels=measured.labels[0])
    with refuses("labels", "shape", got="float64"):
        replace(measured, labels=measured.labels.astype(float))
    with refuses("conditions", "mismatch", got="7 conditions"):
        replace(measured, conditions=SHARES[:3])
    with refuses("conditions", "mismatch"):
        replace(measured, conditions=(0.5,) * 7)
    with refuses("probs", "shape", got=r"\(5, 7, 90\)"):
        replace(measured, probs=measured.probs[..., 0])
    with refuses("probs", "not-probabilities", got="-4"):
        replace(measured, probs=measured.probs - 4.2)
    with refuses(f"parts['{IT}'].aleatoric", "shape", got=r"\(4, 7, 90\)"):
        replace(measured, parts={IT: replace(parts, aleatoric=parts.aleatoric[1:])})
    with refuses("parts", "empty"):
        replace(measured, parts={})


def test_undefined_estimates_name_the_place():
    measured = made_study("perfect").measured["dataset-size"]
    parts = measured.parts[IT]
    broken = parts.epistemic.copy()
    broken[2, 3, 4] = np.nan
    with refuses(f"parts['{IT}'].epistemic", "finite", got=r"\(2, 3, 4\)"):
        replace(measured, parts={IT: replace(parts, epistemic=broken)})


def test_arrays_of_other_layouts_are_read_as_they_are():
    study = made_study("perfect", n_runs=2)
    measured = study.measured["dataset-size"]
    parts = measured.parts[IT]
    turned = np.asfortranarray(parts.epistemic)
    turned.flags.writeable = False
    other = replace(measured, parts={IT: replace(parts, epistemic=turned)})
    np.testing.assert_allclose(other.curves(IT).epistemic, measured.curves(IT).epistemic, rtol=1e-12)


def test_conditions_are_numbers_and_parts_are_decompositions():
    measured = made_study("perfect").measured["dataset-size"]
    parts = measured.parts[IT]
    with refuses("conditions", "mismatch", got="nan"):
        replace(measured, conditions=(np.nan, *SHARES[1:]))
    with refuses("conditions"):
        replace(measured, conditions=tuple("abcdefg"))
    with refuses("conditions"):
        replace(measured, conditions=None)
    with refuses(f"parts[{IT!r}]", "type"):
        replace(measured, parts={IT: (parts.total, parts.aleatoric, parts.epistemic)})


# -- ROC-AUC of both estimates for classes left out --------------------------------------------------------------------


def test_detection_against_scikit_learn():
    study = made_study("perfect", n_runs=3)
    found = study.detection(IT)
    measured = study.measured["left-out-class"]
    auc = np.array(
        [
            [roc_auc_score(measured.labels[r, k] == k, measured.parts[IT].epistemic[r, k]) for k in range(3)]
            for r in range(3)
        ]
    )
    np.testing.assert_allclose(found.epistemic, auc)
    assert float(found.epistemic_mean) == pytest.approx(auc.mean())
    assert float(found.difference) == pytest.approx(auc.mean() - float(found.aleatoric_mean))
    assert float(found.of_class(1, "epistemic")) == pytest.approx(auc[:, 1].mean())
    means = {r["kind"]: r["estimate"] for r in study.rows("detection") if r["left_out"] is None}
    assert means == {"aleatoric": float(found.aleatoric_mean), "epistemic": float(found.epistemic_mean)}


def test_a_class_without_test_instances_is_nan_and_noted():
    study = made_study("perfect", n_runs=2)
    measured = study.measured["left-out-class"]
    labels = np.where(measured.labels == 2, 0, measured.labels)
    study = replace(study, measured={"left-out-class": replace(measured, labels=labels)})
    found = study.detection(IT)
    assert np.isnan(found.epistemic[:, 2]).all()
    assert float(found.epistemic_mean) == pytest.approx(found.epistemic[:, :2].mean())
    assert [(note.code, note.facts["classes"]) for note in found.notes] == [("left-out", ["virginica"])]
    assert np.isnan(found.of_class(2, "epistemic"))


def test_no_class_with_test_instances_at_all():
    study = made_study("perfect", n_runs=2)
    measured = study.measured["left-out-class"]
    study = replace(study, measured={"left-out-class": replace(measured, labels=np.zeros_like(measured.labels))})
    found = study.detection(IT)
    assert np.isnan([found.aleatoric_mean, found.epistemic_mean, found.difference]).all()
    assert found.epistemic_mean.notes[0].code == "undefined"


# -- Trend, correlations and sources of doubt from the runs of a study: what the sentences may claim -------------------


BY = "information-theoretic"


def family_study(noticed, n_runs=8, n=300, seed=4, labels=None, shares=TRAINING_SHARES):
    """A study of the simulated family; the aleatoric estimate follows the epistemic one closely."""
    rng = np.random.default_rng(seed)
    family = Family(rng, n)
    probs = family.probs(rng, n_runs)[:, : len(shares)]
    epistemic = family.estimate(rng, n_runs, noticed)[:, : len(shares)]
    if labels is None:
        labels = np.broadcast_to((rng.random(n) < family.truth).astype(int), epistemic.shape)
    aleatoric = epistemic * np.exp(0.05 * rng.standard_normal(epistemic.shape))
    parts = Decomposition(aleatoric + epistemic, aleatoric, epistemic)
    measured = Measured(tuple(shares), labels, probs, {BY: parts})
    return DisentanglementStudy("made up", "plane", tuple(range(n_runs)), ("a", "b"), {"dataset-size": measured})


def test_a_method_that_notices_the_seed_alone():
    found = disentanglement_behaviour(family_study(("seed",)), BY)
    text = " ".join(found.sentences)
    assert "The epistemic estimate is higher where another seed changes the prediction more (correlation" in text
    assert "98.3 % interval" in text
    assert "These runs do not show that it follows few data or the bias of the family." in text
    assert "nearly one" in text
    assert found.rows("doubts")[0]["source"] == "spread"
    assert {row["first"] for row in found.rows("correlations")} == {f"{BY} total", f"{BY} aleatoric"}
    assert found.notes == ()


def test_falling_and_rising_trends():
    falls = disentanglement_behaviour(family_study(("few-data",)), BY)
    assert "Epistemic uncertainty falls with more training data: mean Kendall's τ −" in falls.sentences[0]
    assert falls.trend.pvalue_falls == 2.0**-8
    study = made_study("reversed")
    rises = disentanglement_behaviour(study, BY)
    assert "rises with more training data, though it should fall" in rises.sentences[0]
    assert "an epistemic uncertainty hole" in rises.sentences[1]
    assert [row["start"] for row in rises.rows("trend")] == list(study.experiment("dataset-size").conditions[:-1])


def test_jitter_supports_no_claim():
    found = disentanglement_behaviour(made_study("jitter", seed=4), BY)
    assert found.sentences[0].startswith("These runs do not show that epistemic uncertainty falls")
    assert not any("hole" in text for text in found.sentences)


def test_few_runs_cannot_show_a_trend():
    found = disentanglement_behaviour(made_study("perfect", n_runs=2), BY)
    assert found.sentences[0].startswith("2 runs cannot show whether")
    assert found.doubts is None
    assert "2 runs of the 3 needed" in said(found)


def test_runs_on_different_test_labels_have_no_sources():
    study = family_study(("seed",), n=40)
    labels = study.measured["dataset-size"].labels.copy()
    labels[1] = 1 - labels[1]
    found = disentanglement_behaviour(family_study(("seed",), n=40, labels=labels), BY)
    assert found.doubts is None
    assert found.trend is not None
    assert "different test labels" in said(found)
    assert found.rows("doubts") == []


def test_without_the_dataset_size_experiment():
    study = made_study("perfect", without=("dataset-size",))
    found = disentanglement_behaviour(study, BY)
    assert found.trend is None
    assert found.doubts is None
    assert codes(found)[0] == "left-out"
    assert found.correlations is None or found.correlations.names
    only_out = made_study("perfect", without=("dataset-size", "label-noise"))
    assert "need a condition with all cases" in said(disentanglement_behaviour(only_out, BY))


def test_estimates_with_the_same_numbers_count_once():
    study = family_study(("seed",), n=40)
    measured = study.measured["dataset-size"]
    twice = replace(measured, parts={BY: measured.parts[BY], "log": measured.parts[BY]})
    found, note = study_correlations(replace(study, measured={"dataset-size": twice}))
    assert found.names == (f"{BY} total", f"{BY} aleatoric", f"{BY} epistemic")
    assert note.facts["names"] == ["log total", "log aleatoric", "log epistemic"]


def test_shares_without_one_and_one_share():
    study = family_study(("few-data", "seed"), shares=TRAINING_SHARES[:3])
    found = disentanglement_behaviour(study, BY)
    assert "another seed" not in " ".join(found.sentences)
    assert found.correlations is None
    single = disentanglement_behaviour(family_study(("seed",), shares=TRAINING_SHARES[:1]), BY)
    assert single.trend is None
    assert "no trend" in said(single)


def test_refusals():
    study = made_study("perfect")
    with refuses("decomposition", "choice"):
        disentanglement_behaviour(study, "variance")
    with refuses("name", "choice"):
        disentanglement_behaviour(study, BY).rows("curves")


@pytest.mark.parametrize("n_runs", [1, 3])
def test_few_runs_still_have_rows(n_runs):
    found = disentanglement_behaviour(family_study(("seed",), n_runs=n_runs, n=30), BY)
    assert len(found.rows("trend")) == len(TRAINING_SHARES) - 1
    assert bool(found.rows("doubts")) == (n_runs == 3)


# -- Conclusions of the experiments: each kind of behaviour is recognised, and jitter is not taken for one -------------


@pytest.mark.parametrize(
    ("kind", "target", "other"),
    [
        ("perfect", "follows", "unclear"),
        ("swapped", "unclear", "follows"),
        ("together", "follows", "follows"),
        ("constant", "flat", "flat"),
        ("reversed", "against", "unclear"),
    ],
)
def test_movements_of_made_up_studies(kind, target, other):
    for reading in read_experiments(made_study(kind, seed=3), IT):
        assert (reading.target.movement, reading.other.movement) == (target, other)
        assert (reading.target.ideal, reading.other.ideal) == (1, 0)
        assert reading.accuracy_moves


def test_equal_estimates_follow_equally_closely():
    for reading in read_experiments(made_study("together"), IT):
        assert reading.comparison == "as-closely"
        assert float(reading.difference) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("share", "expected"), [(0.02, "unclear"), (0.0, "less")])
def test_a_noisier_leak_is_compared_over_the_runs(share, expected):
    """Epistemic = aleatoric + noise: follows less closely, by the paired interval of the correlations."""
    rng = np.random.default_rng(1)
    study = made_study("together", n_runs=12)
    measured = study.measured["label-noise"]
    parts = measured.parts[IT]
    shape = parts.epistemic.shape[:2]
    noise = rng.normal(scale=0.12, size=(*shape, 1))
    aleatoric = parts.aleatoric + (rng.normal(scale=0.1, size=(*shape, 1)) if share else 0.0)
    parts = replace(parts, epistemic=parts.epistemic + noise, aleatoric=aleatoric)
    study = replace(study, measured={**study.measured, "label-noise": replace(measured, parts={IT: parts})})
    _, reading = read_experiments(study, IT)
    assert (reading.target.movement, reading.other.movement) == ("follows", "follows")
    assert reading.comparison == expected
    r = [term.per_run for term in study.error(IT).terms]
    same = mean_estimate(r[3] - r[2], level=joint_level(0.95))
    assert (reading.difference.low, reading.difference.high) == (same.low, same.high)


def test_a_single_run_claims_nothing():
    study = made_study("together", n_runs=1)
    for reading in read_experiments(study, IT):
        assert reading.target.movement == reading.other.movement == "single-run"
        assert reading.comparison == "unclear" or reading.comparison is None
    classes = read_classes(study, IT)
    assert set(classes.sides.values()) == {"single-run"}
    assert classes.better is None


def test_an_accuracy_that_does_not_move_is_noticed():
    study = made_study("perfect")
    measured = study.measured["label-noise"]
    still = replace(measured, probs=np.broadcast_to(measured.probs[:, :1], measured.probs.shape))
    _, reading = read_experiments(replace(study, measured={**study.measured, "label-noise": still}), IT)
    assert not reading.accuracy_moves


@pytest.mark.parametrize(
    ("kind", "sides", "better"),
    [
        ("perfect", ("unclear", "above"), "epistemic"),
        ("swapped", ("above", "unclear"), "aleatoric"),
        ("together", ("above", "above"), None),
    ],
)
def test_left_out_classes(kind, sides, better):
    reading = read_classes(made_study(kind, seed=6, n_runs=8), IT)
    assert (reading.sides["aleatoric"], reading.sides["epistemic"]) == sides
    assert reading.better == better


@pytest.mark.slow
def test_jitter_is_rarely_taken_for_a_movement():
    """At most 5 % of the readings of pure jitter claim anything, with 5 runs (measured: .02, .03 and .05 of 400)."""
    claims = np.zeros(3)
    n = 200
    for seed in range(n):
        study = made_study("jitter", seed=seed)
        for i, reading in enumerate(read_experiments(study, IT)):
            claims[i] += {reading.target.movement, reading.other.movement} != {"unclear"}
        classes = read_classes(study, IT)
        claims[2] += set(classes.sides.values()) != {"unclear"} or classes.better is not None
    assert (claims / n <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)).all()
    assert claims.sum() > 0


def test_strong_movements_are_found_by_five_runs():
    found = [
        [reading.target.movement for reading in read_experiments(made_study("perfect", seed=seed, jitter=0.02), IT)]
        for seed in range(20)
    ]
    assert np.mean(np.array(found) == "follows") == 1


def with_conditions(study, places):
    """The same study with some of its conditions, in this order."""
    kept = {}
    for name, m in study.measured.items():
        parts = {k: type(d)(*(p[:, places] for p in (d.total, d.aleatoric, d.epistemic))) for k, d in m.parts.items()}
        kept[name] = Measured(tuple(np.array(m.conditions)[places]), m.labels[:, places], m.probs[:, places], parts)
    return replace(study, measured=kept)


@pytest.mark.parametrize(("n_runs", "movement"), [(2, "unclear"), (6, "unclear"), (7, "follows")])
def test_two_conditions_need_seven_runs(n_runs, movement):
    """r is ±1: two runs of jitter agree in half of all studies, seven in 2^-6 = 1.6 %."""
    for reading in read_experiments(with_conditions(made_study("together", n_runs=n_runs), [0, -1]), IT):
        assert reading.target.movement == reading.other.movement == movement
        assert reading.comparison is None


def test_order_of_the_conditions_does_not_matter():
    study = made_study("perfect", without=("left-out-class",))
    back = with_conditions(study, list(range(6, -1, -1)))
    first = with_conditions(study, list(range(7)))
    for reading, turned in zip(read_experiments(first, IT), read_experiments(back, IT), strict=True):
        assert turned.accuracy_moves == reading.accuracy_moves
        assert float(turned.accuracy_change) == float(reading.accuracy_change)
        assert turned.target.movement == reading.target.movement


def test_intervals_of_two_runs_stay_among_the_possible_values():
    seen = set()
    for seed in range(6):
        study = made_study("jitter", n_runs=2, n=12, seed=seed)
        for reading in read_experiments(study, IT):
            assert reading.accuracy_change.low >= -1
            assert reading.accuracy_change.high <= 1
        classes = read_classes(study, IT)
        for estimate, low in ((classes.aleatoric, 0), (classes.epistemic, 0), (classes.difference, -1)):
            assert low <= estimate.low <= estimate.high <= 1
            seen |= set(codes(estimate))
    assert "edge" in seen


def test_two_runs_with_the_same_roc_auc_by_chance_claim_nothing():
    study = made_study("jitter", n_runs=2, n=9)
    reading = read_classes(study, IT)
    equal = [one for one in (reading.aleatoric, reading.epistemic) if one.low == one.high]
    assert equal, "a study where chance made both runs equal"
    assert float(equal[0]) != 0.5
    assert set(reading.sides.values()) == {"unclear"}


# -- Ranking by the disentanglement error: order, paired and unpaired tests, error rates, JSON -------------------------


def contender(kind, label="", **options):
    return Contender(label or kind, made_study(kind, **options), IT)


def test_best_first_and_differences_against_scipy():
    rows = rank_disentanglement([contender(kind, seed=i) for i, kind in enumerate(("jitter", "perfect", "together"))])
    assert [row.contender.label for row in rows] == ["perfect", "together", "jitter"]
    assert [row.rank for row in rows] == [1, 2, 3]
    best = rows[0].found.per_run
    tests = [stats.ttest_rel(row.found.per_run, best) for row in rows[1:]]
    assert [row.pvalue for row in rows[1:]] == pytest.approx([test.pvalue for test in tests])
    adjusted = np.minimum(1, 1.5 * holm([test.pvalue for test in tests]))
    assert [row.pvalue_adjusted for row in rows[1:]] == pytest.approx(adjusted.tolist())
    assert float(rows[1].difference) == pytest.approx((rows[1].found.per_run - best).mean())
    assert rows[0].difference is None
    assert not rows[0].told_apart()
    assert all(row.paired for row in rows[1:])


def test_runs_are_paired_by_their_seeds():
    one, other = made_study("perfect"), made_study("together", jitter=0.1)
    order = [3, 0, 4, 1, 2]
    turned = type(other)(
        other.method,
        other.dataset,
        tuple(other.seeds[i] for i in order),
        other.class_names,
        {
            name: type(m)(
                m.conditions,
                m.labels[order],
                m.probs[order],
                {key: type(d)(d.total[order], d.aleatoric[order], d.epistemic[order]) for key, d in m.parts.items()},
            )
            for name, m in other.measured.items()
        },
    )
    plain, shuffled = (
        rank_disentanglement([Contender("a", one, IT), Contender("b", study, IT)])[1] for study in (other, turned)
    )
    assert plain.paired
    assert shuffled.paired
    assert shuffled.pvalue == pytest.approx(plain.pvalue)


def test_other_seeds_are_compared_by_welch():
    rows = rank_disentanglement([contender("perfect"), contender("jitter", n_runs=7, first_seed=50, seed=1)])
    test = stats.ttest_ind(rows[1].found.per_run, rows[0].found.per_run, equal_var=False)
    assert rows[1].pvalue == pytest.approx(test.pvalue)
    assert (rows[1].difference.low, rows[1].difference.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert rows[1].paired is False
    assert "method" in codes(rows[1])


@pytest.mark.parametrize(("first", "second"), [(1, 5), (1, 1)])
def test_too_few_runs_for_a_test(first, second):
    rows = rank_disentanglement([contender("perfect", n_runs=first), contender("jitter", n_runs=second, first_seed=9)])
    assert np.isnan([rows[1].pvalue, rows[1].pvalue_adjusted, rows[1].difference.low]).all()
    assert "no-test" in codes(rows[1])
    assert not rows[1].told_apart()


def test_equal_errors_in_all_runs_have_no_test():
    rows = rank_disentanglement([contender("constant"), contender("together", "b")])
    assert float(rows[1].difference) == pytest.approx(0, abs=1e-12)
    assert not rows[1].told_apart()


def test_contenders_without_an_error_come_last_and_say_why():
    rows = rank_disentanglement([contender("jitter", "half", without=("dataset-size",)), contender("perfect")])
    assert [row.rank for row in rows] == [1, None]
    assert codes(rows[1]) == ["undefined"]
    assert rows[1].notes[0].facts["missing"] == ["dataset-size"]
    assert rows[1].found is None


def test_data_sets_are_ranked_apart():
    rows = rank_disentanglement(
        [contender("jitter", dataset="b"), contender("perfect", dataset="a"), contender("together", dataset="b")]
    )
    assert [(row.contender.study.dataset, row.rank) for row in rows] == [("b", 1), ("b", 2), ("a", 1)]
    assert list(by_dataset([row.contender for row in rows])) == ["b", "a"]


def test_rows_are_strict_json():
    rows = rank_disentanglement([contender("perfect"), contender("jitter", seed=2), contender("constant", n_runs=1)])
    values = [json.loads(json.dumps(row.to_dict(), allow_nan=False)) for row in rows]
    assert values[0]["label"] == "perfect"
    assert values[0]["pvalue_below_chance"] < 0.01
    assert values[0]["pvalue_names"] == pytest.approx(1 / 32)
    assert len(values[0]["terms"]) == 4
    assert {"floor", "together", "chance", "pooled", "error_low"} <= set(values[0])


def test_one_contender_for_each_decomposition():
    study = made_study("perfect", "forest", decomposition="variance")
    (one,) = contenders_of(study)
    assert (one.label, one.decomposition) == ("forest, variance", "variance")
    assert contenders_of(study, decompositions=()) == ()


def test_refusals_of_ranking():
    with refuses("contenders", "empty"):
        rank_disentanglement([])
    with refuses("contenders", "duplicate", got="'a'"):
        rank_disentanglement([contender("perfect", "a"), contender("jitter", "a")])
    with refuses("decomposition", "choice", got="variance"):
        Contender("a", made_study("perfect"), "variance")


@pytest.mark.slow
@pytest.mark.parametrize("first_seed", [0, 100], ids=["paired", "welch"])
def test_equal_contenders_are_rarely_told_from_the_best(first_seed):
    """Six contenders of pure jitter, 5 runs each: any false claim in at most 5 % of the rankings."""
    n, wrong = 60, 0  # a rate of .27 exceeds the bound with probability .99
    for seed in range(n):
        field = [
            contender("jitter", str(i), seed=6 * seed + i, n=30, first_seed=i * first_seed, without=("left-out-class",))
            for i in range(6)
        ]
        wrong += any(row.told_apart() for row in rank_disentanglement(field))
    assert wrong / n <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)


def test_jitter_is_told_from_a_perfect_one_by_five_runs():
    told = [
        rank_disentanglement([contender("perfect", seed=2 * s), contender("jitter", seed=2 * s + 1)])[1].told_apart()
        for s in range(20)
    ]
    assert np.mean(told) >= 0.9


def test_a_study_is_no_contender():
    with refuses("contenders", "type"):
        rank_disentanglement([made_study("perfect", n_runs=2)])


def test_errors_are_computed_once_for_each_level():
    one = contender("perfect", n_runs=2)
    assert one.disentanglement() is one.disentanglement(level=0.95)
    assert one.disentanglement(level=0.9).error.level == 0.9


@pytest.mark.parametrize("label", ["", "  ", None, 3])
def test_labels_that_name_nobody(label):
    with refuses("label", "empty", got="got"):
        Contender(label, made_study("perfect"), IT)


# -- Findings of a study as rows and tables ----------------------------------------------------------------------------


def test_terms_are_rows_in_the_order_of_the_error():
    study = made_study("together")
    rows = study.rows("terms")
    assert [(r["experiment"], r["kind"], r["ideal"]) for r in rows] == [
        ("dataset-size", "aleatoric", 0),
        ("dataset-size", "epistemic", 1),
        ("label-noise", "aleatoric", 1),
        ("label-noise", "epistemic", 0),
    ]
    assert [r["deviation"] for r in rows] == pytest.approx([1, 0, 0, 1], abs=1e-9)
    (error,) = study.rows("errors")
    assert error["estimate"] == pytest.approx(np.mean([r["deviation"] for r in rows]))


def test_studies_without_some_experiments():
    only_noise = made_study("perfect", without=("dataset-size", "left-out-class"))
    assert {r["experiment"] for r in only_noise.rows("curves")} == {"label-noise"}
    assert only_noise.rows("errors") == only_noise.rows("terms") == only_noise.rows("detection") == []
    with refuses("experiment", "choice", got="dataset-size"):
        only_noise.error(IT)
    with refuses("experiment", "choice", got="label-noise"):
        only_noise.detection(IT)
    json.dumps(only_noise.to_json(), allow_nan=False)


def test_one_run_has_no_interval():
    study = made_study("perfect", n_runs=1)
    (row,) = study.rows("errors")
    assert np.isnan([row["low"], row["high"]]).all()
    assert np.isfinite(row["estimate"])
    json.dumps(study.to_json(), allow_nan=False)


def test_tables_have_columns_even_without_rows():
    study = made_study("perfect", n_runs=2, without=("dataset-size",))
    for name in ("curves", "errors", "terms", "detection"):
        table = study.table(name)
        assert len(table) == len(study.rows(name))
        assert {"method", "dataset", "decomposition"} <= set(table.columns)
    assert list(made_study("perfect", n_runs=2).table("terms").columns) == list(study.table("terms").columns)


# -- Sentences on the experiments and on the classes left out: each claims the conclusion of its reading, and no mo ----


KINDS = ("total", "aleatoric", "epistemic")


def both(kind, **options):
    """The sentences of the dataset-size and of the label-noise experiment."""
    study = made_study(kind, **{"seed": 3, **options})
    return [" ".join(experiment_sentences(reading)) for reading in read_experiments(study, IT)]


def test_leaks_are_named_with_their_direction():
    size, noise = both("together")
    assert "epistemic uncertainty falls while the accuracy rises, as it should" in size
    assert "The aleatoric uncertainty, which should not move, falls as well" in size
    assert "The epistemic uncertainty, which should not move, rises as well" in noise
    assert "about as closely as the aleatoric uncertainty" in noise


def test_wrong_directions_are_named():
    size, noise = both("reversed")
    assert "epistemic uncertainty rises, the wrong direction: r = −1.00" in size
    assert "aleatoric uncertainty falls, the wrong direction" in noise


def test_flat_curves_are_named():
    size, noise = both("constant")
    assert "epistemic uncertainty stays constant in all runs, although it should fall" in size
    assert "The epistemic uncertainty stays constant, as it should" in noise


def test_jitter_claims_no_movement():
    for text in both("jitter"):
        assert text.count("5 runs do not show") == 2
        for claim in ("falls as well", "wrong direction", "as it should be", "stays constant"):
            assert claim not in text


def test_numbers_are_those_of_the_reading():
    study = made_study("swapped", seed=3)
    for reading in read_experiments(study, IT):
        text = " ".join(experiment_sentences(reading))
        r = reading.target.correlation
        assert f"r = {number(float(r), 2)} ({number(r.low, 2)} to {number(r.high, 2)})" in text


def test_an_accuracy_that_does_not_move_says_little():
    study = made_study("perfect")
    measured = study.measured["label-noise"]
    still = replace(measured, probs=np.broadcast_to(measured.probs[:, :1], measured.probs.shape))
    study = replace(study, measured={**study.measured, "label-noise": still})
    (text,) = experiment_sentences(read_experiments(study, IT)[1])
    assert "the accuracy is not shown to fall (change 0.0 percentage points), so" in text
    assert "as it should" not in text


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("perfect", "higher for classes left out of the training, as it should be"),
        ("swapped", "The aleatoric uncertainty reacts to these classes, which it should not"),
        ("swapped", "it separates them better than the epistemic one"),
        ("together", "which of the two separates them better cannot be told"),
        ("jitter", "8 runs do not show that the aleatoric uncertainty reacts to these classes"),
    ],
)
def test_classes_left_out(kind, said):
    assert said in " ".join(class_sentences(read_classes(made_study(kind, seed=6, n_runs=8), IT)))


def test_classes_without_test_instances():
    study = made_study("perfect", n_runs=3)
    measured = study.measured["left-out-class"]
    empty = replace(measured, labels=np.zeros_like(measured.labels))
    study = replace(study, measured={**study.measured, "left-out-class": empty})
    (text,) = class_sentences(read_classes(study, IT))
    assert text.startswith("There is no ROC-AUC for the classes left out: ")


def test_a_change_of_accuracy_is_in_percentage_points():
    study = made_study("perfect")
    measured = study.measured["label-noise"]
    still = replace(measured, probs=np.broadcast_to(measured.probs[:, :1], measured.probs.shape).copy())
    still.probs[0, -1, :3] = np.roll(
        measured.probs[0, 0, :3], 1, axis=-1
    )  # at most 3 of 90 predictions of one run change
    reading = read_experiments(replace(study, measured={**study.measured, "label-noise": still}), IT)[1]
    change = reading.accuracy_change
    (text,) = experiment_sentences(reading)
    ends = f"{number(100 * change.low, 1)} to {number(100 * change.high, 1)}"
    assert f"(change {number(100 * float(change), 1)} percentage points, 95 % interval {ends})" in text
    assert "%)" not in text


def test_one_run_with_a_constant_accuracy_says_little():
    study = made_study("perfect", n_runs=1)
    measured = study.measured["dataset-size"]
    still = replace(measured, probs=np.broadcast_to(measured.probs[:, :1], measured.probs.shape))
    (text,) = experiment_sentences(
        read_experiments(replace(study, measured={**study.measured, "dataset-size": still}), IT)[0]
    )
    assert "the accuracy is not shown to rise (change 0.0 percentage points), so" in text
    assert "constant" not in text


def test_classes_that_the_means_do_not_hold_are_named():
    study = made_study("perfect", n_runs=3)
    measured = study.measured["left-out-class"]
    partly = replace(measured, labels=np.where(measured.labels == 2, 0, measured.labels))
    for n_runs, study_ in ((3, study), (1, made_study("perfect", n_runs=1))):
        given = replace(study_, measured={"left-out-class": replace(partly, **_first(partly, n_runs))})
        said = class_sentences(read_classes(given, IT))
        assert said[-1] == "Not in these means, for want of test cases: virginica."


def _first(measured, n_runs):
    parts = {IT: replace(measured.parts[IT], **{k: getattr(measured.parts[IT], k)[:n_runs] for k in KINDS})}
    return {"labels": measured.labels[:n_runs], "probs": measured.probs[:n_runs], "parts": parts}


# -- Sentences of the benchmark: each claims the conclusion of its reading, with its numbers, and no more --------------


HEAD = ["error", "95 % interval", "size ale", "size epi", "noise ale", "noise epi", "p to best"]


def made_contender(kind, label="", **options):
    return Contender(label or kind, made_study(kind, **{"seed": 3, **options}), IT)


def test_a_single_run_is_described_only():
    text = " ".join(contender_sentences(made_contender("together", n_runs=1)))
    assert text.count("in the only run") == 5
    assert "as it should:" not in text
    assert "1 run cannot show that the names" in text


def test_the_names_matter_or_are_not_shown_to():
    assert any("exchanged the error would be greater" in s for s in contender_sentences(made_contender("perfect")))
    said = " ".join(contender_sentences(made_contender("together")))
    assert "5 runs do not show that the names aleatoric and epistemic matter (p = 1.00)" in said
    few = " ".join(contender_sentences(made_contender("perfect", n_runs=4)))
    assert "4 runs cannot show" in few


def test_headline_names_the_best_and_those_told_apart():
    first, told, reference, chance, *leaks = disentanglement_sentences(
        [
            made_contender("jitter", seed=1),
            made_contender("perfect"),
            made_contender("together", seed=2),
        ]
    )
    assert first.startswith("perfect has the lowest disentanglement error, ")
    assert told.startswith("The runs tell it from together and jitter (p")
    assert "0.50" in reference
    assert "0.65" in reference
    assert chance.startswith("The error of perfect is below that of estimates unrelated to the accuracy (p < .001")
    assert leaks == [
        "Label noise also moves the epistemic uncertainty of together, which it should not.",
        "The amount of training data also moves the aleatoric uncertainty of together, which it should not.",
    ]


def test_headline_of_equals_tells_nobody_apart():
    said = disentanglement_sentences([made_contender("jitter", "a", seed=11), made_contender("jitter", "b", seed=12)])
    assert any(text.startswith("The runs cannot tell it from") for text in said)
    assert not any("tell it from" in text and "cannot" not in text for text in said)


def test_jitter_is_not_below_chance():
    said = disentanglement_sentences([made_contender("jitter", "a", seed=11), made_contender("swapped", "b", seed=12)])
    assert any(text.startswith("No error is shown to be below that of estimates unrelated") for text in said)
    both_below = disentanglement_sentences(
        [made_contender("perfect", "a", seed=11), made_contender("perfect", "b", seed=12)]
    )
    assert any(text.startswith("The errors of ") and "and" in text for text in both_below)


def test_one_contender_and_none_with_an_error():
    assert disentanglement_sentences([made_contender("perfect")])[0].startswith(
        "perfect has a disentanglement error of 0."
    )
    (only,) = disentanglement_sentences([made_contender("perfect", without=("label-noise",))])
    assert only == "No disentanglement error: it needs both experiments."


def test_unpaired_comparisons_are_said():
    said = " ".join(disentanglement_sentences([made_contender("perfect"), made_contender("jitter", first_seed=90)]))
    assert "compared as independent runs" in said


def test_data_sets_have_their_own_headlines():
    said = disentanglement_sentences(
        [made_contender("perfect", dataset="wine"), made_contender("jitter", dataset="digits")]
    )
    assert sum(text.startswith("On wine perfect") for text in said) == 1
    assert sum(text.startswith("On digits jitter") for text in said) == 1


def test_lines_hold_a_table_and_every_sentence():
    field = [
        made_contender("perfect"),
        made_contender("jitter"),
        made_contender("swapped", without=("dataset-size",)),
    ]
    lines = disentanglement_lines(field)
    assert re.split(r"\s{2,}", lines[0].strip()) == HEAD
    assert lines[1].startswith("  perfect")
    assert lines[3].split()[0] == "swapped"
    assert lines[3].count("–") == 7
    assert lines[4].split() == ["ideal", "0", "0", "1", "1", "0"]
    text = "\n".join(lines)
    for sentence in (*disentanglement_sentences(field), *legend_sentences()):
        assert sentence in text
    for one in field:
        assert all(sentence in text for sentence in contender_sentences(one))


def test_sentences_are_whole():
    kinds = ("perfect", "swapped", "together", "jitter", "constant", "reversed")
    for runs in (1, 4, 5):
        for kind in kinds:
            for text in contender_sentences(made_contender(kind, n_runs=runs)):
                assert re.fullmatch(r"[A-Z0-9].*[.]", text), text
                assert "nan" not in text
                assert "  " not in text
                assert "None" not in text


def test_marks_of_direction_in_labels_do_not_turn_the_text():
    for text in disentanglement_lines([made_contender("perfect", "x\u202ey")]):
        assert "\u202e" not in text


# -- Studies in folders: all of them comes back, and what does not fit is refused; see test_saved_folder ---------------


def test_saved_studies_come_back(tmp_path):
    study = replace(made_study("perfect", n_runs=2), facts={"members": 10, "seconds": 1.5})
    folder = study.save(tmp_path / "runs" / "study")
    again = DisentanglementStudy.load(folder)
    assert again.to_json() == study.to_json()
    assert again.rows("detection") == study.rows("detection")
    assert sorted(path.name for path in folder.iterdir()) == ["arrays.npz", "study.json"]
    assert made_study("jitter").save(folder) == folder  # a study is replaced by a study


@pytest.fixture
def kept(tmp_path):
    return made_study("perfect", n_runs=2, n=12).save(tmp_path / "study")


@pytest.mark.parametrize(
    ("change", "got"),
    [
        (lambda facts: facts.update(schema="uqassay.disentanglement-study/0"), "study/0"),
        (lambda facts: facts.pop("seeds"), "seeds is missing"),
        (lambda facts: facts.update(seeds=[1]), "1 seed"),
        (lambda facts: facts.update(measured=[]), "measured must be an object"),
        (lambda facts: facts.update(seeds=["a", "b"]), "'a'"),
        (lambda facts: facts.update(facts=[1]), "1"),
        (
            lambda facts: [one.update(conditions=[{}]) for one in facts["measured"].values()],
            "conditions/0 must be a number",
        ),
    ],
)
def test_damaged_folders_are_refused(kept, change, got):
    change_facts(kept, change)
    with refuses(str(kept), "unreadable", got=got, error=FileFormatError):
        DisentanglementStudy.load(kept)


def test_missing_arrays_are_refused(kept):
    change_arrays(kept, lambda arrays: arrays.pop("measured/dataset-size/labels"))
    with refuses(str(kept), "unreadable", got="measured/dataset-size/labels is missing", error=FileFormatError):
        DisentanglementStudy.load(kept)
