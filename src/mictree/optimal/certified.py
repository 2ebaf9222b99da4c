"""Least errors by size as certified intervals: what certifies each, and how they became narrow.

A search that is stopped has an interval for every size: no tree errs less than its lower end, and
some tree attains its upper end. What certifies an interval is one word: "proof" where both ends
meet, "search" where the lower end is a bound that a search had reached, or that needed no search,
and "relaxation" where it is the least cost of an easier problem.

``History`` notes the whole costs of both ends whenever one of them moves. ``CertifiedErrors`` is
the frozen result: both ends as errors, and the history as a frame.

Invariant: every interval of a history holds the least error of its size, and contains all later
ones; the last one of a size is that of the result. To drop steps in between keeps that true.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from mictree._support.words import show_number, show_spans

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes

AGREEMENT = 1e-10
PROOF, SEARCH, RELAXATION = "proof", "search", "relaxation"
KINDS = (SEARCH, RELAXATION)  # of lower bounds below the upper one
MOST_STEPS = 4000  # beyond which every second one is dropped
FIELDS = ("seconds", "size", "lower", "upper")

Against = Literal["size", "time"]


class Step(NamedTuple):
    """Both ends of the interval of a size from some moment on, as whole costs."""

    seconds: float
    size: int
    lower: int
    upper: int


class History:
    """The steps in which intervals became narrow.

    Attributes
    ----------
    clock : says how many seconds the search has taken
    steps : in the order of time
    """

    def __init__(self) -> None:
        self.clock: Callable[[], float] = lambda: 0.0
        self.steps: list[Step] = []

    def note(self, size: int, lower: int, upper: int) -> None:
        """An end of the interval of a size has moved."""
        now = max(self.clock(), self.steps[-1].seconds if self.steps else 0.0)
        self.steps.append(Step(now, size, lower, upper))
        if len(self.steps) > MOST_STEPS:
            self._thin()

    def _thin(self) -> None:
        """Drop every second step of each size, but not its first and its last one."""
        last = {step.size: place for place, step in enumerate(self.steps)}
        seen: Counter[int] = Counter()
        kept = []
        for place, step in enumerate(self.steps):
            if seen[step.size] % 2 == 0 or place == last[step.size]:
                kept.append(step)
            seen[step.size] += 1
        self.steps = kept

    def as_errors(
        self,
        lower_error: Callable[[int, int], Any],
        upper_error: Callable[[int, int], Any],
        final: CertifiedErrors,
    ) -> np.ndarray:
        """Rows of seconds, size and both ends as floats, which end with the final intervals.

        Both functions turn a whole cost and a size into an error.
        """
        least, most = (np.asarray(each, dtype=float) for each in (final.lower, final.upper))
        rows = [
            (step.seconds, step.size,
             min(float(lower_error(step.lower, step.size)), least[step.size]),
             max(float(upper_error(step.upper, step.size)), most[step.size]))
            for step in self.steps
        ]  # fmt: skip
        reached = {row[1]: row[2:] for row in rows}
        end = max(self.clock(), rows[-1][0] if rows else 0.0)
        for size, ends in enumerate(zip(least.tolist(), most.tolist(), strict=True)):
            if reached.get(size) != ends:
                rows.append((end, size, *ends))
        return np.array(rows, dtype=float).reshape(len(rows), len(FIELDS))


def _elementwise(operation: Callable[[Any, Any], Any]) -> Any:
    """An operator on the upper ends, whose result is a plain array."""
    return lambda self, other: operation(self.upper, np.asarray(other))


def _reflected(operation: Callable[[Any, Any], Any]) -> Any:
    """The same with the operands in the other order."""
    return lambda self, other: operation(np.asarray(other), self.upper)


def _frozen(values: Any) -> np.ndarray:
    """A copy that nothing can write to."""
    copied = np.array(values)
    copied.setflags(write=False)
    return copied[:]  # no view of it can be made writable


@dataclass(frozen=True, eq=False)
class CertifiedErrors:
    """Least errors by size, each proved or the upper end of a certified interval.

    Where numbers are wanted, this is the array of its upper ends: items, ``len``, loops,
    ``tolist``, ``np.asarray``, comparisons and ``+ - * /``. Slices keep both bounds, certificates
    and the history of their sizes. For anything else that an array can do, write
    ``np.asarray(errors)`` or ``errors.upper``.

    Attributes
    ----------
    lower, upper : bounds on the least error of each size; read-only copies of what is given
    proved : where both are equal; as floats, where they agree to ten digits
    certificate : what certifies each interval: "proof" where it is proved, otherwise the kind of
        its lower end: "search" if a search had reached it when it was stopped, or "relaxation" if
        it is the least error of an easier problem
    history : a polars frame with a row for every step in which an interval became narrow, as far as
        that was noted: ``seconds`` since the beginning, ``size``, ``lower`` and ``upper``
    sizes : the size of each item, which is its index unless this is a slice
    kinds, steps : what certificates and history are made of

    Examples
    --------
    >>> import mictree as mt
    >>> errors = mt.optimal_errors(mt.SampleProblem([[0, 0], [0, 1], [1, 1]], [0, 1, 0]), 2)
    >>> errors.certificate.tolist()
    ['proof', 'proof', 'proof']
    >>> errors.history.columns
    ['seconds', 'size', 'lower', 'upper']
    """

    lower: np.ndarray
    upper: np.ndarray
    kinds: Any = None  # arrays, which have defaults
    steps: Any = None
    sizes: Any = None

    def __post_init__(self) -> None:
        count = len(np.asarray(self.upper))
        default = {
            "kinds": np.full(count, SEARCH, dtype=object),
            "steps": np.empty((0, len(FIELDS))),
            "sizes": np.arange(count),
        }
        for name in ("lower", "upper", *default):
            given = getattr(self, name)
            value = default[name] if given is None else given
            object.__setattr__(self, name, _frozen(value))

    @property
    def proved(self) -> np.ndarray:
        if self.upper.dtype == object:
            return np.asarray(self.lower == self.upper)
        # floats of weights with more digits than the search keeps are never quite equal
        return self.upper - self.lower <= AGREEMENT * np.abs(self.upper)  # costs may be negative

    @property
    def certificate(self) -> np.ndarray:
        return np.where(self.proved, np.array(PROOF, dtype=object), self.kinds)

    @property
    def history(self) -> polars.DataFrame:
        import polars

        columns = dict(zip(FIELDS, self.steps.T, strict=True))
        return polars.DataFrame(columns | {"size": columns["size"].astype(np.int64)})

    def up_to(self, size: int) -> CertifiedErrors:
        """The intervals of sizes 0 to ``size``: more splits than there are do no better.

        Examples
        --------
        >>> import mictree as mt
        >>> errors = mt.optimal_errors(mt.SampleProblem([[0], [1]], [0, 1]), 1)
        >>> errors.up_to(3).tolist()
        [0.5, 0.0, 0.0, 0.0]
        """
        chosen = self[np.minimum(np.arange(size + 1), len(self) - 1)]
        return CertifiedErrors(chosen.lower, chosen.upper, chosen.kinds, chosen.steps)

    def attained(self, upper: np.ndarray) -> CertifiedErrors:
        """The same where trees of other errors count, which may be larger."""
        steps = np.array(self.steps)
        if len(steps):
            places = {int(size): place for place, size in enumerate(self.sizes)}
            most = np.asarray(upper, dtype=float)[[places[int(size)] for size in steps[:, 1]]]
            steps[:, 3] = np.maximum(steps[:, 3], most)
        return CertifiedErrors(np.minimum(self.lower, upper), upper, self.kinds, steps, self.sizes)

    def __getitem__(self, key: Any) -> Any:
        chosen = self.upper[key]
        if not isinstance(chosen, np.ndarray):
            return chosen
        sizes = self.sizes[key]
        steps = self.steps[np.isin(self.steps[:, 1], sizes)]
        return CertifiedErrors(self.lower[key], chosen, self.kinds[key], steps, sizes)

    def __len__(self) -> int:
        return len(self.upper)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.upper)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.upper, dtype=dtype, copy=copy)

    def __str__(self) -> str:
        return str(self.upper)

    def __repr__(self) -> str:
        return f"CertifiedErrors(lower={self.lower!r}, upper={self.upper!r})"

    def tolist(self) -> list[Any]:
        """The upper ends as Python numbers."""
        return self.upper.tolist()

    __hash__ = None  # type: ignore[assignment]  # as comparisons give arrays
    __eq__, __ne__ = _elementwise(operator.eq), _elementwise(operator.ne)
    __lt__, __le__ = _elementwise(operator.lt), _elementwise(operator.le)
    __gt__, __ge__ = _elementwise(operator.gt), _elementwise(operator.ge)
    __add__, __radd__ = _elementwise(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _elementwise(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _elementwise(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _elementwise(operator.truediv), _reflected(operator.truediv)

    def plot(self, ax: Axes | None = None, against: Against = "size") -> Axes:
        """Draw the intervals against size, or how far apart their ends were against time.

        Parameters
        ----------
        ax : where to draw; None makes a new figure
        against : "size" draws the curve of the upper ends with the band of its intervals, "time"
            the gap between both ends of each size that took time to close, or is open
        """
        from mictree.plotting.curves import draw_band, draw_gaps

        if against not in ("size", "time"):
            raise ValueError(f'against must be "size" or "time"; got {against!r}')
        return draw_band(ax, self) if against == "size" else draw_gaps(ax, self)

    def gaps(self) -> Iterable[tuple[int, np.ndarray, np.ndarray]]:
        """For every size with a history: the seconds of its steps, and the gaps from then on."""
        for size in np.unique(self.steps[:, 1]):
            steps = self.steps[self.steps[:, 1] == size]
            yield int(size), steps[:, 0], steps[:, 3] - steps[:, 2]

    def _repr_html_(self) -> str:
        from mictree._support.words import to_table

        rows = zip(
            self.sizes.tolist(), map(float, self.lower), map(float, self.upper),
            self.certificate, strict=True,
        )  # fmt: skip
        numbered = [
            (size, show_number(least) + ("" if word == PROOF else f" to {show_number(most)}"), word)
            for size, least, most, word in rows
        ]
        return to_table(["size", "least error", "certified by"], numbered)


def advise(errors: CertifiedErrors) -> list[str]:
    """What to do about intervals, in one sentence; none if all sizes are proved."""
    open_sizes = errors.sizes[~errors.proved].tolist()
    if not open_sizes:
        return []
    several = "s" if len(open_sizes) > 1 else ""
    return [
        f"size{several} {show_spans(open_sizes)} {'are' if several else 'is'} not proved, so the "
        f"least error{several} may be anywhere in the interval{several}: more time, fewer splits, "
        f"fewer thresholds a column or a limit of depth narrow {'them' if several else 'it'}"
    ]


def widest_gap(lower: Sequence[float], upper: Sequence[float]) -> tuple[float, int]:
    """The widest interval, and its size."""
    gaps = [most - least for least, most in zip(lower, upper, strict=True)]
    size = max(range(len(gaps)), key=gaps.__getitem__)
    return gaps[size], size
