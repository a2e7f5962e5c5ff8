"""Small files in the formats of the publishers, and a server that counts what it is asked."""

import gzip
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

IDX_CODES = {"uint8": 8, "int8": 9, "int16": 11, "int32": 12, "float32": 13, "float64": 14}


def idx_bytes(array: np.ndarray) -> bytes:
    """An array in idx form."""
    code = IDX_CODES[array.dtype.name]
    head = bytes([0, 0, code, array.ndim]) + np.array(array.shape, dtype=">u4").tobytes()
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


@pytest.fixture
def write_idx():
    """Write an array as idx, packed where the name ends in .gz."""

    def write(path, array):
        path.parent.mkdir(parents=True, exist_ok=True)
        data = idx_bytes(array)
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        return path

    return write


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder; counts the requests; can cut answers short or fail."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.server.status:
            self.send_error(self.server.status)
            return
        data = (self.server.folder / self.path.lstrip("/")).read_bytes()
        self.send_response(200)
        if not self.server.endless:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) - self.server.cut])
        for _ in range(200 if self.server.endless else 0):
            self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path):
    """A server on this machine for the files of `server.folder`, at `server.address`."""
    folder = tmp_path / "served"
    folder.mkdir()
    served = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    served.folder, served.asked, served.cut, served.status, served.endless = folder, [], 0, 0, False
    served.handle_error = lambda *_: None  # a client that hangs up is no news
    served.address = f"http://127.0.0.1:{served.server_address[1]}/"
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield served
    served.shutdown()
    served.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("UQASSAY_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"
