"""The kept sample of a stream against the sample of all instances at once."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.evidence.kept_rows import random_keys, sample_reaching
from uqassay.evidence.stream import KeptSample

NONE = np.empty(0, dtype=np.int64)
N = 200


@pytest.mark.parametrize("groups", [None, np.arange(N) * 13 % 31])
@pytest.mark.parametrize("size", [0, 1, 40, N])
def test_updates_and_extensions_against_one_sample(groups, size, random_generator):
    whole = uq.Point(random_generator.dirichlet(np.ones(3), N))
    keys = random_keys(N, groups, 4)
    samples = []
    for a, b in ((0, 1), (1, 90), (90, N)):
        sample = KeptSample()
        middle = (a + b) // 2
        for rows in (slice(a, middle), slice(middle, b)):
            if rows.start < rows.stop:
                sample.add((whole[rows],), keys[rows], rows.start, size, NONE)
        samples.append(sample)
    first = samples[0]
    for sample in samples[1:]:
        first.extend(sample, size, NONE)
    expected = sample_reaching(keys, size) if size else NONE
    runs, rows = first.joined()
    assert rows.tolist() == expected.tolist()
    if size:
        np.testing.assert_array_equal(runs[0].probs, whole.probs[expected])
    else:
        assert runs == ()


def test_given_rows_stay_as_long_as_they_are_given(random_generator):
    whole = uq.Point(random_generator.dirichlet(np.ones(3), 60))
    keys = random_keys(60, None, 0)
    last = np.argsort(keys)[::-1]
    sample = KeptSample()
    sample.add((whole[:50],), keys[:50], 0, 5, last[last < 50][:3])
    assert len(sample.joined()[1]) == 8
    stays = last[last < 50][:1]
    sample.add((whole[50:],), keys[50:], 50, 5, stays)
    assert sample.joined()[1].tolist() == sorted({*np.argsort(keys)[:5].tolist(), *stays.tolist()})


def test_copies_are_kept(random_generator):
    p = random_generator.dirichlet(np.ones(3), 4)
    before, sample = p.copy(), KeptSample()
    sample.add((uq.Point(p),), random_keys(4, None, 0), 0, 4, NONE)
    p[...] = 0
    np.testing.assert_array_equal(sample.joined()[0][0].probs, before)
