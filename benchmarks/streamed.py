"""Fitting Parquet files batch by batch, against reading them alone.

``python -m benchmarks.streamed 50000000`` takes another number of rows. Each program runs in a
process of its own; imports and compiling come before the clock starts.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measure import report

COLUMNS, SPLITS, ROWS_PER_FILE = 40, 20, 5_000_000

START = """
import json, sys, time
import pyarrow.parquet as pq

def peak():  # not ru_maxrss, in which a process inherits the peak of the one that started it
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

def measure(work):
    wall, used = time.perf_counter(), time.process_time()
    work()
    print(json.dumps([time.perf_counter() - wall, time.process_time() - used, peak()]))

folder = sys.argv[1]
"""
READ = """
from pathlib import Path
def read():
    for file in sorted(Path(folder, "all").iterdir()):
        for batch in pq.ParquetFile(file).iter_batches():
            pass
measure(read)
"""
FIT = """
import mictree as mt
def fit(paths):
    mt.TopDownClassifier(SPLITS).fit(mt.SampleProblem.from_parquet(paths, "label"))
fit(folder + "/small.parquet")
measure(lambda: fit(folder + "/all"))
"""


def main(rows: int = 5_000_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), rows)
        size = sum(path.stat().st_size for path in Path(folder, "all").iterdir())
        read = run(READ, folder)
        fit = run(FIT.replace("SPLITS", str(SPLITS)), folder)
    title = f"{rows:,} rows x {COLUMNS} columns of 0/1 from Parquet ({size / 2**20:.0f} MiB)"
    report(f"{title}, {SPLITS} splits", f"{fit[0]:.1f} s, {fit[1]:.1f} s of processor time")
    report("  peak memory", f"{fit[2]:.0f} MiB", "2 GiB for 50 million rows, aim 1")
    report("  against reading alone, processor time", f"{fit[1] / read[1]:.2f} x", "2, aim 1.3")
    report("  against reading alone, wall clock", f"{fit[0] / read[0]:.2f} x", "2, aim 1.3")


def write(folder: Path, rows: int) -> None:
    """Random flags; the label depends on some of them."""
    (folder / "all").mkdir()
    random = np.random.default_rng(0)
    for part, start in enumerate(range(0, rows, ROWS_PER_FILE)):
        count = min(ROWS_PER_FILE, rows - start)
        columns = {f"x{n}": random.integers(0, 2, count, dtype=np.int8) for n in range(COLUMNS)}
        noise = random.random(count) < 0.1
        label = (columns["x0"] & columns["x1"]) | (columns["x2"] & columns["x3"] & columns["x4"])
        table = pa.table({**columns, "label": (label ^ noise).astype(np.int8)})
        pq.write_table(table, folder / "all" / f"{part:04}.parquet")
        if not part:
            pq.write_table(table[:10_000], folder / "small.parquet")


def run(code: str, folder: str) -> list[float]:
    """Seconds, seconds of processor time, and peak memory in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", START + code, folder], check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
