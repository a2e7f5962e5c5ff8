"""Malformed inputs by the thousand: a valid result or one clear error, and never anything else.

Each number is one input: a file of any format with bytes, headers or structure changed, odd values for constructors, readers
and the main call, or a command line. An input passes where its result is valid or an `UqassayError` is raised (exit code 2 and
one line on standard error for the command line). Another exception, a warning, more than `SECONDS`, or more than `GROWTH_BYTES`
of memory is a failure, which names its number; ``python tests/test_malformed_inputs.py NUMBER`` runs that input alone and shows
the traceback.
"""

import faulthandler
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("pandas", "pyarrow", "safetensors", "scipy", "torch", "typer", "zarr")
N_INPUTS, N_BLOCKS = 2_300, 1  # a fault in one of 500 is met with probability .99
SECONDS = 20  # of one input; a thousand times what it takes
GROWTH_BYTES = (
    400 * 2**20
)  # of the process by one input; files may take 64 MB an array, and more in proportion to their size
MISTAKES = (TypeError, AttributeError, LookupError, NameError, AssertionError)
MEMORY = Path("/dev/shm")  # where a folder is made and removed soonest
LIMIT_BYTES = 3 * 2**30  # of address space, so that what escapes the other bound fails rather than harms the machine


def schedule():
    """Families of inputs, as often as they come in a hundred."""
    from tests import malformed_arrays as arrays
    from tests import malformed_commands as commands
    from tests import malformed_files as files
    from tests import malformed_saved as saved
    from tests import malformed_stores as stores

    shares = {
        files.file_of(".npy", 0.6): 10,
        files.file_of(".npz", 0.5): 11,
        files.file_of(".csv", 0.6): 10,
        files.file_of(".tsv", 0.6): 1,
        files.file_of(".jsonl", 0.6): 9,
        files.file_of(".json", 0.6): 2,
        files.file_of(".safetensors", 0.4): 7,
        files.file_of(".parquet", 0.4): 5,
        files.file_of(".pt", 0.3): 5,
        stores.zarr_store: 2,
        files.odd_call: 5,
        arrays.constructor: 11,
        arrays.from_object: 8,
        arrays.saving: 3,
        arrays.judging: 1,
        commands.command: 2,
        saved.kept_assay: 6,
        saved.our_folder: 2,
    }
    return [family for family, share in shares.items() for _ in range(share)]


class Hang(BaseException):
    """An input took too long; not an `Exception`, which readers of damaged files may catch."""


def stop(*_: object) -> None:
    """End an input that takes too long."""
    raise Hang


def attempt(number: int, families: list) -> str | None:
    """Run one input; what is wrong with its outcome, or None."""
    import numpy as np

    from uqassay.errors import UqassayError
    from uqassay.predictions.files import LossyFormatWarning

    rng = np.random.default_rng(number)
    folder = Path(tempfile.mkdtemp(prefix="malformed-", dir=MEMORY if MEMORY.is_dir() else None))
    words, outcome = "", None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other libraries, while the input is made
            case = families[number % len(families)](rng, folder)
        words = case.words
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", LossyFormatWarning)
            try:
                case.run()
            except UqassayError as problem:
                outcome = flaw_of(problem)
        if told and outcome is None:
            outcome = f"warning: {told[0].category.__name__}: {told[0].message} ({told[0].filename}:{told[0].lineno})"
    except Hang:
        outcome = f"took more than {SECONDS} s\n{traceback.format_exc()}"
    except BaseException:
        outcome = traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        shutil.rmtree(folder, ignore_errors=True)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak)
    if outcome is None and grown > GROWTH_BYTES:
        outcome = f"took {grown / 2**20:.0f} MB of memory"
    return None if outcome is None else f"input {number}: {words}\n{outcome}"


def flaw_of(problem: Exception) -> str | None:
    """What is wrong with an error itself: it must have its fields, be one line, and hide nothing that it should not."""
    from uqassay.errors import UqassayError

    said = str(problem)
    fields = (problem.parameter, problem.rule, problem.code)  # type: ignore[attr-defined]
    if not all(fields) or "\n" in said or len(said) > 1000:
        return f"an error that is not one short sentence with its fields: {said!r}"
    cause: BaseException | None = problem.__cause__
    while isinstance(cause, UqassayError):
        cause = cause.__cause__
    if isinstance(cause, MemoryError):
        return f"memory was set aside before it was checked: {said!r}"
    if isinstance(cause, MISTAKES) and problem.code in ("unreadable", "unwritable"):
        place = traceback.extract_tb(cause.__traceback__)[-1].filename
        if Path(place).is_relative_to(ROOT / "src"):
            return (
                f"a mistake of our own, told as a damaged file: {said!r}\n{''.join(traceback.format_exception(cause))}"
            )
    return None


