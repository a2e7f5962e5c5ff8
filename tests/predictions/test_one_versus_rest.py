"""one_versus_rest: the two-class prediction of a class, against the event {k} and its complement."""

import numpy as np
import pytest
from scipy import stats
from tests.kinds import KINDS, masses_of_every_event, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.notes import Note

N, K = 6, 4
DRAWN = ("Dirichlet", "GaussianLogits")
CARRIED = {"ids": np.array(list("abcdef")), "groups": np.array([1, 1, 2, 2, 3, 3]), "notes": ("repaired",)}
NAMES = ("cat", "dog", "owl", "3")


def events(prediction, k):
    """(rest, class k) under every point of the hull, (n, V, 2)."""
    points = np.asarray(prediction.hull_points(), dtype=np.float64)
    return np.stack([np.delete(points, k, axis=2).sum(axis=2), points[..., k]], axis=2)


def carrying(prediction, **metadata):
    return prediction.with_metadata(**{k: v for k, v in metadata.items() if k != "notes"})


# -- against the events -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["Point", "Members", "Vertices", "GaussianLogits"])
@pytest.mark.parametrize("k", range(K))
def test_points_of_the_set_become_pairs(kind, k, random_generator):
    prediction = random_prediction(kind, random_generator, N, K)
    binary = prediction.one_versus_rest(k)
    pairs = events(prediction, k)
    np.testing.assert_allclose(binary.hull_points(), pairs, atol=1e-15)
    np.testing.assert_allclose(binary.lower_probs(), pairs.min(axis=1), atol=1e-15)
    np.testing.assert_allclose(binary.upper_probs(), pairs.max(axis=1), atol=1e-15)
    mean = prediction.mean_probs()[:, k]
    np.testing.assert_allclose(binary.mean_probs(), np.stack([1 - mean, mean], axis=1), atol=1e-15)
    assert type(binary) is (uq.Members if kind == "GaussianLogits" else type(prediction))


@pytest.mark.parametrize("weights", [[3, 0, 1], "own"])
def test_weights_of_the_members_stay(weights, random_generator):
    members = random_prediction("Members", random_generator, N, K)
    given = random_generator.random((N, 3)) if weights == "own" else weights
    members = uq.Members(members.probs, given)
    binary = members.one_versus_rest(2)
    np.testing.assert_array_equal(binary.weights, members.weights)
    np.testing.assert_allclose(binary.mean_probs()[:, 1], members.mean_probs()[:, 2], atol=1e-15)


@pytest.mark.parametrize("kind", ["Intervals", "Masses"])
@pytest.mark.parametrize("k", range(K))
def test_bounds_are_those_of_the_event_and_its_complement(kind, k, random_generator):
    prediction = random_prediction(kind, random_generator, N, K)
    event = np.eye(K, dtype=bool)[[k]]
    if kind == "Masses":
        masses, sets = prediction.masses, prediction.focal_sets
        inside = np.stack([masses @ ~(sets & ~a).any(axis=1) for a in (~event[0], event[0])], axis=1)
    else:
        vertices = [np.asarray(uq.credal.box_vertices(*prediction[i].bounds())[0])[0] for i in range(N)]
        inside = np.array([[np.delete(v, k, axis=1).sum(axis=1).min(), v[:, k].min()] for v in vertices])
    binary = prediction.one_versus_rest(k)
    assert type(binary) is type(prediction)
    np.testing.assert_allclose(binary.lower_probs(), inside, atol=1e-12)
    np.testing.assert_allclose(binary.upper_probs(), 1 - inside[:, ::-1], atol=1e-12)
    np.testing.assert_allclose(binary.upper_probs()[:, 1], prediction.upper_probs()[:, k], atol=1e-12)


def test_masses_have_three_focal_sets(random_generator):
    prediction = random_prediction("Masses", random_generator, N, K)
    binary = prediction.one_versus_rest(1)
    assert binary.focal_sets.tolist() == [[True, False], [False, True], [True, True]]
    with_k = np.array([bool(a >> 1 & 1) for a in range(2**K)])
    sizes = np.array([a.bit_count() for a in range(2**K)])
    every = masses_of_every_event(prediction)
    expected = [every[:, ~with_k].sum(axis=1), every[:, with_k & (sizes == 1)].sum(axis=1)]
    np.testing.assert_allclose(binary.masses[:, :2], np.stack(expected, axis=1), atol=1e-12)
    np.testing.assert_allclose(binary.masses.sum(axis=1), 1, atol=1e-12)


