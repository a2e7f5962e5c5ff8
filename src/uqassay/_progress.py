"""What is being done, in a line of a terminal or a notebook, where it takes longer than a second."""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, Timer
from typing import Any, Protocol

from uqassay.text import visible

__all__ = ["AFTER", "shown_progress", "silent"]

AFTER = 1.0  # seconds until the line appears

Say = Callable[[str], None]

_telling: ContextVar[Say | None] = ContextVar("_telling", default=None)  # that of the call around this one


def silent(text: str) -> None:
    """Progress that nobody is told."""


@contextmanager
def shown_progress(progress: Say | None) -> Iterator[Say]:
    """A function that is told each stage when it begins: `progress` itself if there is one.

    Otherwise the stage is shown from the second `AFTER` on, on standard error if that is a terminal, or in a notebook below
    its cell; the line goes when all is done. Elsewhere nothing is shown, and nothing inside another call that tells its own
    stages.

    Examples
    --------
    >>> with shown_progress(print) as say:
    ...     say("scores")
    scores
    """
    place = _place() if progress is None and _telling.get() is None else None
    line = None if place is None else _Line(place)
    say = progress or _telling.get() or (silent if line is None else line.say)
    token = _telling.set(silent if progress is not None else say)
    try:
        yield say
    finally:
        _telling.reset(token)
        if line is not None:
            line.end()


class _Place(Protocol):
    """Where a line of text is shown."""

    def show(self, text: str) -> None:
        """Put the text in the place of the one before."""


class _Line:
    """The stage that is being done, shown from the second `AFTER` on."""

    def __init__(self, place: _Place) -> None:
        self._place, self._text, self._lock = place, "", Lock()
        self._shows = self._ended = False
        self._timer = Timer(AFTER, self._begin)
        self._timer.daemon = True
        self._timer.start()

    def say(self, text: str) -> None:
        """Tell a stage."""
        with self._lock:
            self._text = text
            if self._shows:
                self._place.show(text)

    def end(self) -> None:
        """Remove the line."""
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self._shows:
                self._place.show("")

    def _begin(self) -> None:
        with self._lock:
            if not self._ended:
                self._shows = True
                self._place.show(self._text)


class _Terminal:
    def show(self, text: str) -> None:
        room = shutil.get_terminal_size().columns - 1
        shown = f"{visible(text)} …"[:room] if text else ""
        print(f"\r\x1b[K{shown}", end="", file=sys.stderr, flush=True)


class _Notebook:
    def __init__(self, display: Any) -> None:
        self._display, self._handle = display, None

    def show(self, text: str) -> None:
        data = {"text/plain": f"{text} …" if text else ""}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def _place() -> _Place | None:
    """A notebook, a terminal, or None."""
    if "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
        if getattr(shell, "kernel", None) is not None:
            from IPython.display import display

            return _Notebook(display)
    return _Terminal() if hasattr(sys.stderr, "isatty") and sys.stderr.isatty() else None
