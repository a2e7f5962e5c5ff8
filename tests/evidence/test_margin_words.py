"""Words of margins and detectable differences, in the verdict too: never "could be as good" where a margin is kept."""

import re

import numpy as np
import pytest

import uqassay as uq
from uqassay.evidence.sentences import could_have_shown, details, margin_sentences, within_margin
from uqassay.report.sentences import order_finding


def judged(shift, margin, n=900):
    rng = np.random.default_rng(1)
    p = rng.uniform(0.6, 0.9, n)
    a, b = (np.stack([v, 1 - v], axis=1) for v in (p, p - shift + rng.uniform(-0.1, 0.1, n)))
    y = (rng.random(n) < 0.2).astype(int)
    options = {"distance": "brier", "calibration": (), "scales": (), "n_draws": 20}
    return uq.assay({"a": uq.Point(a), "b": uq.Point(b)}, y, margin=margin, **options)


def lowest(assay):
    return next(text for text in details(assay) if "lowest Brier score, " in text)


def test_where_a_margin_is_kept_nothing_could_be_chance():
    a = judged(0.0, 0.05)
    rival = next(r.model for r in a.ranked(0.5) if r.rank == 2)
    assert f"; {rival} is no worse by more than 0.05 (p " in lowest(a)
    assert "could be as good" not in lowest(a)
    claims = [c for c in a.claims() if c.kind == "no-worse"]
    assert [c.models for c in claims] == [(rival,)]
    assert claims[0].facts["margin"] == 0.05
    assert margin_sentences(a.ranked(0.5), a.settings)[0].startswith(f"{rival} is no worse by more than 0.05 (p ")


def test_where_it_is_not_the_detectable_difference_is_told():
    a = judged(0.0, 1e-6)
    assert "could be as good (p = " in lowest(a)
    assert "; a true difference of 0.0" in lowest(a)
    assert lowest(a).endswith(" would have been found 4 times in 5.")
    (said,) = margin_sentences(a.ranked(0.5), a.settings)
    assert said.startswith("True differences found 4 times in 5 in a test set like this: ")


def test_worse_by_less_than_the_margin():
    a = judged(0.04, 0.05, n=3000)
    assert next(r for r in a.ranked(0.5) if r.rank == 2).pvalue_adjusted <= 0.05
    (said,) = [text for text in details(a) if text.startswith("Worse than a: b by ")]
    assert "; b is no worse by more than 0.05 (p " in said
    finding = order_finding(a, 0.5)  # what was asked is answered where the page begins, too
    assert re.search(
        r", the best of the 2 models; b is no worse by more than 0\.05 \(p [^)]*adjusted for all models\)", finding
    )


def test_an_unbounded_loss_shows_nothing():
    text = could_have_shown([np.inf, np.nan])
    assert text == "no difference could have been found"
    assert could_have_shown([np.nan, 0.0]) == ""
    assert could_have_shown([0.01, np.inf]) == "at best a true difference of 0.010 would have been found 4 times in 5"


def test_many_names_are_counted():
    assert within_margin(list("abcde"), 0.5, [0.01] * 5).startswith(
        "a, b, c and 2 others are no worse by more than 0.5"
    )


@pytest.mark.parametrize("margin", [0, -0.1, np.inf, "0.1"])
def test_bad_margins_are_refused(margin):
    with pytest.raises(uq.InputError, match=r"^margin: must be a positive number"):
        uq.assay({"a": uq.Point([[0.9, 0.1]])}, [0], margin=margin)