def test_masses_where_a_focal_set_is_missing():
    masses = uq.Masses([[0.25, 0.75]], [[0], [0, 1, 2]], n_classes=3)
    assert masses.one_versus_rest(0).masses.tolist() == [[0.0, 0.25, 0.75]]
    assert masses.one_versus_rest(2).masses.tolist() == [[0.25, 0.0, 0.75]]


def test_beliefs_that_are_not_belief_functions_stay_signed():
    sets = [[0], [1], [0, 1], [0, 1, 2]]
    signed = uq.Masses.from_beliefs(np.array([[0.6, 0.5, 0.7, 1.0]], np.float32), sets, n_classes=3)
    assert signed.signed
    binary = signed.one_versus_rest(0)
    assert binary.signed
    np.testing.assert_allclose(binary.masses, [[0.5, 0.6, -0.4 + 0.3]], atol=1e-6)
    with refuses("beliefs", "not-belief-functions", got="1 of 1 rows are not .first row 0"):
        binary.lower_probs()
    assert binary.repaired().lower_probs().shape == (1, 2)


@pytest.mark.parametrize("unit", [False, True])
def test_dirichlet_aggregates(unit):
    alpha = np.array([[2.0, 0.7, 4.0, 1.0], [0.3, 0.3, 0.2, 0.1]])
    dirichlet = uq.Dirichlet(alpha, unit_concentration=unit, n_draws=3000, seed=4)
    binary = dirichlet.one_versus_rest(2)
    assert (type(binary), binary.n_draws, binary.seed, binary.unit_concentration) == (uq.Dirichlet, 3000, 4, unit)
    np.testing.assert_allclose(binary.alpha, [[3.7, 4.0], [0.7, 0.2]])
    np.testing.assert_allclose(binary.mean_probs()[:, 1], dirichlet.mean_probs()[:, 2])
    ours, theirs = binary.hull_points()[..., 1], dirichlet.hull_points()[..., 2]
    for i in range(2):
        assert stats.ks_2samp(ours[i], theirs[i]).pvalue > 0.01
    # whether draws are held or not
    np.testing.assert_array_equal(dirichlet.with_draws().one_versus_rest(2).hull_points(), binary.hull_points())


def test_two_classes_give_the_prediction_itself(random_generator):
    for kind in KINDS:
        prediction = random_prediction(kind, random_generator, N, 2)
        same, turned = prediction.one_versus_rest(1), prediction.one_versus_rest(0)
        for method in ("mean_probs", "lower_probs", "upper_probs"):
            if kind == "Intervals" and method == "mean_probs":
                continue
            expected = getattr(prediction, method)()
            np.testing.assert_allclose(getattr(same, method)(), expected, atol=1e-15, err_msg=kind)
            if kind != "Dirichlet" or method == "mean_probs":  # turned, it draws in another order
                np.testing.assert_allclose(getattr(turned, method)()[:, ::-1], expected, atol=1e-15, err_msg=kind)
        if kind in ("Point", "Members", "Vertices", "Dirichlet"):
            for name in same.array_names():
                np.testing.assert_array_equal(getattr(same, name), getattr(prediction, name))


def test_one_versus_rest_twice_is_once(random_generator):
    for kind in KINDS:
        once = random_prediction(kind, random_generator, N, K).one_versus_rest(3)
        np.testing.assert_allclose(once.one_versus_rest(1).lower_probs(), once.lower_probs(), atol=1e-15, err_msg=kind)


# -- metadata, and the choice of the class ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_metadata_and_class_names(kind, random_generator):
    prediction = carrying(random_prediction(kind, random_generator, N, K), class_names=NAMES, **CARRIED)
    part = prediction[[4, 4, 1]]  # a row twice: its id is not unique any more
    binary = part.one_versus_rest("owl")
    assert binary.class_names == ("not owl", "owl")
    assert binary.ids.tolist() == ["e", "e", "b"]
    assert binary.groups.tolist() == [3, 3, 1]
    assert binary.row_numbers.tolist() == [4, 4, 1]
    whole = prediction.one_versus_rest(2)
    np.testing.assert_array_equal(binary.lower_probs(), whole[[4, 4, 1]].lower_probs())
    assert uq.Point([[0.5, 0.25, 0.25]], notes=(Note("kept", "kept"),)).one_versus_rest(0).notes == (
        Note("kept", "kept"),
    )
    assert random_prediction(kind, random_generator, N, K).one_versus_rest(2).class_names == ("rest", "class 2")