def run_block(first: int, last: int, started: Path) -> list[str]:
    """Run the inputs from `first` to `last` − 1; the number of each is written down before it starts."""
    families = schedule()

    signal.signal(signal.SIGALRM, stop)
    for number in range(
        1_000_000, 1_000_000 + 2 * len(families)
    ):  # loads what is loaded late, before memory is measured
        attempt(number, families)
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + LIMIT_BYTES, resource.RLIM_INFINITY))
    flaws = []
    with started.open("r+b", buffering=0) as stream:
        for number in range(first, last):
            os.pwrite(stream.fileno(), b"%09d" % number, 0)
            faulthandler.dump_traceback_later(3 * SECONDS, exit=True)  # where a hang outside Python stops the alarm
            flaw = attempt(number, families)
            faulthandler.cancel_dump_traceback_later()
            if flaw is not None:
                flaws.append(flaw)
    return flaws


def address_space() -> int:
    """Bytes of address space of this process."""
    pages = Path("/proc/self/statm").read_text().split()[0]
    return int(pages) * resource.getpagesize()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="measures memory as Linux does")
@pytest.mark.parametrize("block", range(N_BLOCKS))
def test_malformed_inputs_give_a_valid_result_or_one_clear_error(tmp_path, needs, block):
    needs(*PACKAGES)
    size = N_INPUTS // N_BLOCKS
    started = tmp_path / "started"
    started.write_bytes(b"")
    found = tmp_path / "found.json"
    arguments = [
        sys.executable,
        __file__,
        "--block",
        str(block * size),
        str((block + 1) * size),
        str(started),
        str(found),
    ]
    environment = os.environ | {"MALLOC_ARENA_MAX": "2", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(arguments, capture_output=True, text=True, errors="replace", env=environment, cwd=ROOT)
    assert done.returncode == 0, f"the interpreter ended at input {started.read_text()}: {done.stderr[-3000:]}"
    flaws = json.loads(found.read_text())
    again = "python tests/test_malformed_inputs.py NUMBER runs one of them alone"
    assert not flaws, f"{len(flaws)} of {size} inputs; {again}\n\n" + "\n\n".join(flaws[:5])


# -- the harness itself -----------------------------------------------------------------------------------------------


def case_of(run):
    """A family with one input."""
    from tests.malformed_arrays import Case

    return lambda rng, folder: Case("an input", run)


def refuse_badly():
    from uqassay.errors import InputError

    raise InputError("probs", "must hold")  # without a code


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (lambda: [].pop(), "IndexError"),
        (lambda: warnings.warn("of a library", stacklevel=1), "warning: UserWarning: of a library"),
        (lambda: time.sleep(30), "took more than 1 s"),
        (refuse_badly, "not one short sentence with its fields"),
        (sys.exit, "SystemExit"),
    ],
)
def test_what_must_not_happen_is_seen(monkeypatch, needs, run, words):
    needs(*PACKAGES)
    monkeypatch.setattr(sys.modules[__name__], "SECONDS", 1)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        flaw = attempt(7, [case_of(run)])
    finally:
        signal.signal(signal.SIGALRM, before)
    assert flaw is not None
    assert flaw.startswith("input 7: an input")
    assert words in flaw


def test_growth_of_memory_is_seen(monkeypatch, needs):
    needs(*PACKAGES)
    peaks = iter([10**6, 10**6 + GROWTH_BYTES // 1024 + 1])
    monkeypatch.setattr(resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=next(peaks)))
    assert "took 400 MB of memory" in (attempt(7, [case_of(dict)]) or "")


def test_an_input_is_the_same_when_it_is_repeated(tmp_path, needs):
    needs(*PACKAGES)
    import numpy as np

    families = schedule()
    assert len(families) == 100
    for number in range(100):
        words = []
        for turn in "ab":
            folder = tmp_path / f"{number}{turn}"
            folder.mkdir()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                words.append(families[number](np.random.default_rng(number), folder).words.replace(str(folder), ""))
        assert re.sub("0x[0-9a-f]+", "", words[0]) == re.sub("0x[0-9a-f]+", "", words[1])


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    if sys.argv[1] == "--block":
        texts = run_block(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
        Path(sys.argv[5]).write_text(json.dumps(texts))
    else:
        signal.signal(signal.SIGALRM, stop)
        print(attempt(int(sys.argv[1]), schedule()) or f"input {sys.argv[1]} passes")
