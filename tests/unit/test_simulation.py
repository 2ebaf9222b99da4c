"""The simulation of large Dask fits: simple cases by hand, and what must hold for all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.simulation import Costs, simulate, table

COSTS = Costs(pack=1e-9, count=1e-10, task=1e-4, latency=0.05)


def test_one_partition_by_hand():
    found = simulate(COSTS, 10**6, 1, columns=10, partitions=1, rounds=4, leaves=3)
    assert found.packing == pytest.approx(0.01)
    assert found.counting == pytest.approx(4 * 0.5 * 10**7 * 1e-10)
    assert found.scheduling == pytest.approx((4 * 1 + 2 + 3) * 1e-4)  # nothing to merge
    assert found.latency == pytest.approx(0.2)
    assert found.network == pytest.approx(4 * 3 * 11 * 2 * 8 / 1e9)


def test_merging_by_sixteens():
    found = simulate(COSTS, 10**6, 17, columns=10, partitions=40, rounds=1, leaves=1)
    assert found.scheduling == pytest.approx((17 + 2 + 2 * 40 + 3 * 17) * 1e-4)
    assert found.network == pytest.approx((16 + 2) * 11 * 2 * 8 / 1e9)


def test_rounds_do_not_depend_on_the_number_of_partitions():
    few, many = (
        simulate(COSTS, 10**9, 8, partitions=cut, rounds=9).scheduling
        - simulate(COSTS, 10**9, 8, partitions=cut, rounds=8).scheduling
        for cut in (8, 8000)
    )
    assert few == pytest.approx(many)


@given(st.integers(1, 12), st.integers(1, 1000), st.integers(1, 5000))
def test_more_rows_never_take_less_time(power, workers, partitions):
    less, more = (
        simulate(COSTS, 10**each, workers, partitions=partitions) for each in (power, power + 1)
    )
    assert more.total > less.total
    assert getattr(more, more.largest) == max(
        more.packing, more.counting, more.scheduling, more.latency, more.network
    )


def test_where_scheduling_takes_over():
    """Partitions of a million rows: with enough workers the scheduler is the slowest part."""
    few, many = (simulate(COSTS, 10**11, n, partitions=10**5) for n in (10, 1000))
    assert (few.largest, many.largest) == ("packing", "scheduling")


def test_the_table_has_a_line_for_each_case():
    lines = table(COSTS).splitlines()
    assert len(lines) == 2 + 4 * 3 * 2
    assert {line.count("|") for line in lines} == {6}
