"""What Dask workers do for an assay: score one chunk of the instances, and join what chunks keep for pictures."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from uqassay._array import as_array
from uqassay._chunks import limited_cores
from uqassay._kernels import kernels
from uqassay._messages import unpacked
from uqassay.errors import InputError, UqassayError
from uqassay.evidence.kept_pictures import KeptPictures
from uqassay.evidence.stream_state import GreatestKeys, StreamState
from uqassay.evidence.streaming import AssayStream

__all__ = [
    "ScoredChunk",
    "WorkerRun",
    "join_pictures",
    "pictures_of",
    "rest_of",
    "score_chunk",
    "versions",
]


@dataclass(frozen=True, eq=False)
class WorkerRun:
    """How one run of a model is made from its arguments, which come with each chunk.

    Attributes
    ----------
    kind : callable or None
        Makes the prediction; None: the single argument is the array itself, or a packed prediction.
    names : tuple of str
        Parameters of `kind` for the arguments.
    settings : mapping
        Its further parameters.
    packed : bool
    """

    kind: Callable[..., Any] | None
    names: tuple[str, ...]
    settings: Mapping[str, Any]
    packed: bool = False

    def make(self, arguments: Sequence[Any], rows: slice) -> Any:
        """The prediction of some rows of a chunk, or an array of which the assay makes one."""
        if self.packed:
            return unpacked(arguments[0])[rows]
        # `as_array` refuses masked chunks; of one layout however they came here, because the last bits of sums depend on it
        arrays = [
            np.ascontiguousarray(as_array(each, name)) if isinstance(each, np.ndarray) else each
            for each, name in zip(arguments, self.names, strict=True)
        ]
        arrays = [each[rows] for each in arrays]
        if self.kind is None:
            return arrays[0]
        return self.kind(**dict(zip(self.names, arrays, strict=True)), **self.settings)


class ScoredChunk(NamedTuple):
    """A scored chunk, or the error that it raised, with the warnings on the way and the versions of the worker."""

    state: StreamState | None
    problem: UqassayError | None
    warned: tuple[tuple[Any, ...], ...]
    versions: dict[str, str]


def versions() -> dict[str, str]:
    """Versions of everything on which the last bit of a number may depend, the processor apart."""
    from uqassay import __version__

    found = kernels()
    native = f"{found.version} with {len(found.names)} kernels" if found.names else "not in use"
    return {"uqassay": __version__, "NumPy": np.__version__, "SciPy": scipy.__version__, "uqassay-native": native}


def score_chunk(
    options: Mapping[str, Any],
    models: Mapping[str, Sequence[WorkerRun]],
    arguments: Mapping[str, Sequence[Sequence[Any]]],
    y_true: Any,
    others: Mapping[str, Any],
    first_row: int,
    greatest: GreatestKeys | None,
    n_rows: int | None = None,
) -> ScoredChunk:
    """Score the instances of one chunk, in the one thread that Dask gives to a task.

    Parameters
    ----------
    options : mapping
        Those of `AssayStream`.
    models : mapping of str to sequence of WorkerRun
    arguments : mapping of str to sequence of sequence
        Of each run of each model, the arguments for this chunk.
    y_true : array
    others : mapping
        `groups`, `subgroups` and `uncertainties` of `AssayStream.update`, for the rows that are scored.
    first_row : int
        Row number of the first instance.
    greatest : GreatestKeys or None
        None: the chunk keeps what a stream of unknown length keeps.
    n_rows : int, optional
        Score the first rows of the chunk alone.
    """
    stream, problem = AssayStream(first_row=first_row, **options), None
    rows = slice(0, n_rows)
    stream._state.greatest = greatest
    with warnings.catch_warnings(record=True) as seen, limited_cores(1):
        warnings.simplefilter("always")
        try:
            made = {name: _made(name, runs, arguments[name], rows) for name, runs in models.items()}
            stream.update(made, y_true[rows], **others)
        except UqassayError as found:
            problem = _placed(found, first_row, len(y_true))
    warned = tuple((w.message, w.category, w.filename, w.lineno) for w in seen)
    state = None if problem else replace(stream._state, greatest=None)
    return ScoredChunk(state, problem, warned, versions())


def rest_of(chunk: ScoredChunk) -> ScoredChunk:
    """The chunk without what it keeps for pictures."""
    return chunk if chunk.state is None else chunk._replace(state=replace(chunk.state, pictures=KeptPictures()))


def pictures_of(chunk: ScoredChunk) -> KeptPictures:
    """What the chunk keeps for pictures."""
    return KeptPictures() if chunk.state is None else chunk.state.pictures


def join_pictures(parts: Sequence[KeptPictures]) -> KeptPictures:
    """What consecutive parts keep for pictures, joined; the parts stay as they are, because Dask may need them again."""
    whole = KeptPictures()
    for part in parts:
        whole.extend(part)
    return whole


# -- helpers -------------------------------------------------------------------------------------------------------------


def _made(name: str, runs: Sequence[WorkerRun], arguments: Sequence[Sequence[Any]], rows: slice) -> list[Any]:
    """The runs of a model."""
    found = []
    for r, (run, given) in enumerate(zip(runs, arguments, strict=True)):
        try:
            found.append(run.make(given, rows))
        except InputError as problem:
            raise problem.inside(f"models[{name!r}]{f'[{r}]' if len(runs) > 1 else ''}") from problem
    return found


def _placed(problem: UqassayError, first_row: int, n: int) -> UqassayError:
    """The error with the row number in the whole test set, because rows are counted within the chunk where it was raised."""
    row = problem.facts.get("row")
    if not first_row:
        return problem
    if not isinstance(row, (int, np.integer)):
        place = f"in the chunk of rows {first_row} to {first_row + n - 1}"
        return problem.replace(got=f"{problem.got}, {place}" if problem.got else place)
    place = f"of the chunk that begins at row {first_row}, so row {first_row + row} of all"
    return problem.replace(got=f"{problem.got} {place}", facts=problem.facts | {"row": int(first_row + row)})
