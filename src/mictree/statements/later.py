"""The statements of other papers on greedy trees.

They are checked on small functions. Where a statement is asymptotic, its note says what a finite
check can and cannot tell.
"""

from mictree.statements import later_choices, later_greedy
from mictree.statements.checks import Statement
from mictree.statements.theorems import STATEMENTS

MODULES = (later_greedy, later_choices)
LATER: tuple[Statement, ...] = tuple(each for module in MODULES for each in module.STATEMENTS)
EVERYTHING = (*STATEMENTS, *LATER)  # the paper's own first
