"""Text as a terminal and a shell need it: control characters spelt out, bytes that are no UTF-8, quoted arguments."""

import shlex
from collections.abc import Iterable

from uqassay.wording import visible as printable

__all__ = ["printable", "shell_line", "unicode_text"]


def unicode_text(argument: str) -> str:
    r"""A command-line argument as valid Unicode text; bytes that are no UTF-8 are spelt out.

    Python keeps such bytes, and in an ASCII locale all bytes beyond ASCII, as lone surrogates.

    Examples
    --------
    >>> unicode_text("mod\udce9"), unicode_text("\udcce\udcbb"), unicode_text("λ")
    ('mod\\xe9', 'λ', 'λ')
    """
    try:
        given = argument.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        given = argument.encode("utf-8", "backslashreplace")
    return given.decode("utf-8", "backslashreplace")


def shell_line(arguments: Iterable[str]) -> str:
    r"""Command-line arguments as a shell reads them, with bytes that are no UTF-8 as ``$'…'``.

    Examples
    --------
    >>> print(shell_line(["uqassay", "a b.npz", "mod\udce9.npz"]))
    uqassay 'a b.npz' $'mod\xe9.npz'
    """
    words = []
    for argument in arguments:
        whole = unicode_text(argument)
        if whole.count("\\") == argument.count("\\"):
            words.append(shlex.quote(whole))
        else:
            spelt = unicode_text(argument.replace("\\", "\\\\").replace("'", "\\'"))
            words.append(f"$'{spelt}'")
    return " ".join(words)
