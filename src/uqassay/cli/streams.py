"""Where output goes: consoles, plain lines, notes and JSON on standard output, sentences and progress on standard error."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from uqassay.cli.text import printable

__all__ = ["complain", "is_terminal", "open_console", "print_json", "print_note", "print_text", "progress"]

UNBOUNDED = 10_000  # columns where the stream is no terminal, so that nothing is folded or cut


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Raise the error again: `main` has an exit code for it, and Rich would exit with that of a failed check."""
        raise


def is_terminal(stream: TextIO) -> bool:
    """Whether the stream is a terminal."""
    return hasattr(stream, "isatty") and stream.isatty()


def open_console(stream: TextIO | None = None) -> Console:
    """A console on a stream, by default standard output: no markup, and plain and unfolded where it is no terminal."""
    stream = sys.stdout if stream is None else stream
    terminal = is_terminal(stream)
    plain = not terminal or bool(os.environ.get("NO_COLOR"))
    return _Console(
        file=stream,
        markup=False,
        highlight=False,
        emoji=False,
        color_system=None if plain else "auto",
        force_terminal=None if terminal else False,
        width=None if terminal else UNBOUNDED,
    )


def print_text(text: str) -> None:
    """Plain lines, never cut or folded, so that paths and commands can be copied."""
    console = open_console()
    for line in text.splitlines():
        console.print(Text(printable(line)), soft_wrap=True)


def print_note(text: str) -> None:
    """A remark on the results above it, with a full stop at its end."""
    open_console().print(Text.assemble(("Note: ", "yellow"), printable(text if text.endswith(".") else f"{text}.")))


def print_json(value: Any) -> None:
    """Strict JSON on standard output: no NaN, and ASCII alone, so that every encoding of a terminal takes it."""
    from uqassay._json import plain

    print(json.dumps(plain(value), allow_nan=False, indent=2))


def complain(sentence: str) -> None:
    """One sentence on standard error, on one line."""
    print(printable(" ".join(sentence.split())), file=sys.stderr)


@contextmanager
def progress(steps: int) -> Iterator[Callable[[str], None]]:
    """A line on standard error where that is a terminal: the step, a bar, the time since the start.

    Yields a function that is called with the name of each step when it begins.
    """
    console = open_console(sys.stderr)
    if not console.is_terminal or not is_terminal(sys.stderr):
        yield lambda step: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    named = TextColumn(
        "{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis")
    )
    columns = (SpinnerColumn(), named, BarColumn(20), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, expand=True) as bar:
        task = bar.add_task("", total=steps, completed=-1)

        def say(step: str) -> None:
            done = bar.tasks[task].completed + 1
            # the kinds of predictions decide how many steps there are, so the bar makes room for one that was not counted
            bar.update(task, description=printable(step), completed=done, total=max(steps, done + 1), refresh=True)

        yield say