@pytest.mark.parametrize("names", [None, ("0", "1", "2"), ("1", "2", "3"), ("3.0", "0", "-1"), ("cat", "dog", "owl")])
@pytest.mark.parametrize("k", range(3))
def test_labels_0_and_1_mean_the_rest_and_the_class(names, k):
    binary = uq.Point([[0.5, 0.25, 0.25]] * 2, class_names=names).one_versus_rest(k)
    assert len(set(binary.class_names)) == 2
    assert uq.predictions.class_indices([0, 1], binary.class_names).tolist() == [0, 1]
    assert uq.losses.is_correct([0, 1], binary).sum() == 1
    again = binary.one_versus_rest(1)
    assert uq.predictions.class_indices([0, 1], again.class_names).tolist() == [0, 1]


def test_a_class_by_index_or_by_name():
    point = uq.Point([[0.1, 0.2, 0.3, 0.4]], class_names=NAMES)
    found = [point.one_versus_rest(k).probs[0, 1] for k in ("dog", 1, np.int64(2), np.str_("cat"), "3", 3)]
    assert found == [0.2, 0.2, 0.3, 0.1, 0.4, 0.4]


@pytest.mark.parametrize(
    ("names", "k", "got"),
    [
        (None, 4, r"0 … 3; got 4; "),
        (None, -1, r"0 … 3; got -1; "),
        (None, "1", r"0 … 3; got '1'; "),
        (NAMES, "fox", r"0 … 3 or one of cat, dog, owl, 3; got 'fox'; "),
        (NAMES, 1.0, r"got 1\.0; "),
        (NAMES, True, r"got True; "),
        (NAMES, None, r"got None; "),
    ],
)
def test_an_unknown_class_is_refused_in_one_sentence(names, k, got):
    with refuses("k", "choice", got=got):
        uq.Point([[0.1, 0.2, 0.3, 0.4]], class_names=names).one_versus_rest(k)


# -- ordinary inputs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("kind", ["Point", "Members", "Vertices", "Intervals", "Masses"])
def test_short_and_read_only_numbers(kind, dtype, random_generator):
    p = random_generator.dirichlet(np.ones(9), (40, 3)).astype(dtype)
    p.flags.writeable = False
    prediction = {
        "Point": lambda: uq.Point(p[:, 0]),
        "Members": lambda: uq.Members(p),
        "Vertices": lambda: uq.Vertices(p),
        "Intervals": lambda: uq.Intervals(p.min(axis=1), p.max(axis=1)),
        "Masses": lambda: uq.Masses(p[:, 0], [[c] for c in range(8)] + [list(range(9))], n_classes=9),
    }[kind]()
    for k in range(9):
        binary = prediction.one_versus_rest(k)
        within = 1e-3 if kind == "Masses" and dtype == np.float16 else 1e-15
        np.testing.assert_allclose(binary.upper_probs()[:, 1], prediction.upper_probs()[:, k], atol=within)
        again = binary.with_metadata(groups=np.arange(40))  # passes the rules of its kind once more
        np.testing.assert_allclose(again.mean_probs().sum(axis=1), 1, atol=1e-6)


def test_the_smallest_probabilities_survive():
    point = uq.Point([[1.0 - 1e-12, 1e-12 - 1e-25, 1e-25], [1.0, 1e-30, 0.0]])
    np.testing.assert_allclose(point.one_versus_rest(0).probs[:, 0], [1e-12, 1e-30], rtol=1e-12)


def test_a_hair_beyond_the_bounds():
    point = uq.Point(np.array([[1.0005, -0.0005, 0.0]], dtype=np.float16))
    assert point.one_versus_rest(0).probs.tolist() == [[0.0, 1.0]]
    assert point.one_versus_rest(1).probs.tolist() == [[1.0, 0.0]]
    intervals = uq.Intervals(np.array([[1.0005, 0.0, 0.0]], np.float16), np.array([[1.0005, 0.0, 0.0005]], np.float16))
    assert intervals.one_versus_rest(0).upper_probs().tolist() == [[0.0, 1.0]]


def test_results_do_not_depend_on_row_order_and_memory_layout(random_generator):
    members = random_prediction("Members", random_generator, 31, 11)
    columns = uq.Members(np.asfortranarray(members.probs))
    order = random_generator.permutation(31)
    whole = members.one_versus_rest(5).probs
    np.testing.assert_array_equal(columns.one_versus_rest(5).probs, whole)
    np.testing.assert_array_equal(members[order].one_versus_rest(5).probs, whole[order])
    np.testing.assert_array_equal(columns[3].one_versus_rest(5).probs, whole[3:4])


def test_an_assay_of_one_class(random_generator):
    members = random_prediction("Members", random_generator, 20, 3)
    y = random_generator.integers(3, size=20)
    found = uq.assay({"m": members.one_versus_rest(1)}, (y == 1).astype(int), n_draws=10)
    assert np.isfinite(found.findings().query("model == 'm' and metric == 'kl'").estimate).all()
