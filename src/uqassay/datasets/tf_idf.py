"""tf-idf of n-grams of letters, for the sequences of paper 001, appendix A.2 (Bacteria and Proteins).

With n training sequences of which df hold a term, idf = ln((1 + n) / (1 + df)) + 1, or ln(n / df) + 1 without smoothing; tf is
the number of times that the sequence has the term, or 1 + ln of it. Terms and idf come from the training sequences alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from uqassay._array import RandomState
from uqassay._optional import optional_package
from uqassay.datasets.dataset import Dataset
from uqassay.datasets.sequences import FASTA, SEQUENCE_SUFFIXES, LabelledSequences, read_sequences
from uqassay.datasets.splits import stratified_split
from uqassay.errors import FileFormatError, InputError
from uqassay.predictions.files import problems_named
from uqassay.wording import count, counted, significant

__all__ = ["ORDERS", "TfIdfOptions", "load_sequences", "sequence_files", "tf_idf"]

ORDERS = {"bacteria": (3, 5), "proteins": (3, 3)}  # paper 001, appendix A.2
ONE_FILE = ("sequences", "1000seq", "grd_all_201304/sequence")  # ours, and the publishers' names
TWO_FILES = ("sequences-train", "sequences-test")
DOMAIN_NAMES = "domain-names.txt"
BYTES = 4  # of a float32
MEMORY_LIMIT = 8e9  # bytes of the features of one data set


@final
@dataclass(frozen=True, kw_only=True)
class TfIdfOptions:
    """Choices that the paper leaves open.

    Attributes
    ----------
    case : {"upper", "as-is"}
        Capital letters, or letters as they are; files mark uncertain parts by small letters.
    sublinear : bool
        1 + ln(count) in place of the count.
    smooth : bool
        Whether idf counts one more sequence that holds every term.
    max_features : int, optional
        Only the terms that are most frequent in the training sequences.
    norm : {"l2", "l1", "none"}
        Length to which each row is scaled.
    """

    case: Literal["upper", "as-is"] = "upper"
    sublinear: bool = False
    smooth: bool = True
    max_features: int | None = None
    norm: Literal["l2", "l1", "none"] = "l2"

    def __post_init__(self) -> None:
        for name, known in (("case", ("upper", "as-is")), ("norm", ("l2", "l1", "none"))):
            if getattr(self, name) not in known:
                raise InputError(
                    name,
                    f"must be one of {', '.join(known)}",
                    f"got {getattr(self, name)!r}",
                    "choose one",
                    code="choice",
                )
        if self.max_features is not None and (isinstance(self.max_features, bool) or self.max_features < 1):
            raise InputError(
                "max_features",
                "must be at least 1",
                f"got {self.max_features}",
                "leave it out for all terms",
                code="range",
            )

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
    train, test : sequence of str
    orders : tuple of two int
        Least and greatest n.
    options : TfIdfOptions, optional

    Returns
    -------
    train, test : sparse matrix (n, D), float32
    terms : tuple of D str
        In alphabetical order.

    Raises
    ------
    InputError
        No training sequence is as long as an n-gram.
    MissingDependencyError
        scikit-learn is not installed.

    Examples
    --------
    >>> train, test, terms = tf_idf(["AAAB", "AAC"], ["aaa"], (3, 3))
    >>> terms, (train.toarray() ** 2).round(4).tolist(), test.toarray().tolist()
    (('AAA', 'AAB', 'AAC'), [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]])
    """
    chosen = options or TfIdfOptions()
    text = optional_package("sklearn.feature_extraction.text", "datasets", "tf-idf of sequences")
    if max((len(sequence) for sequence in train), default=0) < orders[0]:
        raise InputError(
            "sequences",
            f"at least one training sequence must have {orders[0]} letters",
            "none has",
            "check the file",
            code="empty",
        )
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
    """The files of sequences in a folder: a training and a test file, one file, or none.

    Raises
    ------
    FileFormatError
        Several files of the same use.
    """
    one = [path for stem in ONE_FILE for path in _with_suffix(folder, stem)]
    two = [_with_suffix(folder, stem) for stem in TWO_FILES]
    if not any(two) and len(one) < 2:
        return tuple(one)
    if not one and all(len(paths) == 1 for paths in two):
        return tuple(path for paths in two for path in paths)
    names = ", ".join(path.relative_to(folder).as_posix() for paths in (*two, one) for path in paths)
    raise FileFormatError(
        "sequences",
        f"must be one file, or {TWO_FILES[0]} and {TWO_FILES[1]}",
        f"{folder} has {names}",
        "keep one of them, or both parts",
        code="ambiguous",
    )


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
    name : str
    files : sequence of Path
        One file, which is split, or a training and a test file; see `read_sequences`.
    orders : tuple of two int
        Least and greatest n of the n-grams.
    options : TfIdfOptions, optional
    label_word : int
        See `read_sequences`.
    test_size : float or int
        Of the stratified split of one file.
    rng : int, SeedSequence, Generator or None
    licence : str

    Returns
    -------
    Dataset
        Features ``(n, D)`` float32: tf-idf, then 0 or 1 for each domain. The notes say the choices, D and the memory.

    Raises
    ------
    FileFormatError
        Files that cannot be read or do not fit together.
    InputError
        A split that is not possible, or features that do not fit in the memory that a data set may take.
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
        raise InputError(
            "max_features",
            f"the features must fit in {significant(MEMORY_LIMIT / 1e9)} GB",
            f"{count(len(train.ids) + len(test.ids))} sequences with {count(d)} features take {significant(n_bytes / 1e9)} GB",
            "keep fewer terms",
            code="size",
        )
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
        raise FileFormatError(
            "domains",
            "must be given for both parts or for none",
            "one part has them",
            "add the other file NAME.domains.txt",
            code="mismatch",
        )
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
