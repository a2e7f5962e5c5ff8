"""Coverage, size and utility of class sets against loops, a printed formula, and proportions."""

import warnings

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics import (
    box_coverage_score,
    class_set_curve,
    class_set_scores,
    mean_credal_width,
    mean_set_size,
    set_coverage_in_parts,
    set_coverage_score,
    set_utility_score,
)
from uqassay.metrics.sets import CLASS_SET_SCORES, coverage_of_parts, scores_of_columns, sizes_as_parts
from uqassay.statistics import mean_estimate, proportion_estimate

SETS = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 0, 0]], dtype=bool)
Y = np.array([0, 1, 2, 0, 1])


def test_scores_against_a_loop(random_generator):
    sets = random_generator.random((200, 5)) < 0.4
    y = random_generator.integers(5, size=200)
    found = class_set_scores(y, sets)
    hit = [bool(s[c]) for s, c in zip(sets, y, strict=True)]
    size = [int(s.sum()) for s in sets]
    single = [h for h, s in zip(hit, size, strict=True) if s == 1]
    several = [h for h, s in zip(hit, size, strict=True) if s > 1]
    expected = {
        "coverage": np.mean(hit),
        "size": np.mean(size),
        "determinacy": size.count(1) / 200,
        "single_accuracy": np.mean(single),
        "set_accuracy": np.mean(several),
        "u65": np.mean([1.6 / s - 0.6 / s**2 if h else 0.0 for h, s in zip(hit, size, strict=True)]),
        "u80": np.mean([2.2 / s - 1.2 / s**2 if h else 0.0 for h, s in zip(hit, size, strict=True)]),
    }
    assert {name: float(getattr(found, name)) for name in CLASS_SET_SCORES} == pytest.approx(expected)
    assert (found.single_accuracy.n, found.set_accuracy.n) == (len(single), len(several))
    assert found.to_dict()["size"]["estimate"] == float(found.size)


def test_utilities_are_those_of_the_paper():
    """Zaffalon, Corani, Mauá (2012): u65(1/2) = .65, u80(1/2) = .80, and both are 1 at 1."""
    pair, one = np.array([[True, True, False]]), np.array([[True, False, False]])
    for name, worth in {"u65": 0.65, "u80": 0.8, "discounted": 0.5}.items():
        assert float(set_utility_score([1], pair, utility=name)) == pytest.approx(worth, abs=1e-12)
        assert float(set_utility_score([0], one, utility=name)) == 1.0
        assert float(set_utility_score([2], pair, utility=name)) == 0.0
    log = set_utility_score(Y, SETS, utility=lambda size: 1 - np.log(size) / np.log(3))
    assert float(log) == pytest.approx((1 + 1 - np.log(2) / np.log(3)) / 5)


def test_single_scores_agree_with_the_record(random_generator):
    p = random_generator.dirichlet(np.ones(4), size=(60, 3))
    y = random_generator.integers(4, size=60)
    groups = np.repeat(np.arange(20), 3)
    for rule in uq.credal.CLASS_RULES:
        found = class_set_scores(y, p, rule=rule, groups=groups, level=0.9)
        assert repr(set_coverage_score(y, p, rule=rule, groups=groups, level=0.9)) == repr(found.coverage)
        assert repr(mean_set_size(p, rule=rule, groups=groups, level=0.9)) == repr(found.size)
        assert repr(set_utility_score(y, p, rule=rule, groups=groups, level=0.9, utility="u80")) == repr(found.u80)


def test_groups_names_and_ids_of_the_prediction_are_used():
    probs = np.tile([[0.6, 0.4], [0.3, 0.7]], (4, 1))
    groups = np.repeat(list("abcd"), 2)
    p = uq.Point(probs, groups=groups, class_names=["x", "y"])
    found = set_coverage_score(list("xyxxxyyx"), p)
    expected = proportion_estimate([1, 1, 1, 0, 1, 1, 0, 0], groups=groups)
    assert repr(found) == repr(expected)
    assert repr(mean_set_size(p)) == repr(mean_estimate(np.ones(8), groups=groups))


