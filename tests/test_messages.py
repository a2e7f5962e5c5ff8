"""Messages between processes: arrays keep their values, dtype and order of axes, and long messages arrive whole."""

import os
import threading

import numpy as np
import pytest

from uqassay._messages import message_of, packed, receive, send, unpacked


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as inbox, os.fdopen(writing, "wb") as outbox:
        yield inbox, outbox


def arrays(folder):
    rng = np.random.default_rng(0)
    np.save(folder / "map.npy", rng.random((6, 4)))
    members = rng.random((5, 7, 3))
    return [
        members,
        members.transpose(1, 0, 2),
        members.transpose(2, 1, 0),
        np.asfortranarray(members, dtype=np.float32),
        np.broadcast_to(members[:1], members.shape),
        np.load(folder / "map.npy", mmap_mode="r"),
        members[:, :0],
        np.ones(()),
        members.astype(">f8"),
    ]


def test_arrays_keep_their_layout(tmp_path):
    for array in arrays(tmp_path):
        again = unpacked(packed(array))
        np.testing.assert_array_equal(again, array)
        assert (again.dtype, type(again)) == (array.dtype, np.ndarray)
        if array.size and 0 not in array.strides:
            assert again.strides == array.strides


def test_messages_arrive_one_after_another(pipe, tmp_path):
    inbox, outbox = pipe
    sent = [*arrays(tmp_path), np.arange(10**6), None, "text"]  # longer than a pipe holds

    def write():
        for value in sent:
            send(outbox, message_of(value))

    writer = threading.Thread(target=write)
    writer.start()
    for value in sent:
        np.testing.assert_array_equal(receive(inbox), value)
    writer.join()


def test_the_end_of_a_pipe_is_an_error(pipe):
    inbox, outbox = pipe
    outbox.write(b"123")
    outbox.close()
    with pytest.raises(EOFError):
        receive(inbox)
