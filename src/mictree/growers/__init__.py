"""Greedy rules, and the loops that grow trees by them.

A rule is two functions: the impurity of its criterion and the priority of a leaf. Five loops grow
by them. ``loop.grow_any`` is the definition: it takes any problem and any rule, and asks the
problem for one leaf's splits at a time. ``data_loop`` grows on rows packed as bits, and is compiled
as a whole because a table may have millions of rows. ``data_sums`` does the same for numbers to
predict and for costs, whose leaves have sums over rows instead of counts. ``families.growth`` and
``families.table_growth`` grow on all members of a family, where the members are small and many:
their kernels look gains up and make no object for a leaf. ``distributed.growth`` has its rows on
other machines, so it counts many leaves in one round. All of them take the next leaf, the tied
split and random draws from ``choosing``. Only sweeps that merge the growths of two restrictions
decide ties of leaves another way, and ``MergedGrowth`` says why the choice is the same.

Tests keep the loops equal. ``test_sample_growth`` compares ``data_loop`` with a plain learner and
with ``grow_any``, and ``test_sums_growth`` ``data_sums`` with ``grow_any`` and with scikit-learn;
``test_sweeps``, ``test_merged_growth`` and ``test_function_sweeps`` compare sweeps with growth on
each member alone; ``tests/distributed/test_same_tree.py`` and, for numbers to predict,
``test_regression.py`` beside it compare with growth on one machine.
"""

from mictree.growers.rules import (
    ID3,
    RULES,
    TIES,
    BestFirst,
    Grower,
    Growth,
    GrowthStep,
    Lookahead,
    TopDown,
)

__all__ = [
    "ID3",
    "RULES",
    "TIES",
    "BestFirst",
    "Grower",
    "Growth",
    "GrowthStep",
    "Lookahead",
    "TopDown",
]