def test_label_distributions_count_by_the_share_that_is_not_ruled_out():
    votes = np.array([[3, 1, 0], [0, 2, 2]])
    sets = np.array([[1, 1, 0], [0, 0, 1]], dtype=bool)
    assert float(set_coverage_score(votes / 4, sets)) == pytest.approx(0.75)


def test_parts_without_instances_are_undefined_with_a_reason():
    found = class_set_scores([0, 1], [[0.7, 0.3], [0.2, 0.8]])
    assert np.isnan(found.set_accuracy)
    assert found.set_accuracy.notes[0].code == "undefined"
    assert float(found.single_accuracy) == 1.0
    vacuous = class_set_scores([0, 1], np.ones((2, 3), dtype=bool))
    assert np.isnan(vacuous.single_accuracy)
    one = class_set_scores([0], [[0.7, 0.3]])
    assert np.isnan(one.coverage.low)


def test_runs_are_pooled_where_they_differ_in_their_single_classes(random_generator):
    covered = (random_generator.random((2, 30)) < 0.7).astype(float)
    size = random_generator.integers(1, 3, size=(2, 30)).astype(float)
    found = scores_of_columns(covered, size)
    units = np.broadcast_to(np.arange(30), (2, 30))
    expected = proportion_estimate(covered[size == 1], groups=units[size == 1])
    assert repr(found.single_accuracy) == repr(expected)
    assert repr(found.coverage) == repr(proportion_estimate(covered))
    same = scores_of_columns(covered, np.repeat(size[:1], 2, axis=0))
    assert repr(same.single_accuracy) == repr(proportion_estimate(covered[:, size[0] == 1]))


def test_refusals():
    with refuses("prediction", "shape", r"\(3,\)"):
        class_set_scores([0], np.ones(3, dtype=bool))
    with refuses("y_true"):
        class_set_scores([0, 3], np.ones((2, 3), dtype=bool))
    with refuses("utility", "choice", "u70"):
        set_utility_score(Y, SETS, utility="u70")
    with refuses("utility", "shape"):
        set_utility_score(Y, SETS, utility=lambda size: size[:2])


# Coverage of classes and sizes: against loops and the peers' formulas.


def worlds_of_parts(rng):
    """Sets and labels of 300 instances and 6 classes, of which the last is absent."""
    probs = rng.dirichlet(np.ones(6) * 0.7, 300)
    y = np.array([rng.choice(6, p=p) for p in probs])
    y[y == 5] = 0
    return probs >= np.sort(probs, axis=1)[:, [-2]] * 0.8, y


def gap_by_definition(sets, y, alpha, absent):
    """Mean |coverage of a class − (1 − α)| in percent, with absent classes left out, or at coverage 0 as TorchCP 1.0.0 did."""
    gaps = []
    for k in range(sets.shape[1]):
        if (y == k).any():
            gaps.append(abs(sets[y == k, k].mean() - (1 - alpha)))
        elif absent == "at 0":
            gaps.append(1 - alpha)
    return 100 * np.mean(gaps)


def test_gap_beside_the_peers_with_an_absent_class(random_generator):
    """TorchCP 1.0.0 and 1.0.1 count an absent class as never covered; Ding et al., and TorchCP from 1.0.2 on, leave it out."""
    sets, y = worlds_of_parts(random_generator)
    found = set_coverage_in_parts(y, sets, target=0.9)
    assert 100 * float(found.gap) == pytest.approx(gap_by_definition(sets, y, 0.1, "left out"))
    assert gap_by_definition(sets, y, 0.1, "at 0") > 100 * float(found.gap) + 8
    assert np.isnan(found.coverage[5])
    assert found.coverage[5].n == 0
    assert found.rows()[5]["below"] is False


