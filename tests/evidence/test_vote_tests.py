"""Votes against the sets of an assay: the public test on the same instances."""

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction

import uqassay as uq
from uqassay.calibration import vote_compatibility_test
from uqassay.evidence.sets import ALPHA, ROWS, vote_shares

pytestmark = pytest.mark.usefixtures("without_calibration")

SMALL = {"scales": (), "n_draws": 10}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "ClassSets"])
def test_shares_are_those_of_the_public_test(kind, random_generator):
    p = random_prediction(kind, random_generator, 30, 4)
    votes = random_generator.multinomial(9, [0.4, 0.3, 0.2, 0.1], size=30)
    groups = np.arange(30) // 2
    a = uq.assay({"m": p}, votes, groups=groups, **SMALL)
    options = {"votes_are": "counts", "alpha": ALPHA, "groups": groups}
    found = vote_shares(a, "m")
    assert repr(found["mean"]) == repr(vote_compatibility_test(votes, uq.Point(p.mean_probs()), **options).share)
    if kind == "Point":
        assert set(found) == {"mean"}
    else:
        assert repr(found["set"]) == repr(vote_compatibility_test(votes, p, **options).share)
    rows = {row["of"]: row for row in a.rows("votes")}
    assert rows["mean"]["estimate"] == float(found["mean"])
    assert {row["votes"] for row in a.table("votes").to_dict("records")} == {9}


def test_labels_that_are_no_numbers_of_votes_are_not_tested(random_generator):
    p = uq.Members(random_generator.dirichlet(np.ones(3), (8, 2)))
    shares = random_generator.dirichlet(np.ones(3), 8)
    for y in (random_generator.integers(0, 3, 8), shares, np.eye(3)[[0, 1, 2, 0, 1, 2, 0, 1]]):
        assert uq.assay({"m": p}, y, **SMALL).votes == {}
    sets = uq.ClassSets(np.ones((8, 3), dtype=bool))
    votes = random_generator.integers(1, 5, (8, 3))
    assert set(uq.assay({"sets": sets, "m": p}, votes, **SMALL).votes) == {"m"}


def test_instances_with_one_vote_are_left_out_and_large_test_sets_are_tested_in_part(random_generator):
    n = ROWS + 300
    p = uq.Point(random_generator.dirichlet(np.ones(3), n))
    votes = random_generator.multinomial(5, [0.5, 0.3, 0.2], size=n)
    votes[::3] = [1, 0, 0]
    a = uq.assay({"m": p}, votes, **SMALL)
    tests = a.votes["m"]
    assert (tests.rows % 3 != 0).all()
    assert 0.55 * ROWS < len(tests.rows) < 0.78 * ROWS  # of ROWS instances two in three have several votes
    groups = np.arange(n) // 100
    parts = uq.assay({"m": p}, votes, groups=groups, **SMALL).votes["m"].rows // 100
    assert len(np.unique(parts)) == ROWS / 100
    assert set(np.bincount(parts)) <= {0, 66, 67}  # whole groups


def test_a_stream_and_a_saved_assay_hold_the_same_tests(random_generator, tmp_path):
    n = ROWS + 100
    models = {"m": uq.Members(random_generator.dirichlet(np.ones(3), (n, 2))), "p": uq.Point(np.full((n, 3), 1 / 3))}
    votes = random_generator.multinomial(7, [0.5, 0.3, 0.2], size=n)
    whole = uq.assay(models, votes, **SMALL)
    stream = uq.AssayStream(**SMALL)
    for start in range(0, n, 250):
        stream.update({name: p[start : start + 250] for name, p in models.items()}, votes[start : start + 250])
    computed = stream.compute()
    loaded = uq.Assay.load(whole.save(tmp_path / "kept"))
    for other in (computed, loaded):
        assert other.rows("votes") == whole.rows("votes")
        np.testing.assert_array_equal(other.votes["m"].rows, whole.votes["m"].rows)
    assert len(whole.rows("votes")) == 3


def test_a_stream_with_shares_in_one_chunk_has_no_numbers_of_votes(random_generator):
    p = random_generator.dirichlet(np.ones(3), (20, 2))
    stream = uq.AssayStream(**SMALL).update({"m": p[:10]}, random_generator.integers(1, 5, (10, 3)))
    assert stream.update({"m": p[10:]}, random_generator.dirichlet(np.ones(3), 10)).compute().votes == {}


def test_the_second_run_is_not_tested(random_generator):
    runs = [uq.Members(random_generator.dirichlet(np.ones(3), (12, 2))) for _ in range(2)]
    votes = random_generator.multinomial(7, [0.5, 0.3, 0.2], size=12)
    both, first = (uq.assay({"m": given}, votes, **SMALL) for given in (runs, runs[0]))
    assert both.rows("votes") == first.rows("votes")


@pytest.mark.parametrize("members", [2, 1])
def test_half_precision_and_read_only_arrays(members, random_generator):
    p = random_generator.dirichlet(np.ones(3), (30, members)).astype(np.float16)
    votes = random_generator.multinomial(7, [0.5, 0.3, 0.2], size=30)
    for array in (p, votes):
        array.flags.writeable = False
    found = uq.assay({"m": uq.Members(p)}, votes, **SMALL).rows("votes")
    assert {row["of"] for row in found} == ({"set", "mean"} if members > 1 else {"mean"})
