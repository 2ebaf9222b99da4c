"""One cluster of two processes for all tests that need not break it."""

from copy import deepcopy

import dask
import pytest
from distributed import Client, LocalCluster

OPTIONS = {
    "processes": True,
    "threads_per_worker": 1,
    "dashboard_address": ":0",
    "memory_limit": 0,
    "silence_logs": 50,
}


@pytest.fixture(autouse=True)
def settings():
    """A client whose cluster is broken may leave itself behind as Dask's default scheduler."""
    before = deepcopy(dask.config.config)
    yield
    dask.config.config.clear()
    dask.config.config.update(before)


@pytest.fixture(scope="session")
def cluster():
    with LocalCluster(n_workers=2, **OPTIONS) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        yield client


@pytest.fixture
def own_cluster():
    """A cluster that a test may break."""
    with LocalCluster(n_workers=2, **OPTIONS) as cluster:
        yield cluster
