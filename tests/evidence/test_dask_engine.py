"""Schedulers: addresses without one, what is cancelled, and which client is taken."""

import socket
import time

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay import _workers
from uqassay.evidence import dask as dask_engine
from uqassay.evidence.dask import open_engine


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=":0",
        scheduler_kwargs={"dashboard": False},
    ) as found:
        yield found


def silent(text):
    """Nobody listens."""


def tasks(n):
    from dask import delayed

    return [delayed(pow, pure=False)(i, 2) for i in range(n)]


@pytest.mark.parametrize("place", ["here", "address", "client", "current client"])
def test_results_come_with_their_numbers(place, cluster):
    import dask.array
    import distributed

    with distributed.Client(cluster, set_as_default=place == "current client") as client:
        given = {"address": cluster.scheduler_address, "client": client}.get(place)
        with open_engine(given, silent) as engine:
            assert (type(engine).__name__ == "_Here") is (place == "here")
            found = {}
            engine.run(tasks(5), found.__setitem__)
            assert found == {i: i**2 for i in range(5)}
            nested = engine.now({"a": [dask.array.arange(3), 5], "b": "text"})
            assert (nested["a"][0].tolist(), nested["a"][1], nested["b"]) == ([0, 1, 2], 5, "text")
            assert engine.now(engine.kept(tasks(3))[2]) == 4


def test_an_error_of_the_caller_cancels_the_other_tasks(cluster):
    import distributed

    def stop(i, value):
        raise KeyboardInterrupt

    with distributed.Client(cluster, set_as_default=False) as client, open_engine(client, silent) as engine:
        with pytest.raises(KeyboardInterrupt):
            engine.run(tasks(3), stop)
        while client.run_on_scheduler(
            lambda dask_scheduler: len(dask_scheduler.tasks)
        ):  # it hears of it a little later
            time.sleep(0.05)


def test_addresses_without_scheduler_or_workers(monkeypatch, cluster):
    import distributed

    monkeypatch.setattr("uqassay._workers.CONNECT_SECONDS", 0.2)
    monkeypatch.setattr(dask_engine, "WORKER_SECONDS", 0.2)
    for address in ("tcp://127.0.0.1:1", "nowhere://x"):
        with refuses("client", "missing", got=address), open_engine(address, silent):
            pass
    said = []
    with distributed.LocalCluster(
        n_workers=0,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=":0",
        scheduler_kwargs={"dashboard": False},
    ) as empty:
        address = empty.scheduler_address
        with refuses("client", "missing", got=f"{address}.*dask worker"), open_engine(address, said.append):
            pass
    assert said == ["waiting for a worker"]


def test_a_cluster_without_uqassay(monkeypatch, cluster):
    monkeypatch.setattr(dask_engine, "find_spec", lambda name: None)
    with (
        refuses("client", "package", got="the scheduler and at 1 more"),
        open_engine(cluster.scheduler_address, silent),
    ):
        pass


def test_what_is_no_client():
    with refuses("client", "type", got="ndarray"), open_engine(np.zeros(2), silent):
        pass


def test_workers_that_end_are_one_sentence(cluster):
    import distributed

    class Lost:
        address = "tcp://10.0.0.1:4"

    def lose(i, value):
        raise distributed.KilledWorker("chunk", Lost, 3)

    with open_engine(cluster.scheduler_address, silent) as engine, refuses("client", "size", got="4 .*10.0.0.1"):
        engine.run(tasks(1), lose)


@pytest.mark.slow
def test_a_server_that_says_nothing_is_given_up(monkeypatch):
    monkeypatch.setattr("uqassay._workers.CONNECT_SECONDS", 0.5)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        address, started = f"tcp://127.0.0.1:{server.getsockname()[1]}", time.monotonic()
        with refuses("client", "missing", got=address), open_engine(address, silent):
            pass
    assert time.monotonic() - started < 15


def test_wrong_addresses_are_given_up_within_fifteen_seconds():
    assert 2 * _workers.CONNECT_SECONDS < 15  # a connection, then a client


def test_a_closed_client(cluster):
    import distributed

    client = distributed.Client(cluster, set_as_default=False)
    client.close()
    with refuses("client", "missing", got="it is closed"), open_engine(client, silent):
        pass
