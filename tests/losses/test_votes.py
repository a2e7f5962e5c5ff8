"""Votes: as counts or single, what is refused; the squared distance of the truth is without bias, by enumeration."""

from itertools import product
from math import prod

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.calibration import second_order_test
from uqassay.losses import counts_of_votes, second_order_gap, squared_truth_distance
from uqassay.losses.votes import checked_votes

# Votes as counts or as single votes: what is counted, put in order, left out or refused.

# -- counting ---------------------------------------------------------------------------------------------------------


def test_single_votes_with_names_and_unequal_numbers():
    assert counts_of_votes([["b", "a"], ["b"], []], 2, class_names=["a", "b"]).tolist() == [[1, 1], [0, 1], [0, 0]]
    assert counts_of_votes(np.array([[1, 1, 0]]), 3).tolist() == [[1, 2, 0]]


def test_unknown_single_votes_are_refused():
    with refuses("labels", "range", "row 1 holds 2"):
        counts_of_votes([[0, 1], [2, 1]], 2)
    with refuses("labels", "range", "row 0 holds -1"):
        counts_of_votes([[-1, 1]], 2)
    with refuses("labels", "type"):
        counts_of_votes([[0.5, 1.0]], 2)
    with refuses("labels", "shape", "row 0"):
        counts_of_votes(np.array([0, 1]), 2)


POINT = uq.Point([[0.5, 0.5], [0.2, 0.8], [0.1, 0.9]])


def test_rows_with_few_votes_are_refused_or_left_out():
    votes = [[2, 1], [0, 1], [0, 0]]
    with refuses("votes", "empty", "row 1 has 1, and 2 of 3"):
        squared_truth_distance(votes, POINT)
    found = squared_truth_distance(votes, POINT, few_votes="leave-out")
    assert np.isnan(found).tolist() == [False, True, True]
    assert found[0] == squared_truth_distance([[2, 1]], POINT[:1])[0]
    with refuses("votes", "empty", "second vote"):
        squared_truth_distance([[1, 0]] * 3, POINT, few_votes="leave-out")


@pytest.mark.parametrize(
    ("votes", "code", "got"),
    [
        ([0, 1, 1], "shape", r"\(3,\)"),
        ([[1, 1, 1]] * 3, "shape", r"\(3, 3\)"),
        ([[1, 1]] * 2, "mismatch", "got 2 rows"),
        ([[0.5, 0.5]] * 3, "type", "row 0 holds 0.5"),
        ([[3, -1]] * 3, "range", "row 0 holds -1"),
        ([[3, np.nan]] * 3, "finite", "row 0"),
        ([[3, np.inf]] * 3, "range", "got inf"),
        ([[3, 1e300]] * 3, "range", r"got 1e\+300"),
        ([[True, True]] * 3, "type", "truth values"),
    ],
)
def test_votes_that_do_not_fit_are_refused(votes, code, got):
    with refuses("votes", code, got):
        squared_truth_distance(votes, POINT)


def test_unknown_choice_is_refused():
    with refuses("few_votes", "choice"):
        squared_truth_distance([[2, 2]] * 3, POINT, few_votes="drop")
    with refuses("votes_are", "choice"):
        squared_truth_distance([[2, 2]] * 3, POINT, votes_are="labels")


def test_columns_of_a_table_are_put_in_the_order_of_the_class_names():
    import pandas as pd

    g = np.random.default_rng(5)
    counts = g.integers(1, 9, (20, 3))
    named = uq.Members(g.dirichlet(np.ones(3), (20, 4)), class_names=("a", "b", "c"))
    table = pd.DataFrame(counts[:, [1, 0, 2]], columns=["b", "a", "c"])
    np.testing.assert_array_equal(checked_votes(table, named).counts, counts)
    by_number = pd.DataFrame(counts[:, [2, 0, 1]], columns=["proba_2", "proba_0", "proba_1"])
    np.testing.assert_array_equal(checked_votes(by_number, named).counts, counts)
    with refuses("votes", "ids", got="missing"):
        checked_votes(table.rename(columns={"c": "d"}), named)
    with refuses("votes", "ids", got="missing"):
        checked_votes(pd.DataFrame(counts, columns=["first", "second", "third"]), named)


