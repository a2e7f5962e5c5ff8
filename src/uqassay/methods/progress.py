"""A progress bar on a terminal, for work that takes more than a second."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["progress_bar"]

PATIENCE = 1.0  # seconds before a bar appears


@contextmanager
def progress_bar(what: str, total: int, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of finished steps; without rich or a terminal nothing is drawn."""
    if not (shown and sys.stderr.isatty()):
        yield lambda done: None
        return
    start = time.monotonic()
    bar: Any = None
    task: Any = None

    def update(done: int) -> None:
        nonlocal bar, task
        if bar is None and time.monotonic() - start > PATIENCE:
            bar = _new_bar()
            if bar is not None:
                bar.start()
                task = bar.add_task(what, total=total)
        if bar is not None:
            bar.update(task, completed=done)

    try:
        yield update
    finally:
        if bar is not None:
            bar.stop()


def _new_bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ModuleNotFoundError:  # the bar is a convenience, so its absence is no error
        return None
    return Progress(console=Console(stderr=True), transient=True)
