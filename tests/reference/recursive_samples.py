"""The least number of errors of any tree on rows of 0 and 1, by the recurrence as it stands.

No bounds, no memory: for data with too many literals to collect the errors of every tree.
"""

import numpy as np


def recursive_least_errors(rows: np.ndarray, labels: np.ndarray, max_size: int) -> list[int]:
    """The least number of rows labelled wrongly, by size from 0 to max_size."""
    return [_least(rows.astype(bool), labels, size) for size in range(max_size + 1)]


def _least(rows: np.ndarray, labels: np.ndarray, size: int) -> int:
    best = len(labels) - max(np.bincount(labels), default=0)
    if size == 0 or best == 0:
        return int(best)
    if size == 1:
        return int(min(best, _one_split(rows, labels)))
    for held in rows.T:
        if held.all() or not held.any():
            continue
        for low_size in range(size):
            low = _least(rows[~held], labels[~held], low_size)
            high = _least(rows[held], labels[held], size - 1 - low_size)
            best = min(best, low + high)
    return int(best)


def _one_split(rows: np.ndarray, labels: np.ndarray) -> int:
    """The least error of one test: in each child all but the largest class are wrong."""
    high = np.array([rows[labels == label].sum(axis=0) for label in np.unique(labels)])
    low = np.array([(~rows[labels == label]).sum(axis=0) for label in np.unique(labels)])
    return int((len(labels) - high.max(axis=0) - low.max(axis=0)).min())
