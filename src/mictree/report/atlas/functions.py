"""The atlas's parts about all small functions: sizes, names, best trees, rankings, statements.

Each part is a function that makes a ``Section`` of an experiment's results: words, claims, tables
and drawings. The parts are the sizes of greedy trees against the least ones; whether the MIC of one
function of a symmetry class stands for the whole class, relabelled; how many best trees there are,
and how often greed finds one; which criterion, how much looking ahead and how many candidates come
closest to the optimum; and statements of other papers with their verdicts. Each claim is judged by
cases in numbers and names its range.
"""

import itertools
from collections import Counter

import polars as pl

from mictree.experiments.checked import LaterStatements
from mictree.experiments.function_sizes import FunctionSizes
from mictree.experiments.good_counts import GoodCounts
from mictree.experiments.rankings import LOOKAHEAD, TOP, ZERO, Rankings
from mictree.experiments.relabellings import RULES, Relabellings
from mictree.families.sweep import SIZE_NAMES
from mictree.impurity import CRITERIA
from mictree.plotting.families import (
    draw_function_sizes,
    draw_good_counts,
    draw_rankings,
    draw_relabellings,
    draw_witnesses,
)
from mictree.report.claims import Claim, count_met, decide
from mictree.report.figures import Drawing
from mictree.report.page import Section, Table
from mictree.statements.checks import VERDICT_RULE, sentence

LABELS = "labels"
ERRORS = 3  # standard errors
TENTH = 0.1


COUNTED = "counted"


def counted_section(found: GoodCounts) -> Section:
    """Everything about the number of optimal trees."""
    return Section(
        COUNTED,
        "Best trees",
        "How many best trees there are, and how often greed finds one",
        "One optimal tree is one of many. For every function and size all trees that are as good "
        "as the best are counted, without listing them; every split divides, pure leaves are not "
        "split, and a tree counts at its own size. A greedy rule whose ties are taken at random "
        "ends in one of them with a chance that is computed exactly.",
        (_counted_drawing(found),),
        (several_best(found), finds_best(found)),
        (_counted_table(found),),
    )


def counted_range(found: GoodCounts) -> str:
    """The functions, in words."""
    plan = found.plan
    return (
        f"All {2**2**plan.variables:,} functions of {plan.variables} variables under the uniform "
        f"distribution, sizes 1 to {plan.max_size}; entropy, ties at random."
    )


def _counted_sizes(found: GoodCounts) -> list[int]:
    """The sizes of which some function has an optimal tree."""
    return sorted(set(found.frame["size"].to_list()))


def several_best(found: GoodCounts) -> Claim:
    """Whether a best tree is rarely the only one."""
    sizes = _counted_sizes(found)
    shares = [found.share_of_one(size) for size in sizes]
    met = [share < 0.5 for share in shares]
    return Claim(
        counted_range(found),
        "Most functions have more than one best tree of a size.",
        tuple(
            f"Size {size}: {share:.1%} have one, the median function {found.median(size):,}."
            for size, share in zip(sizes, shares, strict=True)
        ),
        "Cases are the sizes: of the functions with a best tree of exactly this size, fewer than "
        f"half have only one. {count_met(met)}",
        decide(met),
    )


def finds_best(found: GoodCounts) -> Claim:
    """Whether TopDown ends in a best tree more often than BestFirst."""
    sizes, (one, other) = _counted_sizes(found), found.plan.rules
    chances = {rule: [found.mean_chance(rule, size) for size in sizes] for rule in (one, other)}
    met = [mine >= its for mine, its in zip(chances[one], chances[other], strict=True)]
    return Claim(
        counted_range(found),
        f"With random ties, {one} ends in a best tree at least as often as {other}.",
        tuple(
            f"Size {size}: {one} {mine:.3f}, {other} {its:.3f} on average; for "
            f"{found.never(one, size):,} functions {one} never does."
            for size, mine, its in zip(sizes, chances[one], chances[other], strict=True)
        ),
        f"Cases are the sizes: the mean chance of {one} is no smaller. {count_met(met)}",
        decide(met),
    )


def _counted_table(found: GoodCounts) -> Table:
    rules = found.plan.rules
    rows = tuple(
        (
            str(size), f"{found.at(size)['count'].sum():,}", f"{found.share_of_one(size):.2%}",
            f"{found.median(size):,}", f"{found.at(size)['trees'].max():,}",
            *(f"{found.mean_chance(rule, size):.4f}" for rule in rules),
            *(f"{found.never(rule, size):,}" for rule in rules),
        )
        for size in _counted_sizes(found)
    )  # fmt: skip
    columns = (
        "size", "functions with a best tree of it", "with one only", "median", "most",
        *(f"mean chance of {rule}" for rule in rules), *(f"never by {rule}" for rule in rules),
    )  # fmt: skip
    return Table("Best trees by size, entropy, ties at random", columns, rows, COUNTED)


