"""The best trees of the best splits over a whole family: one row per member and top."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from mictree._support.checkpoints import Partial
from mictree._support.progress import Report, ignore
from mictree.families.blocks import Blocks
from mictree.families.family import Family
from mictree.families.functions import FunctionFamily
from mictree.families.solved import check_max_size, excess_columns, repeated, solve
from mictree.families.table_sweep import check_symmetric
from mictree.impurity import Criterion, check_criterion, name_of
from mictree.optimal import DEFAULT_MEMORY_LIMIT
from mictree.optimal.result import Top
from mictree.optimal.solve import check_top


def tops(
    family: Family | FunctionFamily,
    max_size: int = 100,
    tops: Sequence[int] = (1, 2, 3),
    criterion: Criterion = "entropy",
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
    progress: Report | None = None,
) -> pl.DataFrame:
    """``mic_over_tops`` for every member of a family: the best trees of the best splits.

    Parameters
    ----------
    family, max_size, memory_limit, progress : as of ``sweep``
    tops : each node may test only so many splits of largest gain, and those that tie with them; see
        ``optimal_trees``
    criterion : of those gains

    Returns
    -------
    A polars frame with the columns of ``sweep`` that say what a member is; ``top`` and
    ``criterion``; ``mic``, ``largest_excess`` and ``largest_excess_size`` over the best trees of
    all. As ties are all allowed, a member's numbers are those of all functions that it stands for.

    Examples
    --------
    >>> import mictree as mt
    >>> frame = mt.sweep.tops(mt.families.functions(4), max_size=15, tops=(1, 2, 3, 4))
    >>> [round(frame.filter(top=top)["mic"].max(), 4) for top in (1, 2, 3, 4)]
    [0.0458, 0.0333, 0.0125, 0.0]
    """
    limit, wanted = check_max_size(max_size), [check_top(each) for each in tops]
    if not wanted:
        raise ValueError("tops must have at least one number; it has none")
    check_criterion(criterion)
    if isinstance(family, FunctionFamily):
        check_symmetric(family, criterion)
    nothing_kept = Partial(None, None, {})
    blocks = Blocks(family.members, limit, nothing_kept, progress or ignore)
    solved = solve(family, blocks, memory_limit, None)
    table = np.concatenate([solved.compare_top(Top(each, criterion)) for each in wanted])
    return pl.DataFrame(
        {
            **repeated(solved.columns(), len(wanted)),
            "top": np.repeat(wanted, len(family)),
            "criterion": [name_of(criterion)] * len(table),
            **excess_columns(table),
        }
    )
