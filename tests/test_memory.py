"""An assay of a large file needs little memory."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.lib.format import open_memmap

CODE = """
import re, sys
import numpy as np
import uqassay as uq
members = uq.load(sys.argv[1])
assert isinstance(members.probs, np.memmap)
uq.assay({"ensemble": members}, np.load(sys.argv[2]), n_draws=10).ranked()
print(1024 * int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux", reason="pages of a map are given back, and peak memory is read, as on Linux"
)
def test_peak_memory_stays_below_the_size_of_the_file(tmp_path: Path, random_generator):
    shape = (12_000, 10, 1_000)
    path, labels = tmp_path / "members.npy", tmp_path / "labels.npy"
    out = open_memmap(path, "w+", np.float32, shape)
    block = random_generator.random((500, *shape[1:]), dtype=np.float32)
    block /= block.sum(axis=2, keepdims=True)
    for start in range(0, shape[0], 500):
        out[start : start + 500] = block  # equal rows cost an assay no less
    out.flush()
    del out
    np.save(labels, random_generator.integers(shape[2], size=shape[0]))
    size = path.stat().st_size  # 480 MB
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(path), str(labels)], capture_output=True, text=True, check=True
    )
    # 0.63: the mean in double precision .2, interpreter .19, bins and draws; with the file as a whole 1.2 at least
    assert int(done.stdout) < 0.8 * size
