"""The command line: parse, call, print.

Exit codes: 0 done; 1 a check failed (`--fail-if`); 2 bad input, with one sentence on standard error; 3 a check
cannot tell; 70 a fault of uqassay itself, with a traceback.
"""

import gc
import os
import sys
import time
from collections.abc import Sequence

from uqassay.errors import UqassayError
from uqassay.native import kernels

__all__ = ["main"]

SLOW = 20.0  # seconds, after which a command without compiled kernels says that there are none

_BAD_INPUT = 2
_OWN_FAULT = 70  # EX_SOFTWARE of sysexits.h; Python's own 1 is that of a failed check
_INTERRUPTED, _READER_GONE = 130, 141  # 128 + the number of the signal, as a shell reports it


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the name of the program; those of the process by default.

    Returns
    -------
    int
        0, 1, 2, 3 or 70 as above; 130 after Ctrl-C; 141 where the reader of a pipe went away.

    Examples
    --------
    >>> main(["--version"])
    uqassay ...
    0
    """
    if sys.stderr is None:  # closed by the shell; print would turn to standard output instead
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        return _refuse("standard output: is closed; leave it open, or send it to a file.")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without λ shows \u03bb rather than failing
            stream.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None:  # the command owns the process
        # a report makes hundreds of thousands of small values that stay; by default garbage is looked for in them 400 times
        gc.set_threshold(50_000, 20, 100)
    try:
        from uqassay.cli.commands import run

        start = time.monotonic()
        code = run(words)
        if time.monotonic() - start > SLOW and not (found := kernels()).names:
            print(found, file=sys.stderr)
        sys.stdout.flush()
        if argv is None:
            gc.freeze()  # the process ends: a search for garbage in all that it holds takes a tenth of a second
        return code
    except UqassayError as problem:
        from uqassay.cli.errors import in_options

        return _refuse(str(in_options(problem, words[0] if words else "")))
    except SystemExit as leaving:
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        return _READER_GONE  # Rich ends so where the reader of the help went away
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # what is still buffered would fail again when the interpreter closes the stream
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _READER_GONE
    except OSError as problem:
        where = f"{problem.filename}: " if problem.filename is not None else ""
        return _refuse(f"{where}{problem.strerror or problem}; check path, permissions and free space.")
    except MemoryError as problem:
        return _refuse(f"memory: {str(problem).rstrip('.') or 'there is not enough'}; use fewer cases at a time.")
    except Exception as problem:
        return _own_fault(problem)


def _own_fault(problem: Exception) -> int:
    """Show an exception that nothing foresaw, as Python would, and ask for a report."""
    import traceback

    traceback.print_exception(problem)
    _refuse("uqassay: this is a fault of uqassay; please report it with the lines above and the command.")
    return _OWN_FAULT


def _refuse(sentence: str) -> int:
    """Say what is wrong, on one line."""
    from uqassay.text import visible  # streams.py needs Rich, which may be what is missing

    print(visible(" ".join(sentence.split())), file=sys.stderr)
    return _BAD_INPUT


def __dir__() -> list[str]:
    return sorted(__all__)
