"""The staircase tree B_t: the best tree for two terms under the uniform distribution.

Its right path tests the variables of the shorter term. Once all of them are there, the subtrees on
the other side of these tests are filled one after the other from the root downwards, each with a
path of all variables of the longer term.
"""

from fractions import Fraction
from typing import Any

from mictree._support.checks import check_size
from mictree.functions.read_once import Literal, ReadOnceDNF
from mictree.problems import FormulaProblem
from mictree.tree import Tree


def staircase_tree(problem: FormulaProblem | ReadOnceDNF | str, size: int) -> Tree:
    """B_t, t = size, for a formula of two terms; the perfect tree when ``size`` is larger still.

    Parameters
    ----------
    problem : a formula of two terms, or such a problem with every bias 1/2
        With terms of equal length the first counts as the shorter one.
    size : number of splits

    Examples
    --------
    >>> print(staircase_tree("x1 & x2 | y1 & y2 & y3", 3).to_text(merge=False))
    x1?
    ├─0─ y1?
    │    ├─0─ label 0
    │    └─1─ label 0
    └─1─ x2?
         ├─0─ label 0
         └─1─ label 1
    """
    splits = check_size(size, "size")
    given = problem if isinstance(problem, FormulaProblem) else FormulaProblem(problem)
    shorter, longer = _check_terms(given)
    path = shorter.literals[:splits]
    left = splits - len(path)  # splits that are left for the subtrees off the right path
    # a leaf is labelled 1 when at most one literal is missing: then 1 is as likely as 0, or more
    nested: Any = int(len(shorter) - len(path) <= 1)
    sizes = [min(max(left - len(longer) * step, 0), len(longer)) for step in range(len(path))]
    for literal, below in zip(reversed(path), reversed(sizes), strict=True):
        nested = _test(literal, _right_path(longer.literals, below), nested)
    return Tree.build(given.variables, nested)


def _check_terms(problem: FormulaProblem):
    terms = problem.formula.terms
    if len(terms) != 2:
        raise ValueError(f"a staircase tree needs a formula of two terms; it has {len(terms)}")
    for name, bias in problem.biases.items():
        if bias != Fraction(1, 2):
            raise ValueError(f"a staircase tree needs every bias to be 1/2; {name} has {bias}")
    return sorted(terms, key=len)  # stable: of two equal lengths the first is first


def _right_path(literals: tuple[Literal, ...], size: int) -> Any:
    nested: Any = int(len(literals) - size <= 1)
    for literal in reversed(literals[:size]):
        nested = _test(literal, 0, nested)
    return nested


def _test(literal: Literal, failed: Any, satisfied: Any) -> Any:
    if literal.positive:
        return (literal.variable, failed, satisfied)
    return (literal.variable, satisfied, failed)
