"""Section 8.2: the distribution of MIC(100) over whole families of formulas, by tie rule.

Every formula of a family counts once. BestFirst's MIC depends strongly on the choice among tied
leaves, so each rule is measured under every tie rule.
"""

from dataclasses import asdict, dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from mictree._support.progress import Progress, Report, ignore
from mictree.excess import ROUNDING
from mictree.experiments.cache import Cache
from mictree.families.family import Family, grid
from mictree.families.sweep import summarize, sweep
from mictree.growers.rules import TIES, BestFirst, TopDown

SEED = 20210  # of ties="random"


@dataclass(frozen=True)
class Setting:
    """A family of formulas."""

    name: str
    max_terms: int
    max_literals: int
    biases: tuple[float, ...]

    @property
    def family(self) -> Family:
        """Its formulas."""
        return grid(self.max_terms, self.max_literals, self.biases)

    @property
    def title(self) -> str:
        """A heading for it."""
        return self.name if len(self.biases) == 1 else f"biases {self.name}"

    @property
    def text(self) -> str:
        """The setting in words."""
        biases = " or ".join(f"{bias:g}" for bias in self.biases)
        return (
            f"at most {self.max_terms} terms of at most {self.max_literals} literals, "
            f"each of bias {biases}"
        )


SETTINGS = (
    Setting("uniform", 8, 8, (0.5,)),
    Setting("0.3 and 0.7", 5, 5, (0.3, 0.7)),
    Setting("0.4 and 0.6", 5, 5, (0.4, 0.6)),
)
QUICK_SETTINGS = (
    Setting("uniform", 5, 5, (0.5,)),
    Setting("0.3 and 0.7", 3, 3, (0.3, 0.7)),
    Setting("0.4 and 0.6", 3, 3, (0.4, 0.6)),
)


@dataclass(frozen=True)
class Spread:
    """The MIC of both rules with every tie rule, for each formula of a setting."""

    setting: Setting
    max_size: int
    seed: int
    frame: pl.DataFrame  # a row for each formula, rule and tie rule
    seconds: float  # the time of the sweep

    @cached_property
    def formulas(self) -> int:
        """The number of formulas in the setting."""
        return self.frame.filter(rule="topdown", ties="last").height

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per rule and tie rule."""
        return summarize(self.frame)

    def mic(self, rule: str, ties: str) -> np.ndarray:
        """The MIC of every formula."""
        return self.frame.filter(rule=rule, ties=ties)["mic"].to_numpy()

    def tie_difference(self, rule: str) -> float:
        """The largest change in a formula's MIC between tie rules; 0 if it is only rounding."""
        all_ties = np.stack([self.mic(rule, ties) for ties in TIES])
        most = float(np.ptp(all_ties, axis=0).max())
        return most if most > ROUNDING else 0.0

    def share(self, rule: str, ties: str, column: str) -> float:
        """A number of the summary, such as "above_0.05"."""
        return float(self.summary.filter(rule=rule, ties=ties)[column].item())


def spread(
    setting: Setting,
    max_size: int = 100,
    seed: int = SEED,
    cache: Cache | None = None,
    progress: Report | None = None,
) -> Spread:
    """Sweep one setting with TopDown and BestFirst, each with every tie rule.

    Examples
    --------
    >>> found = spread(Setting("small", 2, 2, (0.5,)), max_size=6)
    >>> found.formulas, float(found.mic("topdown", "last").max())
    (5, 0.0)
    """
    rules = [rule(ties=ties, seed=seed) for rule in (TopDown, BestFirst) for ties in TIES]

    def report(stage: Progress) -> None:
        (progress or ignore)(replace(stage, what=f"{setting.name}: {stage.what}"))

    found = (cache or Cache()).frame(
        f"mic-{setting.name.replace(' ', '-')}",
        [asdict(setting), max_size, [repr(rule) for rule in rules]],
        lambda: sweep(setting.family, max_size, rules, progress=report),
    )
    return Spread(setting, max_size, seed, found.value, found.seconds)
