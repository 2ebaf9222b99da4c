"""Draw the picture of sets of categories; run this file after a change to the drawings."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib import pyplot

import mictree as mt

TOWNS = ("Aachen", "Berlin", "Bonn", "Essen", "Jena", "Kiel", "Köln", "Mainz", "Trier", "Ulm")
BUYING = ("Berlin", "Jena", "Kiel", "Köln", "Ulm")


def customers(rows: int = 600) -> tuple[pl.DataFrame, np.ndarray]:
    """Towns, ages, and who buys: most of those in half of the towns, and the old elsewhere."""
    random = np.random.default_rng(34)
    town, age = random.choice(TOWNS, rows), random.integers(18, 90, rows)
    likely = np.where(np.isin(town, BUYING), 0.9, np.where(age > 60, 0.8, 0.1))
    X = pl.DataFrame({"town": town, "age": age})
    return X, np.where(random.random(rows) < likely, "buys", "leaves")


def draw(path: Path) -> None:
    """Write trees of two splits whose tests are single towns, and sets of towns."""
    X, y = customers()
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for ax, categories in zip(axes, ("each", "subsets"), strict=True):
        model = mt.TopDownClassifier(max_size=2, categories=categories).fit(X, y)
        model.draw(ax, merge=False)
        ax.set_title(f'categories="{categories}": error {model.growth_.errors[2]:.3f}')
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "mictree"
    draw(Path(__file__).with_suffix(".svg"))
