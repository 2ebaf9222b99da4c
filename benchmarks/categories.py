"""Sets of categories beside LightGBM and beside single categories: one thread, reading included.

300,000 rows of 10 columns with 50 categories each, 30 splits, in processor time. LightGBM groups
categories as it does by default, but for what would keep it from the best split: no smoothing, no
least number of rows. Both first splits are compared by the impurity that is left.
"""

import importlib
from typing import Any

import numpy as np
import pandas as pd

import mictree as mt
from benchmarks.measure import processor_time, report

ROWS, COLUMNS, CATEGORIES, SIZE = 300_000, 10, 50, 30


def towns(rows: int = ROWS) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of categories, four of which matter, and labels."""
    random = np.random.default_rng(0)
    codes = random.integers(0, CATEGORIES, (rows, COLUMNS))
    effects = random.normal(size=(4, CATEGORIES))
    score = sum(effects[each][codes[:, each]] for each in range(len(effects)))
    names = np.array([f"town {number:02d}" for number in range(CATEGORIES)])
    columns = {f"c{each}": pd.Categorical.from_codes(codes[:, each], names)
               for each in range(COLUMNS)}  # fmt: skip
    return pd.DataFrame(columns), (score + 2 * random.normal(size=rows) > 0).astype(int)


def fit_lightgbm(lightgbm: Any, X: pd.DataFrame, y: np.ndarray, size: int) -> Any:
    """One tree with the best categorical splits that LightGBM finds; binning included."""
    settings = {
        "objective": "binary", "num_leaves": size + 1, "num_threads": 1, "cat_smooth": 0,
        "cat_l2": 0, "min_data_per_group": 1, "max_cat_threshold": CATEGORIES,
        "max_cat_to_onehot": 1, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0, "verbose": -1,
    }  # fmt: skip
    return lightgbm.train(settings, lightgbm.Dataset(X, y, params=settings), 1)


def variance_left(groups: np.ndarray, y: np.ndarray) -> float:
    """What LightGBM's first split and Gini's lower: the variance within two groups."""
    rates = [(len(part), part.mean()) for part in (y[groups], y[~groups])]
    return sum(count * rate * (1 - rate) for count, rate in rates) / len(y)


def main() -> None:
    X, y = towns()

    def ours(categories: str = "subsets", size: int = SIZE) -> mt.TopDownClassifier:
        return mt.TopDownClassifier(size, criterion="gini", categories=categories).fit(X, y)

    sets, each = processor_time(ours), processor_time(lambda: ours("each"))
    name = f"fit {ROWS:,} x {COLUMNS} columns of {CATEGORIES} categories: {1000 * sets:.3g} ms"
    report(name, f"{sets / each:.2f} x single categories", "at most 2")
    try:
        lightgbm = importlib.import_module("lightgbm")
    except ImportError:
        report("    LightGBM is not installed", "")
        return
    theirs = processor_time(lambda: fit_lightgbm(lightgbm, X, y, SIZE))
    report(f"    LightGBM's one tree: {1000 * theirs:.3g} ms", f"{theirs / sets:.2f} x LightGBM",
           "at least 1")  # fmt: skip
    leaf = fit_lightgbm(lightgbm, X, y, 1).predict(X, pred_leaf=True).ravel()
    own = variance_left(ours(size=1).apply(X) == ours(size=1).apply(X)[0], y)
    other = variance_left(leaf == leaf[0], y)
    report(f"    variance left by the first split: {own:.9f}", f"LightGBM's {other:.9f}",
           "no more than LightGBM's")  # fmt: skip
