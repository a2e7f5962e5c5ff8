"""An assay in chunks of rows: the stream, its state, the sample and pictures that are kept."""

import pickle
from dataclasses import replace
from functools import reduce
from hashlib import sha256
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from tests.interrupts import interrupt_everywhere
from tests.kinds import KINDS, STATEMENTS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.calibration.mixtures import IN_GROUPS
from uqassay.credal import all_focal_sets
from uqassay.evidence import calibration, sampled
from uqassay.evidence import calibration as calibration_cost
from uqassay.evidence import scale as scaled_sets
from uqassay.evidence import stream as conclusion
from uqassay.evidence import stream as kept_pictures
from uqassay.evidence.align import align
from uqassay.evidence.kept_rows import joined_predictions, random_keys, rows_of, sample_reaching
from uqassay.evidence.options import AssayOptions
from uqassay.evidence.scoring import Settings, score_part
from uqassay.evidence.stream import Chunk, KeptPictures, KeptSample, check_same_form
from uqassay.records import Later

# -- A stream of chunks against one call on all instances: every number, note and picture is the same ------------------


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
        for table in ("findings", "mistakes", "calibration", "scores", "ranking", "claims") if made is assay else ():
            pd.testing.assert_frame_equal(spoilt.table(table), sound.table(table))


# -- The form of a chunk: what must be equal in all chunks of a stream, and what may differ ----------------------------


def form_of(prediction, **more):
    aligned = align({"m": prediction}, np.zeros(prediction.n_instances, dtype=int), **more)
    return Chunk(aligned, {}, {}, AssayOptions().settings(aligned, {}), 0, {}).form()


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_a_prediction_have_one_form(kind, random_generator):
    whole = random_prediction(kind, random_generator, 9, 4)
    check_same_form(form_of(whole[:2]), form_of(whole[2:]), "chunk")
    other = random_prediction(kind, random_generator, 9, 5)
    with refuses("chunk", "mismatch"):
        check_same_form(form_of(other), form_of(whole), "chunk")


def test_settings_of_a_kind_belong_to_the_form(random_generator):
    p = random_generator.dirichlet(np.ones(3), 4)
    cases = [
        (uq.Dirichlet(p, n_draws=10), uq.Dirichlet(p, n_draws=11), "n_draws of 'm'"),
        (uq.Dirichlet(p, seed=1), uq.Dirichlet(p), "seed of 'm'"),
        (uq.Members(p[:, None], [1.0]), uq.Members(p[:, None]), "weights of 'm'"),
        (uq.Point(p), uq.Dirichlet(p), "scores"),
    ]
    for found, first, part in cases:
        with refuses("chunk", "mismatch") as caught:
            check_same_form(form_of(found), form_of(first), "chunk")
        assert caught.value.facts["part"] == part
    groups = form_of(uq.Point(p), groups=[1, 1, 2, 2])
    check_same_form(groups, form_of(uq.Point(p), groups=[7, 8, 9, 10]), "chunk")
    with refuses("chunk", "mismatch"):
        check_same_form(groups, form_of(uq.Point(p), groups=["a", "a", "b", "b"]), "chunk")


# -- What a stream collects: the most extreme instances, sums, and no more of the predictions than later tests need ----


OPTIONS = {"scales": (), "calibration": (), "n_draws": 5}


def test_extreme_instances_of_parts_are_those_of_the_whole(monkeypatch, random_generator):
    monkeypatch.setattr(conclusion, "PICTURED_POINTS", 4)
    monkeypatch.setattr(kept_pictures, "PICTURED_POINTS", 4)
    monkeypatch.setattr(conclusion, "PICTURED_VALUES", 0)
    p, y = random_generator.dirichlet(np.ones(3), (60, 4)).round(1) + 1e-3, random_generator.integers(0, 3, 60)
    p /= p.sum(axis=2, keepdims=True)  # rounded, so that instances tie
    p[5], p[40] = p[20], p[20]
    models = {"a": uq.Members(p), "b": uq.Point(p[:, 0])}
    stream = uq.AssayStream(**OPTIONS)
    for rows in (slice(0, 10), slice(10, 45), slice(45, 60)):
        stream.update({name: model[rows] for name, model in models.items()}, y[rows])
    whole = uq.assay(models, y, **OPTIONS)
    expected = np.unique(np.concatenate(list(whole.extreme_instances(4).values())))
    assert stream._state.pictures.samples["a"].joined()[1].tolist() == expected.tolist()


