"""Class frequencies that leave out the instance or its group, counted one by one, and what is told from them."""

import numpy as np
import pytest
from tests.evidence.cases import judge

import uqassay as uq
from uqassay.evidence import baselines as prior_of_the_others
from uqassay.evidence.baselines import HELD_OUT, held_out_columns
from uqassay.evidence.scoring import Settings

LABELS = np.array([0, 2, 2, 1, 0, 2, 2, 0, 2])
GROUPS = np.array(["b", "a", "a", "c", "b", "c", "a", "b", "b"])
VOTES = np.random.default_rng(0).dirichlet(np.ones(3), 9)


def counted(labels, groups, i):
    """Frequencies (K,) of the instances outside the group of i, half an instance added to each class."""
    codes = np.arange(len(labels)) if groups is None else groups
    counts = np.full(3, 0.5)
    for j in range(len(labels)):
        if codes[j] != codes[i]:
            counts += np.eye(3)[labels[j]] if labels.ndim == 1 else labels[j]
    return counts / counts.sum()


@pytest.mark.parametrize("groups", [None, GROUPS])
@pytest.mark.parametrize("labels", [LABELS, VOTES], ids=["labels", "votes"])
@pytest.mark.parametrize("cells", [1, 12, 1000])
def test_against_counts_one_by_one(labels, groups, cells, monkeypatch):
    monkeypatch.setattr(prior_of_the_others, "CELLS", cells)
    found = held_out_columns(labels, 3, groups, Settings())
    assert set(found) == {f"held-out-{name}" for name in HELD_OUT}
    said = np.stack([counted(labels, groups, i) for i in range(9)])
    expected = uq.losses.unified_loss(labels, uq.Point(said))
    np.testing.assert_allclose(found["held-out-distance"][0], expected.distance, rtol=1e-12)
    np.testing.assert_array_equal(found["held-out-nonspecificity"][0], np.zeros(9))
    np.testing.assert_allclose(found["held-out-brier"][0], uq.losses.brier_loss(labels, uq.Point(said)), rtol=1e-12)
    np.testing.assert_allclose(found["held-out-log-loss"][0], uq.losses.log_loss(labels, uq.Point(said)), rtol=1e-12)


def many_classes(n=1000, k=100, seed=0):
    """Models that are a little better than the true frequencies, which those of the test labels beat by K/(2n)."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    logits = rng.normal(size=(n, k)) * 0.22
    logits[np.arange(n), y] += 0.22**2
    p = np.exp(logits)
    return {"m": uq.Point(p / p.sum(axis=1, keepdims=True))}, y


def test_a_model_is_told_from_the_frequencies_only_if_it_is_from_both():
    models, y = many_classes()
    a = judge(models, y, n_draws=10)
    rows = {r.model: r for r in a.ranked(1.0)}
    assert rows["class-prior"].estimate == pytest.approx(-np.log(np.bincount(y) / 1000)[y].mean(), rel=1e-12)
    assert rows["m"].below == ("class-prior",)  # of these labels
    assert rows["class-prior"].pvalue == 1.0
    assert rows["class-prior"].difference.low < 0 < rows["class-prior"].difference.high
    assert a.compare("m", "class-prior", tradeoff=1.0).pvalue == 1.0
    known = judge(models, y, n_draws=10, prior=np.full(100, 0.01))
    assert known.compare("m", "class-prior", tradeoff=1.0).pvalue < 1
    given = judge(models, y, n_draws=10, prior=np.bincount(y, minlength=100) / 1000)
    assert (
        given.compare("m", "class-prior", tradeoff=1.0).pvalue < 0.01
    )  # what the labels themselves would tell, falsely
    assert not any(name.startswith("held-out") for name in given["class-prior"].columns)


def test_with_few_classes_the_frequencies_are_told_as_before():
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=400)
    bad = uq.Point(rng.dirichlet(np.ones(3), 400))
    a = judge({"bad": bad}, y, n_draws=10, floor=1e-3)
    found = [c for c in a.claims() if c.kind == "baseline-better" and c.low == c.high and c.others == ("class-prior",)]
    given = judge({"bad": bad}, y, n_draws=10, floor=1e-3, prior=np.bincount(y) / 400)
    again = [
        c for c in given.claims() if c.kind == "baseline-better" and c.low == c.high and c.others == ("class-prior",)
    ]
    assert len(found) == len(again) == 1
    assert found[0].pvalue >= again[0].pvalue
    assert found[0].estimate.low <= again[0].estimate.low


def test_saved_assays_keep_them_and_tables_do_not_show_them(tmp_path):
    models, y = many_classes(n=200, k=10)
    a = judge(models, y, n_draws=10)
    again = uq.Assay.load(a.save(tmp_path / "a"))
    assert again.compare("m", "class-prior").pvalue == a.compare("m", "class-prior").pvalue
    assert not any("held-out" in key for key in a.rows("scores")[-1])
    assert not any("held-out" in key for key in a.scores().columns)