def _counted_drawing(found: GoodCounts) -> Drawing:
    sizes = _counted_sizes(found)
    medians = ", ".join(f"{found.median(size):,} at size {size}" for size in sizes)
    return Drawing(
        "good-counts",
        COUNTED,
        f"{counted_range(found)} Left: the share of functions with at least so many best trees, by "
        "size. Right: the mean chance that a rule with random ties ends in a best tree.",
        f"Curves of the number of best trees, with medians of {medians}; and mean chances by size.",
        lambda figure: draw_good_counts(figure, found),
    )


def labels_section(found: Relabellings) -> Section:
    """Everything about relabellings."""
    plan = found.plan
    return Section(
        LABELS,
        "Names",
        "MIC over all functions, and how much it depends on names",
        "Functions that renaming variables and negating inputs or the output make of one another "
        "have the same optimal errors. The trees that a rule grows on them differ where splits or "
        "leaves tie, because ties are decided by order. So a sweep over one representative of "
        "each class is weighted by its count, and checked against functions drawn at random.",
        (_labels_drawing(found),),
        (representative(found), independent(found)),
        (_labels_table(found, plan.max_size),),
    )


def labels_range(found: Relabellings) -> str:
    """The sample, in words."""
    plan = found.plan
    total = found.representatives.filter(rule=next(iter(RULES)))
    return (
        f"All {total['count'].sum():,} functions of {plan.variables} variables, "
        f"{total['members'].sum():,} representatives; {plan.relabellings} relabellings of each of "
        f"{plan.members:,} members drawn by count (seed {plan.seed}). Entropy, ties {plan.ties}, "
        f"sizes 1 to {plan.max_size}."
    )


def representative(found: Relabellings) -> Claim:
    """Whether the weighted mean of representatives is that of all functions."""
    measured, met = [], []
    for rule in RULES:
        mean, error = found.estimate(rule)
        weighted = found.weighted_mean(rule)
        met.append(abs(weighted - mean) <= ERRORS * error)
        measured.append(
            f"{rule}: {weighted:.5f} from representatives, {mean:.5f} ± {error:.5f} from functions "
            "drawn at random."
        )
    return Claim(
        labels_range(found),
        "Representatives weighted by count give the mean MIC over all functions.",
        tuple(measured),
        f"Cases are the rules: the two means differ by at most {ERRORS} standard errors. "
        f"{count_met(met)}",
        decide(met),
    )


def independent(found: Relabellings) -> Claim:
    """Whether MIC hardly depends on names."""
    measured, met = [], []
    for rule in RULES:
        spreads = found.spreads.filter(rule=rule)
        width = float((spreads["largest"] - spreads["least"]).mean())  # type: ignore[arg-type]
        mean = float(spreads["mean"].mean())  # type: ignore[arg-type]
        met.append(width <= TENTH * mean)
        measured.append(f"{rule}: mean range {width:.5f}, mean MIC {mean:.5f}.")
    return Claim(
        labels_range(found),
        "The MIC of a function hardly depends on the names of its variables.",
        tuple(measured),
        f"Cases are the rules: the mean range over relabellings is at most {TENTH:g} of the mean "
        f"MIC. {count_met(met)}",
        decide(met),
    )


def _labels_table(found: Relabellings, max_size: int) -> Table:
    rows = []
    for rule in RULES:
        spreads = found.spreads.filter(rule=rule)
        mean, error = found.estimate(rule)
        width = spreads["largest"] - spreads["least"]
        rows.append((
            rule, f"{found.weighted_mean(rule):.6f}", f"{found.largest(rule):.6f}",
            f"{mean:.6f} ± {error:.6f}", f"{width.mean():.6f}", f"{width.max():.6f}",
            f"{(width < 1e-12).mean():.2%}",
        ))  # fmt: skip
    columns = (
        "rule", "representatives: weighted mean", "largest", "all functions: estimate ± s.e.",
        "range over relabellings: mean", "largest", "no range",
    )  # fmt: skip
    return Table(f"MIC({max_size}), entropy, ties {found.plan.ties}", columns, tuple(rows), LABELS)


def _labels_drawing(found: Relabellings) -> Drawing:
    means = "; ".join(
        f"{rule}: weighted mean {found.weighted_mean(rule):.4f}, estimate for all functions "
        f"{found.estimate(rule)[0]:.4f}"
        for rule in RULES
    )
    return Drawing(
        "relabellings",
        LABELS,
        f"{labels_range(found)} Left: MIC of the representatives, weighted by count. Middle and "
        "right: "
        "for each drawn member the range over its relabellings, their mean, and the "
        "representative's MIC as a dot.",
        f"A histogram of MIC, and bands that show how MIC varies over relabellings. {means}.",
        lambda figure: draw_relabellings(figure, found),
    )


