"""The section on sets as decisions: numbers of the assay, for models with sets alone."""

import numpy as np
import pytest
from tests.report.cases import HOSTILE, hostile_assay

import uqassay as uq
from uqassay.report.page import lens_sections
from uqassay.report.sections import HEADS, sets_section
from uqassay.report.sentences import kind_text

pytestmark = pytest.mark.usefixtures("without_calibration")


def test_numbers_are_those_of_the_assay():
    a = hostile_assay(n=60)
    lens = sets_section(a)
    assert [m["model"] for m in lens["models"]] == [HOSTILE, "box"]
    rows = {(row["model"], row["metric"]): row for row in a.rows("sets", rule="maximality")}
    for m in lens["models"]:
        for score in HEADS:
            if score != "model":
                row = rows[m["model"], score.replace("_", "-")]
                np.testing.assert_array_equal(m[score], [row["estimate"], row["low"], row["high"]])
    assert set(lens["models"][0]) == set(HEADS)


def test_the_finding_names_three_models_and_counts_the_others():
    pair = uq.Members(np.tile([[0.6, 0.4], [0.4, 0.6]], (8, 1, 1)))
    y = [0, 1] * 4
    one = sets_section(uq.assay({"a": pair}, y, n_draws=10))
    assert one["finding"] == "The set contains the right class for a in 100.0 % of cases (2.00 classes on average)."
    many = sets_section(uq.assay(dict.fromkeys("abcde", pair), y, n_draws=10))
    assert many["finding"].endswith("c in 100.0 % of cases (2.00 classes on average) and 2 others below.")


def test_points_have_no_section():
    assert sets_section(uq.assay({"p": [[0.9, 0.1], [0.2, 0.8]]}, [0, 1], n_draws=10)) is None


def test_a_page_on_class_sets_alone(random_generator):
    """Sections without a meaning for class sets are absent or say so, and predicted classes are those of single sets."""
    sets = random_generator.random((60, 4)) < 0.4
    y = random_generator.integers(0, 4, 60)
    a = uq.assay({"wide": uq.ClassSets(sets | (sets.sum(axis=1, keepdims=True) < 2)), "sets": uq.ClassSets(sets)}, y)
    found = {section["id"]: section for section in lens_sections(a)}
    assert not {"calibration", "mistakes"} & set(found)
    assert found["sets"]["text"]["note"].startswith("Class sets leave the classes that they hold.")
    assert [kind_text(a[name]) for name in a.model_names] == ["class sets", "class sets"]
    both = uq.assay({"sets": uq.ClassSets(sets), "p": uq.Point(random_generator.dirichlet(np.ones(4), 60))}, y)
    found = {section["id"]: section for section in lens_sections(both)}
    assert [m["model"] for m in found["calibration"]["models"]] == ["p"]
    assert "no prediction of a single class" in str(found["mistakes"]["views"][0]["absent"])
