"""Coverage of sets in every class and at every size in an assay: against the metric, in words, and its error rates."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import uqassay as uq
from uqassay.evidence.sets import coverage_figures, set_coverage_of
from uqassay.metrics import set_coverage_in_parts
from uqassay.report.figures import model_colours
from uqassay.report.page import lens_sections


def worlds(rng, n=600):
    y = rng.choice(4, n, p=[0.4, 0.3, 0.2, 0.1])
    z = rng.normal(size=(n, 4, 4)) + 2 * np.eye(4)[y][:, None]
    probs = np.exp(z) / np.exp(z).sum(axis=2, keepdims=True)
    return probs, probs.mean(axis=1) > 0.3, y


def test_coverage_is_that_of_the_metric(random_generator):
    probs, sets, y = worlds(random_generator)
    groups = np.arange(600) // 6
    a = uq.assay({"DE": probs, "sets": uq.ClassSets(sets)}, y, groups=groups, calibration=(), scales=())
    found = set_coverage_of(a)
    n_intervals = sum(len(both[0].parts) + len(both[1].parts) + 1 for both in found.models.values())
    for name, given in (("DE", probs), ("sets", sets)):
        for by, mine in zip(("class", "size"), found.models[name], strict=True):
            sizes = list(mine.parts) if by == "size" else None
            level = 1 - 0.05 / n_intervals * (len(mine.parts) + 1)
            alone = set_coverage_in_parts(y, given, by=by, groups=groups, level=level, sizes=sizes)
            assert [float(one) for one in mine.coverage] == [float(one) for one in alone.coverage]
            assert mine.parts == alone.parts
            mine_ends = [(one.low, one.high) for one in mine.coverage]
            assert np.allclose(mine_ends, [(one.low, one.high) for one in alone.coverage], equal_nan=True)
    rows = a.rows("set-coverage")
    assert len(rows) == n_intervals - 2
    assert a.table("set-coverage").shape[0] == len(rows)
    assert a.to_json()["set_coverage"][0]["part"] == "0"


def test_a_class_that_is_covered_less_is_named_everywhere(random_generator):
    _, sets, y = worlds(random_generator, 2000)
    sets |= np.eye(4, dtype=bool)[y]
    sets[y == 2, 2] &= random_generator.random((y == 2).sum()) < 0.5
    a = uq.assay({"s": uq.ClassSets(sets)}, y, class_names=list("abcd"), calibration=(), scales=())
    (claim,) = [c for c in a.claims() if c.kind == "covered-less" and c.facts["by"] == "class"]
    assert (claim.models, claim.facts["part"]) == (("s",), "c")
    assert claim.estimate.high < claim.facts["all"]
    sentence = next(text for text in a.verdict() if "cases of class c " in text)
    (section,) = [one for one in lens_sections(a) if one["id"] == "set-coverage"]
    assert section["finding"] == sentence.split(" The same")[0]
    assert section["markup"].count("<figure>") == 2
    assert sentence.split(" The same")[0] in a.to_markdown().replace("\\", "")


def test_sizes_of_credal_sets_are_no_claim(random_generator):
    """Wide credal sets hold the label more often than narrow ones by their nature; class sets promise a coverage."""
    y = random_generator.integers(0, 3, 900)
    wide = np.arange(900) % 3 == 0
    sure = np.eye(3)[np.where(random_generator.random(900) < 0.4, (y + 1) % 3, y)]
    probs = np.where(wide[:, None, None], np.eye(3), sure[:, None])
    a = uq.assay({"DE": uq.Members(probs)}, y, calibration=(), scales=())
    assert set_coverage_of(a).models["DE"][1].below
    assert not [c for c in a.claims() if c.kind == "covered-less" and c.facts["by"] == "size"]


def test_one_class_and_no_sets():
    one = uq.assay({"s": uq.ClassSets([[1, 0], [1, 1]])}, [0, 0], calibration=(), scales=())
    assert set_coverage_of(one)._shown_sentences() == ["All cases are of one class."]
    assert set_coverage_of(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0])) is None
    assert set_coverage_of(uq.assay({"m": uq.Answers([True, False])})) is None


@pytest.mark.slow
def test_false_claims_of_a_class_in_an_assay():
    """Two models whose sets cover all classes alike: a class is named in less than 5 % of 100 data sets."""
    false = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        y = rng.choice(5, 300, p=[0.4, 0.3, 0.15, 0.1, 0.05])
        models = {}
        for name in "ab":
            sets = rng.random((300, 5)) < 0.2
            sets[np.arange(300), y] = rng.random(300) < 0.9
            models[name] = uq.ClassSets(sets)
        a = uq.assay(models, y, calibration=(), scales=())
        false += any(c.facts["by"] == "class" for c in a.claims() if c.kind == "covered-less")
    assert false <= 5


def test_sizes_are_the_same_for_all_models_and_are_written_in_words():
    # one model has five different sizes, the other eleven, which stand together in doubling ranges
    rng = np.random.default_rng(5)
    y = rng.integers(0, 11, 330)
    few, many = (np.zeros((330, 11), dtype=bool) for _ in range(2))
    for i in range(330):
        few[i, rng.permutation(11)[: 1 + i % 5]] = True
        many[i, rng.permutation(11)[: 1 + i % 11]] = True
    a = uq.assay({"few": uq.ClassSets(few), "many": uq.ClassSets(many)}, y)
    found = set_coverage_of(a)
    ranges = {(1, 1), (2, 2), (3, 4), (5, 8), (9, 16)}
    assert set(found.models["many"][1].parts) == ranges
    assert set(found.models["few"][1].parts) == ranges - {(9, 16)}
    drawn = coverage_figures(found)["Coverage at each size of the sets"]
    ax = Figure().subplots()
    drawn(ax)
    words = {"1 class", "2 classes", "3 to 4 classes", "5 to 8 classes", "9 to 16 classes"}
    assert {label.get_text() for label in ax.get_yticklabels()} == words


def test_where_no_class_is_covered_less_no_worst_one_is_named():
    y = np.arange(60) % 3
    every = uq.ClassSets(np.ones((60, 3), dtype=bool))
    text = set_coverage_of(uq.assay({"m": every}, y))._shown_table().as_text()
    assert "all alike" in "\n".join(text)


def test_figures_on_the_page_have_the_colours_of_the_models(random_generator):
    probs, _, y = worlds(random_generator)
    a = uq.assay({"point": uq.Point(probs.mean(axis=1)), "DE": probs}, y, calibration=(), scales=())
    markup = next(section for section in lens_sections(a) if section["id"] == "set-coverage")["markup"]
    colour = model_colours(a)["DE"]
    assert colour.lower() in markup.lower()
    assert model_colours(a)["point"].lower() not in markup.lower()


def test_names_of_classes_are_text_in_the_data_of_the_figures(random_generator):
    probs, _, y = worlds(random_generator)
    names = ["<b>a</b>", "b", "c", "d"]
    a = uq.assay({"<i>DE": probs}, y, class_names=names, calibration=(), scales=())
    markup = next(section for section in lens_sections(a) if section["id"] == "set-coverage")["markup"]
    assert "<b>a" not in markup
    assert "<i>DE" not in markup
    assert "&lt;b&gt;a&lt;/b&gt;" in markup
