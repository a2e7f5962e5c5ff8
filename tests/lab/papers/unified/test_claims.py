"""Findings of the paper on made models: those that hold, do not hold, and are open."""

import numpy as np
from tests.lab.papers.unified.made import assays, made

from uqassay.lab.papers.unified.ablations import claim_lines


def test_findings_of_models_that_are_known():
    said, y = made(np.random.default_rng(1))
    found = assays(said, y)
    members = {"exact": {"DE": {m: assays({"DE": said["DE"]}, y, common_members=m)["exact"] for m in (2, 12)}}}
    lines = claim_lines("made", found, found, members)
    text = "\n".join(lines)
    assert "DE has the lowest E at λ = 0.1: holds; place 1 of 4" in text
    assert "RS-NN has the lowest E at λ = 1: does not hold" in text
    assert "RS-NN has the least NS: holds; nearest to the contrary, NS of RS-NN minus that of DE -" in text
    assert "EDL and E-CNN have greater NS than all others: holds" in text
    assert "E of DE at λ = 1 grows with its members: holds; with 12 minus with 2 +" in text


def test_findings_are_open_where_the_interval_holds_zero():
    said, y = made(np.random.default_rng(1))
    swapped = {"DE": said["DE"], "LB-BNN": said["DE"][np.arange(len(y))]}
    found = assays(swapped, y)
    text = "\n".join(claim_lines("made", found, found, {"exact": {}}))
    assert "DE has the lowest E at λ = 0.1: open; place 1 of 2" in text
    assert "RS-NN" not in text
