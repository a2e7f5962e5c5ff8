"""Labelled sequences of letters (RNA, proteins) in their publishers' files.

* FASTA: ``>S003747738 Alphaproteobacteria Rhodobacterales Rhodobacteraceae Rhodobaca`` and lines of letters, as in the file
  ``1000seq.fasta`` of Fiannaca et al. 2018 (class, order, family, genus). The Genomic-based 16S ribosomal RNA Database of RIKEN
  has ids alone, ``>NC_008497_01``; then the labels come from a table.
* Lines of text ``^1.1.1.100>VYEQVSIEVP…``, an EC number and a sequence, as the authors of DEEPre (Li et al. 2018) give them.
* csv with the columns ``sequence`` and ``label``.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from uqassay.errors import FileFormatError
from uqassay.predictions.files import problems_named

__all__ = ["FASTA", "SEQUENCE_SUFFIXES", "LabelledSequences", "read_sequences"]

FASTA = (".fasta", ".fa", ".fas", ".faa", ".fna")
SEQUENCE_SUFFIXES = (*FASTA, ".txt", ".csv")
ENCODING = "utf-8-sig"  # spreadsheets write a byte order mark


@final
@dataclass(frozen=True)
class LabelledSequences:
    """Sequences with their labels.

    Attributes
    ----------
    ids, sequences, labels : tuple of n str
    domains : tuple of n tuples of str, optional
        Names of the functional domains that were found in each protein.
    """

    ids: tuple[str, ...]
    sequences: tuple[str, ...]
    labels: tuple[str, ...]
    domains: tuple[tuple[str, ...], ...] | None = None

    def subset(self, rows: Sequence[int]) -> "LabelledSequences":
        """The given rows."""
        ids, sequences, labels = ([values[row] for row in rows] for values in (self.ids, self.sequences, self.labels))
        domains = None if self.domains is None else tuple(self.domains[row] for row in rows)
        return LabelledSequences(tuple(ids), tuple(sequences), tuple(labels), domains)


def read_sequences(path: Path, *, label_word: int = -1) -> LabelledSequences:
    """Read a file of sequences, and the tables beside it.

    Parameters
    ----------
    path : Path
        FASTA, lines ``^label>sequence`` (.txt), or csv. Beside ``NAME.fasta`` may stand ``NAME.labels.csv`` with the columns
        ``id`` and ``label``, and ``NAME.domains.txt``: a line for each sequence with the names of its functional domains,
        separated by blanks; an empty line if there are none.
    label_word : int
        The word of a FASTA description, after the id, that is the label, if there is no table of labels: 0 is the first, −1
        the last. In the file of Fiannaca et al. these are class and genus.

    Raises
    ------
    FileFormatError
        A file that is not of this form; the message names the record or line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> place = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(place.name, "two.fasta")
    >>> _ = file.write_text(">S1 Bacilli Listeria\\nACGU\\nAC\\n>S2 Bacilli Bacillus\\nGGCA\\n")
    >>> read_sequences(file)
    LabelledSequences(ids=('S1', 'S2'), sequences=('ACGUAC', 'GGCA'), labels=('Listeria', 'Bacillus'), domains=None)
    >>> place.cleanup()
    """
    with problems_named(path):
        if path.suffix in FASTA:
            found = _fasta(path, label_word)
        elif path.suffix == ".csv":
            found = _table(path)
        else:
            found = _lines(path)
        _check(found)
    domains = path.with_suffix(".domains.txt")
    if domains.is_file():
        found = replace(found, domains=_domains(domains, len(found.ids)))
    return found


# -- formats -----------------------------------------------------------------------------------------------------------


def _fasta(path: Path, label_word: int) -> LabelledSequences:
    heads: list[str] = []
    parts: list[list[str]] = []
    with path.open(encoding=ENCODING) as lines:
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if text.startswith(">"):
                heads.append(text[1:].strip())
                parts.append([])
            elif text and not heads:
                raise FileFormatError(
                    "file",
                    "must begin with a line >id",
                    f"line {number} is {text[:30]!r}",
                    "write FASTA",
                    code="syntax",
                )
            elif text:
                parts[-1].append(text)
    words = [head.split() or [""] for head in heads]
    ids = tuple(one[0] for one in words)
    table = path.with_suffix(".labels.csv")
    labels = _labels_of(table, ids) if table.is_file() else _labels_in(words, label_word, table.name)
    return LabelledSequences(ids, tuple("".join(one) for one in parts), labels)


def _labels_in(words: Sequence[list[str]], label_word: int, table: str) -> tuple[str, ...]:
    """One word of each description; some names stand between quotation marks."""
    found = []
    for row, (name, *rest) in enumerate(words):
        if not -len(rest) <= label_word < len(rest):
            raise FileFormatError(
                "labels",
                "must be a word of each description, as in >id class order family genus",
                f"record {row} is >{' '.join((name, *rest))[:60]}",
                f"put a table with the columns id and label at {table}",
                code="missing",
                facts={"row": row},
            )
        found.append(rest[label_word].strip('"'))
    return tuple(found)


def _labels_of(path: Path, ids: Sequence[str]) -> tuple[str, ...]:
    with problems_named(path):
        rows = _columns(path, ("id", "label"))
        labels = dict(rows)
        if len(labels) < len(rows):
            names = [name for name, _ in rows]
            twice = next(name for name in names if names.count(name) > 1)
            raise FileFormatError(
                "id", "must occur once", f"{twice} occurs more often", "keep one line for each", code="duplicate"
            )
        missing = next((name for name in ids if name not in labels), None)
        if missing is not None:
            raise FileFormatError(
                "id", "must have a line for each sequence", f"{missing} has none", "add it", code="mismatch"
            )
        return tuple(labels[name] for name in ids)


def _lines(path: Path) -> LabelledSequences:
    """Lines ``^label>sequence``."""
    labels, sequences = [], []
    with path.open(encoding=ENCODING) as lines:
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if not text:
                continue
            label, mark, sequence = text.removeprefix("^").partition(">")
            if not mark or not label.strip() or ">" in sequence:
                raise FileFormatError(
                    "file",
                    "must have lines ^label>sequence, as in ^1.1.1.100>VYEQVS",
                    f"line {number} is {text[:30]!r}",
                    "write FASTA files with the extension .fasta",
                    code="syntax",
                    facts={"row": number},
                )
            labels.append(label.strip())
            sequences.append(sequence.strip())
    return LabelledSequences(tuple(str(i + 1) for i in range(len(labels))), tuple(sequences), tuple(labels))


def _table(path: Path) -> LabelledSequences:
    rows = _columns(path, ("sequence", "label"))
    sequences, labels = [row[0] for row in rows], [row[1] for row in rows]
    return LabelledSequences(tuple(str(i + 1) for i in range(len(rows))), tuple(sequences), tuple(labels))


def _columns(path: Path, names: tuple[str, str]) -> list[tuple[str, str]]:
    """Two columns of a csv file by their names."""
    with path.open(encoding=ENCODING, newline="") as stream:
        rows = [[cell.strip() for cell in row] for row in csv.reader(stream) if any(cell.strip() for cell in row)]
    header = rows[0] if rows else []
    if any(header.count(name) != 1 for name in names):
        raise FileFormatError(
            "columns",
            f"must be named {names[0]} and {names[1]}",
            f"got {', '.join(header) or 'none'}",
            "name them in the first line",
            code="missing",
        )
    wrong = next((i for i, row in enumerate(rows) if len(row) != len(header)), None)
    if wrong is not None:
        raise FileFormatError(
            "columns",
            f"must be {len(header)} in every line",
            f"got {len(rows[wrong])} in row {wrong - 1}",
            "write the file again",
            code="shape",
        )
    first, second = (header.index(name) for name in names)
    return [(row[first], row[second]) for row in rows[1:]]


def _domains(path: Path, n: int) -> tuple[tuple[str, ...], ...]:
    with problems_named(path):
        rows = path.read_text(encoding=ENCODING).splitlines()
        if len(rows) != n:
            raise FileFormatError(
                "domains",
                f"must have one line for each of {n} sequences, an empty one for a protein without domains",
                f"got {len(rows)}",
                "write the names of each sequence's domains, separated by blanks",
                code="mismatch",
            )
        return tuple(tuple(row.split()) for row in rows)


def _check(found: LabelledSequences) -> None:
    """Refuse records without a sequence or label, and characters that are no letters."""
    if not found.ids:
        raise FileFormatError("file", "must hold sequences", "got none", "check the file", code="empty")
    for row, (name, sequence, label) in enumerate(zip(found.ids, found.sequences, found.labels, strict=True)):
        letters = sequence.removesuffix("*")  # the end of a translation
        if label and letters.isascii() and letters.isalpha():
            continue
        strange = next((c for c in letters if not (c.isascii() and c.isalpha())), "")
        got = "no label" if not label else f"the character {strange!r}" if strange else "no sequence"
        raise FileFormatError(
            "sequences",
            "must be letters with a label; gaps of an alignment are no letters",
            f"record {row} ({name}) has {got}",
            "drop such records, or remove the gaps",
            code="syntax",
            facts={"row": row},
        )
