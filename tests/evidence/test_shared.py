"""Results that are computed once: what is kept, and that a copy computes again."""

import pickle

import numpy as np

import uqassay as uq
from uqassay.evidence.data import MOST, Shared


def test_each_result_is_computed_once_and_may_need_others():
    shared, calls = Shared(), []

    def of(n):
        calls.append(n)
        return 1 if n == 0 else n * shared.once(n - 1, lambda: of(n - 1))

    assert shared.once(5, lambda: of(5)) == shared.once(5, lambda: of(5)) == 120
    assert calls == [5, 4, 3, 2, 1, 0]


def test_none_is_a_result_and_the_oldest_go():
    shared = Shared()
    assert shared.once("nothing", lambda: None) is None
    assert shared.once("nothing", lambda: 1) is None
    for k in range(MOST):
        shared.once(k, lambda k=k: k)
    assert shared.once("nothing", lambda: 2) == 2  # had gone
    assert shared.once(MOST - 1, lambda: -1) == MOST - 1
    assert len(vars(shared)["_found"]) == MOST


def test_a_copy_begins_without_results():
    shared = Shared()
    shared.once("a", lambda: 1)
    assert pickle.loads(pickle.dumps(shared)).once("a", lambda: 2) == 2


def test_results_of_several_keys_are_computed_together_and_once():
    shared, asked = Shared(), []

    def squares(keys):
        asked.append(keys)
        return [k * k for k in keys]

    assert shared.each("square", [2, 3, 2], squares) == [4, 9, 4]
    assert shared.each("square", [3, 4], squares) == [9, 16]
    assert shared.each("square", [4], squares) == [16]
    assert asked == [[2, 3], [4]]
    assert shared.once(("square", 4), lambda: None) == 16
    assert shared.each("cube", [2], lambda keys: [k**3 for k in keys]) == [8]


def test_the_newest_result_of_a_question_is_noted():
    shared = Shared()
    assert shared.noted("ood") is None
    shared.note("ood", 1)
    shared.note("ood", 2)
    for k in range(MOST):
        shared.once(k, lambda k=k: k)
    assert shared.noted("ood") == 2
    assert pickle.loads(pickle.dumps(shared)).noted("ood") is None


def test_pairs_of_many_models_drive_nothing_out():
    rng = np.random.default_rng(0)
    models = {f"m{j}": uq.Members(rng.dirichlet(np.ones(3), (20, 2))) for j in range(40)}
    assay = uq.assay(models, rng.integers(0, 3, 20), calibration=(), measures=(), scales=(), n_draws=10)
    first = assay.rank_sets(0.5)
    assay.rank_sets(0.3)
    assert assay.rank_sets(0.5) is first
