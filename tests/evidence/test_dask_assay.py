"""An assay over dask arrays: every number of it is that of the same assay in memory, whatever the chunks and the workers."""

import os
import signal
import sys

import numpy as np
import pandas as pd
import pytest
from tests.evidence.test_streaming import CHEAP, N, assert_same, small_samples
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.credal import all_focal_sets
from uqassay.errors import MissingDependencyError
from uqassay.evidence.dask import holds_dask

__all__ = ["small_samples"]


@pytest.fixture
def da(needs):
    needs("dask")
    import dask
    import dask.array

    with dask.config.set(scheduler="synchronous"):
        yield dask.array


def lazily(da, prediction, chunks):
    """The same prediction over dask arrays in these chunks of rows."""
    names = prediction.array_names()
    arrays = {
        name: da.from_array(getattr(prediction, name), chunks=(chunks, *[-1] * (getattr(prediction, name).ndim - 1)))
        for name in names
    }
    settings = {
        name: getattr(prediction, name)
        for name in ("n_draws", "variance_is", "focal_sets", "weights")
        if getattr(prediction, name, None) is not None and name not in names
    }
    return uq.DaskPrediction(type(prediction), **arrays, **settings)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_in_several_chunkings(kind, da, random_generator, small_samples):
    prediction = random_prediction(kind, random_generator, N, 4)
    y = random_generator.integers(0, 4, N)
    whole = uq.assay({"m": prediction}, y, **CHEAP)
    for chunks in ((N,), (1, 70, 1, 78)):
        assert_same(uq.assay({"m": lazily(da, prediction, chunks)}, y, **CHEAP), whole)


@pytest.mark.parametrize("groups", [None, pytest.param((np.arange(N) * 7 % 40).astype(str), marks=pytest.mark.slow)])
def test_tests_scale_check_and_pictures_of_chunks_that_differ_between_models(
    groups, da, random_generator, small_samples
):
    ensemble = random_generator.dirichlet(np.ones(3), (N, 4))
    y, site = random_generator.integers(0, 3, N), np.arange(N) % 3
    density = random_generator.normal(size=(2, N))
    options = CHEAP | {"calibration": ("ece-confidence",), "rng": 5, "groups": groups}
    whole = uq.assay(
        {"set": [uq.Members(ensemble), uq.Members(ensemble[::-1])], "point": uq.Point(ensemble[:, 0])},
        y,
        **options,
        subgroups={"site": site},
        uncertainties={"set": {"density": density}},
    )
    assert {t.n_tested < N for t in whole.calibration} == {True}
    turned = np.ascontiguousarray(ensemble[::-1])
    found = uq.assay(
        {
            "set": [da.from_array(ensemble, chunks=(40, 2, 2)), da.from_array(turned, chunks=(33, 4, 3))],
            "point": da.from_array(ensemble[:, 0], chunks=(100, 3)),
        },
        da.from_array(y, chunks=11),
        **options | {"groups": None if groups is None else da.from_array(groups, chunks=50)},
        subgroups=pd.DataFrame({"site": site}),
        uncertainties={"set": {"density": da.from_array(density, chunks=(1, 60))}},
    )
    assert_same(found, whole)


def test_label_distributions_names_and_ids(da, random_generator):
    p, votes = random_generator.dirichlet(np.ones(3), 40), random_generator.integers(0, 4, (40, 3))
    votes[:, 0] += 1
    lazy = da.from_array(p, chunks=(15, 3))
    assert_same(uq.assay({"m": lazy}, da.from_array(votes, chunks=(9, 1)), **CHEAP), uq.assay({"m": p}, votes, **CHEAP))
    names, ids = ("a", "b", "c"), np.arange(40)[::-1] + 5
    labels = pd.Series(np.array(names)[random_generator.integers(0, 3, 40)], index=np.arange(40) + 5)
    lazy = uq.DaskPrediction(uq.Point, lazy, class_names=names, ids=ids)
    memory = uq.Point(p, class_names=names, ids=ids)
    assert_same(uq.assay({"m": lazy}, labels, **CHEAP), uq.assay({"m": memory}, labels, **CHEAP))
    whole_numbers = ("1", "2", "3")  # labels are names, and must not be read as positions after they were checked
    y = random_generator.integers(1, 4, 40)
    lazy = uq.DaskPrediction(uq.Point, da.from_array(p, chunks=(15, 3)), class_names=whole_numbers)
    assert_same(uq.assay({"m": lazy}, y, **CHEAP), uq.assay({"m": uq.Point(p, class_names=whole_numbers)}, y, **CHEAP))


