"""Draw the picture of intervals and gaps in docs/optimal-trees.md; it takes some minutes."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot

import mictree as mt
from mictree.optimal import CertifiedErrors

ROWS, COLUMNS, FLIPPED, MAX_SIZE, SECONDS = 10_000, 10, 0.15, 8, 150


def search() -> CertifiedErrors:
    """The intervals of a noisy rule of two terms."""
    random = np.random.default_rng(0)
    X = random.random((ROWS, COLUMNS))
    high = X > 0.5
    y = (high[:, 0] & high[:, 1]) | (high[:, 2] & high[:, 3] & high[:, 4])
    y ^= random.random(ROWS) < FLIPPED
    return mt.optimal_errors(mt.SampleProblem(X, y), MAX_SIZE, time_limit=SECONDS)


def draw(path: Path) -> None:
    """Write the intervals at the end beside the gaps over time."""
    errors = search()
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
    errors.plot(axes[0])
    errors.plot(axes[1], against="time")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "mictree"
    draw(Path(__file__).with_suffix(".svg"))
