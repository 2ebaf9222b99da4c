"""The commands mic, grow and optimal, which take a formula.

``mic`` compares greedy with optimal trees of every size, ``grow`` grows one tree and shows every
split, ``optimal`` finds the best tree. All of them read the formula, its biases and its noise in
one way (``read_formula``): a read-once DNF without noise becomes a ``FormulaProblem``, which may
have many variables; any other target becomes a truth table. Biases and noise are fractions, exactly
as typed.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.table import Table

from mictree._support.checks import check_size
from mictree._support.words import show_number
from mictree.cli.options import (
    AsJson,
    Criterion,
    Depth,
    Draw,
    LargestSize,
    NoMerge,
    Rule,
    Rules,
    Seed,
    Ties,
    check_drawing,
    criterion_option,
    make_rules,
    read_bias,
    read_fraction,
)
from mictree.cli.output import (
    print_json,
    print_parts,
    save_drawing,
    show_progress,
    tree_text,
)
from mictree.excess import ROUNDING, MicResult, against
from mictree.functions.expression import MAX_VARIABLES, Expression
from mictree.functions.read_once import ReadOnceDNF
from mictree.growers.rules import Grower
from mictree.optimal import optimal_trees
from mictree.problems import FormulaProblem, Problem, TableProblem
from mictree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Formula = Annotated[
    str,
    typer.Argument(
        help="A Boolean formula such as 'x1 & ~x2 | y1 & y2', with ~ & ^ | -> <->, 0, 1 and "
        "parentheses; also 'not and xor or implies iff' and '¬ ∧ ⊕ ∨ → ↔'. A read-once DNF may "
        f"have many variables, any other formula at most {MAX_VARIABLES}.",
        show_default=False,
    ),
]
Bias = Annotated[
    list[str],
    typer.Option(
        help="P[variable = 1]: a number for all variables, or NAME=NUMBER for one; repeatable. "
        "A name that is not in the formula adds an irrelevant variable.",
        metavar="NUMBER|NAME=NUMBER",
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        help="Probability that a label is wrong, from 0 to 1, read as typed. With noise, any "
        f"formula may have at most {MAX_VARIABLES} variables.",
        metavar="NUMBER",
        show_default=False,
    ),
]
Size = Annotated[int, typer.Option(help="Number of splits.")]
Top = Annotated[
    int | None,
    typer.Option(
        help="Let each node of optimal trees test only its TOP splits of largest gain, and those "
        "that tie.",
        show_default=False,
    ),
]


def mic(
    formula: Formula,
    bias: Bias = ["0.5"],  # noqa: B006  # typer copies defaults
    noise: Noise = None,
    max_size: LargestSize = 100,
    rule: Rules = ["topdown"],  # noqa: B006
    depth: Depth = None,
    criterion: Criterion = "entropy",
    ties: Ties = "last",
    seed: Seed = None,
    top: Top = None,
    as_json: AsJson = False,
    draw: Draw = None,
) -> None:
    """Compare greedy with optimal trees of every size (MIC).

    MIC is the mean, over sizes 1 to --max-size, of the greedy error minus the optimal error. With
    --top, each node of an optimal tree tests one of its splits of largest gain by --criterion, and
    a greedy rule that looks ahead may have a negative excess.

    \b
    Examples:
      mictree mic "x1 & x2 | y1 & y2 & y3" --max-size 8 --rule topdown --rule bestfirst
      mictree mic "a & b | c" --bias 0.3 --bias c=0.7 --json
      mictree mic "(a | b) & ~c ^ a -> d" --max-size 8
      mictree mic "x1 & x2 | y1 & y2 & y3" --rule bestfirst --draw curves.svg
      mictree mic "a & (b ^ c) | ~a & d" --max-size 5 --top 1
      mictree mic "x1 & x2 | y1 & y2 & y3" --max-size 8 --noise 0.1
    """
    problem, described = read_formula(formula, bias, noise)
    rules = make_rules(rule, depth, criterion, [ties], seed)
    if top is not None:
        described |= {"top": top}
    check_drawing(draw)
    if max_size < 1:
        raise ValueError(f"--max-size must be at least 1; got {max_size}")
    with show_progress("optimal trees") as progress:
        optimal = optimal_trees(
            problem, max_size, progress=progress, top=top, criterion=criterion
        ).errors
        results = [against(each, problem, optimal, restricted=top is not None) for each in rules]
    if as_json:
        print_json(described, max_size=max_size, optimal_errors=optimal, rules=[
            {**_settings(each), "mic": result.mic, "greedy_errors": result.greedy_errors,
             "excess_errors": result.excess_errors}
            for each, result in zip(rules, results, strict=True)
        ])  # fmt: skip
    else:
        _print_mic(rules, results)
    if draw is not None:
        _draw(
            draw, lambda axes: [r.plot(a) for r, a in zip(results, axes, strict=True)], len(rules)
        )


def grow(
    formula: Formula,
    size: Size = 5,
    rule: Rule = "topdown",
    depth: Depth = None,
    bias: Bias = ["0.5"],  # noqa: B006
    noise: Noise = None,
    criterion: Criterion = "entropy",
    ties: Ties = "last",
    seed: Seed = None,
    no_merge: NoMerge = False,
    as_json: AsJson = False,
    draw: Draw = None,
) -> None:
    """Grow a tree greedily, and show every split.

    \b
    Examples:
      mictree grow "x1 & x2 | y1 & y2 & y3" --size 5 --rule bestfirst
      mictree grow "x1 & x2 | y1 & y2 & y3" --size 8 --draw tree.svg
      mictree grow "a ^ b | c & d" --size 5 --rule lookahead --depth 2
    """
    problem, described = read_formula(formula, bias, noise)
    (grower,) = make_rules([rule], depth, criterion, [ties], seed)
    check_drawing(draw)
    check_size(size, "--size")
    with show_progress(f"growing {size} splits"):
        growth = grower.grow(problem, size)
    tree = growth.tree(size)
    if as_json:
        splits = [
            {"leaf": step.leaf, "variable": step.variable, "gain": step.gain, "reach": step.reach,
             "error": growth.errors[number]}
            for number, step in enumerate(growth.steps, start=1)
        ]  # fmt: skip
        print_json(
            described | _settings(grower),
            size=tree.size,
            error=growth.errors[-1],
            splits=splits,
            tree=json.loads(tree.to_json()),
        )
    else:
        table = Table("split", "variable", "reach", "gain", "reach x gain", "error after")
        for number, step in enumerate(growth.steps, start=1):
            values = (step.reach, step.gain, step.weighted_gain, float(growth.errors[number]))
            table.add_row(str(number), step.variable, *map(show_number, values))
        end = _end(tree.size, growth.errors[-1])
        if tree.size < size:
            end += f"; growth ended before --size {size}, as no leaf can be split"
        print_parts(table, tree_text(tree, None, no_merge), end)
    _draw_tree(draw, tree, problem, no_merge)


def optimal(
    formula: Formula,
    size: Size = 5,
    bias: Bias = ["0.5"],  # noqa: B006
    noise: Noise = None,
    top: Top = None,
    criterion: Annotated[str, criterion_option("Impurity of the gains of --top")] = "entropy",
    no_merge: NoMerge = False,
    as_json: AsJson = False,
    draw: Draw = None,
) -> None:
    """Find the best tree with at most SIZE splits.

    With --top 1, find the best pruning of a greedy tree over all choices of ties.

    \b
    Examples:
      mictree optimal "x1 & x2 | y1 & y2 & y3" --size 5
      mictree optimal "a & b | c & d" --bias 0.3 --bias d=0.7 --size 3 --draw best.png
      mictree optimal "(a | b) & ~c ^ a -> d" --size 4 --top 2
    """
    problem, described = read_formula(formula, bias, noise)
    if top is not None:
        described |= {"top": top, "criterion": criterion}
    check_drawing(draw)
    check_size(size, "--size")
    with show_progress("optimal trees") as progress:
        solved = optimal_trees(problem, size, progress=progress, top=top, criterion=criterion)
        tree = solved.tree(size)
    if as_json:
        print_json(described, size=tree.size, error=solved.errors[-1],
                    optimal_errors=solved.errors, tree=json.loads(tree.to_json()))  # fmt: skip
    else:
        table = Table("size", "least error")
        for number, error in enumerate(solved.errors[: tree.size + 1]):
            table.add_row(str(number), show_number(error))
        end = _end(tree.size, solved.errors[-1])
        if tree.size < size:
            end += f"; no larger tree up to --size {size} has a smaller error"
        print_parts(table, tree_text(tree, None, no_merge), end)
    _draw_tree(draw, tree, problem, no_merge)


class _Target(NamedTuple):
    problem: Problem
    described: dict[str, Any]


def read_formula(text: str, biases: list[str], typed_noise: str | None) -> _Target:
    """A read-once DNF without noise as a FormulaProblem, any other target as a table."""
    try:
        formula, reason = ReadOnceDNF.parse(text), ""
    except ValueError as error:
        formula, reason = Expression.parse(text), str(error)
    named = _read_biases(biases)
    noise = _read_noise(typed_noise)
    default = named.pop("", Fraction(1, 2))
    bias = dict.fromkeys(formula.variables, default) | named
    described: dict[str, Any] = {
        "formula": str(formula),
        "bias": {name: float(value) for name, value in bias.items()},
    }
    if typed_noise is not None:
        described["noise"] = float(noise)
    if isinstance(formula, ReadOnceDNF) and noise == 0:
        return _Target(FormulaProblem(formula, bias), described)
    if len(bias) > MAX_VARIABLES:
        kind = "with --noise" if isinstance(formula, ReadOnceDNF) else "that is no read-once DNF"
        none = f" and is none: {reason}" if reason else ""
        raise ValueError(
            f"a formula {kind} may have at most {MAX_VARIABLES} variables; this "
            f"one has {len(bias)}{none}"
        )
    expression = Expression.parse(text)
    return _Target(TableProblem.from_formula(expression, bias, noise=noise), described)


def _read_biases(options: list[str]) -> dict[str, Fraction]:
    """Biases by name; "" stands for all variables."""
    given: dict[str, str] = {}
    named: dict[str, Fraction] = {}
    for option in options:
        name, equals, number = option.rpartition("=")
        value = read_bias(number, option, "NUMBER or NAME=NUMBER")
        name = name.strip() if equals else ""
        if name in given:
            raise ValueError(
                f"--bias must give {name or 'all variables'} one number; "
                f"got {given[name]} and {number.strip()}"
            )
        given[name], named[name] = number.strip(), value
    return named


def _read_noise(typed: str | None) -> Fraction:
    """The number of --noise, exactly as typed."""
    form = "a number from 0 to 1"
    noise = Fraction(0) if typed is None else read_fraction(typed, "--noise", form)
    if not 0 <= noise <= 1:
        raise ValueError(f"--noise must be {form}; got {typed!r}")
    return noise


def _end(size: int, error: Any) -> str:
    return f"size {size}, error {show_number(error)}"


def _settings(rule: Grower) -> dict[str, Any]:
    return {"rule": rule.name} | vars(rule)


def _print_mic(rules: list[Grower], results: list[MicResult]) -> None:
    table = Table("size", "optimal")
    for rule in rules:
        table.add_column(rule.label)
        table.add_column("excess")
    sizes = sorted({size for result in results for size in result.telling_sizes()})
    for size in sizes:
        cells = [str(size), show_number(results[0].optimal_errors[size])]
        for result in results:
            cells += [
                show_number(result.greedy_errors[size]),
                show_number(result.excess_errors[size]),
            ]
        table.add_row(*cells)
    lines = [
        f"{rule.label} ({rule.criterion}, ties {rule.ties}): MIC({result.max_size}) = "
        f"{show_number(result.mic)}, {_largest(result)}"
        for rule, result in zip(rules, results, strict=True)
    ]
    print_parts(table, "\n".join(lines))


def _largest(result: MicResult) -> str:
    most = result.excess_errors.max()
    if most <= ROUNDING:
        return "no excess at any size"
    return f"largest excess {show_number(most)} at size {result.worst_size}"


def _draw_tree(path: Path | None, tree: Tree, problem: Problem, no_merge: bool) -> None:
    if path is not None:
        save_drawing(path, tree.draw(problem=problem, show=("reach", "rate"), merge=not no_merge))


def _draw(path: Path, plot: Callable[[list["Axes"]], object], count: int) -> None:
    from matplotlib.figure import Figure

    axes = Figure(figsize=(7, 4 * count), layout="constrained").subplots(count, squeeze=False)
    plot(list(axes[:, 0]))
    save_drawing(path, axes[0, 0])
