"""Who is best in every part of the test set: numbers of the assay, and words that follow from them."""

import numpy as np
import pytest
from tests.report.cases import hostile_assay

import uqassay as uq
from uqassay.report.sections import parts_section

pytestmark = pytest.mark.usefixtures("without_calibration")


@pytest.fixture(scope="module")
def hostile():
    return hostile_assay(subgroups={"<b>site": np.where(np.arange(120) < 50, "<i>A", "B & C")})


def test_parts_against_subset_rows(hostile):
    lens = parts_section(hostile)
    assert [table["by"] for table in lens["tables"]] == ["<b>site", "class"]
    rows = hostile.rows("subsets", by="<b>site")
    for part in lens["tables"][0]["parts"]:
        for name, cells in part["models"].items():
            own = [r for r in rows if r["subset"] == part["part"] and r["model"] == name]
            accuracy = next(r["estimate"] for r in own if r["metric"] == "accuracy")
            assert cells["accuracy"][0] == pytest.approx(accuracy, rel=1e-5)
            assert len(cells["unified"]) == len(hostile.tradeoffs)
            assert cells["n"] == own[0]["n"]


def test_the_best_of_every_part_against_its_numbers(hostile):
    for table in parts_section(hostile)["tables"]:
        for metric, sign in (("accuracy", -1), ("distance", 1)):
            (view,) = table["views"][metric]
            for part, best in zip(table["parts"], view["best"], strict=True):
                values = {name: sign * cells[metric][0] for name, cells in part["models"].items()}
                assert values[best] == min(values.values())
        for place, view in enumerate(table["views"]["unified"]):
            for part, best in zip(table["parts"], view["best"], strict=True):
                values = {name: cells["unified"][place][1] for name, cells in part["models"].items()}
                assert values[best] == min(values.values())


def test_sentences_name_the_best():
    y = np.repeat([0, 1], 20)
    good = np.where(np.eye(2)[y] == 1, 0.9, 0.1)
    half = np.where(np.arange(40)[:, None] < 20, good, good[:, ::-1])
    (table,) = parts_section(uq.assay({"good": uq.Point(good), "bad": uq.Point(good[:, ::-1])}, y))["tables"]
    assert table["title"] == "true class"
    assert table["views"]["unified"][4]["sentence"] == ("good has the lowest log loss in both parts by true class.")
    assert table["views"]["unified"][4]["caption"] == (
        "Log loss; bold: the best of a part; intervals are not adjusted for the number of parts."
    )
    assert table["views"]["nonspecificity"][0]["best"] is None
    (table,) = parts_section(uq.assay({"half": uq.Point(half), "other": uq.Point(half[:, ::-1])}, y))["tables"]
    assert table["views"]["accuracy"][0]["sentence"] == (
        "half has the highest accuracy in 1 of the 2 parts by true class, other in 1."
    )


def test_one_model_is_never_the_best_of_all():
    (table,) = parts_section(uq.assay({"m": uq.Point([[0.9, 0.1], [0.2, 0.8]])}, [0, 1]))["tables"]
    assert all(view["best"] is None for views in table["views"].values() for view in views)


def test_one_model_is_told_by_the_parts_that_differ_most():
    p = uq.Point([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7]])
    found = parts_section(uq.assay({"m": p}, [0, 0, 1, 1]))
    (table,) = found["tables"]
    assert (
        table["views"]["accuracy"][0]["sentence"]
        == "By true class, the accuracy of m goes from 50.0 % (1) to 100.0 % (0)."
    )
    assert found["finding"] == table["views"]["unified"][4]["sentence"]
    assert found["finding"].startswith("By true class, the log loss of m goes from ")


def test_nothing_without_two_parts():
    assert parts_section(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0])) is None
