"""Trees of several sizes in one call, where sweeps take so little time that calls would count.

Sizes are answered as ``frontier`` does it, each with a tree, until the work allowed is done. A tree
is retraced node by node: the rows of a node are put into frame 1, which is asked for a test that
attains the error known to be their least. ``data`` and ``frames`` are those of ``sweep_kernel``.
"""

import numpy as np

from mictree._support.jit import inner_jit, jit
from mictree.optimal.search.counting_bounds import lightest_leaf
from mictree.optimal.search.engine import ANY, FIRST, KNOWN
from mictree.optimal.search.sweep_frames import PLACE
from mictree.optimal.search.sweep_kernel import count_in_place, search, start
from mictree.optimal.search.table import ALLOWED, FOUND, LEAST, RUN, STATUS

# of a node: its column, or -1 for a leaf; the row before the cut, or the label; the low child,
# after which comes the high one; the question that it answers: splits, error and depth
COLUMN, ROW, LOW, SPLITS, ERROR, DEPTH = range(6)
NODE = 6
UNTRACED = -1  # an error


@jit
def solve_sizes(
    sizes, depth, masses, leaves, data, table, frames, control, lower, upper, out_nodes
):
    """Answer sizes in turn until one takes too long; says how many are answered.

    ``lower`` and ``upper`` are bounds by size, and become equal for those answered. ``out_nodes``
    must be 0 at the start. Of a size whose tree is better than those of all smaller ones, it
    becomes the nodes, and the error of the first is counted anew; of others, the first has no
    splits. No tree has more than so many ``leaves``; ``masses`` are those of all classes, the
    largest first.
    """
    if len(sizes) == 0:
        return 0
    reached = np.empty(len(data.codes), dtype=np.int32)
    level = start(len(data.codes), data, frames)
    frames.work[0] = 0
    control[STATUS] = RUN
    before, answered = np.int64(0), len(sizes)
    for number, size in enumerate(sizes):
        if size > before + 1 and before > 0:
            _enlarge(before, size, depth, data, frames, control, upper, out_nodes)
        before = size
        _carry_over(size, masses, leaves, lower, upper)
        bound = upper[size]
        if lower[size] >= bound:
            continue
        control[FOUND], control[LEAST] = bound, lower[size]
        frames.claims[:] = 0
        wanted = FIRST if size <= 2 or depth <= 2 else ANY
        answer = search(level, size, bound, depth, wanted, data, table, frames, control)
        if answer < bound and control[STATUS] == RUN:
            nodes = out_nodes[size]
            nodes[0, SPLITS], nodes[0, DEPTH] = size, depth
            _write_test(np.int64(0), np.int64(1), level, nodes, frames)
            splits = _trace(nodes, reached, data, table, frames, control)
            if control[STATUS] == RUN:
                _lower(splits, size, answer, upper, out_nodes)
        if control[STATUS] != RUN:
            answered = number
            break
        lower[size] = answer
    control[STATUS], control[ALLOWED] = RUN, 1 << 62  # what is left takes little
    for size in sizes[:answered]:
        if out_nodes[size, 0, SPLITS] > 0 and out_nodes[size, 0, ERROR] == UNTRACED:
            _trace(out_nodes[size], reached, data, table, frames, control)
    return answered


@inner_jit
def _carry_over(size, masses, leaves, lower, upper):
    """Raise the lower bound of a size by what is certain of the sizes before and after."""
    before = lower[size - 1]
    if before > lower[size]:
        lower[size] = max(lower[size], before - lightest_leaf(masses, leaves, size, before))
    if size + 1 < len(lower):
        lower[size] = max(lower[size], lower[size + 1])
    lower[size] = min(lower[size], upper[size])


@inner_jit
def _lower(splits, size, error, upper, out_nodes):
    """Lower the upper bounds of all sizes for which a tree with so many splits is better.

    Its nodes are those of one size, and other sizes lose theirs.
    """
    for other in range(splits, len(upper)):
        if error < upper[other]:
            upper[other] = error
            if other != size and other < len(out_nodes):
                out_nodes[other, 0, SPLITS] = 0


