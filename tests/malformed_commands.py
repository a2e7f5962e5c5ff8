"""Malformed command lines: nonsense values, missing files, folders and pipes in place of files."""

import contextlib
import io
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.malformed_arrays import Case, pick
from tests.malformed_files import samples
from uqassay.cli import main

VALUES = (
    "",
    "0",
    "-1",
    "nan",
    "inf",
    "1e400",
    "0.5",
    "abc",
    "0.5,0.5",
    ",",
    "=",
    "none",
    "exact",
    "\x1b[31m",
    "9" * 30,
    "🙂",
    "--",
    "-",
)
OPTIONS = {
    "inspect": "--member-axis --json",
    "convert": "--kind --member-axis --normalise --labels",
    "rank": "--labels --tradeoff --groups --subgroup --member-axis --normalise --convention --distance --level --draws --seed "
    "--floor --common-members --focal-sets --nonspecificity --fail-if --json --nonsense",
    "report": "--labels --tradeoff --groups --subgroup --output -o --level --draws --calibration --fail-if",
    "calibration-test": "--labels --measure --level --draws --null --seed --alpha --json",
    "ood": "--labels --score --level --json --out",
    "tradeoff": "--abstention --no-abstention --cost --json",
    "reproduce": "--preset --data --dataset --figure --table --nonsense",
    "bench": "--dataset --method --seeds --config --param",
    "nonsense": "--x",
}
ALONE = ("--json", "--normalise", "--abstention", "--no-abstention")


def place(rng: np.random.Generator, folder: Path) -> str:
    """The name of a file, of what is no file, or nonsense."""
    suffix = pick(rng, (".npz", ".npy", ".csv", ".jsonl"))
    path = folder / f"m{rng.integers(3)}{suffix}"
    data = pick(rng, samples(suffix))
    if rng.random() < 0.4:
        data = data[: int(rng.integers(len(data)))]
    path.write_bytes(data)
    with contextlib.suppress(FileExistsError):
        os.mkfifo(folder / "pipe.npz")
    names = (
        str(path),
        str(path),
        str(path),
        str(folder),
        str(folder / "none.npz"),
        str(folder / "pipe.npz"),
        "/dev/null",
        "a" * 300,
        "x.xyz",
    )
    return f"{pick(rng, ('A=', '', '', 'A=B=', '=', 'é='))}{pick(rng, names)}"


@cache
def labels_of_four() -> bytes:
    """A valid file of labels."""
    stream = io.BytesIO()
    np.save(stream, np.array([0, 1, 2, 0]))
    return stream.getvalue()


def words_of(rng: np.random.Generator, folder: Path) -> list[str]:
    """A command line."""
    command = pick(rng, list(OPTIONS))
    words = [command]
    if command == "reproduce":
        words.append(pick(rng, ("nonsense", "", "unified2", "-1")))
    elif command == "bench":
        words += [
            "--dataset",
            pick(rng, ("nonsense", "", ",", "wine,nonsense")),
            "--method",
            pick(rng, ("nonsense", "", ",")),
        ]
    elif command not in ("tradeoff", "nonsense"):
        words += [place(rng, folder) for _ in range(rng.integers(0, 3))]
    if command in ("rank", "report", "calibration-test") and rng.random() < 0.7:
        (folder / "labels.npy").write_bytes(labels_of_four())
        words += ["--labels", str(folder / "labels.npy")]
    for _ in range(rng.integers(0, 3)):
        option = pick(rng, OPTIONS[command].split())
        words.append(option)
        if option not in ALONE:
            words.append(place(rng, folder) if rng.random() < 0.4 else pick(rng, VALUES))
    if command in ("rank", "report", "calibration-test"):
        words += ["--draws", "20"]
    if command == "report":
        words += ["--output", str(folder / "r.html")]
    return words


def command(rng: np.random.Generator, folder: Path) -> Case:
    """Run a command line in this process."""
    words = words_of(rng, folder)

    def run() -> None:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        here = os.getcwd()
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code: Any = main(words)
        finally:
            os.chdir(here)
        err.flush()
        said = err.buffer.getvalue().decode()  # type: ignore[attr-defined]
        assert code in (0, 1, 2, 3), code
        assert "Traceback" not in said, said
        assert code != 1 or "--fail-if" in words, said
        if code == 2:
            assert len(said.strip().splitlines()) == 1, f"exit code 2 and not one line: {said!r}"
            assert "\x1b" not in said, said

    return Case(f"uqassay {' '.join(map(repr, words))}", run)
