"""A cell, a folder that waits for its result, and one that has it."""

import pytest
from tests.lab.bench.bench_work import WORK, draw

from uqassay.lab.bench.cell import Cell
from uqassay.lab.bench.store import Store


@pytest.fixture
def cell():
    return Cell(f"{WORK}:draw", dataset="toy", method="draw", seed=3)


@pytest.fixture
def store(tmp_path, cell):
    made = Store(tmp_path / "run")
    made.add([cell])
    return made


@pytest.fixture
def done(store, cell):
    assert store.claim(cell.key)
    store.finish(cell, draw(cell), seconds=1.5)
    return store