def test_empty_chunks_and_float32(da, random_generator):
    p = random_generator.dirichlet(np.ones(18), (30, 3)).astype(np.float32)
    y = random_generator.integers(0, 18, 30)
    chosen = (np.arange(30) < 7) | (np.arange(30) >= 14)
    lazy = da.from_array(p, chunks=(7, 3, 18))[da.from_array(chosen, chunks=7)].compute_chunk_sizes()
    assert 0 in lazy.chunks[0]
    assert_same(uq.assay({"m": lazy}, y[chosen], **CHEAP), uq.assay({"m": p[chosen]}, y[chosen], **CHEAP))


def test_rows_are_named_by_their_number_in_the_whole(da, random_generator):
    p, y = random_generator.dirichlet(np.ones(3), (90, 2)), random_generator.integers(0, 3, 90)
    p[[47, 80], 1, 2] = np.nan
    lazy = da.from_array(p, chunks=(20, 2, 3))
    with refuses("models['m']", "finite", got="row 7 holds nan.* row 47 of all") as refused:
        uq.assay({"m": lazy}, y, **CHEAP)
    assert refused.value.facts["row"] == 47
    with refuses("models['m'].probs", "finite", got="row 47 of all"):
        uq.assay({"m": uq.DaskPrediction(uq.Members, lazy)}, y, **CHEAP)
    y[33] = 3
    with refuses("y_true", "range", got="row 33 holds 3"):
        uq.assay({"m": lazy}, y, **CHEAP)
    with refuses("y_true", "range", got="row 13 holds 3.*rows 20 to 39"):
        uq.assay({"m": lazy}, da.from_array(y, chunks=20), **CHEAP)


def test_what_does_not_fit_is_refused(da, random_generator):
    p, y = da.from_array(random_generator.dirichlet(np.ones(3), 60), chunks=(20, 3)), np.zeros(60, int)
    with refuses("y_true", "mismatch", got="60.*59"):
        uq.assay({"m": p}, y[:59], **CHEAP)
    with refuses("y_true", "mismatch", got="60.*50"):
        uq.assay({"m": p}, da.from_array(y[:50]), **CHEAP)
    with refuses("models['b']", "mismatch", got="50.*60"):
        uq.assay({"a": p, "b": p[:50]}, y, **CHEAP)
    with refuses("models['m']", "shape", got="compute_chunk_sizes"):
        uq.assay({"m": p[p[:, 0] > 0]}, y, **CHEAP)
    with refuses("models['m']", "shape", got="from_binary"):
        uq.assay({"m": p[:, 0]}, y, **CHEAP)
    with refuses("models['m']", "type", got="Delayed.*to_dask_array"):
        uq.assay({"m": p.to_delayed().ravel()[0]}, y, **CHEAP)
    with refuses("uncertainties['m']['s']", "shape", got="60"):
        uq.assay({"m": p}, y, uncertainties={"m": {"s": np.zeros(59)}}, **CHEAP)
    with refuses("groups", "mismatch", got="60"):
        uq.assay({"m": p}, y, groups=np.zeros(59), **CHEAP)
    with refuses("measures", "choice"):
        uq.assay({"m": p}, y, measures=["entropy-of-nothing"], **CHEAP)