def test_rows_of_a_table_are_put_in_the_order_of_the_ids():
    import pandas as pd

    g = np.random.default_rng(6)
    counts, order = g.multinomial(5, [0.2, 0.3, 0.5], 20), g.permutation(20)
    ids = np.array([f"x{i}" for i in range(20)])
    named = uq.Members(g.dirichlet(np.ones(3), (20, 4)), ids=ids)
    table = pd.DataFrame(counts[order], index=ids[order])
    np.testing.assert_array_equal(checked_votes(table, named).counts, counts)
    np.testing.assert_array_equal(checked_votes(pd.DataFrame(counts), named).counts, counts)
    single = pd.DataFrame(g.integers(0, 3, (20, 4)), index=ids)
    expected = checked_votes(single.to_numpy(), named, votes_are="single").counts
    np.testing.assert_array_equal(checked_votes(single.iloc[order], named, votes_are="single").counts, expected)
    with refuses("votes", "ids"):
        checked_votes(table.rename(index={"x3": "y3"}), named)


# -- two ways to read a table -------------------------------------------------------------------------------------------


def test_as_many_single_votes_as_classes_are_never_taken_for_counts():
    """In 200 tables of single votes with m = K, and as "single" they give the counts of each class."""
    for seed in range(200):
        g = np.random.default_rng(seed)
        k = int(g.integers(2, 6))
        single = g.integers(0, k, (30, k))
        point = uq.Point(g.dirichlet(np.ones(k), 30))
        with refuses("votes", "ambiguous", got=f"30 rows of {k} values"):
            checked_votes(single, point)
        expected = (single[:, :, None] == np.arange(k)).sum(axis=1)
        np.testing.assert_array_equal(checked_votes(single, point, votes_are="single").counts, expected)


def test_counts_are_known_by_equal_sums_or_by_values_that_are_no_class():
    g = np.random.default_rng(1)
    members = g.dirichlet(np.ones(10), (30, 3))
    two = g.multinomial(2, np.full(10, 0.1), 30)  # all values are class indices, all sums are 2
    np.testing.assert_array_equal(checked_votes(two, uq.Members(members)).counts, two)
    several = np.array([g.multinomial(m, np.full(10, 0.1)) for m in g.integers(2, 9, 30)])
    for function in (second_order_gap, squared_truth_distance, second_order_test):
        with refuses("votes", "ambiguous", got="with sums from 2 to 8"):
            function(several, members)
    np.testing.assert_array_equal(checked_votes(several, uq.Members(members), votes_are="counts").counts, several)
    several[4, 2] = 10
    np.testing.assert_array_equal(checked_votes(several, uq.Members(members)).counts, several)


def test_columns_that_name_the_classes_tell_counts():
    import pandas as pd

    g = np.random.default_rng(2)
    counts = g.integers(1, 3, (20, 3))
    named = uq.Members(g.dirichlet(np.ones(3), (20, 4)), class_names=("a", "b", "c"))
    table = pd.DataFrame(counts, columns=["a", "b", "c"])
    np.testing.assert_array_equal(checked_votes(table, named).counts, counts)
    with refuses("votes", "ambiguous"):
        checked_votes(table, uq.Members(named.probs))


def test_every_function_takes_single_votes(random_generator):
    members = random_generator.dirichlet(np.ones(3), (30, 4))
    single = [random_generator.integers(0, 3, random_generator.integers(2, 6)).tolist() for _ in range(30)]
    counts = counts_of_votes(single, 3)
    for function in (second_order_gap, squared_truth_distance):
        np.testing.assert_array_equal(
            function(single, members, votes_are="single"), function(counts, members, votes_are="counts")
        )
    one, other = (
        second_order_test(votes, members, votes_are=kind) for votes, kind in ((single, "single"), (counts, "counts"))
    )
    assert one.to_dict() == other.to_dict()


@pytest.mark.parametrize(
    ("votes", "code", "got"),
    [
        ([["a", "b"], ["b", "a"], ["a", "c"]], "class-names", "row 1 holds 'c'.*among the votes of row 2"),
        ([[0.5, 1.0]] * 3, "type", "among the votes of row 0"),
        ([[0, 1]] * 2, "mismatch", "2 rows"),
        ([[0, 1], [1, 2], [0, 0]], "range", "row 1 holds 2"),
        ([[0, 1], [1, np.nan], [0, 0]], "missing", "row 1"),
        ([["a", "b"], ["a", None], ["a", "a"]], "missing", "row 1"),
        ([[0], [1], [1]], "empty", "row 0 has 1"),
        ([[], [], []], "empty", "row 0 has 0"),
        ([], "shape", "no rows"),
        (5, "shape", r"shape \(\)"),
        ("ab", "shape", r"shape \(\)"),
        (np.zeros((3, 2, 2), dtype=int), "shape", r"row 0 has shape \(2, 2\)"),
        (np.ma.masked_equal([[0, 1]] * 3, 1), "masked", ""),
        (None, "missing", ""),
    ],
)
def test_single_votes_that_do_not_fit_are_refused(votes, code, got):
    with refuses("votes", code, got):
        checked_votes(votes, uq.Point(POINT.probs, class_names=("a", "b")), votes_are="single")


