"""Messages between processes of this program: pickles, with the memory of arrays beside them."""

import io
import pickle
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["message_of", "packed", "receive", "send", "unpacked"]


class _Pickler(pickle.Pickler):
    """Keeps the order of axes in memory, on which the last bits of sums depend; memory maps are sent as arrays."""

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, np.ndarray) or obj.dtype.hasobject:
            return NotImplemented
        if type(obj) is np.memmap:
            return _turned, (np.asarray(obj), tuple(range(obj.ndim)))
        if type(obj) is not np.ndarray or obj.flags.c_contiguous or obj.flags.f_contiguous:
            return NotImplemented
        axes = tuple(int(axis) for axis in np.argsort([-abs(step) for step in obj.strides], kind="stable"))
        back = tuple(int(axis) for axis in np.argsort(axes))
        return _turned, (np.ascontiguousarray(obj.transpose(axes)), back)


def _turned(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    return array.transpose(axes)


def packed(value: Any) -> tuple[bytes, ...]:
    """A copy of a value as bytes, for another process of this program.

    Examples
    --------
    >>> unpacked(packed(np.zeros((2, 3, 4)).transpose(1, 0, 2))).strides
    (32, 96, 8)
    """
    return tuple(bytes(part) for part in message_of(value))


def unpacked(parts: Sequence[bytes]) -> Any:
    """The value that `packed` copied; its arrays are read-only. Never call it on bytes that another program wrote."""
    return pickle.loads(parts[0], buffers=parts[1:])


def message_of(value: Any) -> list[Any]:
    """A message in parts: the pickle, then the memory of its arrays, which is not copied."""
    parts: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    _Pickler(stream, protocol=5, buffer_callback=parts.append).dump(value)
    return [stream.getbuffer(), *(part.raw() for part in parts)]


def send(pipe: IO[bytes], message: Sequence[Any]) -> None:
    """Write a message of `message_of`."""
    sizes = np.array([len(message), *(len(part) for part in message)], dtype=np.int64)
    pipe.write(sizes.tobytes())
    for part in message:
        pipe.write(part)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """The next message of the other end, which is this program."""
    (n,) = np.frombuffer(_read(pipe, 8), dtype=np.int64).tolist()
    sizes = np.frombuffer(_read(pipe, 8 * n), dtype=np.int64).tolist()
    head, *parts = [_read(pipe, size) for size in sizes]
    return pickle.loads(head, buffers=parts)


def _read(pipe: IO[bytes], size: int) -> bytearray:
    """Exactly so many bytes.

    Raises
    ------
    EOFError
        The other end is closed.
    """
    data = bytearray(size)
    view, done = memoryview(data), 0
    while done < size:
        got = pipe.readinto(view[done:])  # type: ignore[attr-defined]
        if not got:
            raise EOFError
        done += got
    return data