RANKED = "ranked"
TOP_ONE = pl.col("contestant") == TOP.format(1)


def ranked_section(found: Rankings) -> Section:
    """Everything about the ranking."""
    return Section(
        RANKED,
        "Ranking",
        "Which greedy trees come closest",
        "TopDown with each of four criteria, Lookahead of depth 1 to "
        f"{max(found.plan.depths)} with entropy, and top k: the best tree whose every node tests "
        "one of its k splits of largest gain by entropy. Lookahead 1 is TopDown with entropy. "
        "Top k is no rule but a bound: its trees are chosen with the optimum in view. On "
        "all functions, MIC is that of one representative of each class of symmetric functions, "
        "weighted by the number of functions it stands for: exact for top k, which has no ties to "
        "break; for a rule it is the MIC under the representative's order of variables.",
        (_ranked_drawing(found),),
        (
            best_criterion(found),
            further_is_better(found),
            one_is_enough(found),
            two_are_enough(found),
        ),
        tuple(_tables(found)),
    )


def ranked_range(found: Rankings) -> str:
    """The ranges, in words."""
    ranges = found.plan.ranges
    titles = "; ".join(f"{each.title}, sizes 1 to {each.max_size}" for each in ranges)
    return f"{titles}. Ties {found.plan.ties}."


def best_criterion(found: Rankings, name: str = "gini") -> Claim:
    """Whether one criterion has the least mean MIC everywhere."""
    measured, met = [], []
    for each in found.plan.ranges:
        means = {criterion: found.mean(each.title, criterion) for criterion in CRITERIA}
        met.append(all(means[name] < means[other] - ZERO for other in CRITERIA if other != name))
        listed = ", ".join(f"{criterion} {mean:.6f}" for criterion, mean in means.items())
        measured.append(f"{each.title}: {listed}.")
    return Claim(
        ranked_range(found),
        f"Of the four criteria, {name} has the least mean MIC.",
        tuple(measured),
        f"Cases are the ranges: its mean is below the other three. {count_met(met)}",
        decide(met),
    )


def further_is_better(found: Rankings) -> Claim:
    """Whether each step of looking further ahead lowers the mean MIC."""
    measured, met = [], []
    depths = found.plan.depths
    for each in found.plan.ranges:
        means = [found.mean(each.title, LOOKAHEAD.format(depth)) for depth in depths]
        met += [more < less - ZERO for less, more in itertools.pairwise(means)]
        listed = ", ".join(f"depth {d} {m:.6f}" for d, m in zip(depths, means, strict=True))
        measured.append(f"{each.title}: {listed}.")
    return Claim(
        ranked_range(found),
        "To look one split further ahead lowers the mean MIC.",
        tuple(measured),
        f"Cases are the ranges with each step from one depth to the next: the mean falls. "
        f"{count_met(met)}",
        decide(met),
    )


def one_is_enough(found: Rankings) -> Claim:
    """Whether trees that only test splits of largest gain include optimal ones of every size."""
    measured, met = [], []
    for each in found.plan.ranges:
        summary = found.summary(each.title).row(by_predicate=TOP_ONE, named=True)
        met.append(summary["largest"] < ZERO)
        measured.append(
            f"{each.title}: top 1 is optimal on {summary['optimal']:.2%}, largest MIC "
            f"{summary['largest']:.6f}."
        )
    return Claim(
        ranked_range(found),
        "At every size some optimal tree tests only splits of largest gain, so that the rule's "
        "excess comes from its order of growth and its ties.",
        tuple(measured),
        f"Cases are the ranges: the MIC of top 1 is 0 (below {ZERO:g}) on every "
        f"member. {count_met(met)}",
        decide(met),
    )


def two_are_enough(found: Rankings) -> Claim:
    """Whether a second candidate removes most of what choosing the best split costs."""
    measured, met = [], []
    for each in found.plan.ranges:
        one, two = (found.mean(each.title, TOP.format(top)) for top in (1, 2))
        met.append(two <= TENTH * one)
        measured.append(f"{each.title}: top 1 {one:.6f}, top 2 {two:.6f}.")
    return Claim(
        ranked_range(found),
        "Trees that may test the second best split too are nearly optimal.",
        tuple(measured),
        f"Cases are the ranges: the mean MIC of top 2 is at most {TENTH:g} of that of "
        f"top 1. {count_met(met)}",
        decide(met),
    )


