"""Run the command line in a terminal of a given width."""

import os
import pty
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

from uqassay.cli import main

__all__ = ["ANSI", "cells", "in_terminal"]

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def in_terminal(argv, width, *, stream="stdout", **environment):
    """What a process writes to a terminal of so many columns, which is its standard output (or "stderr")."""
    program = "import sys; from uqassay.cli import main; sys.exit(main())"
    ours, theirs = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    env |= {"PYTHONPATH": str(Path(main.__code__.co_filename).parents[2]), "TERM": "xterm-256color"}
    env |= {"COLUMNS": str(width), "PYTHONIOENCODING": "utf-8", **environment}
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "stdin": theirs} | {stream: theirs}
    with subprocess.Popen([sys.executable, "-c", program, *map(str, argv)], env=env, **streams) as process:
        os.close(theirs)
        parts = []
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            parts.append(part)
        process.wait(timeout=600)
        assert process.stderr is None or process.stderr.read() == b""
    os.close(ours)
    assert process.returncode == 0
    return b"".join(parts).decode().replace("\r\n", "\n")


def cells(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
