"""A stream of chunks against one call on all instances: every number, note and picture is the same."""

import pickle
from dataclasses import replace
from functools import reduce
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from tests.interrupts import interrupt_everywhere
from tests.kinds import KINDS, STATEMENTS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.credal import all_focal_sets
from uqassay.evidence import calibration as calibration_cost
from uqassay.evidence import scale as scaled_sets
from uqassay.evidence import stream as conclusion
from uqassay.evidence import stream as kept_pictures
from uqassay.records import Later

CHEAP = {"n_draws": 20, "tradeoffs": (0.5,), "scales": (2.0,), "calibration": ()}
N = 150


def cut(value, rows):
    """The same part of every array in nested dicts and lists."""
    if isinstance(value, dict):
        return {name: cut(each, rows) for name, each in value.items()}
    return [cut(each, rows) for each in value] if isinstance(value, list) else value[rows]


def streamed(models, y, cuts, options, **per_instance):
    stream = uq.AssayStream(**options)
    for a, b in pairwise(cuts):
        rows = slice(a, b)
        stream.update(cut(models, rows), y[rows], **{name: cut(v, rows) for name, v in per_instance.items()})
    return stream


def numbers(value, place="assay"):
    """Every number, text and array inside an assay by its place; the time taken is left out."""
    if isinstance(value, np.ndarray):
        yield place, (value.dtype, value.shape, value.tobytes() if value.dtype != object else tuple(value.tolist()))
    elif isinstance(value, dict):
        for name, each in value.items():
            if name != "seconds":
                yield from numbers(each, f"{place}.{name}")
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            yield from numbers(each, f"{place}[{i}]")
    elif isinstance(value, Later):
        yield from numbers(value(), place)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        yield from numbers(vars(value), place)
    else:
        yield place, repr(value)


def assert_same(found, expected):
    own, other = dict(numbers(found)), dict(numbers(expected))
    assert own.keys() == other.keys()
    assert [place for place in own if own[place] != other[place]] == []


@pytest.fixture
def small_samples(monkeypatch):
    """Tests, scale check and pictures take a part of 150 instances, as they do of many thousands."""
    monkeypatch.setattr(calibration_cost, "FEWEST", 20)
    monkeypatch.setattr(calibration_cost, "SET_WORK", 2_600)
    monkeypatch.setattr(calibration_cost, "MOST_VALUES", 300)
    monkeypatch.setattr(scaled_sets, "FEWEST_ROWS", 10)
    monkeypatch.setattr(scaled_sets, "MOST_VALUES", 30)
    monkeypatch.setattr(conclusion, "PICTURED_VALUES", 100)
    for module in (conclusion, kept_pictures):
        monkeypatch.setattr(module, "PICTURED_POINTS", 3)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_in_uneven_chunks(kind, random_generator, small_samples):
    models = {"m": random_prediction(kind, random_generator, N, 4)}
    y = random_generator.integers(0, 4, N)
    whole = uq.assay(models, y, **CHEAP)
    assert_same(streamed(models, y, [0, 1, 70, 71, 149, N], CHEAP).compute(), whole)


