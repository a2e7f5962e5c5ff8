"""Where claims rest on the absence of huge losses that strike whole groups."""

import numpy as np
import pytest
from tests.evidence.verdict_cases import claims, judged

from uqassay.evidence import Claim
from uqassay.evidence.claims import group_claims
from uqassay.evidence.sentences import details

MEANS = {"a": (0.15, 0.1), "b": (0.3, 0.1)}


def resting(assay):
    found = [c for c in claims(assay, "cannot-tell") if c.limited_by == "groups"]
    return found[0] if found else None


def test_groups_count_as_single_instances():
    """d = .15 and B = ln 1000: G groups show no group that would reverse it with probability (B/(B + d))^G."""
    floor = 1e-3
    chance = -np.log(floor) / (0.15 - np.log(floor))  # λ = 0, where the bound is least and d the same
    few, many = 40, 1000
    assert chance**few > 0.05 > chance**many
    n = 4000
    a = judged(MEANS, n, groups=np.arange(n) % few, floor=floor)
    found = resting(a)
    assert found.models == ("a",)
    assert found.facts == {"groups": few, "worth": pytest.approx(few)}
    (said,) = [text for text in details(a) if "huge losses throughout" in text]
    assert said == (
        "That a is better assumes that no group has huge losses throughout; 40 groups cannot rule that out."
    )
    assert a.headline()[0].endswith(", unless huge losses strike whole groups, which 40 groups cannot rule out.")
    worse = [c for c in a.claims() if c.kind == "worse" and c.low == c.high]
    of_many = judged(MEANS, n, groups=np.arange(n) % many, floor=floor)
    assert group_claims(of_many, worse) == ()
    assert group_claims(a, worse)[0].models == ("a",)


def test_unequal_groups_count_like_fewer():
    n = 4000
    sizes = np.repeat([0, 1, 2, 3], [2500, 500, 500, 500])
    a = judged(MEANS, n, groups=sizes, floor=0.5, width=0.02)
    (found,) = group_claims(a, [Claim("worse", ("b",), ("a",), 0.5, 0.5)])
    assert found.facts == {"groups": 4, "worth": pytest.approx(n**2 / (2500**2 + 3 * 500**2))}
    assert group_claims(a, [Claim("worse", ("b",), ("a",), 0.5, 0.5, limited_by="unseen")]) == ()
    assert group_claims(a, [Claim("worse", ("a",), ("vacuous",), 0.0, 0.0)]) == ()


@pytest.mark.parametrize(
    "options", [{}, {"groups": np.zeros(400)}, {"groups": np.arange(400) % 40, "distance": "brier"}]
)
def test_none_without_groups_or_with_a_bounded_distance(options):
    assert resting(judged(MEANS, 400, **options)) is None
