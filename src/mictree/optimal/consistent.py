"""The smallest tree that fits a sample exactly.

Finding it is NP-hard in general (Hancock, Jiang, Li and Tromp), and the paper reduces it to finding
optimal trees: it is the optimal tree of the least size whose error on the sample is 0. So the
search over row sets is asked, for one size after another, whether some tree makes less than one
error: see decision 0014.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mictree._support.checks import TooLarge, check_unmasked
from mictree.functions.read_once import binary_matrix, check_names
from mictree.growers.rules import TopDown
from mictree.optimal.result import DEFAULT_MEMORY_LIMIT
from mictree.tree import Tree

MAX_STATES = 1_000_000


def minimal_consistent_tree(
    X: np.typing.ArrayLike,
    y: np.typing.ArrayLike,
    variables: Sequence[str] | None = None,
    max_states: int = MAX_STATES,
) -> Tree:
    """A tree of the least size that gives every row its label.

    Parameters
    ----------
    X : 0/1 matrix, one row an example
    y : the labels, 0 or 1
    variables : the columns' names; by default ``x1`` to ``xn``
    max_states : the search is given up once it has stored results for more sets of rows than this

    Examples
    --------
    >>> tree = minimal_consistent_tree([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> tree.size
    3
    """
    columns = np.shape(X)[1] if np.ndim(X) == 2 else 0
    names = [f"x{number}" for number in range(1, columns + 1)] if variables is None else variables
    matrix = binary_matrix(X, check_names(names))
    labels = np.asarray(check_unmasked(y, "y"))
    if labels.shape != (len(matrix),) or not np.all((labels == 0) | (labels == 1)):
        raise ValueError(f"y must hold one label, 0 or 1, for each of the {len(matrix)} rows")
    _check_labels(matrix, labels)
    return _search(matrix.astype(np.uint8), labels.astype(np.int64), names, max_states)


def _check_labels(matrix: np.ndarray, labels: np.ndarray) -> None:
    """Refuse equal rows of different labels."""
    first: dict[bytes, int] = {}
    for number, row in enumerate(matrix):
        same = first.setdefault(row.tobytes(), number)
        if labels[same] != labels[number]:
            raise ValueError(
                "equal rows must have equal labels, or no tree fits; "
                f"rows {same} and {number} differ only in their label"
            )


def _search(matrix: np.ndarray, labels: np.ndarray, names: Sequence[str], max_states: int) -> Tree:
    """Refute one size after another until a tree fits, at the latest one that TopDown grows."""
    # imported here: import mictree does not load numba
    from mictree.optimal.search.bits import BitEngine
    from mictree.optimal.search.nested import build
    from mictree.optimal.search.questions import Asking
    from mictree.optimal.search.rows import Rows
    from mictree.optimal.search.table import STORED, UNLIMITED
    from mictree.problems.sample import SampleProblem

    if labels.min() == labels.max():
        return Tree.build(names, int(labels[0]))
    problem = SampleProblem(matrix, labels)
    growth = TopDown().grow(problem, len(matrix) - 1)
    largest = len(growth.steps)
    rows = Rows.of(problem, exact=False)
    asking = Asking(BitEngine(rows), largest, UNLIMITED, DEFAULT_MEMORY_LIMIT)
    if asking.budgets < largest:
        raise _too_large(f"{DEFAULT_MEMORY_LIMIT:,} bytes")

    def give_up() -> None:
        if asking.control[STORED] > max_states:
            raise _too_large(f"max_states={max_states} sets of rows")

    asking.tell = give_up
    with asking.running():
        for size in range(1, largest):
            found = asking.find(rows.everything, size, 1, UNLIMITED)
            if found is None:
                raise KeyboardInterrupt
            if found[1] is not None:
                return replace(build(problem, found[1]), variables=tuple(names))
            give_up()
    return replace(growth.tree(largest), variables=tuple(names))


def _too_large(limit: str) -> TooLarge:
    return TooLarge(f"the search must stay within {limit}; fewer rows or columns would fit")
