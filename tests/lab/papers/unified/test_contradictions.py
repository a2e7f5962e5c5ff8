"""Contradictions between tables: found in the printed ones, absent from consistent ones."""

import numpy as np
import pytest

from uqassay.lab.papers import printed_table
from uqassay.lab.papers.unified.printed import contradictions, covariances, toy_arithmetic, vertex_choices


def test_equal_prints_are_no_contradiction():
    same = {("MNIST", "DE"): [(0.1, "table9", "0.009"), (0.1, "table8", "0.009"), (0.2, "table9", "0.016")]}
    assert contradictions("mean of E", same) == []


def test_sd_of_edl_in_table_8_needs_another_spread_against_paper_table():
    (found,) = covariances(printed_table("unified_table1"), printed_table("unified_table8_tradeoff"))
    assert found.startswith("CIFAR-10, EDL: no covariance of KL and NS")


@pytest.mark.parametrize("seed", range(5))
def test_rounded_sds_admit_their_covariance_against_theory(seed):
    rng = np.random.default_rng(seed)
    kl = rng.gamma(0.5, 1.0, 500)
    ns = rng.gamma(0.7, 0.5, 500) + rng.normal() * kl
    whole = [{"dataset": "A", "model": "B", "kl_sd": f"{kl.std():.3f}", "ns_sd": f"{ns.std():.3f}"}]
    rows = [
        {"dataset": "A", "model": "B", "tradeoff": f"{t:.1f}", "e_sd": f"{(kl + t * ns).std():.3f}"}
        for t in np.linspace(0.1, 1.0, 10)
    ]
    assert covariances(whole, rows) == []
    rows[4]["e_sd"] = f"{float(rows[4]['e_sd']) + 0.05:.3f}"
    assert len(covariances(whole, rows)) == 1


def test_toy_sums_against_paper_table():
    (found,) = toy_arithmetic(printed_table("unified_table3_toy_ranking"))
    assert found.count("prints") == 3
    assert "D at λ = 0.1 prints 0.398 for 0.3989" in found


def test_vertices_against_paper_table():
    found = vertex_choices(printed_table("unified_table4_vertices_4class"))
    assert sum("knows no vertices" in sentence for sentence in found) == 4
    assert [sentence[:21] for sentence in found if "cannot be nearer" in sentence] == ["table4, DE, incorrect"]
