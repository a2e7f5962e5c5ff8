"""Memory of an assay; its times need an idle machine."""

import re
import subprocess
import sys

from benchmarks.measured.registry import measured
from benchmarks.speed.machine import describe
from benchmarks.stored_tables import ROOT, Table


@measured("memory-of-an-assay", page="speed", timed=True)
def memory(size: int = 50_000) -> Table:
    """Memory of an assay."""
    rows = []
    for n, members, classes in ((size, 10, 1000), (20 * size, 5, 10), (size // 5, 15, 10)):
        script = [sys.executable, str(ROOT / "docs" / "measure_memory.py")]
        options = ["--instances", str(n), "--members", str(members), "--classes", str(classes)]
        lines = subprocess.run([*script, *options], check=True, capture_output=True, text=True).stdout
        took, peak = re.findall(r"GB on disk: ([\d.]+) s .*peak memory ([\d.]+) GB", lines)[0]
        megabytes = 4e-6 * n * members * classes
        on_disk = f"{megabytes / 1000:.1f} GB" if megabytes >= 100 else f"{megabytes:.0f} MB"
        label = f"{n:,} instances, {members} members, {classes:,} classes"
        rows.append([label, on_disk, f"{float(peak):.1f} GB", f"{float(took):.2g} s"])
    columns = ("ensemble, float32", "on disk", "peak memory of an assay", "time, two cores")
    return Table(columns, rows, [describe()])
