"""Definitions of the unified loss and its parts, worded for what was computed."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.credal.distances import DISTANCES
from uqassay.measures.nonspecificities import NONSPECIFICITIES
from uqassay.report.definitions import definition_of, page_definitions

pytestmark = pytest.mark.usefixtures("without_calibration")


@pytest.mark.parametrize("measure", ["korner", "pal", "credal-uncertainty", "credal-uncertainty-box"])
def test_vacuous_baseline_against_its_definition(measure):
    k = 4
    a = uq.assay({"m": uq.Point(np.full((6, k), 1 / k))}, [0, 1, 2, 3, 0, 1], nonspecificity=measure)
    equation = page_definitions(a.settings, label_distributions=False)["vacuous"].equation
    expected = {"E = λ K": k, "E = λ (1 − 1/K)": 1 - 1 / k, "E = λ ln K": np.log(k)}[equation]
    np.testing.assert_allclose(a["vacuous"].columns["nonspecificity"], expected, rtol=1e-6)


def test_distances_have_a_short_name():
    assert {one.metric: definition_of(one.metric).short for one in DISTANCES.values()} == {
        "kl": "KL",
        "js": "JS",
        "js-distance": "square root of JS",
        "tv": "total variation",
        "hellinger": "Hellinger",
        "brier-distance": "Brier",
    }


def test_every_nonspecificity_has_its_own_sentence():
    assert len({size.sentence for size in NONSPECIFICITIES.values()}) == len(NONSPECIFICITIES)
    assert all(size.sentence.endswith(".") and size.equation.startswith("NS") for size in NONSPECIFICITIES.values())