def _tables(found: Rankings):
    columns = ("contestant", "mean MIC", "largest MIC", "MIC 0 on")
    for each in found.plan.ranges:
        summary = found.summary(each.title)
        rows = tuple(
            (row["contestant"], f"{row['mean']:.7f}", f"{row['largest']:.6f}",
             f"{row['optimal']:.2%}")
            for row in summary.iter_rows(named=True)
        )  # fmt: skip
        title = f"{each.title}: MIC({each.max_size}) over {summary['count'][0]:,}"
        yield Table(title, columns, rows, RANKED)


def _ranked_drawing(found: Rankings) -> Drawing:
    firsts = "; ".join(
        f"{each.title}: {', '.join(found.summary(each.title)['contestant'].to_list())}"
        for each in found.plan.ranges
    )
    return Drawing(
        "rankings",
        RANKED,
        f"Mean MIC of each contestant, the lowest at the top: circles, criteria of TopDown; "
        f"squares, Lookahead; triangles, top k. {ranked_range(found)} "
        f"MIC below {ZERO:g} counts as 0.",
        f"Rankings by mean MIC, lowest first. {firsts}.",
        lambda figure: draw_rankings(figure, found),
    )


SIZES = "sizes"
BEST, WORST = "greedy_size_best", "greedy_size_worst"
MOST = 0.5  # how "most" is read
TWICE = 2


def sizes_section(sizes: FunctionSizes) -> Section:
    """Everything about sizes."""
    return Section(
        SIZES,
        "Sizes",
        "How large greedy trees without error are",
        "A greedy tree is grown until it makes no error, under the uniform distribution. Its size "
        "then depends on the criterion and on the choice among tied splits, not on the order of "
        "growth. Every function is counted: one of each class of symmetric functions is solved "
        "and weighted by the size of its class.",
        tuple(_sizes_drawings(sizes)),
        (often_minimal(sizes), always_minimal(sizes), at_most_twice(sizes)),
        (_sizes_table(sizes), _smallest(sizes)),
    )


def sizes_range(sizes: FunctionSizes) -> str:
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
        sizes_range(sizes),
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
        sizes_range(sizes),
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
        sizes_range(sizes),
        "A greedy tree has at most twice as many splits as the smallest tree.",
        tuple(measured),
        f"Two cases for each family, best and worst ties: the largest ratio is at most {TWICE}. "
        f"{count_met(met)}",
        decide(met),
    )


def _ratio(greedy: int, least: int) -> str:
    """A largest ratio in words."""
    return "never more than the least" if greedy == least else f"{greedy} instead of {least} splits"


def _sizes_table(sizes: FunctionSizes) -> Table:
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
    return Table(f"Sizes, {sizes.plan.criterion}", columns, tuple(rows), SIZES)


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
    return Table(title, columns, tuple(rows), SIZES)


def _sizes_drawings(sizes: FunctionSizes):
    shares = "; ".join(
        f"{name}: minimal on {sizes.minimal(name):,} of {sizes.functions(name):,}"
        for name, _ in sizes.plan.variables
    )
    yield Drawing(
        "greedy-sizes",
        SIZES,
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
            SIZES,
            "The smallest functions on which no greedy tree is minimal: fewest variables, then "
            "least size; where there are several, the one of least truth table. Left, a smallest "
            f"greedy tree without error ({sizes.plan.criterion}, best ties); right, a smallest "
            "tree. The branch for value 0 goes left.",
            f"Pairs of decision trees. {told}.",
            lambda figure: draw_witnesses(figure, witnesses),
            layout=None,  # a tree is fitted to its axes when it is drawn
        )


STATED = "papers"


def stated_section(found: LaterStatements) -> Section:
    """All statements in one table."""
    return Section(
        STATED,
        "Papers",
        "What other papers state",
        f"Statements about greedy trees in our own words, each checked on a finite range: "
        f"{count(found)}. Many of them are asymptotic; the table says what a finite check can and "
        f"cannot tell. {VERDICT_RULE} The command “mictree verify --all” repeats the checks.",
        (),
        (),
        (_stated_table(found),),
    )


def count(found: LaterStatements) -> str:
    """How many have each verdict, in words."""
    verdicts = Counter(found.frame["verdict"].to_list())
    plural = {"holds": "hold", "fails": "fail", "unclear as printed": "are unclear as printed"}
    return ", ".join(f"{verdicts[name]} {plural[name]}" for name in plural if verdicts[name])


def _stated_table(found: LaterStatements) -> Table:
    rows = tuple(
        (row["number"], row["statement"],
         f"{sentence(row['range_covered'])} {sentence(row['detail'])}", row["verdict"])
        for row in found.frame.iter_rows(named=True)
    )  # fmt: skip
    columns = ("paper", "statement", "range covered, and why", "verdict")
    return Table("Statements", columns, rows, STATED, has_texts=True)
