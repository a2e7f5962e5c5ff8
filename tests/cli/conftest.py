"""A folder with small prediction files, and ways to run the command line in this process and in one of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli import main

SOURCE = Path(uq.__file__).resolve().parents[1]
N, K = 60, 3


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Standard output as strict JSON."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture(scope="module", autouse=True)
def _coarse_pages(coarse_pages, without_drawings):
    """Pages of this room are looked at in `tests.report`."""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run the command line in this process."""

    def call(*argv: object) -> Ran:
        capsys.readouterr()
        code = main([str(a) for a in argv])
        return Ran(code, *capsys.readouterr())

    return call


@pytest.fixture
def run_process() -> Callable[..., Ran]:
    """Run the command line in a process of its own."""

    def call(*argv: object, before: str = "", **environment: str) -> Ran:
        program = f"import sys\n{before}\nfrom uqassay.cli import main\nsys.exit(main())"
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program, *map(str, argv)],
            env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=600,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """labels.npy (n,), point.npz, de.npz (five members), edl.npz, intervals.npz and masses.npz on the same instances."""
    g = np.random.default_rng(7)
    y = g.integers(0, K, N)
    logits = 1.5 * np.eye(K)[y] + g.normal(size=(N, K))
    members = logits[:, None] + 0.4 * g.normal(size=(N, 5, K))
    probs = np.exp(members) / np.exp(members).sum(axis=2, keepdims=True)
    np.save(tmp_path / "labels.npy", y)
    np.savez(tmp_path / "de.npz", probs=probs)
    np.savez(tmp_path / "point.npz", probs=probs.mean(axis=1))
    np.savez(tmp_path / "edl.npz", alpha=1.0 + 6.0 * probs.mean(axis=1))
    np.savez(tmp_path / "intervals.npz", lower=probs.min(axis=1), upper=probs.max(axis=1))
    masses = np.concatenate([0.9 * probs.mean(axis=1), np.full((N, 1), 0.1)], axis=1)
    np.savez(tmp_path / "masses.npz", masses=masses, focal_sets=np.vstack([np.eye(K), np.ones(K)]).astype(bool))
    return tmp_path


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Print tables in this process as in a terminal of a given width."""
    return lambda width: monkeypatch.setattr("uqassay.cli.screen.UNBOUNDED", width)


MODELS = {"DE": "de", "EDL": "edl", "box": "intervals"}


@pytest.fixture
def models(files):
    """Arguments of the command line for three of the files."""
    return [f"{name}={files / file}.npz" for name, file in MODELS.items()]


@pytest.fixture
def judged(files):
    """The assay of these models by the library."""
    predictions = {name: uq.load(files / f"{file}.npz") for name, file in MODELS.items()}
    return uq.assay(predictions, np.load(files / "labels.npy"))


@pytest.fixture
def wrong(files):
    """Labels that none of the models foresees."""
    y = np.load(files / "labels.npy")
    np.save(files / "wrong.npy", (y + 1) % 3)
    return files / "wrong.npy"
