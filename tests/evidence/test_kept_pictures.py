"""Pictured instances: parts joined in any tree keep those that the whole keeps."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.evidence import stream as kept_pictures
from uqassay.evidence.kept_rows import random_keys
from uqassay.evidence.scoring import Settings, score_part
from uqassay.evidence.stream import KeptPictures

CUTS = ((0, 30), (30, 31), (31, 80), (80, 120))


@pytest.fixture
def parts(monkeypatch, random_generator):
    monkeypatch.setattr(kept_pictures, "PICTURED_POINTS", 3)
    monkeypatch.setattr(kept_pictures, "most_pictured", lambda n_classes: 10)
    whole, y = uq.Point(random_generator.dirichlet(np.ones(3), 120)), random_generator.integers(0, 3, 120)
    keys = random_keys(120, None, 0)

    def kept(a, b, **more):
        found, runs = KeptPictures(), (whole[a:b],)
        found.add({"m": runs}, [score_part("m", runs, y[a:b], Settings())], keys[a:b], a, **more)
        return found

    return kept, np.sort(keys)[9]


def rows(pictures):
    return pictures.samples["m"].joined()[1].tolist()


def test_any_tree_keeps_the_instances_of_the_whole(parts):
    kept, _ = parts
    whole = rows(kept(0, 120))
    assert 10 <= len(whole) <= 10 + 2 * 3
    chain = [kept(a, b) for a, b in CUTS]
    for each in chain[1:]:
        chain[0].extend(each)
    left, middle, *rest = (kept(a, b) for a, b in CUTS)
    left.extend(middle)
    rest[0].extend(rest[1])
    left.extend(rest[0])
    assert rows(chain[0]) == rows(left) == whole


def test_a_part_that_knows_the_greatest_key_keeps_no_more_than_the_whole_needs(parts):
    kept, greatest = parts
    known = [kept(a, b, greatest_key=greatest) for a, b in CUTS]
    assert sum(len(rows(each)) for each in known) <= 10 + len(CUTS) * 2 * 3
    for each in known[1:]:
        known[0].extend(each)
    assert rows(known[0]) == rows(kept(0, 120))