@pytest.mark.parametrize(
    ("votes", "code"), [([["0", "1"]] * 3, "type"), ([[0, 1], [1], [0]], "ragged"), (None, "missing")]
)
def test_single_votes_without_their_name_are_told_the_remedy(votes, code):
    with refuses("votes", code) as found:
        checked_votes(votes, POINT)
    assert votes is None or "votes_are='single'" in found.value.remedy


def test_the_number_of_classes_is_whole():
    with refuses("n_classes", "type"):
        counts_of_votes([[0, 1]], 2.5)
    with refuses("class_names"):
        counts_of_votes([["a"]], 3, class_names=["a", "b"])


# The squared distance of the truth is without bias, by enumeration of all votes.


def all_votes(truth, m):
    """Every sequence of m votes with its probability."""
    sequences = list(product(range(len(truth)), repeat=m))
    return np.array(sequences), np.array([prod(truth[k] for k in s) for s in sequences])


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("truth", [(0.3, 0.7), (0.2, 0.5, 0.3), (1.0, 0.0, 0.0)])
def test_expectations_by_enumeration(m, truth):
    sequences, chance = all_votes(truth, m)
    mean = np.linspace(1.0, 2.0, len(truth)) / np.linspace(1.0, 2.0, len(truth)).sum()
    point = uq.Point(np.tile(mean, (len(sequences), 1)))
    held = checked_votes(counts_of_votes(sequences, len(truth)), point)
    np.testing.assert_allclose(chance @ held.shares(), truth, atol=1e-14)
    np.testing.assert_allclose(chance @ held.agreement(), np.square(truth), atol=1e-14)
    assert chance @ squared_truth_distance(held.counts, point) == pytest.approx(
        np.square(truth - mean).sum(), abs=1e-14
    )


def test_expected_gap_is_zero_over_the_statement_by_enumeration():
    members, weights = np.array([[0.1, 0.6, 0.3], [0.5, 0.2, 0.3], [0.2, 0.2, 0.6]]), np.array([0.5, 0.2, 0.3])
    expected = 0.0
    for truth, weight in zip(members, weights, strict=True):
        sequences, chance = all_votes(truth, 2)
        stated = uq.Members(np.tile(members, (len(sequences), 1, 1)), weights=weights)
        expected += weight * float(chance @ second_order_gap(counts_of_votes(sequences, 3), stated))
    assert expected == pytest.approx(0.0, abs=1e-14)


def test_two_formulas_agree(random_generator):
    counts = random_generator.multinomial(7, [0.2, 0.3, 0.5], 40)
    mean = random_generator.dirichlet([1, 1, 1], 40)
    held = checked_votes(counts, uq.Point(mean))
    written = (held.agreement() - 2 * mean * held.shares() + mean**2).sum(axis=1)
    np.testing.assert_allclose(held.squared_distance(mean), written, atol=1e-14)


def test_the_order_of_the_classes_does_not_matter(random_generator):
    counts = random_generator.multinomial(5, [0.2, 0.3, 0.5], 30)
    members = random_generator.dirichlet([1, 1, 1], (30, 4))
    order = [2, 0, 1]
    first = second_order_gap(counts, uq.Members(members))
    np.testing.assert_allclose(first, second_order_gap(counts[:, order], uq.Members(members[..., order])), atol=1e-14)


def test_one_row_alone(random_generator):
    counts = random_generator.multinomial(5, [0.2, 0.3, 0.5], 6)
    p = random_generator.dirichlet([1, 1, 1], (6, 4))
    whole = second_order_gap(counts, p)
    assert [second_order_gap(counts[[i]], p[[i]])[0] for i in range(6)] == whole.tolist()


def test_a_point_states_no_variance(random_generator):
    p, counts = random_generator.dirichlet([1, 1], 5), np.full((5, 2), 3)
    np.testing.assert_array_equal(second_order_gap(counts, uq.Point(p)), squared_truth_distance(counts, uq.Point(p)))


@pytest.mark.parametrize("dtype", ["float16", "uint8", "int64", ">f8"])
def test_counts_of_every_number_type(dtype):
    counts = np.asfortranarray(np.array([[3, 1], [0, 4]], dtype=dtype))
    counts.setflags(write=False)
    np.testing.assert_allclose(squared_truth_distance(counts, [[0.5, 0.5]] * 2), [0.0, 0.5], atol=1e-15)
