"""Models shared among threads, their tests among processes: every number of an assay is that of one thread and process."""

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction

import uqassay as uq
from uqassay import _workers
from uqassay.evidence import stream as scored_models
from uqassay.evidence.stream import valid_runs

N, K = 24, 3


@pytest.fixture(scope="module")
def models():
    """Every kind, several runs of two of them, and an array whose instances lie apart in memory."""
    g = np.random.default_rng(7)
    found = {kind: random_prediction(kind, g, N, K) for kind in KINDS}
    found["runs"] = [random_prediction("Members", g, N, K) for _ in range(2)]
    found["points"] = [random_prediction("Point", g, N, K) for _ in range(2)]
    found["apart"] = uq.Members(g.dirichlet(np.ones(K), (4, N)).transpose(1, 0, 2))
    return found, g.integers(K, size=N)


def judged(models, monkeypatch, processes, worth=1e-9, **options):
    """The assay on as many processes, or threads where work is not worth a process, and its models on as many threads."""
    monkeypatch.setenv(_workers.VARIABLE, str(processes))
    monkeypatch.setattr(scored_models, "available_cores", lambda: processes)
    monkeypatch.setattr(_workers, "WORTH_SECONDS", worth)
    said = []
    found = uq.assay(*models, n_draws=10, tradeoffs=[0.5], progress=said.append, **options)
    found.tests()
    return found, said


def same(one, other):
    """Equal to the last bit, in values, types and layout of whatever dataclasses, dicts and sequences hold."""
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if hasattr(one, "__dataclass_fields__"):
        return type(one) is type(other) and all(
            same(getattr(one, f), getattr(other, f)) for f in one.__dataclass_fields__
        )
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and repr(one) == repr(other)


GROUPS = {"groups": np.arange(N) // 4, "measures": ("margin",), "calibration": ()}


@pytest.mark.parametrize(
    "options", [{"calibration": ("ece-confidence",)}, {"convention": "paper", "calibration": ()}, GROUPS]
)
def test_numbers_do_not_depend_on_processes(models, monkeypatch, options):
    alone, said_alone = judged(models, monkeypatch, 1, **options)
    shared, said = judged(models, monkeypatch, 3, **options)
    for field in ("models", "calibration", "classwise_error", "scaled", "backward", "warnings", "sets"):
        assert same(getattr(alone, field), getattr(shared, field)), field
    assert sorted(said) == sorted(said_alone)


def test_measures_of_a_set_that_are_tested_apart_share_nothing(models, monkeypatch):
    predictions, y = models
    few, both = {"m": predictions["Members"]}, {"calibration": ("ece-classwise", "kuiper-confidence")}
    alone, said_alone = judged((few, y), monkeypatch, 1, **both)
    for worth in (1e-9, 1e9):  # processes, threads
        shared, said = judged((few, y), monkeypatch, 2, worth, **both)
        assert same(alone.calibration, shared.calibration)
        assert [stages.count("calibration of m") for stages in (said_alone, said)] == [1, 2]


def test_refusals_do_not_depend_on_processes(models, monkeypatch):
    predictions, y = models
    beliefs = {
        f"raw {i}": uq.Masses(
            [[0.8, 0.7, -0.5]] * N, np.eye(3, K, dtype=bool) | (np.arange(3) == 2)[:, None], signed=True
        )
        for i in (1, 2)
    }
    messages = []
    for processes in (1, 3):
        with pytest.raises(uq.errors.InputError) as problem:
            judged(({**predictions, **beliefs}, y), monkeypatch, processes, focal_sets=None)
        messages.append(str(problem.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize(("largest", "threads"), [(10, 1), (2**27, 3)])
def test_large_models_are_scored_one_after_another(models, monkeypatch, largest, threads):
    at_once = []

    def scored(call, calls, *, threads, progress):
        at_once.append(threads)
        return share(call, calls, threads=threads, progress=progress)

    share = scored_models.share_on_threads
    monkeypatch.setattr(scored_models, "LARGEST_SHARED", largest)
    monkeypatch.setattr(scored_models, "share_on_threads", scored)
    judged(models, monkeypatch, 3, calibration=())
    assert at_once == [threads, threads]  # scores, scale checks


def test_masses_are_repaired_where_the_convention_says_so():
    masses = uq.Masses([[0.8, 0.7, -0.5]], np.array([[1, 0], [0, 1], [1, 1]], dtype=bool), signed=True)
    assert valid_runs((masses,), "exact") == (masses,)
    (repaired,) = valid_runs((masses,), "paper")
    assert not repaired.signed
    assert repaired.masses.min() >= 0
