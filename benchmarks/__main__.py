"""All benchmarks: ``make bench``; some: ``python -m benchmarks core sweeps``."""

import importlib
import sys

NAMES = (
    "core", "sweeps", "estimators", "regressors", "categories", "optimal", "bit_tasks", "ordered",
    "tasks", "prices", "good", "anytime", "compare", "streamed", "explorer", "distributed",
)  # fmt: skip

if __name__ == "__main__":
    for name in sys.argv[1:] or NAMES:
        print(f"\n== {name}")
        importlib.import_module(f"benchmarks.{name}").main()
