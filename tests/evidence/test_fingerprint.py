"""The fingerprint of a model: equal for equal predictions in any parts, different for any other number, row order or kind."""

from hashlib import sha256

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction

import uqassay as uq
from uqassay.evidence.scoring import digests_of_rows, fingerprint


@pytest.mark.parametrize("kind", KINDS)
def test_parts_join_to_the_whole(kind, random_generator):
    whole = random_prediction(kind, random_generator, 9, 4)
    parts = [whole[:2], whole[2:3], whole[3:]]
    assert b"".join(map(digests_of_rows, parts)) == digests_of_rows(whole)
    assert len(digests_of_rows(whole)) == 9 * 32


def test_every_difference_shows(random_generator):
    p = random_generator.dirichlet(np.ones(3), 5)
    moved = p.copy()
    moved[2] = moved[2, ::-1]
    candidates = [uq.Point(p), uq.Point(moved), uq.Point(p[::-1]), uq.Point(p[:4]), uq.Dirichlet(p)]
    found = {fingerprint([(c, digests_of_rows(c))]) for c in candidates}
    assert len(found) == len(candidates)
    twice = [(candidates[0], digests_of_rows(candidates[0]))] * 2
    assert fingerprint(twice) not in found


def test_memory_order_does_not_count(random_generator):
    p = random_generator.dirichlet(np.ones(3), 5)
    assert digests_of_rows(uq.Point(np.asfortranarray(p))) == digests_of_rows(uq.Point(p))


@pytest.mark.parametrize("pure", ["0", "1"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_each_instance_has_the_digest_of_its_bytes(dtype, pure, monkeypatch):
    monkeypatch.setenv("UQASSAY_PURE", pure)
    for n, k in ((1, 2), (17, 7), (40, 9), (3, 33)):  # messages of 4 to 264 bytes: with one and two last blocks
        p = np.eye(k, dtype=dtype)[np.arange(n) % k]
        p.flags.writeable = False
        assert digests_of_rows(uq.Point(p)) == b"".join(sha256(row.tobytes()).digest() for row in p)
