"""Parquet files four times as large as the memory that a process may use."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the address space is measured as Linux does"
)

ALLOWED = 76 * 2**20  # bytes beyond those of a process that has fitted a small table
ROWS, PARTS, FLAGS = 1_350_000, 3, 28

# Address space that is reserved and never used counts too, so allocators and threads get little.
ENVIRONMENT = {
    "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1", "NUMBA_NUM_THREADS": "1",
}  # fmt: skip

# Fits one file first, so that everything is imported and compiled, then all with the limit.
FIT = """
import json, resource, sys
import mictree as mt

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

def fit(paths):
    problem = mt.SampleProblem.from_parquet(paths, "label")
    return mt.TopDownClassifier(8).fit(problem)

small, pattern, allowed = sys.argv[1], sys.argv[2], int(sys.argv[3])
fit(small)
before = peak()
if allowed:
    pages = int(open("/proc/self/statm").read().split()[0])
    limit = pages * resource.getpagesize() + allowed
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
model = fit(pattern)
print(json.dumps({"tree": model.tree_.to_json(), "errors": model.growth_.errors.tolist(),
                  "grown": peak() - before}))
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """Flags as plain 64-bit integers, and a column of numbers; a small file beside them."""
    folder = tmp_path_factory.mktemp("large")
    (folder / "all").mkdir()
    random = np.random.default_rng(0)
    for part in range(PARTS):
        flags = random.integers(0, 2, (FLAGS, ROWS // PARTS))
        first = random.normal(size=ROWS // PARTS)
        label = (flags[0] & flags[1]) ^ (first > 0.5) ^ (random.random(len(first)) < 0.1)
        columns = {f"flag{number}": cells for number, cells in enumerate(flags)}
        table = pa.table({**columns, "first": first, "label": label})
        # a page of each column is in memory while a file is read
        plain = {"use_dictionary": False, "compression": "none", "data_page_size": 2**18}
        pq.write_table(table, folder / "all" / f"{part}.parquet", row_group_size=2**17, **plain)
        if not part:
            pq.write_table(table[:20_000], folder / "small.parquet", **plain)
    return folder


def fit(folder: Path, allowed: int) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", FIT, folder / "small.parquet", folder / "all", str(allowed)],
        capture_output=True, text=True, check=False,
        env={**os.environ, **ENVIRONMENT},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_files_larger_than_the_memory(files):
    size = sum(path.stat().st_size for path in (files / "all").iterdir())
    assert size >= 4 * ALLOWED
    with ThreadPoolExecutor(2) as pool:
        limited, unlimited = pool.map(partial(fit, files), (ALLOWED, 0))
    assert limited["grown"] <= ALLOWED
    assert limited["tree"] == unlimited["tree"]
    assert limited["errors"] == unlimited["errors"]
