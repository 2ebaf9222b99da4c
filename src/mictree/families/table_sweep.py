"""The numbers of a sweep over a family of Boolean functions."""

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import polars as pl

from mictree._support.checks import TooLarge
from mictree._support.jit import run
from mictree.families.blocks import Blocks, key_of
from mictree.families.functions import FunctionFamily
from mictree.families.growth import compare_errors
from mictree.families.growth_kernel import Rule
from mictree.families.sizes import sizes_of
from mictree.families.subcubes import CriterionGains, Subcubes
from mictree.families.table_kernel import BestOnly, compare_tables, fill_optimal
from mictree.growers.functions import RuleFunctions
from mictree.growers.rules import TIES, Grower, depth_of
from mictree.impurity import Criterion, name_of
from mictree.impurity.criteria import own_impurity
from mictree.impurity.gains import NOISE
from mictree.optimal.result import Top

STEPS = 100  # inner steps that a subcube costs, see run


class SolvedTables:
    """A family with the optimal errors of all its members."""

    def __init__(self, family: FunctionFamily, blocks: Blocks, memory_limit: int) -> None:
        self._family, self._blocks = family, blocks
        self._cubes = Subcubes.of(family.variables, family.bias)
        self._work = STEPS * len(self._cubes.free)
        width = min(blocks.max_size, 2**family.variables - 1) + 1
        needed = 8 * len(family) * width
        if needed > memory_limit:
            raise TooLarge.states(len(family), memory_limit, "a smaller family", needed)
        self._optimal = blocks.table(
            "optimal", "optimal errors", width, lambda some: self._solve(some, width, None)
        )
        self._gains: dict[tuple[str | int, int], CriterionGains] = {}

    def columns(self) -> dict[str, Any]:
        """What each member is."""
        family = self._family
        return {
            "member": np.arange(len(family)),
            "function": pl.Series(family.texts()),
            "count": family.counts,
        }

    def sizes(self, number: int, rule: Grower) -> np.ndarray:
        """The perfect size, and the best and the worst of greedy trees; a row for each member.

        ``number`` is that of the first rule with this criterion and depth.
        """
        gains = self._criterion_gains(rule)

        def compute(some: range) -> np.ndarray:
            tables = self._family.tables[some.start : some.stop]
            return np.stack(sizes_of(tables, self._cubes, gains, depth_of(rule)), axis=1).astype(
                float
            )

        ahead = f", depth {depth_of(rule)}" if depth_of(rule) > 1 else ""
        name = f"greedy sizes, {name_of(rule.criterion)}{ahead}"
        return self._blocks.table(f"sizes-{number}", name, 3, compute).astype(np.int64)

    def compare(self, number: int, rule: Grower) -> np.ndarray:
        """MIC, largest excess error and its size of one rule; a row for each member."""
        gains, functions = self._criterion_gains(rule), RuleFunctions(rule)
        seed, refused = np.uint64(rule.with_seed().seed or 0), functions.refused_priority
        kernel_rule = Rule(functions.priority.address, TIES.index(rule.ties), seed, refused)

        def compute(some: range) -> np.ndarray:
            out = np.empty((len(some), 3))
            run(
                compare_tables, len(some), self._work * len(some),
                some.start, self._blocks.max_size, kernel_rule, self._family.tables, self._cubes,
                gains.arrays, depth_of(rule), self._optimal, out,
            )  # fmt: skip
            functions.settle()
            gains.settle()
            return out

        name = f"{rule.label}, ties {rule.ties}"
        return self._blocks.table(f"rule-{number}", name, 3, compute)

    def compare_top(self, top: Top) -> np.ndarray:
        """The same numbers of the best trees that test only splits of largest gain."""
        gains = CriterionGains(top.criterion, self._cubes)
        width = self._optimal.shape[1]

        def compute(some: range) -> np.ndarray:
            rows = self._solve(some, width, BestOnly(gains.arrays, top.number))
            gains.settle()
            optimal = self._optimal[some.start : some.stop]
            start = np.arange(len(some) + 1) * width
            return compare_errors(
                self._blocks.max_size, (start, rows.ravel()), (start, optimal.ravel())
            )

        name = f"top {top.number}, {name_of(top.criterion)}"
        return self._blocks.table(f"top-{top.number}", name, 3, compute)

    def _criterion_gains(self, rule: Grower) -> CriterionGains:
        key = key_of(rule)
        if key not in self._gains:
            self._gains[key] = CriterionGains(rule.criterion, self._cubes)
        return self._gains[key]

    def _solve(self, some: range, width: int, best_only: BestOnly | None) -> np.ndarray:
        """Least errors by size."""
        out = np.empty((len(some), width))
        tables = self._family.tables[some.start : some.stop]
        run(fill_optimal, len(some), self._work * len(some), tables, self._cubes, best_only, out)
        return out


def check_symmetric(family: FunctionFamily, criterion: Criterion) -> None:
    """Refuse a criterion that treats the labels differently where a member stands for negations.

    All positive rates that a restriction of a function can have are tried.
    """
    if isinstance(criterion, str) or not family.negates_output:
        return
    rates = {Fraction(0)}
    for ones in range(family.variables + 1):  # inputs with so many ones, none to all of label 1
        chance = family.bias**ones * (1 - family.bias) ** (family.variables - ones)
        inputs = comb(family.variables, ones)
        rates = {rate + chance * some for rate in rates for some in range(inputs + 1)}
    for rate in sorted(rates):
        one, other = (own_impurity(criterion, float(each)) for each in (rate, 1 - rate))
        if abs(one - other) > NOISE * max(one, other):
            raise ValueError(
                f"a member of {family.name} also stands for negated functions, so a criterion must "
                f"treat both labels alike; {name_of(criterion)} gives {one} at the positive rate "
                f"{float(rate)} and {other} at {float(1 - rate)}"
            )
