"""Every public figure function with results of some size, and the texts of a drawn figure that a reader could not read."""

from functools import cache
from unittest import mock

import numpy as np
from matplotlib.text import Text
from tests.calibration.second_order_worlds import Setting, draw
from tests.evidence.disentanglement_data import made_study as disentanglement_study
from tests.evidence.gain_data import made_study as gain_study
from tests.evidence.test_disentanglement import family_study

import uqassay as uq
from uqassay.calibration import second_order_test
from uqassay.evidence import compare_table, coverage_curve
from uqassay.evidence.disentanglement import disentanglement_behaviour
from uqassay.evidence.disentanglement_runs import Contender, rank_disentanglement
from uqassay.report import figures

IT = "information-theoretic"
SIZES = {"two models": (2, 2), "six models, 100 classes": (6, 100), "thirty models": (30, 4)}
MEASURE = "kuiper-confidence"
# functions that show the same for every size, and those to which thirty models are no more than six, or one of them
FIXED = {"plot_doubt_sources", "plot_epistemic_trend", "plot_expected_behaviour"}
ONE_MODEL = {
    *("plot_calibration_before_after", "plot_calibration_null", "plot_confidence", "plot_ensemble_weights"),
    *("plot_set_sizes", "plot_simplex", "plot_width_nonspecificity"),
}
AT_MOST_SIX = {
    *("plot_delay_curve", "plot_disentanglement_curves", "plot_disentanglement_ranking", "plot_disentanglement_terms"),
    *("plot_epistemic_map", "plot_estimate_correlations", "plot_expected_cost", "plot_gain_by_uncertainty"),
    *("plot_left_out_classes", "plot_second_order"),
}


def long_name(j):
    """A name of 80 characters that differs from the others at the end, in the middle, or at the beginning."""
    return (
        f"experiment of the second series, network with dropout in every layer, seed number {j:03d}"[-80:],
        f"run {j:02d} of the ensemble with forty members, trained on the whole training set, twice"[:80].ljust(80, "!"),
        f"{'residual network of depth fifty, ' * 2}member {j:03d}, fine-tuned twice"[:80].ljust(80, "!"),
    )[j % 3]


@cache
def models_of(size):
    n_models, k = SIZES[size]
    rng = np.random.default_rng(7)
    n = 120
    y = rng.integers(k, size=n)
    signal = np.log(0.25 + 8.0 * np.eye(k)[y] * rng.random((n, 1)))
    models, ids = {}, [f"patient-of-the-hospital-in-the-north-{i:05d}" for i in range(n)]
    for j in range(n_models):
        noise = rng.normal(scale=0.5, size=(n, 3 if j % 3 else 1, k)) + rng.normal(scale=0.4 + 0.02 * j, size=(n, 1, k))
        e = np.exp(signal[:, None] + noise)
        probs = e / e.sum(axis=-1, keepdims=True)
        models[long_name(j)] = uq.Members(probs, ids=ids) if j % 3 else uq.Point(probs[:, 0], ids=ids)
    return models, y


@cache
def assay_of(size, members=None):
    models, y = models_of(size)
    more = {} if members is None else {"common_members": members}
    names = [f"class {'c' * 60} {c}" for c in range(SIZES[size][1])]
    calibration = (MEASURE,) if members is None else ()
    return uq.assay(models, y, n_draws=20, calibration=calibration, class_names=names, **more)