def test_beliefs_that_are_repaired_where_only_a_later_chunk_is_broken(da, random_generator):
    sets = all_focal_sets(3)
    masses, y = random_generator.dirichlet(np.ones(len(sets)), 40), random_generator.integers(0, 3, 40)
    masses[33, :2] += [-0.5, 0.5]
    whole = uq.assay({"m": uq.Masses(masses, sets, signed=True)}, y, repair=True, **CHEAP)
    lazy = uq.DaskPrediction(uq.Masses, da.from_array(masses, chunks=(10, -1)), focal_sets=sets, signed=True)
    assert_same(uq.assay({"m": lazy}, y, repair=True, **CHEAP), whole)


def test_warnings_of_chunks_and_progress_reach_the_caller(da, random_generator):
    def warn(block):
        import warnings

        warnings.warn("odd", UserWarning, stacklevel=1)
        return uq.Point(block)

    p, said = da.from_array(random_generator.dirichlet(np.ones(3), 60), chunks=(20, 3)), []
    with pytest.warns(UserWarning, match="odd"):
        uq.assay({"m": uq.DaskPrediction(warn, p)}, np.zeros(60, int), progress=said.append, **CHEAP)
    assert said[:4] == ["looking at the first chunk", *(f"scored {i} of 3 chunks" for i in (1, 2, 3))]


def test_the_first_chunk_is_computed_once(da, random_generator):
    seen = []

    def look(block):
        seen.append(len(block))
        return block

    p = da.from_array(random_generator.dirichlet(np.ones(3), 60), chunks=(20, 3))
    uq.assay({"m": p.map_blocks(look, dtype=float, meta=np.empty((0, 0)))}, np.zeros(60, int), **CHEAP)
    assert seen == [20, 20, 20]


def test_without_dask_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with refuses("dask", "package", got=r"pip install 'dask\[array,distributed\]>=", error=MissingDependencyError):
        uq.assay({"m": np.full((4, 2), 0.5)}, [0, 1, 0, 1], client="tcp://127.0.0.1:1")
    assert not holds_dask({"m": np.zeros((3, 2))})
    assert not holds_dask([1])


# -- on workers ----------------------------------------------------------------------------------------------------------


def some_models(da, random_generator):
    p, alpha = random_generator.dirichlet(np.ones(3), (N, 4)), random_generator.gamma(2.0, size=(N, 3)) + 0.1
    memory = {
        "set": p,
        "drawn": uq.Dirichlet(alpha, n_draws=15),
        "turned": uq.Members(p.transpose(1, 0, 2), member_axis=0),
    }
    lazy = {
        "set": da.from_array(p, chunks=(40, 4, 3)),
        "drawn": uq.DaskPrediction(uq.Dirichlet, da.from_array(alpha, chunks=(70, 3)), n_draws=15),
        "turned": memory["turned"],
    }
    return memory, lazy, random_generator.integers(0, 3, N)


@pytest.fixture(scope="module")
def cluster():
    """One worker at first."""
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=":0",
        scheduler_kwargs={"dashboard": False},
    ) as started:
        yield started


@pytest.mark.slow
def test_worker_processes_give_the_bits_of_this_process(cluster, da, random_generator):
    import distributed

    memory, lazy, y = some_models(da, random_generator)
    whole = uq.assay(memory, y, **CHEAP)
    for workers in (1, 2):
        cluster.scale(workers)
        cluster.wait_for_workers(workers)
        assert_same(uq.assay(lazy, y, client=cluster.scheduler_address, **CHEAP), whole)
        with distributed.Client(cluster) as client:
            assert len(client.ncores()) == workers
            assert_same(uq.assay({**lazy, "set": lazy["set"].persist()}, y, client=client, **CHEAP), whole)
            assert_same(uq.assay(memory, y, client=client, **CHEAP), whole)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced(cluster, da, random_generator):
    import distributed

    memory, lazy, y = some_models(da, random_generator)
    whole, killed = uq.assay(memory, y, **CHEAP), []
    cluster.scale(2)
    cluster.wait_for_workers(2)
    with distributed.Client(cluster) as client:

        def kill(text):
            if text.startswith("scored") and not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        assert_same(uq.assay(lazy, y, client=client, progress=kill, **CHEAP), whole)
    assert killed