def test_predictions_are_kept_within_the_budget_alone(monkeypatch, random_generator):
    monkeypatch.setattr(conclusion, "PICTURED_VALUES", 30)
    monkeypatch.setattr(calibration_cost, "MOST_VALUES", 300)
    p, y = random_generator.dirichlet(np.ones(3), 2000), random_generator.integers(0, 3, 2000)
    stream = uq.AssayStream(**OPTIONS | {"calibration": ("ece-confidence",)})
    for start in range(0, 2000, 100):
        stream.update({"m": p[start : start + 100]}, y[start : start + 100])
    state = stream._state
    assert len(state.samples["m"].joined()[1]) < 120  # 300 numbers, three to an instance, and a tenth for rounding
    assert len(state.pictures.samples["m"].joined()[1]) <= 10 + 60
    assert stream.compute().calibration[0].n_tested == 100


# -- Tests of calibration and of votes are made when they are asked for, once, with the same numbers whatever was a ----


N_SAMPLED = 60
OPTIONS_SAMPLED = {"n_draws": 20, "tradeoffs": (0.5,)}
WITHOUT_TESTS = {
    "in a notebook": lambda a: a._repr_html_(),
    "in a prompt": repr,
    "the ranking": lambda a: a.ranking().summary(),
    "the headline": lambda a: a.headline(),
    "the warnings": lambda a: a.warnings,
    "other numbers": lambda a: [a.rows(name) for name in ("ranking", "breakpoints", "mistakes", "sets", "subsets")[:4]],
    "a copy": lambda a: replace(a, tradeoffs=(0.7,)).ranked(),
    "the figure": lambda a: a.winners(),
}
WITH_TESTS = {
    "calibration": lambda a: a.calibration,
    "its table": lambda a: a.rows("calibration"),
    "votes": lambda a: a.votes,
    "findings": lambda a: a.rows("findings"),
    "claims": lambda a: a.claims(),
    "the verdict": lambda a: a.verdict(),
    "the summary": lambda a: a.summary(),
    "plain values": lambda a: a.to_json(),
    "another process": lambda a: pickle.loads(pickle.dumps(a)),
}


@pytest.fixture
def models(random_generator):
    p = random_generator.dirichlet(np.ones(3), (N_SAMPLED, 4))
    return {"set": uq.Members(p), "point": uq.Point(p[:, 0])}, random_generator.integers(0, 3, N_SAMPLED)


@pytest.fixture
def made(monkeypatch):
    """How often calibration was tested."""
    calls, tests = [], sampled.calibration_tests

    def counted(*arguments, **options):
        calls.append(1)
        return tests(*arguments, **options)

    monkeypatch.setattr(sampled, "calibration_tests", counted)
    return calls


@pytest.mark.parametrize("what", WITHOUT_TESTS)
def test_nothing_is_tested_for(what, models, made):
    a = uq.assay(*models, **OPTIONS_SAMPLED)
    WITHOUT_TESTS[what](a)
    assert made == []


@pytest.mark.parametrize("what", WITH_TESTS)
def test_calibration_is_tested_once_for(what, models, made):
    a = uq.assay(*models, **OPTIONS_SAMPLED)
    for _ in range(2):
        WITH_TESTS[what](a)
    assert len(a.calibration) == 4
    assert len(made) == 1


def test_copies_share_the_tests_and_saved_assays_have_them(models, made, tmp_path):
    a = uq.assay(*models, **OPTIONS_SAMPLED)
    copy = replace(a, tradeoffs=(0.7,))
    kept = uq.Assay.load(copy.save(tmp_path / "kept"))
    assert copy.calibration is a.calibration
    assert [t.row() for t in kept.calibration] == [t.row() for t in a.calibration]
    assert len(made) == 1
    assert kept.provenance["seconds"] == a.provenance["seconds"]


