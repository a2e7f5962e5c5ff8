"""Terms, ranking and left-out classes as pictures, against the numbers."""

import numpy as np
import pytest
from tests.evidence.disentanglement_data import made_study
from tests.refusals import refuses
from tests.report.figures.cases import blank, texts

from uqassay.evidence.disentanglement_runs import Contender, rank_disentanglement
from uqassay.metrics.disentanglement import expected_absolute_correlation
from uqassay.report.figures.studies import (
    MOST_CLASSES,
    plot_disentanglement_ranking,
    plot_disentanglement_terms,
    plot_left_out_classes,
    shown_classes,
)

IT = "information-theoretic"


def contender(kind, label="", **options):
    return Contender(label or kind, made_study(kind, **options), IT)


def test_bars_are_the_deviations():
    one = contender("perfect")
    ax = plot_disentanglement_terms(one, ax=blank())
    terms = one.disentanglement().terms
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([float(term.deviation) for term in terms])
    spans = [tuple(line.get_xdata()) for line in ax.lines if line.get_linestyle() == "-"]
    np.testing.assert_allclose(spans, [(term.deviation.low, term.deviation.high) for term in terms])
    dotted = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    assert dotted == pytest.approx([expected_absolute_correlation(7), expected_absolute_correlation(11)])
    assert len([text for text in texts(ax) if text.startswith("r = ")]) == 4


def test_bars_of_one_run_have_no_intervals():
    ax = plot_disentanglement_terms(contender("jitter", n_runs=1), ax=blank())
    assert not [line for line in ax.lines if line.get_linestyle() == "-"]


def test_ranking_against_the_rows():
    rows = rank_disentanglement([contender("jitter", seed=1), contender("perfect", seed=2), contender("constant")])
    ax = plot_disentanglement_ranking(rows, ax=blank())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["perfect", "constant", "jitter"]
    points = [line for line in ax.lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in points] == pytest.approx([float(row.found.error) for row in rows])
    filled = [line.get_markerfacecolor() == line.get_color() for line in points]
    assert filled == [not row.told_apart() for row in rows]
    found = rows[0].found
    lines = {line.get_xdata()[0] for line in ax.lines if line.get_linestyle() in (":", "-.", "--")}
    assert lines == {found.floor, found.together, found.chance}
    assert {"floor", "chance"} <= set(texts(ax))


def test_ranking_leaves_out_contenders_without_an_error():
    rows = rank_disentanglement([contender("jitter", without=("label-noise",)), contender("perfect")])
    ax = plot_disentanglement_ranking(rows, ax=blank())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["perfect"]


def test_ranking_refuses_nothing_and_several_data_sets():
    none = rank_disentanglement([contender("jitter", without=("label-noise",))])
    with refuses("ranked", "empty"):
        plot_disentanglement_ranking(none, ax=blank())
    two = rank_disentanglement([contender("jitter"), contender("perfect", dataset="other")])
    with refuses("ranked", "mismatch", got="2 data sets"):
        plot_disentanglement_ranking(two, ax=blank())


def test_left_out_classes_against_the_study():
    one = contender("perfect")
    ax = plot_left_out_classes(one, ax=blank())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["mean", "setosa", "versicolor", "virginica"]
    found = one.study.detection(IT)
    points = [line.get_xdata()[0] for line in ax.lines if line.get_marker() in ("o", "s")]
    expected = [
        value
        for kind in ("aleatoric", "epistemic")
        for value in (getattr(found, f"{kind}_mean"), *(found.of_class(k, kind) for k in range(3)))
    ]
    assert points == pytest.approx([float(value) for value in expected])


def test_of_many_classes_the_extremes_are_shown():
    one = contender("perfect", names=tuple(f"class {k}" for k in range(30)), n_runs=2)
    shown = shown_classes(one)
    means = one.study.detection(IT).epistemic.mean(axis=0)
    hidden = [k for k in range(30) if k not in shown]
    assert len(shown) == MOST_CLASSES
    assert min(means[list(shown)]) == min(means)
    assert max(means[list(shown)]) == max(means)
    middle = np.sort(means)[MOST_CLASSES // 2 : -(MOST_CLASSES // 2)]
    np.testing.assert_array_equal(np.sort(means[hidden]), middle)
    ax = plot_left_out_classes(one, ax=blank())
    assert len(ax.get_yticklabels()) == MOST_CLASSES + 1


def test_names_with_markup_are_plain():
    rows = rank_disentanglement([contender("perfect", "$x_1$"), contender("jitter", "_hidden", seed=1)])
    ax = plot_disentanglement_ranking(rows, ax=blank())
    assert [label.get_text() for label in ax.get_yticklabels()] == [r"\$x_1\$", " _hidden"]
