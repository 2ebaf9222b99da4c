"""What the paper says beside what was measured, with a verdict each."""

from collections.abc import Iterator
from dataclasses import dataclass

from mictree.statements.checks import Check
from mictree.experiments.finite_samples import FiniteSamples, FiniteSetting
from mictree.experiments.histograms import Spread
from mictree.growers.rules import TIES
from mictree.report.results import Results

VAST_MAJORITY = 0.95  # how we read "the vast majority" of formulas
MANY = 0.01  # how we read "many" formulas
PROVED = (
    "Theorem 4.3 (reduction)",
    "Theorem 5.1",
    "Theorem 6.1",
    "Corollary 6.2",
    "Section 7.1",
    "Section 7.2 (Equation 4)",
)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and our finding."""

    source: str
    text: str
    measured: tuple[str, ...]  # one line each
    verdict: str

    @property
    def good(self) -> bool:
        """Whether the finding supports the claim."""
        return self.verdict.startswith("holds")


def claims(results: Results) -> tuple[Claim, ...]:
    """The paper's main claims, in its order."""
    checked = {check.number: check for check in results.checks}
    proved = [
        Claim(number, checked[number].statement, _covered(checked[number]), checked[number].verdict)
        for number in PROVED
        if number in checked
    ]
    return (*proved, *_empirical(results))


def _covered(check: Check) -> tuple[str, ...]:
    return tuple(_sentence(part) for part in (check.range_covered, check.detail) if part)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _empirical(results: Results) -> Iterator[Claim]:
    yield _worse_tree(results)
    yield _near_optimal(results.spreads)
    yield _far_from_optimal(results.spreads)
    yield _outperforms(results.finite)
    yield _predicts(results.finite)


def _lines(parts: list[str], explanation: str) -> tuple[str, ...]:
    return (*map(_sentence, parts), explanation)


def _worse_tree(results: Results) -> Claim:
    (tree,) = (each for each in results.examples.trees if each.title.startswith("BestFirst"))
    staircase = next(each for each in results.examples.trees if each.tree.size == tree.tree.size)
    better = tree.error > tree.optimal_error == staircase.error
    return Claim(
        "Section 8.1, Supplement D",
        "For x1 & x2 | y1 & y2 & y3 TopDown's tree of size 5 is optimal; BestFirst can grow a "
        "worse one.",
        (
            f"Errors at size 5: TopDown {staircase.error}, optimal {tree.optimal_error}, BestFirst "
            f"{tree.error} with ties last.",
        ),
        "holds" if better else "fails",
    )


def _near_optimal(spreads: tuple[Spread, ...]) -> Claim:
    parts, least = [], 1.0
    for spread in spreads:
        worst = min(TIES, key=lambda ties: spread.share("topdown", ties, "below_0.01"))
        below, far_below, largest = (
            spread.share("topdown", worst, column)
            for column in ("below_0.01", "below_0.001", "max")
        )
        least = min(least, below)
        parts.append(
            f"{spread.setting.title}: {below:.1%} of {spread.formulas:,} formulas below 0.01, "
            f"{far_below:.1%} below 0.001, largest {largest:.3f}"
        )
    return Claim(
        "Section 8.2",
        "For the vast majority of formulas TopDown is near-optimal: MIC(100) far below 0.01.",
        _lines(
            parts,
            "These are the shares with the tie rule that is worst for TopDown. We read 'the vast "
            f"majority' as {VAST_MAJORITY:.0%} below 0.01.",
        ),
        "holds" if least >= VAST_MAJORITY else "holds in part",
    )


def _far_from_optimal(spreads: tuple[Spread, ...]) -> Claim:
    parts, least = [], 1.0
    for spread in spreads:
        shares = {ties: spread.share("bestfirst", ties, "above_0.05") for ties in TIES}
        lowest = min(shares, key=lambda ties: shares[ties])
        highest = max(shares, key=lambda ties: shares[ties])
        least = min(least, shares[lowest])
        parts.append(
            f"{spread.setting.title}: {shares['last']:.1%} with ties last, from "
            f"{shares[lowest]:.1%} ({lowest}) to {shares[highest]:.1%} ({highest})"
        )
    return Claim(
        "Section 8.2",
        "For many formulas BestFirst is far from optimal: MIC(100) above 0.05.",
        _lines(
            parts,
            f"These are the shares above 0.05, by tie rule. We read 'many' as {MANY:.0%} or more, "
            "whatever the tie rule. The paper's text names none; its pseudocode is ties last.",
        ),
        "holds" if least >= MANY else "holds in part",
    )


def _outperforms(finite: FiniteSamples) -> Claim:
    parts, complete = [], True
    for setting in finite.settings:
        won = [rows for rows in finite.plan.rows if _always_better(setting, rows)]
        start = next((rows for rows in finite.plan.rows if all(
            later in won for later in finite.plan.rows if later >= rows)), None)  # fmt: skip
        complete &= start is not None
        last = finite.plan.rows[-1]
        gap = setting.mean_error("BestFirst", last) - setting.mean_error("TopDown", last)
        since = "never throughout" if start is None else f"from {start:,} rows on"
        parts.append(f"{setting.title}: {since}, gap {gap:.3f} at {last:,} rows")
    return Claim(
        "Section 8.3",
        "On finite samples TopDown's test error is significantly smaller than BestFirst's.",
        _lines(
            parts,
            f"From these numbers of rows on TopDown has the smaller true error in every one of "
            f"{finite.plan.repetitions} repetitions (sign test, one-sided: p = "
            f"{0.5**finite.plan.repetitions:.2g}). On fewer rows both rules split nearly every "
            f"leaf that has {finite.plan.min_samples_split} rows, so their trees are alike.",
        ),
        "holds" if complete else "holds in part",
    )


def _always_better(setting: FiniteSetting, rows: int) -> bool:
    errors = [
        setting.frame.filter(rows=rows, learner=learner).sort("repetition")["exact_error"]
        for learner in ("TopDown", "BestFirst")
    ]
    return bool((errors[0] < errors[1]).all())


def _predicts(finite: FiniteSamples) -> Claim:
    parts, agree = [], True
    last = finite.plan.rows[-1]
    for setting in finite.settings:
        exact = setting.limit.exact_errors
        expected = exact["BestFirst"][-1] - exact["TopDown"][-1]
        seen = setting.mean_error("BestFirst", last) - setting.mean_error("TopDown", last)
        agree &= (expected > 0) == (seen > 0)
        parts.append(f"{setting.title}: {expected:.3f} exact, {seen:.3f} from {last:,} rows")
    return Claim(
        "Section 8.3",
        "The exact analysis predicts which rule does better on samples.",
        _lines(
            parts,
            f"These are BestFirst's error minus TopDown's at size {finite.plan.max_size}, exact "
            "with ties last. Samples break ties by chance, so the sizes of the gaps may differ.",
        ),
        "holds" if agree else "holds in part",
    )
