"""Growth while biases vary within one box: every course that it may take.

A course is a list of leaves in order of creation. Where the box does not decide which leaf or split
comes next, all that may come are followed, and courses that lead to the same leaves are one again.
"""

from itertools import chain
from typing import NamedTuple

import numpy as np

from mictree.families.bias_boxes import SLACK, Chances, FloatArray, LeastErrors, Vertices
from mictree.families.bias_gains import ZERO, Numbers, Varying
from mictree.growers.rules import Grower

MOST_COURSES = 200  # beyond these, no more splits are followed; they would only lower errors
CLOSED = -1
Course = tuple[int, ...]  # the cube of each leaf, CLOSED where it is split


class _Candidate(NamedTuple):
    """A leaf's best split, or one of several that may be."""

    variable: int
    gain: Varying


def _ends(sums: dict[Course, tuple[float, FloatArray]], sizes: int) -> tuple[float, float]:
    """The least and the largest sum of excess errors of any course."""
    most = max(float(high.max()) for _, high in sums.values())
    return float(min(low for low, _ in sums.values())), most + 2 * SLACK * sizes


class Courses:
    """The courses of one rule over one box."""

    def __init__(self, rule: Grower, numbers: Numbers, chances: Chances, box: int) -> None:
        self.rule = rule
        self.numbers = numbers
        self.cubes = numbers.cubes
        self.chances = chances
        self.box = box
        self._candidates: dict[int, list[_Candidate]] = {}
        self._priorities: dict[int, list[Varying]] = {}
        self._known_errors: dict[int, tuple[FloatArray, FloatArray]] = {}

    def excess(self, max_size: int, least: LeastErrors) -> tuple[float, float]:
        """The least and the largest sum of excess errors over sizes 1 to ``max_size``.

        ``least`` is that of this box.
        """
        start = (self.cubes.root,)
        courses: dict[Course, tuple[float, FloatArray]] = {start: (0.0, np.zeros(1))}
        for size in range(1, max_size + 1):
            after: dict[Course, tuple[float, FloatArray]] = {}
            for course, (low, high) in courses.items():
                for longer in self.steps(course):
                    lowest, at_vertices = self.error(longer)
                    low_sum = low + max(lowest - SLACK - least.most[size], 0.0)
                    high_sum = high + (at_vertices - least.at_vertices[size])
                    old = after.get(longer, (low_sum, high_sum))
                    after[longer] = min(old[0], low_sum), np.maximum(old[1], high_sum)
            if len(after) > MOST_COURSES:
                after = {
                    course: (
                        low,
                        high + (self.error(course)[1] - least.at_vertices[size:]).sum(axis=0),
                    )
                    for course, (low, high) in courses.items()
                }
                return _ends(after, max_size)
            courses = after
        return _ends(courses, max_size)

    def all_optimal(self, max_size: int, vertices: Vertices) -> bool:
        """Whether every tree that may be grown is proved to be optimal for all biases of the box.

        ``vertices`` are those of this box.
        """
        courses = {(self.cubes.root,)}
        for size in range(1, max_size + 1):
            courses = {longer for course in courses for longer in self.steps(course)}
            if len(courses) > MOST_COURSES or not all(
                vertices.attain([cube for cube in course if cube != CLOSED], size)
                for course in courses
            ):
                return False
        return True

    def error(self, course: Course) -> tuple[float, FloatArray]:
        """Of a course's tree: the lower end, and at the vertices with labels that never change."""
        total, unsure = np.zeros(1), np.zeros(1)
        for cube in course:
            if cube == CLOSED or self.cubes.labels[cube] is not None:
                continue
            negative, positive = self._errors(cube)
            lead = positive - negative
            if (lead >= 0).all():
                total = total + negative
            elif (lead <= 0).all():
                total = total + positive
            else:
                unsure = unsure + min(negative, positive, key=np.max)
        return max(total.min() - SLACK, 0.0), total + unsure

    def _errors(self, cube: int) -> tuple[FloatArray, FloatArray]:
        """Numbers between which the chances of a leaf's rows of label 0 and of label 1 lie."""
        if cube not in self._known_errors:
            values = self.cubes.values[cube]
            inside = np.zeros((2,) * len(values), dtype=bool)
            inside[tuple(slice(None) if value == 2 else value for value in values)] = True
            labels = self.cubes.positive[self.cubes.root]
            everything = tuple(range(len(values)))
            self._known_errors[cube] = tuple(
                self.chances.of_rows(inside & rows, everything)[self.box]
                for rows in (~labels, labels)
            )  # type: ignore[assignment]
        return self._known_errors[cube]

    def steps(self, course: Course) -> list[Course]:
        """The courses that one more split may lead to."""
        leaves = [
            leaf
            for leaf, cube in enumerate(course)
            if cube != CLOSED and self.cubes.labels[cube] is None
        ]
        if not leaves:
            return [course]
        found = []
        for leaf in self._next_leaves(course, leaves):
            for candidate in self.candidates(course[leaf]):
                children = self.cubes.children[course[leaf]][candidate.variable]
                found.append((*course[:leaf], CLOSED, *course[leaf + 1 :], *children))
        return found

    def candidates(self, cube: int) -> list[_Candidate]:
        """The splits of a leaf that may be made: of each identity the one that the ties choose."""
        if cube not in self._candidates:
            offered = [
                _Candidate(variable, self.numbers.gain(cube, variable))
                for variable in self.cubes.children[cube]
            ]
            best = max(offered, key=lambda candidate: float(candidate.gain.middle.mid()))
            kept: dict[object, _Candidate] = {}
            for candidate in offered:
                identity = candidate.gain.identity
                if identity != best.gain.identity and self._leads(cube, best, candidate):
                    continue
                if self.rule.ties != "first" or identity not in kept:
                    kept[identity] = candidate
            useless = kept.get(ZERO)
            if useless is not None and self._gives_way(
                useless.variable, [each.variable for each in kept.values()]
            ):
                del kept[ZERO]
            self._candidates[cube] = list(kept.values())
        return self._candidates[cube]

    def _gives_way(self, useless: int, others: list[int]) -> bool:
        """Whether a split or leaf without gain comes second to one that gains more or ties with it.

        No gain is negative, so one that the ties prefer is enough.
        """
        if self.rule.ties == "first":
            return min(others) < useless
        return max(others) > useless

    def _leads(self, cube: int, first: _Candidate, second: _Candidate) -> bool:
        if second.gain.identity == ZERO:
            return self.numbers.surely_positive(cube, first.variable) or self.numbers.leads(
                first.gain, second.gain
            )
        return self.numbers.leads(first.gain, second.gain) or self.numbers.gains_more(
            cube, first.variable, second.variable
        )

    def _next_leaves(self, course: Course, leaves: list[int]) -> list[int]:
        """The leaves that may be split next."""
        if self.rule.name == "id3":  # depth first, the low child before the high one
            newest = max(leaves)
            return [newest - 1 if newest % 2 == 0 and newest - 1 in leaves else newest]
        offers = {leaf: self._priority(course[leaf]) for leaf in leaves}
        best = max(
            (offer for offered in offers.values() for offer in offered),
            key=lambda offer: float(offer.middle.mid()),
        )
        positive = any(self._positive(course[leaf]) for leaf in leaves)
        groups: dict[object, list[int]] = {}
        for leaf, offered in offers.items():
            identity = frozenset(offer.identity for offer in offered)
            if identity == {ZERO} and positive:
                continue
            if best.identity not in identity and all(
                self.numbers.leads(best, offer) for offer in offered
            ):
                continue
            groups.setdefault(identity, []).append(leaf)
        useless = groups.get(frozenset({ZERO}))
        if (
            useless is not None
            and self.rule.ties in ("first", "last")  # the others look at reaches
            and self._gives_way(self._tied(course, useless)[0], [*chain(*groups.values())])
        ):
            del groups[frozenset({ZERO})]
        return sorted({leaf for group in groups.values() for leaf in self._tied(course, group)})

    def _positive(self, cube: int) -> bool:
        """Whether a leaf has a split of positive gain for all biases inside the box."""
        return any(
            self.numbers.surely_positive(cube, variable) for variable in self.cubes.children[cube]
        )

    def _priority(self, cube: int) -> list[Varying]:
        """The largest of these is the leaf's priority."""
        if cube not in self._priorities:
            gains = [candidate.gain for candidate in self.candidates(cube)]
            self._priorities[cube] = (
                [self.numbers.weigh(gain, cube) for gain in gains]
                if self.rule.name == "topdown"
                else gains
            )
        return self._priorities[cube]

    def _tied(self, course: Course, leaves: list[int]) -> list[int]:
        """Which of leaves of one priority the ties may choose."""
        if self.rule.ties == "first":
            return leaves[:1]
        if self.rule.ties == "last":
            return leaves[-1:]
        reaches = {leaf: self.numbers.reach(course[leaf]) for leaf in leaves}
        sign = 1 if self.rule.ties == "heaviest" else -1
        best = max(leaves, key=lambda leaf: sign * float(reaches[leaf].middle.mid()))
        last: dict[object, int] = {}
        for leaf in leaves:
            pair = (reaches[best], reaches[leaf])[::sign]
            if reaches[leaf].identity == reaches[best].identity or not self.numbers.leads(*pair):
                last[reaches[leaf].identity] = leaf
        return list(last.values())