def test_violations_by_size_beside_the_peers(random_generator):
    """The greatest violation is TorchCP's SSCV; the least coverage MAPIE's, whose empty strata are nan as well."""
    sets, y = worlds_of_parts(random_generator)
    strata = [(0, 1), (2, 3), (4, 10)]
    found = set_coverage_in_parts(y, sets, by="size", target=0.9, sizes=strata)
    hit, size = sets[np.arange(300), y], sets.sum(axis=1)
    expected = [
        hit[(size >= a) & (size <= b)].mean() if ((size >= a) & (size <= b)).any() else np.nan for a, b in strata
    ]
    assert [float(one) for one in found.coverage] == pytest.approx(expected, nan_ok=True)
    every = set_coverage_in_parts(y, sets, by="size")
    assert [part[0] for part in every.parts] == np.unique(size).tolist()
    mapie = pytest.importorskip("mapie.metrics.classification")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MAPIE takes the mean of sizes that no set has
        by_size = mapie.classification_ssc(y, sets[:, :, None])[0]
    assert [float(one) for one in every.coverage] == pytest.approx([by_size[part[0]] for part in every.parts])
    assert float(every.coverage[every.worst]) == pytest.approx(np.nanmin(by_size))  # its classification_ssc_score


def test_parts_against_proportions_with_groups_and_runs(random_generator):
    sets, y = worlds_of_parts(random_generator)
    groups = np.repeat(np.arange(30), 10)
    found = set_coverage_in_parts(y, sets, groups=groups, level=0.9)
    hit = sets[np.arange(300), y].astype(float)
    for k in range(5):
        alone = proportion_estimate(hit[y == k], groups=groups[y == k], level=1 - 0.1 / 6, method="exact")
        assert repr(found.coverage[k]) == repr(alone)
    given = set_coverage_in_parts(y, sets, by=np.where(y < 2, "low", "high"), groups=groups)
    assert given.parts == ("high", "low")
    runs = np.stack([hit, 1 - hit])
    of_runs = coverage_of_parts(runs, {k: y == k for k in range(6)})
    assert [float(one) for one in of_runs.coverage[:5]] == pytest.approx([0.5] * 5)
    size = np.stack([np.ones(300), np.r_[np.ones(150), np.full(150, 2.0)]])
    pooled = coverage_of_parts(runs, sizes_as_parts(size), by="size")
    assert float(pooled.coverage[1]) == pytest.approx(1 - hit[150:].mean())


def test_gap_interval_holds_all_that_the_intervals_allow(random_generator):
    sets, y = worlds_of_parts(random_generator)
    for target in (None, 0.8):
        found = set_coverage_in_parts(y, sets, target=target)
        there = [one for one in found.coverage if not np.isnan(one)]
        corners = np.array([[one.low, float(one), one.high] for one in there])
        to = [target] if target else [found.overall.low, float(found.overall), found.overall.high]
        gaps = [np.abs(corners[:, j] - t).mean() for j in range(3) for t in to]
        assert found.gap.low <= min(gaps)
        assert max(gaps) <= found.gap.high + 1e-12
        assert found.gap.low <= float(found.gap) <= found.gap.high


def test_label_conditional_coverage_of_a_credal_set(random_generator):
    p = random_generator.dirichlet(np.ones(4), size=(90, 3))
    y = random_generator.integers(4, size=90)
    kept = uq.measures.not_ruled_out(p, rule="maximality")
    found = set_coverage_in_parts(y, p)
    assert [float(one) for one in found.coverage] == pytest.approx([kept[y == k, k].mean() for k in range(4)])


@pytest.mark.parametrize(("options", "parameter", "code"), [
    ({"target": 1.2}, "target", "range"), ({"by": "row"}, "by", "choice"), ({"by": [1, 2]}, "by", "mismatch"),
    ({"sizes": [(0, 1)]}, "sizes", "conflict"), ({"by": "size", "sizes": [(2, 3), (3, 4)]}, "sizes", "choice"),
])  # fmt: skip
def test_refusals_of_parts(options, parameter, code):
    with refuses(parameter, code):
        set_coverage_in_parts(Y, SETS, **options)


def test_a_single_instance_or_group_of_a_part_has_no_interval():
    found = set_coverage_in_parts([0, 1, 1], np.eye(3, dtype=bool)[[0, 1, 2]], groups=["a", "a", "b"])
    assert np.isnan(found.coverage[0].low)
    assert found.below == ()
    assert (found.gap.low, found.gap.high) == (pytest.approx(0, abs=0.5), pytest.approx(1, abs=0.5))


# Boxes, widths and curves.


