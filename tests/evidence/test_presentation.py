"""An assay shows itself: few lines with the headline, a summary, a page, a figure; it claims what the verdict claims."""

import sys
import webbrowser

import numpy as np
import pytest
from tests.evidence.cases import judge
from tests.shown_results import Reader, check_shown

import uqassay as uq
from uqassay.evidence.sentences import calibration_sentence

HOSTILE = ["<script>alert(1)</script>", "a|b_c $x$ & 5 %", "\\textbf{x} [y]"]


def squeezed(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def judged():
    g = np.random.default_rng(0)
    y = g.integers(0, 3, 300)
    z = 2 * np.eye(3)[y] + g.normal(size=(3, 300, 3))
    p = np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)
    return uq.assay({name: uq.Point(q) for name, q in zip(HOSTILE, p, strict=True)}, y, n_draws=50)


def test_repr_is_the_headline_in_a_few_lines(judged):
    shown = check_shown(judged, *HOSTILE)
    assert len(shown.splitlines()) <= 10
    assert "3 models" in shown
    assert "300 cases of 3 classes" in squeezed(shown)
    assert all(squeezed(sentence) in squeezed(shown) for sentence in judged.headline())


def test_names_of_usual_length_leave_eight_lines(all_kinds):
    models, y = all_kinds
    assert len(repr(judge(models, y, n_draws=20)).splitlines()) <= 8


def test_the_summary_tells_the_verdict_and_the_warnings(judged):
    told = squeezed(judged.summary())
    assert all(squeezed(sentence) in told for sentence in judged.verdict())
    assert squeezed(calibration_sentence(judged)) in told
    assert all(squeezed(note.text) in told for note in judged.warnings)


def test_the_notebook_shows_headline_metrics_and_intervals(judged):
    page = Reader(judged._repr_html_())
    assert all(sentence in page.text for sentence in judged.headline())
    made = judged.metrics()
    for model in judged.candidates:
        accuracy = next(one.estimate for one in made.by_model()[model.name] if one.metric == "accuracy")
        assert f"{accuracy:.3f}[{accuracy.low:.3f}, {accuracy.high:.3f}]" in page.text
    assert page.tags.count("b") == len(made.metrics)  # the best of each


def test_the_notebook_shows_the_ranking(judged):
    page = Reader(judged.ranking()._repr_html_())
    assert (
        page.tags.count("circle") + page.tags.count("path") == len(judged.models) - 1
    )  # no model is vague, so saying nothing is none


@pytest.mark.parametrize("case", ["one instance", "infinite", "groups", "one model", "votes"])
def test_every_assay_can_be_shown(case):
    p = uq.Point([[0.8, 0.2]] * 8)
    made = {
        "one instance": lambda: judge({"a": p[:1], "b": p[:1]}, [0]),
        "infinite": lambda: judge({"a": uq.Point([[1.0, 0.0]] * 9)}, [1] * 9, floor=0),
        "groups": lambda: judge({"a": [p, p], "b": p}, [0, 1] * 4, groups=[0, 0, 1, 1, 2, 2, 3, 3]),
        "one model": lambda: judge({"a": p}, [0] * 8),
        "votes": lambda: judge({"a": p}, [[3, 1]] * 8),
    }[case]()
    check_shown(made)
    check_shown(made.ranking(0.0))
    if case == "groups":
        assert "2 models (a and b, 1 to 2 training runs) on 8 cases in 4 groups" in repr(made)


def test_hundred_models_stay_readable():
    p = [[[0.5 + i / 1000, 0.5 - i / 1000]] * 60 for i in range(100)]
    made = judge({f"model {i:03d}": uq.Point(q) for i, q in enumerate(p)}, [0, 1] * 30, n_draws=20)
    assert len(repr(made).splitlines()) <= 8
    assert "more rows" in made._repr_html_()
    assert made.summary().count("model 0") >= 100


def test_show_writes_the_page_and_opens_it(judged, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda where: opened.append(where) or True)
    for path in (None, tmp_path / "here.html"):
        page = judged.show(path)
        assert page.is_file()
        assert opened.pop() == page.as_uri()
    assert page == (tmp_path / "here.html").resolve()
    monkeypatch.setattr(webbrowser, "open", lambda where: False)
    with pytest.warns(UserWarning, match="no web browser was found; the page is .*here.html"):
        judged.show(page)


def test_plot_draws_the_ranking(judged):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = figure.subplots()
    assert judged.plot(1.0, ax=ax) is ax
    assert "λ = 1" in ax.get_xlabel()
    other = judged.ranking(1.0).plot(ax=figure.add_subplot())
    assert other.get_xlabel() == ax.get_xlabel()


def test_only_the_figure_imports_matplotlib_and_only_tables_import_pandas(judged, monkeypatch):
    fresh = judge({"m": uq.Point([[0.8, 0.2]] * 30)}, [0] * 30)
    for module in ("pandas", "matplotlib", "matplotlib.pyplot", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    check_shown(fresh)
    with pytest.raises(ModuleNotFoundError, match="matplotlib"):
        fresh.plot()


def test_markdown_has_the_headline_and_the_metrics(judged):
    text = judged.to_markdown()
    assert text.startswith("**")
    assert text.count("\n| ") == len(judged.metrics().by_model()) + 2
    assert "<script>" not in text


def test_what_is_given_or_counted_is_an_attribute_and_what_is_computed_a_method(judged):
    """The rule of the class, held against every public name."""
    given = {
        "models",
        "labels",
        "class_names",
        "ids",
        "groups",
        "weights",
        "subgroups",
        "tradeoffs",
        "settings",
        "sets",
        "of_answers",
        "warnings",
    }
    given |= {"provenance", "excess", "calibration", "classwise_error", "scaled", "votes", "backward"}
    counted = {"n_instances", "n_units", "n_effective", "n_classes", "model_names", "candidates", "classes", "shared"}
    names = {name for name in dir(judged) if not name.startswith("_")}
    assert {name for name in names if not callable(getattr(judged, name))} == given | counted
