"""Few models take colours as given, many by their mean E."""

import numpy as np

import uqassay as uq
from uqassay.evidence.answer import N_COLOURS, colour_order
from uqassay.report.figures.frame import PALETTE, looks
from uqassay.report.page import payload


def assay_of(n_models):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    skill = rng.permutation(n_models) / n_models
    models = {f"m{j}": uq.Point(np.where(np.eye(2)[y] > 0, 0.5 + 0.4 * s, 0.5 - 0.4 * s)) for j, s in enumerate(skill)}
    return uq.assay(models, y, n_draws=5, calibration=(), measures=())


def test_few_models_keep_their_order():
    a = assay_of(N_COLOURS)
    assert colour_order(a) == a.model_names


def test_best_of_many_models_have_different_colours():
    a = assay_of(20)
    ranked = [r.model for r in a.ranked(0.5) if r.model in a.model_names]
    assert colour_order(a) == tuple(ranked) != a.model_names
    assert [looks(a)[name].colour for name in ranked[:N_COLOURS]] == list(PALETTE)


def test_page_has_the_same_order():
    a = assay_of(12)
    places = {m["name"]: m["colour"] for m in payload(a)["models"]}
    assert [places[name] for name in colour_order(a)] == list(range(12))
    assert places["vacuous"] is None