@cache
def results_of(size):
    """Results beyond an assay that differ from size to size."""
    values = np.random.default_rng(2).normal(size=(25, SIZES[size][0])) + 0.3 * np.arange(SIZES[size][0])
    points, y = models_of(size)
    sets = [p for p in points.values() if isinstance(p, uq.Members)][: min(SIZES[size][0], 6) // 2]
    names = [long_name(j) for j in range(SIZES[size][0])]
    return {
        "compared": compare_table(values, models=names, greater_is_better=False),
        "curves": {names[j]: coverage_curve(y, p, scales=(0.5, 2)) for j, p in enumerate(sets)},
    }


@cache
def studies_of(n):
    """Results beyond an assay, for each name one of two or six."""
    names = [long_name(j) for j in range(n)]
    votes, stated, _ = draw(Setting("even", n=120, votes=5), np.random.default_rng(0))
    classes = tuple(f"{'species of the northern islands ' * 3}{c}" for c in range(3 if n < 6 else 24))
    kinds = ("jitter", "perfect", "together")
    contenders = [
        Contender(name, disentanglement_study(kinds[j % 3], name, seed=j, n=72, names=classes), IT)
        for j, name in enumerate(names)
    ]
    gains = [gain_study("calibrated", name, seed=j, n=200, truth=True).result(bins=8) for j, name in enumerate(names)]
    tests = dict.fromkeys(names, second_order_test(votes, stated, buckets=6))
    many = np.random.default_rng(1).random((2 if n < 6 else 20, 1, 30))
    correlations = uq.metrics.estimate_correlations({long_name(j): values for j, values in enumerate(many)})
    risky = np.random.default_rng(3).random((n, 200))
    costs = {
        name: uq.metrics.expected_cost_curve(one > 0.9, one, prices=[0.05, 0.2])
        for name, one in zip(names, risky, strict=True)
    }
    return {
        "costs": costs,
        "contenders": contenders,
        "ranked": rank_disentanglement(contenders),
        "gains": gains,
        "tests": tests,
        "correlations": correlations,
    }


@cache
def behaviour():
    return disentanglement_behaviour(family_study(("seed", "few-data"), n_runs=4, n=60), IT)


def drawings(size):
    """A call for every public function: it takes `width` and returns the axes."""
    a, s = assay_of(size), studies_of(min(SIZES[size][0], 6)) | results_of(size)
    names = a.model_names
    members = {m: assay_of(size, m) for m in (2, 3)}
    ensemble = names[1]
    worded = models_of(size)[0][ensemble]
    k = SIZES[size][1]
    label = [f"class {'c' * 60} {c}" for c in range(k)]

    def of(draw, *args, **more):
        return lambda width: draw(*args, width=width, **more)

    return {
        "plot_by_correctness": of(figures.plot_by_correctness, a, "unified"),
        "plot_calibration_before_after": of(figures.plot_calibration_before_after, a, ensemble),
        "plot_calibration_null": of(figures.plot_calibration_null, a, ensemble),
        "plot_calibration_tests": of(figures.plot_calibration_tests, a),
        "plot_confidence": of(figures.plot_confidence, a, ensemble),
        "plot_coverage_curve": of(figures.plot_coverage_curve, s["curves"]),
        "plot_critical_difference": of(figures.plot_critical_difference, s["compared"]),
        "plot_delay_curve": of(figures.plot_delay_curve, s["gains"]),
        "plot_disentanglement_curves": of(figures.plot_disentanglement_curves, s["contenders"][1], "dataset-size"),
        "plot_disentanglement_ranking": of(figures.plot_disentanglement_ranking, s["ranked"]),
        "plot_disentanglement_terms": of(figures.plot_disentanglement_terms, s["contenders"][1]),
        "plot_distance_nonspecificity": of(figures.plot_distance_nonspecificity, a),
        "plot_doubt_sources": of(figures.plot_doubt_sources, behaviour().doubts),
        "plot_ensemble_weights": of(figures.plot_ensemble_weights, a, ensemble),
        "plot_epistemic_map": of(figures.plot_epistemic_map, s["gains"][0]),
        "plot_epistemic_trend": of(figures.plot_epistemic_trend, behaviour().trend),
        "plot_estimate_correlations": of(figures.plot_estimate_correlations, s["correlations"]),
        "plot_expected_behaviour": of(figures.plot_expected_behaviour, "label-noise"),
        "plot_expected_cost": of(figures.plot_expected_cost, s["costs"]),
        "plot_gain_by_uncertainty": of(figures.plot_gain_by_uncertainty, s["gains"][0]),
        "plot_left_out_classes": of(figures.plot_left_out_classes, s["contenders"][1]),
        "plot_members": of(figures.plot_members, members),
        "plot_mistake_ranking": of(figures.plot_mistake_ranking, a),
        "plot_rank_sets": of(figures.plot_rank_sets, a),
        "plot_ranking": of(figures.plot_ranking, a),
        "plot_ranking_comparisons": of(figures.plot_ranking_comparisons, a),
        "plot_reliability": of(figures.plot_reliability, a),
        "plot_risk_coverage": of(figures.plot_risk_coverage, a),
        "plot_second_order": of(figures.plot_second_order, s["tests"]),
        "plot_set_sizes": of(figures.plot_set_sizes, a, ensemble, rows=a.sets[ensemble].rows[:20]),
        "plot_simplex": of(figures.plot_simplex, worded, 3, label=label[0], names=label),
        "plot_top_group": of(figures.plot_top_group, a, tradeoffs=np.linspace(0.0, 1.0, 7)),
        "plot_tradeoff": of(figures.plot_tradeoff, a),
        "plot_width_nonspecificity": of(figures.plot_width_nonspecificity, a, ensemble),
        "plot_win_shares": of(figures.plot_win_shares, a),
    }


def ways(name):
    """Sizes and widths in which a function is drawn: all, but two models are drawn in a column alone, which is narrower."""
    two, six, thirty = SIZES
    if name in FIXED:
        return [(two, "column"), (two, "text")]
    more = [six] if name in ONE_MODEL | AT_MOST_SIX else [six, thirty]
    return [(two, "column"), *((size, width) for size in more for width in ("column", "text"))]


# -- what a reader could not read -----------------------------------------------------------------------------------------


def unreadable(figure):
    """Texts that are too small, outside the figure, on another text, or legends on the data; one line for each."""
    shown = drawn_texts(figure)
    boxes = [(t, t.get_window_extent()) for t in shown]
    found = [f"{t.get_fontsize():.1f} points: {t.get_text()!r}" for t in shown if t.get_fontsize() < 7.0]
    room = figure.bbox
    for t, box in boxes:
        if box.x0 < room.x0 - 1 or box.x1 > room.x1 + 1 or box.y0 < room.y0 - 1 or box.y1 > room.y1 + 1:
            found.append(f"outside: {t.get_text()!r}")
    for i, (t, box) in enumerate(boxes):
        for other, rival in boxes[:i]:
            if _overlap(box, rival) and not (_turned(t) and _turned(other)):
                found.append(f"on one another: {t.get_text()!r}, {other.get_text()!r}")
    for ax in figure.axes:
        if (legend := ax.get_legend()) is not None:
            place, inner = legend.get_window_extent(), ax.get_window_extent()
            if _overlap(place, inner):
                found.append("legend on the data")
    for ax in (one for one in figure.axes if one.get_label() != "<colorbar>"):
        if min(ax.get_window_extent().width, ax.get_window_extent().height) < 0.3 * figure.dpi:
            found.append("no room for the data")
    return found


def drawn_texts(figure):
    """Texts that a renderer was given: tick labels outside the axes are not."""
    found, draw = [], Text.draw

    def recording(text, renderer):
        if text.get_visible() and text.get_text().strip():
            found.append(text)
        draw(text, renderer)

    with mock.patch.object(Text, "draw", recording):
        figure.draw_without_rendering()
    return list(dict.fromkeys(found))


def _turned(text):
    return text.get_rotation() % 90 != 0  # boxes of such texts are larger than the texts


def _overlap(a, b, least=0.8):
    return min(a.x1, b.x1) - max(a.x0, b.x0) > least and min(a.y1, b.y1) - max(a.y0, b.y0) > least
