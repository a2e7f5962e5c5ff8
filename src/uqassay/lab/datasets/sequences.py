"""Labelled sequences of letters, and their n-grams by tf-idf (credal calibration paper, appendix A.2)."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay.arrays import RandomState
from uqassay.checks import fail, one_of, whole
from uqassay.errors import FileFormatError
from uqassay.files import optional_package, problems_named
from uqassay.lab.datasets.dataset import Dataset, stratified_split
from uqassay.text import count, counted, significant

__all__ = [
    "ORDERS",
    "TfIdfOptions",
    "load_sequences",
    "read_sequences",
    "sequence_files",
    "tf_idf",
]


# Labelled sequences of letters (RNA, proteins) in their publishers' files.
#
# * FASTA: ``>S003747738 Alphaproteobacteria Rhodobacterales Rhodobacteraceae Rhodobaca`` and lines of letters, as in the
#   file ``1000seq.fasta`` of Fiannaca et al. 2018 (class, order, family, genus). The Genomic-based 16S ribosomal RNA Database
#   of RIKEN has ids alone, ``>NC_008497_01``; then the labels come from a table.
# * Lines of text ``^1.1.1.100>VYEQVSIEVP…``, an EC number and a sequence, as the authors of DEEPre (Li et al. 2018) give them.
# * csv with the columns ``sequence`` and ``label``.

FASTA = (".fasta", ".fa", ".fas", ".faa", ".fna")
SEQUENCE_SUFFIXES = (*FASTA, ".txt", ".csv")
ENCODING = "utf-8-sig"  # spreadsheets write a byte order mark


@final
@dataclass(frozen=True)
class LabelledSequences:
    """Sequences with their labels."""

    #: One for each sequence
    ids: tuple[str, ...]
    sequences: tuple[str, ...]
    labels: tuple[str, ...]
    #: Names of the functional domains that were found in each protein
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
                got = f"line {number} is {text[:30]!r}"
                raise FileFormatError("file", "must begin with a line >id", got, "write FASTA", code="syntax")
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
        rule = f"must be named {names[0]} and {names[1]}"
        got = f"got {', '.join(header) or 'none'}"
        raise FileFormatError("columns", rule, got, "name them in the first line", code="missing")
    wrong = next((i for i, row in enumerate(rows) if len(row) != len(header)), None)
    if wrong is not None:
        rule = f"must be {len(header)} in every line"
        got = f"got {len(rows[wrong])} in row {wrong - 1}"
        raise FileFormatError("columns", rule, got, "write the file again", code="shape")
    first, second = (header.index(name) for name in names)
    return [(row[first], row[second]) for row in rows[1:]]


def _domains(path: Path, n: int) -> tuple[tuple[str, ...], ...]:
    with problems_named(path):
        rows = path.read_text(encoding=ENCODING).splitlines()
        if len(rows) != n:
            rule = f"must have one line for each of {n} sequences, an empty one for a protein without domains"
            remedy = "write the names of each sequence's domains, separated by blanks"
            raise FileFormatError("domains", rule, f"got {len(rows)}", remedy, code="mismatch")
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


# With n training sequences of which df hold a term, idf = ln((1 + n) / (1 + df)) + 1, or ln(n / df) + 1 without
# smoothing; tf is the number of times that the sequence has the term, or 1 + ln of it. Terms and idf come from the
# training sequences alone.

ORDERS = {"bacteria": (3, 5), "proteins": (3, 3)}  # credal calibration paper, appendix A.2
ONE_FILE = ("sequences", "1000seq", "grd_all_201304/sequence")  # ours, and the publishers' names
TWO_FILES = ("sequences-train", "sequences-test")
DOMAIN_NAMES = "domain-names.txt"
BYTES = 4  # of a float32
MEMORY_LIMIT = 8e9  # bytes of the features of one data set


@final
@dataclass(frozen=True, kw_only=True)
class TfIdfOptions:
    """Choices that the paper leaves open."""

    #: {"upper", "as-is"}: Capital letters, or letters as they are; files mark uncertain parts by small letters
    case: Literal["upper", "as-is"] = "upper"
    sublinear: bool = False  #: 1 + ln(count) in place of the count
    smooth: bool = True  #: Whether idf counts one more sequence that holds every term
    max_features: int | None = None  #: Only the terms that are most frequent in the training sequences
    norm: Literal["l2", "l1", "none"] = "l2"  #: Length to which each row is scaled

    def __post_init__(self) -> None:
        for name, known in (("case", ("upper", "as-is")), ("norm", ("l2", "l1", "none"))):
            one_of(getattr(self, name), name, known, "choose one")
        if self.max_features is not None:
            whole(self.max_features, "max_features", "leave it out for all terms", least=1)

    def words(self) -> str:
        """The choices as text."""
        return ", ".join(
            (
                "letters as they are" if self.case == "as-is" else "capital letters",
                "1 + ln(count)" if self.sublinear else "tf is the count",
                "idf ln((1 + n) / (1 + df)) + 1" if self.smooth else "idf ln(n / df) + 1",
                "all terms" if self.max_features is None else f"at most {count(self.max_features)} terms",
                "rows not scaled" if self.norm == "none" else f"rows scaled to {self.norm} length 1",
            )
        )


def tf_idf(
    train: Sequence[str], test: Sequence[str], orders: tuple[int, int], *, options: TfIdfOptions | None = None
) -> tuple[Any, Any, tuple[str, ...]]:
    """tf-idf of all n-grams of the given orders, by scikit-learn's ``TfidfVectorizer``.

    Parameters
    ----------
    orders : tuple of two int
        Least and greatest n.

    Returns
    -------
    train, test : sparse matrix (n, D), float32
    terms : tuple of D str
        In alphabetical order.

    Examples
    --------
    >>> train, test, terms = tf_idf(["AAAB", "AAC"], ["aaa"], (3, 3))
    >>> terms, (train.toarray() ** 2).round(4).tolist(), test.toarray().tolist()
    (('AAA', 'AAB', 'AAC'), [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]])
    """
    chosen = options or TfIdfOptions()
    text = optional_package("sklearn.feature_extraction.text", "lab", "tf-idf of sequences")
    if max((len(sequence) for sequence in train), default=0) < orders[0]:
        rule = f"at least one training sequence must have {orders[0]} letters"
        fail("sequences", rule, "none has", "check the file", code="empty")
    fit = text.TfidfVectorizer(
        analyzer="char",
        ngram_range=orders,
        lowercase=False,
        sublinear_tf=chosen.sublinear,
        smooth_idf=chosen.smooth,
        max_features=chosen.max_features,
        norm=None if chosen.norm == "none" else chosen.norm,
        dtype=np.float32,
    )
    cased = [[one.upper() if chosen.case == "upper" else one for one in part] for part in (train, test)]
    of_train = fit.fit_transform(cased[0])
    of_test = fit.transform(cased[1]) if cased[1] else of_train[:0]  # scikit-learn refuses no rows
    return of_train, of_test, tuple(fit.get_feature_names_out().tolist())


def sequence_files(folder: Path) -> tuple[Path, ...]:
    """The files of sequences in a folder: a training and a test file, one file, or none."""
    one = [path for stem in ONE_FILE for path in _with_suffix(folder, stem)]
    two = [_with_suffix(folder, stem) for stem in TWO_FILES]
    if not any(two) and len(one) < 2:
        return tuple(one)
    if not one and all(len(paths) == 1 for paths in two):
        return tuple(path for paths in two for path in paths)
    names = ", ".join(path.relative_to(folder).as_posix() for paths in (*two, one) for path in paths)
    rule = f"must be one file, or {TWO_FILES[0]} and {TWO_FILES[1]}"
    remedy = "keep one of them, or both parts"
    raise FileFormatError("sequences", rule, f"{folder} has {names}", remedy, code="ambiguous")


def load_sequences(
    name: str,
    files: Sequence[Path],
    orders: tuple[int, int],
    *,
    options: TfIdfOptions | None = None,
    label_word: int = -1,
    test_size: float | int = 0.2,
    rng: RandomState = None,
    licence: str = "",
) -> Dataset:
    """A data set of tf-idf features, joined with functional domain encodings where they are given.

    Parameters
    ----------
    files : sequence of Path
        One file, which is split, or a training and a test file; see `read_sequences`.
    orders : tuple of two int
        Least and greatest n of the n-grams.
    label_word : int
        See `read_sequences`.
    test_size : float or int
        Of the stratified split of one file.

    Returns
    -------
    Dataset
        Features ``(n, D)`` float32: tf-idf, then 0 or 1 for each domain. The notes say the choices, D and the memory.
    """
    chosen = options or TfIdfOptions()
    parts = [read_sequences(path, label_word=label_word) for path in files]
    if len(parts) == 1:
        whole = parts[0]
        numbers = np.unique(whole.labels, return_inverse=True)[1]
        parts = [whole.subset(rows.tolist()) for rows in stratified_split(numbers, test_size, rng)]
    train, test = parts
    of_train, of_test, terms = tf_idf(train.sequences, test.sequences, orders, options=chosen)
    names = _domain_names(files[0].parent / DOMAIN_NAMES, train, test)
    d = len(terms) + len(names)
    n_bytes = (len(train.ids) + len(test.ids)) * d * BYTES
    if n_bytes > MEMORY_LIMIT:
        rule = f"the features must fit in {significant(MEMORY_LIMIT / 1e9)} GB"
        got = f"{count(len(train.ids) + len(test.ids))} sequences with {count(d)} features take {significant(n_bytes / 1e9)} GB"
        fail("max_features", rule, got, "keep fewer terms", code="size")
    features = [np.hstack([x.toarray(), _encoded(part, names)]) for x, part in ((of_train, train), (of_test, test))]
    classes, numbers = np.unique([*train.labels, *test.labels], return_inverse=True)
    about = f"{orders[0]}-grams" if orders[0] == orders[1] else f"{orders[0]}- to {orders[1]}-grams"
    notes = [f"tf-idf of {about}, fitted on the training part: {counted(len(terms), 'term')}; {chosen.words()}"]
    if train.domains is not None:
        notes.append(f"then {counted(len(names), 'functional domain')}, 1 if the protein has it")
    if any(path.suffix in FASTA and not path.with_suffix(".labels.csv").is_file() for path in files):
        word = "the last word" if label_word == -1 else f"word {label_word}, counted from 0,"
        notes.append(f"the class is {word} of each description, for example {train.labels[0]!r}")
    notes.append(f"the features take {significant(n_bytes / 1e6)} MB")
    return Dataset(
        name,
        X_train=features[0],
        y_train=numbers[: len(train.ids)],
        X_test=features[1],
        y_test=numbers[len(train.ids) :],
        class_names=tuple(classes.tolist()),
        source=files[0].name,
        licence=licence,
        notes=tuple(notes),
    )


# -- helpers -----------------------------------------------------------------------------------------------------------


def _with_suffix(folder: Path, stem: str) -> tuple[Path, ...]:
    paths = (folder / f"{stem}{suffix}" for suffix in SEQUENCE_SUFFIXES)
    return tuple(path for path in paths if path.is_file())


def _domain_names(path: Path, train: LabelledSequences, test: LabelledSequences) -> tuple[str, ...]:
    """Names of the domains, one column each: those of the file, else those that occur in the training part."""
    if (train.domains is None) != (test.domains is None):
        rule = "must be given for both parts or for none"
        remedy = "add the other file NAME.domains.txt"
        raise FileFormatError("domains", rule, "one part has them", remedy, code="mismatch")
    if train.domains is None or test.domains is None:
        return ()
    if not path.is_file():
        return tuple(sorted({name for one in train.domains for name in one}))
    with problems_named(path):
        names = tuple(path.read_text(encoding="utf-8-sig").split())
        known = set(names)
        if len(known) < len(names):
            raise FileFormatError("names", "must differ", "one occurs twice", "keep one of them", code="duplicate")
        unknown = next((name for one in (*train.domains, *test.domains) for name in one if name not in known), None)
        if unknown is not None:
            raise FileFormatError(
                "names", "must hold every domain of the sequences", f"{unknown} is missing", "add it", code="mismatch"
            )
    return names


def _encoded(part: LabelledSequences, names: Sequence[str]) -> NDArray[np.float32]:
    """1 where a protein has the domain, (n, d)."""
    column = {name: i for i, name in enumerate(names)}
    found = np.zeros((len(part.ids), len(names)), dtype=np.float32)
    for row, one in enumerate(part.domains or ()):
        found[row, [column[name] for name in one if name in column]] = 1.0
    return found
