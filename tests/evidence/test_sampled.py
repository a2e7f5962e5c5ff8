"""Tests of calibration and of votes are made when they are asked for, once, with the same numbers whatever was asked before."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from tests.evidence.test_streaming import assert_same, fill_anew
from tests.kinds import KINDS, random_prediction

import uqassay as uq
from uqassay.calibration.mixtures import IN_GROUPS
from uqassay.evidence import calibration, sampled

N = 60
OPTIONS = {"n_draws": 20, "tradeoffs": (0.5,)}
WITHOUT_TESTS = {
    "in a notebook": lambda a: a._repr_html_(),
    "in a prompt": repr,
    "the ranking": lambda a: a.ranking().summary(),
    "the headline": lambda a: a.headline(),
    "the warnings": lambda a: a.warnings,
    "other numbers": lambda a: [a.rows(name) for name in ("ranking", "breakpoints", "mistakes", "sets", "subsets")[:4]],
    "a copy": lambda a: replace(a, tradeoffs=(0.7,)).ranked(),
    "the figure": lambda a: a.winners(),
}
WITH_TESTS = {
    "calibration": lambda a: a.calibration,
    "its table": lambda a: a.rows("calibration"),
    "votes": lambda a: a.votes,
    "findings": lambda a: a.rows("findings"),
    "claims": lambda a: a.claims(),
    "the verdict": lambda a: a.verdict(),
    "the summary": lambda a: a.summary(),
    "plain values": lambda a: a.to_json(),
    "another process": lambda a: pickle.loads(pickle.dumps(a)),
}


@pytest.fixture
def models(random_generator):
    p = random_generator.dirichlet(np.ones(3), (N, 4))
    return {"set": uq.Members(p), "point": uq.Point(p[:, 0])}, random_generator.integers(0, 3, N)


@pytest.fixture
def made(monkeypatch):
    """How often calibration was tested."""
    calls, tests = [], sampled.calibration_tests

    def counted(*arguments, **options):
        calls.append(1)
        return tests(*arguments, **options)

    monkeypatch.setattr(sampled, "calibration_tests", counted)
    return calls


@pytest.mark.parametrize("what", WITHOUT_TESTS)
def test_nothing_is_tested_for(what, models, made):
    a = uq.assay(*models, **OPTIONS)
    WITHOUT_TESTS[what](a)
    assert made == []


@pytest.mark.parametrize("what", WITH_TESTS)
def test_calibration_is_tested_once_for(what, models, made):
    a = uq.assay(*models, **OPTIONS)
    for _ in range(2):
        WITH_TESTS[what](a)
    assert len(a.calibration) == 4
    assert len(made) == 1


def test_copies_share_the_tests_and_saved_assays_have_them(models, made, tmp_path):
    a = uq.assay(*models, **OPTIONS)
    copy = replace(a, tradeoffs=(0.7,))
    kept = uq.Assay.load(copy.save(tmp_path / "kept"))
    assert copy.calibration is a.calibration
    assert [t.row() for t in kept.calibration] == [t.row() for t in a.calibration]
    assert len(made) == 1
    assert kept.provenance["seconds"] == a.provenance["seconds"]


@pytest.mark.parametrize("labels", ["classes", "votes"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_questions_changes_no_number(kind, labels, random_generator):
    p = random_prediction(kind, random_generator, N, 3)
    y = random_generator.integers(0, 3, N) if labels == "classes" else random_generator.integers(1, 5, (N, 3))
    first, last = uq.assay({"m": p}, y, **OPTIONS), uq.assay({"m": p}, y, **OPTIONS)
    first.tests()
    for ask in (*WITHOUT_TESTS.values(), lambda a: a.scale_check()):
        ask(last)
    assert first.warnings == last.warnings
    assert_same(replace(first), replace(last))  # copies without the results that were kept


def test_the_arrays_of_the_caller_may_be_filled_anew_before_the_tests(random_generator):
    p, y = random_generator.dirichlet(np.ones(3), (N, 4)), random_generator.integers(0, 3, N)
    first, last = uq.assay({"m": p}, y, **OPTIONS), uq.assay({"m": p}, y, **OPTIONS)
    first.tests()
    fill_anew(p, y)
    assert [t.row() for t in last.calibration] == [t.row() for t in first.calibration]


@pytest.mark.slow
@pytest.mark.parametrize("groups", [None, np.arange(N) // 3])
@pytest.mark.parametrize("kind", KINDS)
def test_warnings_foresee_what_the_tests_say(kind, groups, random_generator, monkeypatch):
    monkeypatch.setattr(calibration, "FEWEST", 20)
    monkeypatch.setattr(calibration, "SET_WORK", 1)
    monkeypatch.setattr(calibration, "MOST_VALUES", 150)
    models = {
        "m": [random_prediction(kind, random_generator, N, 3) for _ in range(2)],
        "k": uq.Point(np.full((N, 3), 1 / 3)),
    }
    measures = ("kuiper-confidence", "skce-uq")  # by signs of groups, and by all pairs
    given = {} if groups is None else {"groups": groups}
    a = uq.assay(models, random_generator.integers(0, 3, N), calibration=measures, **OPTIONS, **given)
    found = {note.code: note for note in a.warnings}
    tests = [t for t in a.calibration if t.tested != "nothing"]
    assert ("dependent-labels" in found) == any(IN_GROUPS in t.notes for t in tests)
    parts = {t.model: t.n_tested for t in tests if t.n_tested < N}
    assert parts
    assert found["calibration-sample"].facts == {"tested": parts, "instances": N}


def test_the_time_of_the_tests_counts(models, monkeypatch):
    a = uq.assay(*models, **OPTIONS)
    before = a.provenance["seconds"]
    moments = iter([10.0, 12.5])
    monkeypatch.setattr(sampled.time, "perf_counter", lambda: next(moments))
    a.tests()
    assert a.provenance["seconds"] == pytest.approx(before + 2.5)
    assert a.to_json()["provenance"]["seconds"] == a.provenance["seconds"]


def test_tests_that_fail_can_be_asked_for_again(models, monkeypatch):
    a = uq.assay(*models, **OPTIONS)
    with monkeypatch.context() as patched:
        patched.setattr(sampled, "calibration_tests", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            a.tests()
    assert len(a.calibration) == 4


def test_an_assay_keeps_no_more_of_the_predictions_than_the_tests_take(random_generator, monkeypatch):
    monkeypatch.setattr(calibration, "FEWEST", 10)
    monkeypatch.setattr(calibration, "SET_WORK", 1)
    p, y = random_generator.dirichlet(np.ones(3), (400, 4)), random_generator.integers(0, 3, 400)
    parts, of = [], sampled.TestedPart.of

    def noted(*arguments, **options):
        parts.append(of(*arguments, **options))
        return parts[-1]

    monkeypatch.setattr(sampled.TestedPart, "of", noted)
    a = uq.assay({"m": p}, y, **OPTIONS)
    stream = uq.AssayStream(**OPTIONS)
    for rows in (slice(0, 150), slice(150, 400)):
        stream.update({"m": p[rows]}, y[rows])
    stream.compute()
    assert [part.models["m"][0].n_instances for part in parts] == [10, 10]
    assert {t.n_tested for t in a.calibration} == {10}
