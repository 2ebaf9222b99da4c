"""Workers that die, clients that share a cluster, and clusters that vanish."""

import os
import signal
import subprocess
import sys
import threading

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

import mictree as mt
from mictree.distributed import cluster as clusters
from tests.distributed.conftest import OPTIONS

CLUSTER = f"""
import time
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=1, **{OPTIONS})
    print(cluster.scheduler_address, flush=True)
    time.sleep(600)
"""


def rows(seed: int = 0, count: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (count, 12), dtype=np.uint8)
    noise = rng.random(count) < 0.05
    return X, (X[:, 0] & X[:, 1] | X[:, 2] & X[:, 3] & X[:, 4]) ^ noise


def cut(X: np.ndarray, y: np.ndarray) -> tuple[da.Array, da.Array]:
    return da.from_array(X, chunks=(1000, 12)), da.from_array(y, chunks=1000)


def after_round(monkeypatch, number: int, action) -> list[int]:
    """Call a function before one of the rounds; returns a list of the rounds begun."""
    begun: list[int] = []
    reduce = clusters.Cluster.reduce

    def watched(self, *arguments):
        begun.append(len(begun))
        if begun[-1] == number:
            action()
        return reduce(self, *arguments)

    monkeypatch.setattr(clusters.Cluster, "reduce", watched)
    return begun


def test_a_worker_that_dies_changes_nothing(own_cluster, monkeypatch):
    X, y = rows()
    with Client(own_cluster) as client:
        workers = client.run(os.getpid)

        def kill() -> None:
            os.kill(next(iter(workers.values())), signal.SIGKILL)

        begun = after_round(monkeypatch, 4, kill)
        far = mt.TopDownClassifier(max_size=20).fit(*cut(X, y))
        client.wait_for_workers(2, timeout=60)
        assert set(client.run(os.getpid).values()) != set(workers.values())
    assert len(begun) > 5  # it was killed in the middle
    assert far.tree_ == mt.TopDownClassifier(max_size=20).fit(X, y).tree_


def test_two_clients_at_once(cluster):
    found: dict[int, mt.TopDownClassifier] = {}

    def fit(seed: int) -> None:
        with Client(cluster, set_as_default=False) as client, client.as_current():
            found[seed] = mt.TopDownClassifier(max_size=10).fit(*cut(*rows(seed)))

    threads = [threading.Thread(target=fit, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (1, 2):
        assert found[seed].tree_ == mt.TopDownClassifier(max_size=10).fit(*rows(seed)).tree_


def test_a_cluster_that_vanishes(monkeypatch):
    """Killed, so that it cannot say goodbye."""
    with subprocess.Popen([sys.executable, "-c", CLUSTER], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().decode().strip()
            with Client(address, timeout=60):
                after_round(monkeypatch, 2, process.kill)
                with pytest.raises(RuntimeError, match="the Dask cluster must stay until the fit"):
                    mt.TopDownClassifier(max_size=20).fit(*cut(*rows()))
        finally:
            process.kill()


def test_a_cluster_that_is_closed(monkeypatch):
    cluster = LocalCluster(n_workers=1, **OPTIONS)
    with Client(cluster):
        after_round(monkeypatch, 2, cluster.close)
        with pytest.raises(RuntimeError, match="the Dask cluster must stay until the fit is done"):
            mt.TopDownClassifier(max_size=20).fit(*cut(*rows()))


def test_a_cluster_that_has_lost_its_workers(monkeypatch):
    monkeypatch.setattr(clusters, "PATIENCE", 0.5)
    with LocalCluster(n_workers=1, **OPTIONS) as cluster, Client(cluster):
        after_round(monkeypatch, 2, lambda: cluster.scale(0))
        with pytest.raises(
            RuntimeError, match=r"the Dask cluster must have workers; .* has had none"
        ):
            mt.TopDownClassifier(max_size=20).fit(*cut(*rows()))