def test_box_coverage_and_width_against_loops(random_generator):
    members = random_generator.dirichlet(np.ones(3), size=(80, 6))
    votes = np.array([random_generator.multinomial(20, p) for p in members.mean(axis=1)])
    shares = votes / 20
    low, high = members.min(axis=1), members.max(axis=1)
    for tolerance in (0.0, 0.05):
        inside = [
            all(a - tolerance - 1e-6 <= q <= b + tolerance + 1e-6 for a, q, b in zip(*rows, strict=True))
            for rows in zip(low, shares, high, strict=True)
        ]
        found = box_coverage_score(votes, members, tolerance=tolerance)
        assert repr(found) == repr(proportion_estimate(np.array(inside, dtype=float)))
    width = (high - low).mean(axis=1)
    assert float(mean_credal_width(members)) == pytest.approx(width.mean())
    assert repr(mean_credal_width(members, of="max")) == repr(mean_estimate((high - low).max(axis=1)))
    assert (
        float(box_coverage_score(np.full((80, 3), 1 / 3), uq.Point(np.full((80, 3), 1 / 3, dtype=np.float32)))) == 1.0
    )
    with refuses("y_true", "type"):
        box_coverage_score(np.zeros(80, dtype=int), members)


def test_curve_of_given_sets_against_its_parts(random_generator):
    probs = random_generator.dirichlet(np.ones(4), 120)
    y = random_generator.integers(4, size=120)
    grid = {alpha: probs >= alpha for alpha in (0.1, 0.2, 0.4)}
    found = class_set_curve(y, grid, groups=np.repeat(np.arange(40), 3))
    for alpha, one in zip(found.names, found.scores, strict=True):
        assert repr(one.coverage) == repr(set_coverage_score(y, grid[alpha], groups=np.repeat(np.arange(40), 3)))
    hits = [sets[np.arange(120), y].astype(float) for sets in grid.values()]
    test = uq.statistics.paired_mean_test(hits[0], hits[2], groups=np.repeat(np.arange(40), 3))
    assert found.coverage.difference[0, 2] == pytest.approx(float(test.difference))
    assert found.size.names == ("0.1", "0.2", "0.4")
    assert len(found.rows()) == 3


@pytest.mark.parametrize("by", [[0.0, np.nan, 0.0, 1.0, 1.0], ["a", None, "a", "b", "b"]])
def test_a_part_without_a_name_is_refused(by):
    with refuses("by", "finite" if by[0] == 0 else "missing"):
        set_coverage_in_parts(Y, SETS, by=np.array(by, dtype=None if by[0] == 0 else object))


def test_names_of_parts_may_be_objects():
    found = set_coverage_in_parts(Y, SETS, by=np.array(["b", "a", "a", "b", "a"], dtype=object))
    assert found.parts == ("a", "b")
    assert [float(one) for one in found.coverage] == [2 / 3, 0.5]
    with refuses("by", "type"):
        set_coverage_in_parts(Y, SETS, by=np.array([1, "a", 1, 1, 1], dtype=object))


@pytest.mark.parametrize("sizes", [5, [("a", "b")], [(0, np.inf)], [(0.5, 1)], [(0, 1, 2)]])
def test_ranges_of_sizes_are_whole_numbers(sizes):
    with refuses("sizes", "choice"):
        set_coverage_in_parts(Y, SETS, by="size", sizes=sizes)


def test_a_curve_takes_groups_whichever_sets_carry_them():
    groups = [0, 0, 1, 1, 1]
    plain, carrying = uq.ClassSets(SETS), uq.ClassSets(SETS, groups=groups)
    first, last = class_set_curve(Y, {1: carrying, 2: plain}), class_set_curve(Y, {2: plain, 1: carrying})
    asked = class_set_curve(Y, {1: SETS, 2: SETS}, groups=groups)
    assert first.rows()[0] == last.rows()[1] == asked.rows()[0]
    with refuses("groups", "conflict"):
        class_set_curve(Y, {1: carrying, 2: uq.ClassSets(SETS, groups=[0, 1, 2, 3, 4])})
    with refuses("predictions", "empty"):
        class_set_curve(Y, {})
    with refuses("predictions", "duplicate"):
        class_set_curve(Y, {1: SETS, "1": SETS})
