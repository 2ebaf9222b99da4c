"""Section 8.2: how MIC(100) is spread over whole families of formulas, and what ties do to it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from mictree.experiments.cache import Cache
from mictree.families.family import Family, grid
from mictree.growers.rules import TIES, BestFirst, TopDown
from mictree.mic import ROUNDING
from mictree.families.sweep import Stage, summarize, sweep

SEED = 20210  # of ties="random"
Progress = Callable[[str, float], None]  # what is being done, and the share of it that is


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
    seconds: float  # that the sweep took

    @cached_property
    def formulas(self) -> int:
        """How many formulas the setting has."""
        return self.frame.filter(rule="topdown", ties="last").height

    @cached_property
    def summary(self) -> pl.DataFrame:
        """One row per rule and tie rule."""
        return summarize(self.frame)

    def mic(self, rule: str, ties: str) -> np.ndarray:
        """The MIC of every formula."""
        return self.frame.filter(rule=rule, ties=ties)["mic"].to_numpy()

    def tie_difference(self, rule: str) -> float:
        """The most by which tie rules change the MIC of a formula; 0 if only rounding does."""
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
    progress: Progress | None = None,
) -> Spread:
    """Sweep one setting with TopDown and BestFirst, each with every tie rule.

    Examples
    --------
    >>> found = spread(Setting("small", 2, 2, (0.5,)), max_size=6)
    >>> found.formulas, float(found.mic("topdown", "last").max())
    (5, 0.0)
    """
    rules = [rule(ties=ties, seed=seed) for rule in (TopDown, BestFirst) for ties in TIES]

    def report(stage: Stage) -> None:
        if progress is not None:
            progress(f"{setting.name}: {stage.name}", stage.share)

    found = (cache or Cache()).frame(
        f"mic-{setting.name.replace(' ', '-')}",
        [setting.family.name, max_size, [repr(rule) for rule in rules]],
        lambda: sweep(setting.family, max_size, rules, progress=report),
    )
    return Spread(setting, max_size, seed, found.value, found.seconds)
