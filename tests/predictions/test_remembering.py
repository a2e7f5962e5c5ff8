"""Predictions that keep their class probabilities: the same numbers, computed once, read-only."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from tests.kinds import STATEMENTS, random_prediction

from uqassay.predictions.base import REMEMBERED


@pytest.mark.parametrize("kind", STATEMENTS)
@pytest.mark.parametrize("eager", [False, True])
def test_the_same_numbers_are_kept(kind, eager, random_generator):
    plain = random_prediction(kind, random_generator, 40, 4)
    kept = plain.remembering(*(REMEMBERED if eager else ()), chunk_bytes=2000)
    assert kept.remembers
    assert not plain.remembers
    for name in REMEMBERED:
        values = getattr(kept, name)()
        np.testing.assert_array_equal(values, getattr(plain, name)())
        assert getattr(kept, name)() is values
        assert not values.flags.writeable
        for rows in (slice(3, 9), np.array([7, 7, 0]), np.arange(40) % 3 == 0, 5):
            np.testing.assert_array_equal(getattr(kept[rows], name)(), getattr(plain[rows], name)())


@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_statement_that_was_changed_forgets(kind, random_generator):
    kept = random_prediction(kind, random_generator, 10, 3).remembering(*REMEMBERED)
    named = kept.with_metadata(class_names=["a", "b", "c"])
    binary = kept.one_versus_rest(1)
    assert not named.remembers
    assert not binary.remembers
    assert binary.mean_probs().shape == (10, 2)


def test_masses_with_other_values_forget(random_generator):
    kept = random_prediction("Masses", random_generator, 5, 3).remembering(*REMEMBERED)
    other = replace(kept, masses=kept.masses[::-1])
    assert not other.remembers
    np.testing.assert_array_equal(other.mean_probs(), kept.mean_probs()[::-1])


@pytest.mark.parametrize("kind", ["Dirichlet", "GaussianLogits"])
def test_other_draws_are_other_bounds(kind, random_generator):
    kept = random_prediction(kind, random_generator, 10, 3).remembering(*REMEMBERED)
    assert kept.with_draws().remembers
    np.testing.assert_array_equal(kept.with_draws().lower_probs(), kept.lower_probs())
    more = replace(kept, n_draws=200)
    assert more.lower_probs().mean() < kept.lower_probs().mean()
    assert not np.array_equal(more.lower_probs(), kept.lower_probs())


def test_parts_of_a_pass_remember_and_the_whole_does_not(random_generator):
    plain = random_prediction("Members", random_generator, 30, 3)
    seen = []

    def work(rows, part):
        seen.append(part.mean_probs() is part.mean_probs())

    plain.for_each_chunk(work, 24, chunk_bytes=100)
    assert seen
    assert all(seen)
    assert not plain.remembers


def test_copies_and_pickles_keep_what_was_found(random_generator):
    kept = random_prediction("Point", random_generator, 5, 3).remembering("mean_probs")
    for again in (copy.copy(kept), copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        np.testing.assert_array_equal(again.mean_probs(), kept.mean_probs())