@pytest.mark.parametrize("groups", [None, np.arange(N) // 4, (np.arange(N) * 7 % 40).astype(str)])
def test_calibration_tests_and_scale_check_take_the_same_sample(groups, random_generator, small_samples):
    ensemble = random_generator.dirichlet(np.ones(3), (N, 4))
    models = {"set": [uq.Members(ensemble), uq.Members(ensemble[::-1])], "point": uq.Point(ensemble[:, 0])}
    y = random_generator.integers(0, 3, N)
    options = CHEAP | {"calibration": ("ece-confidence",), "rng": 5}
    given = {} if groups is None else {"groups": groups}
    whole = uq.assay(models, y, **options, **given)
    assert {t.n_tested < N for t in whole.calibration} == {True}
    stream = streamed(models, y, [0, 60, 61, N], options, **given)
    assert_same(stream.compute(), whole)
    assert stream._state.samples["set"].joined()[1].size < N  # not everything is kept


def test_merged_streams_with_draws(random_generator, small_samples):
    alpha, p = random_generator.gamma(2.0, size=(N, 3)) + 0.1, random_generator.dirichlet(np.ones(3), N)
    y = random_generator.integers(0, 3, N)

    def models(rows):
        return {"drawn": uq.Dirichlet(alpha[rows], n_draws=15), "point": uq.Point(p[rows])}

    options = CHEAP | {"calibration": ("ece-confidence",)}
    whole = uq.assay(models(slice(None)), y, **options)
    streams = []
    for a, b in pairwise([0, 50, 51, 120, N]):
        stream = uq.AssayStream(first_row=a, **options)
        middle = (a + b) // 2
        for rows in (slice(a, middle), slice(middle, b)):
            if rows.start < rows.stop:
                stream.update(models(rows), y[rows])
        streams.append(pickle.loads(pickle.dumps(stream)))
    right = streams[1].merge(streams[2].merge(streams[3]))  # in any association, as in a tree
    assert_same(streams[0].merge(right).compute(), whole)


def test_many_classes_whose_nonspecificity_is_estimated(random_generator):
    models = {"a": uq.Members(random_generator.dirichlet(np.ones(18), (30, 3)).astype(np.float32))}
    y = random_generator.integers(0, 18, 30)
    for more in ({}, {"tolerance": 1e-3}, {"nonspecificity": "pal"}):
        assert_same(streamed(models, y, [0, 7, 30], CHEAP | more).compute(), uq.assay(models, y, **CHEAP, **more))


def test_beliefs_that_are_repaired(random_generator):
    sets = all_focal_sets(3)
    masses = random_generator.dirichlet(np.ones(len(sets)), 60)
    masses[::7, 0] -= 0.5
    masses[::7, 1] += 0.5
    masses = uq.Masses(masses, sets, signed=True)
    y = random_generator.integers(0, 3, 60)
    for more in ({"repair": True}, {"convention": "paper"}):
        options = CHEAP | more
        assert_same(
            streamed({"m": masses}, y, [0, 20, 45, 60], options).compute(), uq.assay({"m": masses}, y, **options)
        )


def test_chunks_without_broken_beliefs_are_treated_as_the_first_chunk(random_generator):
    sets = all_focal_sets(3)
    masses, y = random_generator.dirichlet(np.ones(len(sets)), 40), random_generator.integers(0, 3, 40)
    masses[3, :2] += [-0.5, 0.5]
    for more in ({"repair": True}, {"convention": "paper"}):
        options = CHEAP | more
        whole = uq.assay({"m": uq.Masses(masses, sets, signed=True)}, y, **options)
        stream = uq.AssayStream(**options)
        stream.update({"m": uq.Masses(masses[:10], sets, signed=True)}, y[:10])
        stream.update({"m": uq.Masses(masses[10:], sets)}, y[10:])
        assert_same(stream.compute(), whole)
        sound = uq.AssayStream(**options).update({"m": uq.Masses(masses[10:], sets)}, y[10:])
        with refuses("chunk", "mismatch", got="signed"):
            sound.update({"m": uq.Masses(masses[:10], sets, signed=True)}, y[:10])


def test_label_distributions_ids_names_subgroups_and_given_scores(random_generator):
    p = random_generator.dirichlet(np.ones(3), 40)
    models = {
        "a": uq.Point(p, class_names=["x", "y", "z"], ids=np.arange(40) + 7),
        "b": uq.Point(p[:, ::-1], class_names=["z", "y", "x"], ids=np.arange(40) + 7),
    }
    votes = pd.DataFrame(random_generator.integers(0, 5, (40, 3)) + 1, columns=["x", "y", "z"], index=np.arange(40) + 7)
    per = {
        "uncertainties": {"a": {"density": p[:, 0]}},
        "subgroups": {"site": np.array(["n", "south"])[np.arange(40) % 2]},
    }
    whole = uq.assay(models, votes, **CHEAP, **per)
    assert_same(streamed(models, votes, [0, 11, 40], CHEAP, **per).compute(), whole)


def test_labels_with_an_index_are_aligned_within_their_chunk(random_generator):
    p, y = random_generator.dirichlet(np.ones(3), 20), random_generator.integers(0, 3, 20)
    ids = np.arange(20)
    stream = uq.AssayStream(**CHEAP)
    for a, b in ((0, 8), (8, 20)):
        labels = pd.Series(y[a:b][::-1], index=ids[a:b][::-1])
        stream.update({"a": uq.Point(p[a:b], ids=ids[a:b])}, labels)
    assert_same(stream.compute(), uq.assay({"a": uq.Point(p, ids=ids)}, y, **CHEAP))


def test_a_stream_goes_on_after_compute_and_does_not_hold_the_callers_arrays(random_generator):
    p, y = random_generator.dirichlet(np.ones(3), (90, 4)), random_generator.integers(0, 3, 90)
    stream, buffer, labels = uq.AssayStream(**CHEAP), np.empty((30, 4, 3)), np.empty(30, dtype=int)
    for start in (0, 30, 60):
        buffer[...], labels[...] = p[start : start + 30], y[start : start + 30]  # the caller fills one buffer anew
        stream.update({"a": buffer}, labels)
        assert stream.compute().n_instances == stream.n_instances == start + 30
    assert_same(stream.compute(), uq.assay({"a": p}, y, **CHEAP))


def test_refusals(random_generator):
    p, y = random_generator.dirichlet(np.ones(3), 10), random_generator.integers(0, 3, 10)
    stream = uq.AssayStream(**CHEAP)
    with refuses("chunk", "empty"):
        stream.compute()
    stream.update({"a": p}, y)
    for other, part in (
        ({"b": p}, "models"),
        ({"a": p.astype(np.float32)}, "probs of 'a'"),
        ({"a": p[:, None]}, "scores"),
        ({"a": uq.Point(p, ids=np.arange(10))}, "ids"),
        ({"a": uq.Point(p, class_names=["x", "y", "z"])}, "class_names"),
    ):
        with refuses("chunk", "mismatch") as caught:
            stream.update(other, y)
        assert caught.value.facts["part"] == part
    with refuses("groups", "type"):
        stream.update({"a": p}, y, groups=np.array([1, "x"] * 5, dtype=object))
    assert stream.n_instances == 10  # what was refused left nothing behind
    with refuses("other", "type"):
        stream.merge(3)
    with refuses("other", "mismatch", got="n_draws is 2000 and here 20"):
        stream.merge(uq.AssayStream(**CHEAP | {"n_draws": 2000}))
    with refuses("other", "mismatch", got="begins at row 0, and this stream ends before row 10"):
        stream.merge(uq.AssayStream(**CHEAP))
    with refuses("first_row", "range"):
        uq.AssayStream(first_row=-1)
    late = uq.AssayStream(first_row=10, **CHEAP).update({"a": p}, y)
    with refuses("first_row", "mismatch"):
        late.compute()
    with refuses("level", "range"):
        uq.AssayStream(level=2)
    assert stream.merge(late).n_instances == 20


def test_ids_must_differ_between_chunks(random_generator):
    p, y = random_generator.dirichlet(np.ones(3), 10), random_generator.integers(0, 3, 10)
    stream = uq.AssayStream(**CHEAP)
    for _ in range(2):
        stream.update({"a": uq.Point(p, ids=np.arange(10))}, y)
    with refuses("ids", "duplicate"):
        stream.compute()


def test_an_empty_stream_takes_over_another(random_generator):
    p, y = random_generator.dirichlet(np.ones(3), 10), random_generator.integers(0, 3, 10)
    filled = uq.AssayStream(**CHEAP).update({"a": p}, y)
    found = reduce(uq.AssayStream.merge, [filled, uq.AssayStream(first_row=10, **CHEAP)], uq.AssayStream(**CHEAP))
    assert_same(found.compute(), filled.compute())


# -- interrupts and arrays of the caller ---------------------------------------------------------------------------------

HOLDERS = ("evidence/stream.py",)


@pytest.mark.slow
@pytest.mark.parametrize(("files", "step"), [(HOLDERS, 1), ((), 41)], ids=["lines that hold", "lines of all"])
def test_an_update_interrupted_at_any_line_leaves_the_stream_as_it_was(random_generator, small_samples, files, step):
    p, y = random_generator.dirichlet(np.ones(3), (40, 4)), random_generator.integers(0, 3, 40)
    groups, options = np.arange(40) // 3, CHEAP | {"calibration": ("ece-confidence",)}

    def chunk(a, b):
        return ({"a": uq.Members(p[a:b]), "b": p[a:b, 0]}, y[a:b]), {"groups": groups[a:b], "subgroups": {"s": y[a:b]}}

    def begun(b):
        arguments, others = chunk(0, b)
        return uq.AssayStream(**options).update(*arguments, **others)

    stream, undisturbed = begun(20), begun(20)
    before, (arguments, others) = stream._state, chunk(20, 40)

    def unchanged():
        assert stream._state is before

    assert interrupt_everywhere(lambda: stream.update(*arguments, **others), unchanged, *files, step=step) > 100
    assert stream.n_instances == 40  # the last try ran to its end
    assert_same(stream.compute(), begun(20).update(*arguments, **others).compute())
    object.__setattr__(stream, "_state", before)
    assert_same(stream.compute(), undisturbed.compute())


@pytest.mark.slow
def test_a_merge_interrupted_at_any_line_leaves_both_streams_as_they_were(random_generator, small_samples):
    p, y = random_generator.dirichlet(np.ones(3), (40, 4)), random_generator.integers(0, 3, 40)
    options = CHEAP | {"calibration": ("ece-confidence",)}

    def part(a, b):
        return uq.AssayStream(first_row=a, **options).update({"a": p[a:b], "b": p[a:b, 0]}, y[a:b])

    first, second, undisturbed = part(0, 20), part(20, 40), part(0, 20)
    before = first._state

    def unchanged():
        assert first._state is before

    assert interrupt_everywhere(lambda: first.merge(second), unchanged) > 50
    assert_same(first.compute(), streamed({"a": p, "b": p[:, 0]}, y, [0, 20, 40], options).compute())
    object.__setattr__(first, "_state", before)
    assert_same(first.compute(), undisturbed.compute())
    assert_same(part(0, 20).merge(second).compute(), part(0, 20).merge(part(20, 40)).compute())


def arrays_in(value):
    """Every array in nested dicts and lists, and in the fields of predictions."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, uq.Prediction):
        yield from (held for held in vars(value).values() if isinstance(held, np.ndarray))
    else:
        for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from arrays_in(each)


def fill_anew(*values):
    """Overwrite all arrays, as a loader does that uses its buffers again."""
    for array in arrays_in(list(values)):
        array.setflags(write=True)
        array[...] = "z" if array.dtype.kind == "U" else array[::-1].copy() + array.dtype.type(1)


def inputs_of(kind, votes):
    """Arguments for 40 instances with everything that an instance may carry, always the same."""
    rng = np.random.default_rng(3)
    model = random_prediction("Members" if kind == "weighted" else kind, rng, 40, 4)
    weighted = {"weights": np.array([0.5, 0.3, 0.2])} if kind == "weighted" else {}
    model = replace(model, groups=np.arange(40) // 3, **weighted)
    y = rng.integers(1, 9, (40, 4)) if votes else rng.integers(0, 4, 40)
    others = {"uncertainties": {"array": {"density": rng.random(40)}}, "subgroups": {"site": np.arange(40) % 3}}
    others |= {"groups": np.arange(40) // 2} if votes else {}
    array = rng.dirichlet(np.ones(4), 40)
    if not votes:  # all models have ids, or none
        model, array = (replace(p, ids=np.array([f"i{i}" for i in range(40)])) for p in (model, uq.Point(array)))
    return {"m": model, "array": array}, y, others


@pytest.mark.slow
@pytest.mark.parametrize("votes", [False, True])
@pytest.mark.parametrize("kind", [*STATEMENTS, "weighted"])
def test_arrays_of_the_caller_may_be_filled_anew_after_the_call(kind, votes, small_samples):
    def options():
        return CHEAP | {"prior": np.array([0.1, 0.2, 0.3, 0.4]), "class_names": list("abcd"), "tradeoffs": [0.5, 0.7]}

    def assay(*, spoil):
        (models, y, others), given = inputs_of(kind, votes), options()
        found = uq.assay(models, y, **others, **given)
        if spoil:
            fill_anew(models, y, others, given)
        return found

    def stream(*, spoil):
        given = options()
        found = uq.AssayStream(**given)
        if spoil:
            fill_anew(given)
            given["class_names"].reverse()
        for rows in (slice(0, 15), slice(15, 40)):
            models, y, others = inputs_of(kind, votes)
            models, y, others = ({n: m[rows] for n, m in models.items()}, y[rows], cut(others, rows))
            found.update(models, y, **others)
            if spoil:
                fill_anew(models, y, others)
        return found.compute()

    for made in (assay, stream):
        spoilt, sound = made(spoil=True), made(spoil=False)
        assert_same(spoilt, sound)
        for table in ("findings", "mistakes", "calibration", "scores", "ranking", "claims"):
            pd.testing.assert_frame_equal(spoilt.table(table), sound.table(table))
