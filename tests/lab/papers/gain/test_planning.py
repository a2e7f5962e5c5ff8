"""From options to runs and rows."""

import pytest
from tests.lab.bench.bench_work import store_result

from uqassay.lab.papers.gain.choices import DATASETS, chosen
from uqassay.lab.papers.gain.protocol import planned, slice_of
from uqassay.lab.papers.gain.trainings import run_world

GIVEN = {"preset": "cpu", "dataset": None, "method": None, "spread": None, "data": None}


def plans(runs=None, seed=0, **options):
    return planned(chosen(**{**GIVEN, **options}), runs, seed)


def test_every_method_runs_on_every_data_set_and_spread():
    found = plans(dataset=["toy", "digits"], method=["local-gp", "random-forest"], spread=[0.3, 0.2])
    assert [(one.label, one.method.name) for one in found] == [
        ("toy 0.3", "local-gp"),
        ("toy 0.3", "random-forest"),
        ("toy 0.2", "local-gp"),
        ("toy 0.2", "random-forest"),
        ("digits", "local-gp"),
        ("digits", "random-forest"),
    ]


def test_a_share_is_part_of_the_label_and_of_the_key():
    usual, *asked = (
        plans(spread=0.3, **options)[0] for options in ({}, {"train_share": 0.05}, {"train_share": "random"})
    )
    assert [one.label for one in (usual, *asked)] == ["toy 0.3", "toy 0.3, p = 0.05", "toy 0.3, p = random"]
    assert len({one.cells[0].key for one in (usual, *asked)}) == 3


def test_runs_and_seeds():
    (one,) = plans(runs=3, seed=5, spread=0.3, method="local-gp")
    assert one.seeds == (5, 6, 7)
    assert [cell.seed for cell in one.cells] == [5, 6, 7]
    assert slice_of(DATASETS["toy"], "cpu", None).runs == 6


def test_more_runs_contain_the_fewer():
    few, many = (plans(runs=runs, spread=0.3)[0].cells for runs in (2, 4))
    assert [cell.key for cell in few] == [cell.key for cell in many[:2]]


@pytest.mark.parametrize(("method", "preset", "compared"), [("local-gp", "cpu", True), ("random-forest", "cpu", False)])
def test_only_the_classifier_of_the_paper_is_compared(method, preset, compared, tmp_path, monkeypatch, needs):
    needs("sklearn")
    (one,) = plans(runs=2, method=method, spread=0.25, preset="smoke")
    assert one.row(tmp_path) is None  # nothing has run
    (first, _) = one.cells
    store_result(tmp_path, first, run_world(first))
    found = one.row(tmp_path)
    assert (found.study.n_runs, found.compared) == (1, False)  # of a smoke run
    whole = plans(runs=2, method=method, spread=0.25, preset=preset)[0]
    stored = one.cells
    monkeypatch.setattr(type(whole), "cells", property(lambda self: stored))
    assert whole.row(tmp_path).compared is compared
