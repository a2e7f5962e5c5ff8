"""What the words of a command line stand for: files by the name of the model, named files, values of λ, class names."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from uqassay.cli.text import unicode_text
from uqassay.errors import InputError
from uqassay.wording import listed_names

__all__ = ["file_and_column", "member_axes", "model_files", "named_file", "parse_tradeoffs"]


def model_files(texts: Sequence[str], *, option: str = "models") -> dict[str, list[Path]]:
    """Files of each model's runs, from ``NAME=FILE``, ``NAME=FILE,FILE`` or ``FILE`` (named by its stem).

    A text that is the path of an existing file is that file, even if it contains ``=`` or a comma. Bytes of a name that are
    no UTF-8 are spelt out; paths stay as they are.

    Parameters
    ----------
    texts : sequence of str
    option : str
        The option that the texts belong to, for errors.

    Raises
    ------
    InputError
        An empty name or file, one file given twice, or two bare files of the same stem.

    Examples
    --------
    >>> [(name, [p.name for p in paths]) for name, paths in model_files(["DE=a.npz,b.npz", "edl.npz"]).items()]
    [('DE', ['a.npz', 'b.npz']), ('edl', ['edl.npz'])]
    """
    files: dict[str, list[Path]] = {}
    bare: set[str] = set()
    given: dict[str, str] = {}
    seen: dict[Path, str] = {}
    for text in texts:
        if "=" in text and not os.path.exists(text):  # Path.exists fails on long text
            name, joined = named_file(text, option)
            # the same name in other bytes is that of another model
            if (
                name in bare
                or given.setdefault(name, text[: text.index("=")].strip()) != text[: text.index("=")].strip()
            ):
                raise _same_name(option, name, text, "name them differently")
        else:
            name, joined = unicode_text(Path(text).stem), text
            if name in files:
                raise _same_name(option, name, text, f"name them: NAME={text}")
            bare.add(name)
        for part in [joined] if os.path.exists(joined) else joined.split(","):
            if not part.strip():
                raise InputError(
                    option, f"{text!r} has an empty file name", "", "write NAME=FILE or NAME=FILE,FILE", code="empty"
                )
            path = Path(part.strip())
            place = Path(os.path.realpath(path))
            if seen.get(place) == name:
                raise InputError(
                    option,
                    f"{part.strip()!r} is given twice as a run of {name!r}",
                    "",
                    "give each run once",
                    code="duplicate",
                )
            seen[place] = name
            files.setdefault(name, []).append(path)
    return files


def named_file(text: str, option: str) -> tuple[str, str]:
    """Name and file of ``NAME=FILE``; the name ends at the first = that an existing file follows, so it may hold = itself.

    Examples
    --------
    >>> named_file("site=site.npy", "--subgroup")
    ('site', 'site.npy')
    """
    cuts = [i for i, character in enumerate(text) if character == "="]
    cut = next((i for i in cuts if os.path.exists(text[i + 1 :].split(",")[0].strip())), cuts[0] if cuts else len(text))
    name, value = text[:cut].strip(), text[cut + 1 :].strip()
    if not (name and value):
        raise InputError(
            option, "must read NAME=FILE", f"got {text!r}", f"write NAME={text.strip('= ') or 'FILE'}", code="syntax"
        )
    return unicode_text(name), value


def file_and_column(path: Path) -> tuple[Path, str | None]:
    """File and column of ``FILE:COLUMN``; a text that is the path of an existing file is that file.

    Examples
    --------
    >>> file_and_column(Path("labels.npy"))[1] is None
    True
    """
    text = str(path)
    file, colon, column = text.rpartition(":")
    if colon and column and not os.path.exists(text) and os.path.isfile(file):
        return Path(file), column
    return path, None


def member_axes(texts: Sequence[str], names: Iterable[str]) -> dict[str, int]:
    """Axis of the members of each model, from ``--member-axis 0`` for all and ``--member-axis NAME=0`` for one.

    Raises
    ------
    InputError
        Text that is no whole number, or the name of no model.

    Examples
    --------
    >>> member_axes(["DE=0"], ["DE", "dropout"])
    {'DE': 0, 'dropout': 1}
    """
    axes = dict.fromkeys(names, 1)
    for text in texts:
        name, equals, axis = text.rpartition("=")
        if not axis.strip().lstrip("-").isdecimal() or (equals and name.strip() not in axes):
            raise InputError(
                "--member-axis",
                "must be an axis for all models, or NAME=AXIS for one of them",
                f"got {text!r} and the models {listed_names(list(axes), most=8)}",
                f"write --member-axis 0, or --member-axis {next(iter(axes))}=0",
                code="syntax",
            )
        axes |= dict.fromkeys([name.strip()] if equals else axes, int(axis))
    return axes


def parse_tradeoffs(texts: Sequence[str]) -> tuple[float, ...]:
    """Values of λ from ``--tradeoff 0.1,0.5 --tradeoff 1``.

    Raises
    ------
    InputError
        Text that is not a number.

    Examples
    --------
    >>> parse_tradeoffs(["0.1,0.5", "1"])
    (0.1, 0.5, 1.0)
    """
    values = []
    for text in (part.strip() for joined in texts for part in joined.split(",")):
        try:
            values.append(float(text))
        except ValueError:
            raise InputError(
                "--tradeoff",
                "must be a number, or several with commas between",
                f"got {text!r}",
                "write --tradeoff 0.1,0.5",
                code="type",
            ) from None
    return tuple(values)


def _same_name(option: str, name: str, text: str, remedy: str) -> InputError:
    return InputError(option, f"two of them are named {name!r}, the second by {text!r}", "", remedy, code="duplicate")
