"""The atlas's first part: greedy size against least size, over all functions."""

from mictree.experiments.function_sizes import FunctionSizes
from mictree.families.sweep import SIZE_NAMES
from mictree.plotting.function_sizes import draw_function_sizes, draw_witnesses
from mictree.report.atlas.section import Section
from mictree.report.claims import Claim, count_met, decide
from mictree.report.figures import Drawing
from mictree.report.page import Table

NAME = "sizes"
BEST, WORST = "greedy_size_best", "greedy_size_worst"
MOST = 0.5  # how "most" is read
TWICE = 2


def section(sizes: FunctionSizes) -> Section:
    """Everything about sizes."""
    return Section(
        NAME,
        "Sizes",
        "How large greedy trees without error are",
        "A greedy tree is grown until it makes no error, under the uniform distribution. Its size "
        "then depends on the criterion and on the choice among tied splits, not on the order of "
        "growth. Every function is counted: one of each class of symmetric functions is solved "
        "and weighted by the size of its class.",
        tuple(_drawings(sizes)),
        (often_minimal(sizes), always_minimal(sizes), at_most_twice(sizes)),
        (_table(sizes), _smallest(sizes)),
    )


def range_of(sizes: FunctionSizes) -> str:
    """The families, in words."""
    parts = [
        f"{name} of {count} variables ({sizes.functions(name):,})"
        for name, count in sizes.plan.variables
    ]
    return (
        f"Functions: {', '.join(parts)}. {sizes.plan.criterion.capitalize()}, best and worst ties."
    )


def often_minimal(sizes: FunctionSizes) -> Claim:
    """Whether some greedy tree is minimal on most functions."""
    measured, met = [], []
    for name, _ in sizes.plan.variables:
        share = sizes.minimal(name) / sizes.functions(name)
        met.append(share > MOST)
        measured.append(f"{name}: {sizes.minimal(name):,} functions, {share:.2%}.")
    return Claim(
        range_of(sizes),
        "On most functions, some greedy tree is as small as the smallest tree.",
        tuple(measured),
        f"Cases are the families: under the best ties, the greedy tree is minimal on more than "
        f"{MOST:.0%} of the functions. {count_met(met)}",
        decide(met),
    )


def always_minimal(sizes: FunctionSizes) -> Claim:
    """Whether every greedy tree is minimal, whatever the ties."""
    measured, met = [], []
    for name, _ in sizes.plan.variables:
        other = [sizes.functions(name) - sizes.minimal(name, size) for size in (BEST, WORST)]
        met += [count == 0 for count in other]
        measured.append(f"{name}: {other[0]:,} exceptions under the best ties, {other[1]:,} under "
                        "the worst.")  # fmt: skip
    return Claim(
        range_of(sizes),
        "Greedy trees are as small as the smallest tree.",
        tuple(measured),
        f"Two cases for each family, best and worst ties: no function is an exception. "
        f"{count_met(met)}",
        decide(met),
    )


def at_most_twice(sizes: FunctionSizes) -> Claim:
    """Whether a greedy tree has at most twice the least number of splits."""
    measured, met = [], []
    for name, _ in sizes.plan.variables:
        ratios = [sizes.largest_ratio(name, size) for size in (BEST, WORST)]
        met += [greedy <= TWICE * least for greedy, least in ratios]
        parts = [f"{_ratio(*ratio)} under the {ties} ties"
                 for ratio, ties in zip(ratios, ("best", "worst"), strict=True)]  # fmt: skip
        measured.append(f"{name}: {', '.join(parts)}.")
    return Claim(
        range_of(sizes),
        "A greedy tree has at most twice as many splits as the smallest tree.",
        tuple(measured),
        f"Two cases for each family, best and worst ties: the largest ratio is at most {TWICE}. "
        f"{count_met(met)}",
        decide(met),
    )


def _ratio(greedy: int, least: int) -> str:
    """A largest ratio in words."""
    return "never more than the least" if greedy == least else f"{greedy} instead of {least} splits"


def _table(sizes: FunctionSizes) -> Table:
    rows = []
    for name, variables in sizes.plan.variables:
        total = sizes.functions(name)
        rows.append((
            f"{name}, {variables} variables", f"{total:,}",
            *(f"{sizes.mean(name, size):.4f}" for size in SIZE_NAMES),
            f"{sizes.minimal(name, BEST):,}", f"{sizes.minimal(name, WORST):,}",
            "{} : {}".format(*sizes.largest_ratio(name, BEST)),
            "{} : {}".format(*sizes.largest_ratio(name, WORST)),
        ))  # fmt: skip
    columns = (
        "functions", "number", "mean least size", "mean greedy, best ties", "worst ties",
        "minimal, best ties", "worst ties", "largest ratio, best ties", "worst ties",
    )  # fmt: skip
    return Table(f"Sizes, {sizes.plan.criterion}", columns, tuple(rows), NAME)


def _smallest(sizes: FunctionSizes) -> Table:
    rows = [
        (row["family"], str(row["variables"]), f"0x{row['table']:x}", f"{row['count']:,}",
         str(row["perfect_size"]), str(row[BEST]), str(row[WORST]))
        for row in sizes.smallest.iter_rows(named=True)
    ]  # fmt: skip
    found = set(sizes.smallest["family"])
    rows += [
        (name, f"none up to {variables}", "", "", "", "", "")
        for name, variables in sizes.plan.variables
        if name not in found
    ]
    columns = (
        "functions", "variables", "truth table, bit r is row r", "stands for", "least size",
        "greedy, best ties", "worst ties",
    )  # fmt: skip
    title = "The smallest functions on which no greedy tree is minimal"
    return Table(title, columns, tuple(rows), NAME)


def _drawings(sizes: FunctionSizes):
    shares = "; ".join(
        f"{name}: minimal on {sizes.minimal(name):,} of {sizes.functions(name):,}"
        for name, _ in sizes.plan.variables
    )
    yield Drawing(
        "greedy-sizes",
        NAME,
        f"Size of a greedy tree without error against the least size, counted over all functions; "
        f"{sizes.plan.criterion}, uniform distribution. On the dashed line greedy trees are "
        "minimal. Top: the best choice among tied splits; bottom: the worst.",
        f"Maps of how many functions have each pair of sizes. Under the best ties, {shares}.",
        lambda figure: draw_function_sizes(figure, sizes),
    )
    witnesses = sizes.witnesses()
    if witnesses:
        told = "; ".join(
            f"{w.family}: 0x{w.table:x} of {w.variables} variables, {w.greedy.size} splits instead "
            f"of {w.optimal.size}"
            for w in witnesses
        )
        yield Drawing(
            "smallest-failures",
            NAME,
            "The smallest functions on which no greedy tree is minimal: fewest variables, then "
            "least size; where there are several, the one of least truth table. Left, a smallest "
            f"greedy tree without error ({sizes.plan.criterion}, best ties); right, a smallest "
            "tree. The branch for value 0 goes left.",
            f"Pairs of decision trees. {told}.",
            lambda figure: draw_witnesses(figure, witnesses),
            layout=None,  # a tree is fitted to its axes when it is drawn
        )
