"""An assay over dask arrays: chunks of instances are scored where they lie, and only scores and samples travel."""

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from uqassay._optional import optional_package
from uqassay.errors import InputError
from uqassay.evidence.dask_chunks import ScoredChunk, join_pictures, pictures_of, rest_of, score_chunk, versions
from uqassay.evidence.dask_engine import Engine, open_engine
from uqassay.evidence.dask_inputs import DaskInputs
from uqassay.evidence.kept_pictures import KeptPictures
from uqassay.evidence.options import AssayOptions
from uqassay.evidence.result import Assay
from uqassay.evidence.stream_chunk import check_same_form
from uqassay.evidence.stream_state import StreamState
from uqassay.evidence.streaming import AssayStream

__all__ = ["assay_on_dask"]

FAN_IN = 8  # parts that one task of the reduction tree joins
MOST_SAID = 50  # times that the progress is told

Say = Callable[[str], None]


def assay_on_dask(
    predictions: Mapping[str, Any],
    y_true: Any,
    options: AssayOptions,
    *,
    client: Any = None,
    uncertainties: Mapping[str, Mapping[str, Any]] | None = None,
    groups: Any = None,
    subgroups: Any = None,
) -> Assay:
    """The assay of `judgement.assay` over dask arrays, with the same result, bit for bit.

    Parameters
    ----------
    predictions : dict of str to dask array, DaskPrediction or anything else that `assay` takes
    y_true : array or dask array
    options : AssayOptions
    client : distributed.Client or str, optional
        A client, or the address of a scheduler. By default the current client, or dask's scheduler in this process.
    uncertainties, groups, subgroups
        As for `assay`; dask arrays among them are computed first.

    Raises
    ------
    InputError
        As `assay`; chunks of unknown size, a cluster that does not answer or has other versions, workers that end.
    """
    started = time.perf_counter()
    if options.ignore_label is not None:
        raise InputError(
            "ignore_label",
            "is not for dask arrays, whose rows are not moved",
            f"got {options.ignore_label!r}",
            "select the rows of all arrays first",
            code="conflict",
        )
    say = options.progress or (lambda text: None)
    optional_package("dask.array", "dask", "an assay over dask arrays")
    with open_engine(client, say) as engine:
        inputs = DaskInputs.of(
            predictions,
            y_true,
            here=engine.now,
            groups=groups,
            subgroups=subgroups,
            uncertainties=uncertainties,
        )
        state = _score(inputs, options, engine, say)
    stream = AssayStream(**_fields(options))
    object.__setattr__(stream, "_state", state)
    result = stream.compute()
    result.provenance["seconds"] = round(time.perf_counter() - started, 3)
    return result


def _fields(options: AssayOptions) -> dict[str, Any]:
    return {f.name: getattr(options, f.name) for f in fields(AssayOptions)}


def _score(inputs: DaskInputs, options: AssayOptions, engine: Engine, say: Say) -> StreamState:
    """What a stream of all chunks would hold."""
    from dask import delayed

    say("looking at the first chunk")
    common = [
        delayed({**_fields(options), "progress": None}, traverse=False),
        delayed(inputs.models, traverse=False),
    ]
    chunk = delayed(score_chunk, pure=False)
    parts = inputs.chunks(engine.kept)
    first = parts[0]
    head = _checked(engine.now(chunk(*common, first.arguments, first.y_true, inputs.others(0, 1), 0, None, 1)))
    inputs.check(head.aligned())
    greatest = delayed(head.keys_of(inputs.n_instances, inputs.groups, options), traverse=False)
    tasks = [
        chunk(*common, part.arguments, part.y_true, inputs.others(part.start, part.stop), part.start, greatest)
        for part in parts
    ]
    pictures = [delayed(pictures_of)(task) for task in tasks]
    while len(pictures) > 1:
        pictures = [delayed(join_pictures)(pictures[i : i + FAN_IN]) for i in range(0, len(pictures), FAN_IN)]
    found = _Collected(len(tasks), say)
    engine.run([*(delayed(rest_of)(task) for task in tasks), pictures[0]], found.take)
    return found.state(options)


class _Collected:
    """Scored chunks in the order in which they end; of several errors, that of the first chunk is raised."""

    def __init__(self, n: int, say: Say) -> None:
        self._chunks: list[ScoredChunk | None] = [None] * n
        self._pictures: KeptPictures | None = None
        self._failed, self._say, self._n_done = n, say, 0

    def take(self, i: int, value: Any) -> None:
        """One more result: the scored chunk number i, or, after the last of them, the pictures."""
        n = len(self._chunks)
        if i == n:
            self._pictures = value
            return
        self._chunks[i] = value
        self._n_done += 1
        if value.problem is not None:
            self._failed = min(self._failed, i)
        if self._failed < n and None not in self._chunks[: self._failed]:
            for chunk in self._chunks[: self._failed + 1]:
                _checked(chunk)
        if self._n_done % -(-n // MOST_SAID) == 0 or self._n_done == n:
            self._say(f"scored {self._n_done} of {n} chunks")

    def state(self, options: AssayOptions) -> StreamState:
        """What a stream of all chunks would hold."""
        states = [_checked(chunk) for chunk in self._chunks]
        for chunk in self._chunks:
            for warned in chunk.warned if chunk is not None else ():
                warnings.warn_explicit(*warned)
        while len(states) > 1:  # by neighbours, because each extension passes through what both keep
            for left, right in zip(states[::2], states[1::2], strict=False):
                check_same_form(right.form or {}, left.form or {}, "chunk")
                left.extend(right, options)
            states = states[::2]
        assert self._pictures is not None
        return replace(states[0], pictures=self._pictures)


def _checked(chunk: ScoredChunk | None) -> StreamState:
    """What a chunk holds, unless it raised an error or comes from a worker with other versions."""
    assert chunk is not None
    own = versions()
    differs = next((name for name in own if chunk.versions[name] != own[name]), None)
    if differs is not None:
        raise InputError(
            "client",
            "must have workers with the versions of this process",
            f"{differs} is {chunk.versions[differs]} there and {own[differs]} here",
            "install the same versions everywhere",
            code="mismatch",
        )
    if chunk.problem is not None:
        raise chunk.problem
    assert chunk.state is not None
    return chunk.state
