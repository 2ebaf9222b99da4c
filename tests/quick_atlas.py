"""One small run of the atlas, shared by the tests that look at it."""

from functools import cache
from pathlib import Path

from mictree.experiments import (
    checked,
    dependence,
    function_sizes,
    good_counts,
    noise,
    rankings,
    relabellings,
    two_term_biases,
    voting,
    worst_over_biases,
)
from mictree.report.atlas.run import AtlasPlan, atlas
from tests.shared import shared_folder

SMALL = AtlasPlan(
    sizes=function_sizes.Plan((("all", 3), ("monotone", 4), ("threshold", 3))),
    labels=relabellings.Plan(variables=3, max_size=7, members=20, relabellings=10),
    counted=good_counts.Plan(variables=3, max_size=4),
    ranked=rankings.Plan(
        (
            rankings.Range("2 terms of 3, bias 0.3", 2, 3, (0.3,), max_size=8),
            rankings.Range("3 terms of 2", 3, 2, max_size=8),
            rankings.Range("all functions of 3 variables", variables=3, max_size=7),
        ),
        depths=(1, 2),
        tops=(1, 2),
    ),
    biased=worst_over_biases.Plan(
        3, 3, 12, worst=2, biases=(0.3, 0.5, 0.7), certified_variables=4, certified=2,
        certified_size=5, gap=0.02,
    ),
    two_terms=two_term_biases.Plan(max_literals=2, narrowest=2**-10),
    dependent=dependence.Plan(max_literals=2, correlations=(-0.5, 0.0, 0.5), max_size=5),
    noisy=noise.Plan(variables=4, noises=(0.0, 0.2), max_size=5),
    forests=voting.Plan(
        ("majority of 3", "formula 2+2", "parity of 3"), trees=(1, 3, 9), max_size=3, repetitions=4
    ),
    stated=checked.Plan(quick=True),
)  # fmt: skip


@cache
def quick_atlas() -> Path:
    """The folder of a small run."""
    return shared_folder("atlas", lambda out: atlas(out, SMALL))
