"""The section on votes: shares of the assay, and sentences for one, few and many models."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.report.sections import votes_section
from uqassay.text import percent

pytestmark = pytest.mark.usefixtures("without_calibration")

SMALL = {"scales": (), "n_draws": 10}


@pytest.fixture(scope="module")
def votes():
    return np.random.default_rng(0).multinomial(20, [0.6, 0.3, 0.1], size=60)


def wide(n=60):
    return uq.Members(np.tile([[0.9, 0.05, 0.05], [0.3, 0.5, 0.2], [0.6, 0.3, 0.1]], (n, 1, 1)))


def wrong(n=60):
    return uq.Point(np.tile([0.01, 0.01, 0.98], (n, 1)))


def test_a_model_with_sets_is_judged_by_its_set_and_its_mean(votes):
    a = uq.assay({"wide": wide()}, votes, **SMALL)
    found = votes_section(a)
    rows = {row["of"]: row for row in a.rows("votes")}
    for of, row in rows.items():
        assert found["models"][0][of] == [row["estimate"], row["low"], row["high"]]
    assert found["finding"].startswith(f"Of 60 cases, an estimated {percent(rows['set']['estimate'])} (")
    assert "have votes that could come from the set of wide, " in found["finding"]
    assert found["finding"].endswith("% from its mean alone.")
    assert "each with 20 votes." in found["text"]["note"]
    assert "all 60 cases" in found["text"]["note"]


def test_a_model_without_a_set_has_one_share(votes):
    found = votes_section(uq.assay({"wrong": wrong()}, votes, **SMALL))
    assert found["finding"].startswith("Of 60 cases, an estimated 0.0 % (")
    assert found["finding"].endswith(") have votes that could come from wrong.")
    assert list(found["text"]["heads"]) == ["model", "mean"]


def test_many_models_are_named_in_part(votes):
    several = dict.fromkeys("ab", wide()) | dict.fromkeys("cde", wrong())
    few = votes.copy()
    few[0] = [1, 0, 0]
    few[1] = [2, 0, 0]
    found = votes_section(uq.assay(several | {"e": [wrong(), wrong()]}, few, **SMALL))
    of_b = percent(found["models"][1]["set"][0])
    said = f"could come from the set of a, {of_b} from the set of b, 0.0 % from c and 2 others below."
    assert said in found["finding"].replace("\u00a0", " ")
    assert found["models"][2]["set"] == [None, None, None]
    assert "59 of 60 cases, each with 2 to 20 votes, 19.7 in the mean; run 1 of models" in found["text"]["note"]


def test_no_section_without_numbers_of_votes(votes):
    assert votes_section(uq.assay({"wide": wide()}, votes / 20, **SMALL)) is None
    assert votes_section(uq.assay({"wide": wide()}, votes.argmax(axis=1), **SMALL)) is None


def test_a_single_instance_has_no_interval(votes):
    a = uq.assay({"wide": wide(1)}, votes[:1], **SMALL)
    found = votes_section(a)
    assert found["finding"].startswith("Of 1 case, an estimated ")
    assert "(" not in found["finding"]
    assert "all 1 cases" not in found["text"]["note"]
