"""Interrupts of a call at each of its lines, as Ctrl-C may come."""

import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import uqassay

PACKAGE = Path(uqassay.__file__).parent


def interruptions(call: Callable[[], Any], *files: str, step: int = 1) -> Iterator[int]:
    """Run the call again and again, each time interrupted at a later line; yields the number of each line event.

    Ends with the call that runs to its end.

    Parameters
    ----------
    call : callable
        Its effect must be undone, or must not have happened, before it is called again.
    files : str
        Count lines of these files of the package alone, such as "evidence/streaming.py"; by default of all.
    step : int
        Interrupt at every line, at every second one, and so on.
    """
    names = frozenset(str(PACKAGE / file) for file in files)
    for at in count(1, step):
        if not _interrupted(call, at, names):
            return
        yield at


def _interrupted(call: Callable[[], Any], at: int, names: frozenset[str]) -> bool:
    """Raise KeyboardInterrupt at line event number `at`; False if the call has fewer."""
    left = at

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        file = frame.f_code.co_filename
        if not (file in names if names else file.startswith(str(PACKAGE))):
            return None
        if event == "line":
            left -= 1
            if not left:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    assert left > 0, "the interrupt was caught"
    return False