@inner_jit
def _enlarge(before, most, depth, data, frames, control, upper, out_nodes):
    """Find trees of some more splits that begin as the tree of a size does.

    What both children of its first test need with up to three splits is shared out.
    """
    while before > 0 and out_nodes[before, 0, SPLITS] == 0:
        before -= 1
    if before == 0:
        return
    column, row = out_nodes[before, 0, COLUMN], out_nodes[before, 0, ROW]
    errors = np.empty((2, 4), dtype=np.int64)
    for side in range(2):
        rows = _gather(side, column, row, data, frames)
        level = start(rows, data, frames)
        errors[side] = count_in_place(level, np.int64(3), depth - 1, data, frames, control)
    for size in range(before + 1, most + 1):
        nodes = out_nodes[size]
        for low in range(min(size, 4)):
            high = min(3, size - 1 - low)
            error = errors[0, low] + errors[1, high]
            if error >= upper[size]:
                continue
            _lower(size, size, error, upper, out_nodes)
            nodes[0, COLUMN], nodes[0, ROW], nodes[0, LOW] = column, row, 1
            nodes[0, SPLITS], nodes[0, ERROR] = size, UNTRACED
            for side in range(2):
                nodes[1 + side, SPLITS] = low if side == 0 else high
                nodes[1 + side, ERROR] = errors[side, low if side == 0 else high]
                nodes[1 + side, DEPTH] = depth - 1


@inner_jit
def _gather(side, column, row, data, frames):
    """Make members of the rows on one side of a cut after some row; says how many."""
    rows, inside = np.int64(0), side == 0
    for entry in data.order[column]:
        frames.member[entry >> 1] = inside
        rows += inside
        if entry >> 1 == row:
            inside = side == 1
    return rows


@inner_jit
def _trace(nodes, reached, data, table, frames, control):
    """Write the nodes of a tree below its first test, and its error; says how many splits it has.

    If the status says that it took too long, that is worthless. ``reached`` becomes the leaf of
    each row.
    """
    _gather(np.int64(0), nodes[0, COLUMN], nodes[0, ROW], data, frames)
    for row in range(len(reached)):
        reached[row] = 1 if frames.member[row] else 2
    level, totals = np.int64(1), frames.totals[1]
    node, count, wrong = np.int64(1), np.int64(3), 0
    while node < count:
        totals[:] = 0
        rows = np.int64(0)
        for row in range(len(reached)):
            if reached[row] == node:
                totals[data.codes[row]] += data.weights[row, 0]
                rows += 1
        splits, error, depth = nodes[node, SPLITS], nodes[node, ERROR], nodes[node, DEPTH]
        if totals.sum() - totals.max() <= error:
            nodes[node, COLUMN], nodes[node, ROW] = -1, totals.argmax()  # the first of several
            wrong += totals.sum() - totals.max()
            node += 1
            continue
        for row in range(len(reached)):
            frames.member[row] = reached[row] == node
        start(rows, data, frames)
        wanted = np.int64(KNOWN)
        search(level, splits, error + 1, depth, wanted, data, table, frames, control)
        if control[STATUS] != RUN:
            return 0
        _write_test(node, count, level, nodes, frames)
        at = frames.levels[level]
        order, place = frames.order[level, at.first_column], frames.tests[level, PLACE, at.first]
        for number in range(at.rows):
            reached[order[number] >> 1] = count + (number > place)
        node, count = node + 1, count + 2
    nodes[0, ERROR] = wrong
    return count // 2


@inner_jit
def _write_test(node, count, level, nodes, frames):
    """Write the test that was noted for the rows of a node, and the questions of both children."""
    at = frames.levels[level]
    column, low = at.first_column, at.first_low
    place = frames.tests[level, PLACE, at.first]
    nodes[node, COLUMN], nodes[node, LOW] = column, count
    nodes[node, ROW] = frames.order[level, column, place] >> 1
    for side in range(2):
        nodes[count + side, SPLITS] = low if side == 0 else nodes[node, SPLITS] - 1 - low
        nodes[count + side, ERROR] = at.first_errors[side]
        nodes[count + side, DEPTH] = nodes[node, DEPTH] - 1
