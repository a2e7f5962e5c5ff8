"""Names from data in a figure: letter by letter, and short where there is little room, with what tells them apart."""

from collections.abc import Callable, Sequence

from uqassay.wording import visible

__all__ = ["escaped", "printable", "short_names"]

WORD = 12  # characters of a word that is kept whole
LEAST = 8  # characters of a name, however narrow its room
LEAST_CUT = 3  # characters that are worth a "…"
SEPARATORS = " -_./:|,;()[]+="


def printable(text: object) -> str:
    """Text in one line, with its invisible characters spelt out."""
    return visible(str(text))


def escaped(text: str) -> str:
    """Text as matplotlib shows it letter by letter: no formulas, no legend entry that vanishes."""
    shown = text.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown  # matplotlib leaves labels with a leading _ out


def short_names(names: Sequence[str], fits: Callable[[str], bool]) -> list[str]:
    """Short forms of names, distinct for distinct ones: what all have in common becomes "…", what tells them apart stays.

    Parameters
    ----------
    names : sequence of str
    fits : callable
        Whether a name has room. Names that cannot be shorter without being equal to another one stay longer.

    Examples
    --------
    >>> short_names(["experiment 7, network a", "experiment 7, network b"], lambda name: len(name) <= 12)
    ['…a', '…b']
    """
    plain = [printable(name) for name in dict.fromkeys(names)]
    most = max((len(name) for name in plain), default=0)
    found = plain
    while not all(map(fits, found)) and most > LEAST:
        most -= 1
        found = _distinct(_shortened(plain, most), found)
    shown = dict(zip(dict.fromkeys(names), found, strict=True))
    return [escaped(shown[name]) for name in names]


def _distinct(names: list[str], longer: list[str]) -> list[str]:
    """The names, and the longer form of those that are equal to another one."""
    return [long if names.count(name) > 1 else name for name, long in zip(names, longer, strict=True)]


def _shortened(names: list[str], most: int) -> list[str]:
    if all(len(name) <= most for name in names):
        return names
    if len(set(names)) == 1:
        return [_middle_cut(name, most) for name in names]
    start = _common_start(names)
    rests = [name[start:] for name in names]
    end = _common_start([rest[::-1] for rest in rests])
    inner = [rest[: len(rest) - end] for rest in rests]
    room = max(LEAST, most - (start > 0) - (end > 0))
    words = [_first_word(name) for name in inner]
    for word in dict.fromkeys(words):
        places = [i for i, own in enumerate(words) if own == word]
        after = _shortened([inner[i][len(word) :] for i in places], max(LEAST, room - len(word)))
        for i, rest in zip(places, after, strict=True):
            inner[i] = word + rest if len(inner[i]) > room else inner[i]
    return [f"{'…' * (start > 0)}{name}{'…' * (end > 0)}" for name in inner]


def _common_start(names: list[str]) -> int:
    """Number of characters that all begin with, up to the end of a word; never all characters of one of them."""
    shortest = min(len(name) for name in names)
    same = next((i for i in range(shortest) if len({name[i] for name in names}) > 1), shortest)
    cut = min(same, shortest - 1)
    whole = next((i for i in range(cut, max(same - WORD, 0), -1) if names[0][i - 1] in SEPARATORS), cut)
    return whole if whole >= LEAST_CUT else 0


def _first_word(name: str) -> str:
    end = next((i + 1 for i, c in enumerate(name[:WORD]) if c in SEPARATORS), WORD)
    return name[:end]


def _middle_cut(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    head = most // 2
    return f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"
