"""Interrupts of a call at each of its lines, as Ctrl-C may come."""

import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import uqassay

PACKAGE = Path(uqassay.__file__).parent


def interrupt_everywhere(call: Callable[[], Any], check: Callable[[], Any], *files: str, step: int = 1) -> int:
    """Run the call again and again, each time interrupted at a later line, and check after each; the last one runs to its end.

    Parameters
    ----------
    call, check : callable
    files : str
        Count lines of these files of the package alone, such as "evidence/streaming.py"; by default of all.
    step : int
        Interrupt at every line, at every second one, and so on.

    Returns
    -------
    int
        How often the call was interrupted.
    """
    names = frozenset(str(PACKAGE / file) for file in files)
    for n in count():
        if not _interrupted(call, 1 + n * step, names):
            return n
        check()
    raise AssertionError


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