@pytest.mark.parametrize("labels", ["classes", "votes"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_questions_changes_no_number(kind, labels, random_generator):
    p = random_prediction(kind, random_generator, N_SAMPLED, 3)
    y = (
        random_generator.integers(0, 3, N_SAMPLED)
        if labels == "classes"
        else random_generator.integers(1, 5, (N_SAMPLED, 3))
    )
    first, last = uq.assay({"m": p}, y, **OPTIONS_SAMPLED), uq.assay({"m": p}, y, **OPTIONS_SAMPLED)
    first.tests()
    for ask in (*WITHOUT_TESTS.values(), lambda a: a.scale_check()):
        ask(last)
    assert first.warnings == last.warnings
    assert_same(replace(first), replace(last))  # copies without the results that were kept


def test_the_arrays_of_the_caller_may_be_filled_anew_before_the_tests(random_generator):
    p, y = random_generator.dirichlet(np.ones(3), (N_SAMPLED, 4)), random_generator.integers(0, 3, N_SAMPLED)
    first, last = uq.assay({"m": p}, y, **OPTIONS_SAMPLED), uq.assay({"m": p}, y, **OPTIONS_SAMPLED)
    first.tests()
    fill_anew(p, y)
    assert [t.row() for t in last.calibration] == [t.row() for t in first.calibration]


@pytest.mark.slow
@pytest.mark.parametrize("groups", [None, np.arange(N_SAMPLED) // 3])
@pytest.mark.parametrize("kind", KINDS)
def test_warnings_foresee_what_the_tests_say(kind, groups, random_generator, monkeypatch):
    monkeypatch.setattr(calibration, "FEWEST", 20)
    monkeypatch.setattr(calibration, "SET_WORK", 1)
    monkeypatch.setattr(calibration, "MOST_VALUES", 150)
    models = {
        "m": [random_prediction(kind, random_generator, N_SAMPLED, 3) for _ in range(2)],
        "k": uq.Point(np.full((N_SAMPLED, 3), 1 / 3)),
    }
    measures = ("kuiper-confidence", "skce-uq")  # by signs of groups, and by all pairs
    given = {} if groups is None else {"groups": groups}
    a = uq.assay(models, random_generator.integers(0, 3, N_SAMPLED), calibration=measures, **OPTIONS_SAMPLED, **given)
    found = {note.code: note for note in a.warnings}
    tests = [t for t in a.calibration if t.tested != "nothing"]
    assert ("dependent-labels" in found) == any(IN_GROUPS in t.notes for t in tests)
    parts = {t.model: t.n_tested for t in tests if t.n_tested < N_SAMPLED}
    assert parts
    assert found["calibration-sample"].facts == {"tested": parts, "instances": N_SAMPLED}


def test_the_time_of_the_tests_counts(models, monkeypatch):
    a = uq.assay(*models, **OPTIONS_SAMPLED)
    before = a.provenance["seconds"]
    moments = iter([10.0, 12.5])
    monkeypatch.setattr(sampled.time, "perf_counter", lambda: next(moments))
    a.tests()
    assert a.provenance["seconds"] == pytest.approx(before + 2.5)
    assert a.to_json()["provenance"]["seconds"] == a.provenance["seconds"]


def test_tests_that_fail_can_be_asked_for_again(models, monkeypatch):
    a = uq.assay(*models, **OPTIONS_SAMPLED)
    with monkeypatch.context() as patched:
        patched.setattr(sampled, "calibration_tests", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            a.tests()
    assert len(a.calibration) == 4


def test_an_assay_keeps_no_more_of_the_predictions_than_the_tests_take(random_generator, monkeypatch):
    monkeypatch.setattr(calibration, "FEWEST", 10)
    monkeypatch.setattr(calibration, "SET_WORK", 1)
    p, y = random_generator.dirichlet(np.ones(3), (400, 4)), random_generator.integers(0, 3, 400)
    parts, of = [], sampled.TestedPart.of

    def noted(*arguments, **options):
        parts.append(of(*arguments, **options))
        return parts[-1]

    monkeypatch.setattr(sampled.TestedPart, "of", noted)
    a = uq.assay({"m": p}, y, **OPTIONS_SAMPLED)
    stream = uq.AssayStream(**OPTIONS_SAMPLED)
    for rows in (slice(0, 150), slice(150, 400)):
        stream.update({"m": p[rows]}, y[rows])
    stream.compute()
    assert [part.models["m"][0].n_instances for part in parts] == [10, 10]
    assert {t.n_tested for t in a.calibration} == {10}


# -- Instances kept from a longer test set are found by their row numbers; parts join to the whole ---------------------


@pytest.mark.parametrize("kind", STATEMENTS)
def test_kept_rows_are_those_of_the_whole(kind, random_generator):
    whole = random_prediction(kind, random_generator, 9)
    kept = np.array([1, 4, 5, 8])
    held, rows = whole[kept], np.array([8, 1, 5])
    for found in (rows_of(held, rows, kept), rows_of(whole, rows, None)):
        np.testing.assert_array_equal(found.lower_probs(), whole.lower_probs()[rows])
        np.testing.assert_array_equal(found.mean_probs(), whole.mean_probs()[rows])
    for missing in ([0], [4, 9], [1, 2]):
        with pytest.raises(LookupError, match="not kept"):
            rows_of(held, np.array(missing), kept)


@pytest.mark.parametrize("kind", STATEMENTS)
def test_parts_join_to_the_whole(kind, random_generator):
    whole = random_prediction(kind, random_generator, 9)
    whole = whole.with_metadata(ids=np.arange(9) * 3, groups=np.arange(9) // 2)
    joined = joined_predictions([whole[:1], whole[1:6], whole[6:]])
    assert joined.n_instances == 9
    for name in (*whole.array_names(), "ids", "groups"):
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))
    np.testing.assert_array_equal(joined.upper_probs(), whole.upper_probs())
    assert joined_predictions([whole]) is whole


# -- The kept sample of a stream against the sample of all instances at once -------------------------------------------


NONE = np.empty(0, dtype=np.int64)
N_KEPT_SAMPLE = 200


@pytest.mark.parametrize("groups", [None, np.arange(N_KEPT_SAMPLE) * 13 % 31])
@pytest.mark.parametrize("size", [0, 1, 40, N_KEPT_SAMPLE])
def test_updates_and_extensions_against_one_sample(groups, size, random_generator):
    whole = uq.Point(random_generator.dirichlet(np.ones(3), N_KEPT_SAMPLE))
    keys = random_keys(N_KEPT_SAMPLE, groups, 4)
    samples = []
    for a, b in ((0, 1), (1, 90), (90, N_KEPT_SAMPLE)):
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


# -- Pictured instances: parts joined in any tree keep those that the whole keeps --------------------------------------


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


# -- The end of an assay: which instances are pictured, and what identifies the labels ---------------------------------


def test_extreme_instances_and_a_random_sample_are_pictured(monkeypatch, random_generator):
    p, y = random_generator.dirichlet(np.ones(3), (80, 4)), random_generator.integers(0, 3, 80)
    monkeypatch.setattr(conclusion, "PICTURED_VALUES", 60)
    monkeypatch.setattr(conclusion, "PICTURED_POINTS", 2)
    assert conclusion.most_pictured(3) == 20
    found = uq.assay({"m": p}, y, calibration=(), scales=(), n_draws=5, rng=3)
    extreme = np.unique(np.concatenate(list(found.extreme_instances(2).values())))
    rows = found.sets["m"].rows
    assert rows[: len(extreme)].tolist() == extreme.tolist()
    assert len(rows) == 20
    others = np.setdiff1d(np.arange(80), extreme)
    chosen = others[sample_reaching(random_keys(80, None, 3)[others], 20 - len(extreme))]
    assert rows[len(extreme) :].tolist() == chosen.tolist()
    np.testing.assert_array_equal(found.sets["m"].points, p[extreme].astype(np.float32))
    assert found.provenance["labels_sha256"] == sha256(y.tobytes()).hexdigest()
