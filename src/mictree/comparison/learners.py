"""Adapters: any learner makes a tree of a given size from a matrix of ranks and bits.

Every learner has the same tests, and labels 0, 1, ... An adapter only sets the learner's size
parameter and switches off the options that prevent it from growing one plain tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mictree._support.checks import check_size
from mictree.comparison.judged import Foreign, Grown, Lesson, Lone, Model
from mictree.growers.rules import RULES, Grower, TopDown
from mictree.impurity import name_of
from mictree.problems.limits import Limits

Make = Callable[..., Any]  # (X, y, size) -> model; with weights also (X, y, size, weights)

# One tree whose leaves predict their majority: start from 1/2, full step, no penalty, no pruning.
LIGHTGBM: dict[str, Any] = {
    "n_estimators": 1, "learning_rate": 1.0, "boost_from_average": False, "max_depth": -1,
    "min_child_samples": 1, "min_child_weight": 0.0, "min_split_gain": 0.0, "reg_lambda": 0.0,
    "reg_alpha": 0.0, "subsample": 1.0, "colsample_bytree": 1.0, "min_data_in_bin": 1,
    "feature_pre_filter": False, "enable_bundle": False, "verbose": -1,
}  # fmt: skip
XGBOOST: dict[str, Any] = {
    "n_estimators": 1, "learning_rate": 1.0, "base_score": 0.5, "max_depth": 0,
    "min_child_weight": 0.0, "gamma": 0.0, "reg_lambda": 0.0, "reg_alpha": 0.0, "subsample": 1.0,
    "colsample_bytree": 1.0, "tree_method": "hist",
}  # fmt: skip
NAMES = (*RULES, "sklearn", "lightgbm", "xgboost")


@dataclass(frozen=True)
class Peer:
    """A learner with a name: trees of size 0, 1, 2, ..."""

    name: str
    learner: Any  # a Grower, an estimator, or a callable (X, y, size) or (X, y, size, weights)
    max_depth: int | None = None

    def check(self, classes: int, weighted: bool) -> None:
        """Refuse a learner that cannot make one tree of these classes, or of weighted rows."""
        if isinstance(self.learner, Grower):
            return
        self._maker(classes)
        if weighted and hasattr(self.learner, "get_params"):
            from sklearn.utils.validation import has_fit_parameter

            if not has_fit_parameter(self.learner, "sample_weight"):
                raise ValueError(
                    f"with sample_weight, a learner's fit must take it; {self.name}'s does not"
                )

    def models(self, lesson: Lesson, max_size: int) -> Iterator[Model]:
        """Learn from rows and labels: a tree of each size from 0."""
        yield Lone(lesson)
        if isinstance(self.learner, Grower):
            problem = lesson.problem.limited(Limits(max_depth=self.max_depth))
            growth = self.learner.grow(problem, max_size)
            for size in range(1, max_size + 1):
                yield Grown(lesson, growth.tree(size))
            return
        make = self._maker(lesson.known)
        if not len(lesson.problem.literals):  # no column has two values
            yield from [Lone(lesson)] * max_size
            return
        weights = () if lesson.weights is None else (lesson.weights,)
        for size in range(1, max_size + 1):
            model = make(lesson.seen, lesson.codes, size, *weights)
            if not hasattr(model, "predict"):
                raise TypeError(
                    f"a learner must return a model with predict; {self.name} gave "
                    f"{type(model).__name__}"
                )
            yield Foreign(lesson, self.name, model)

    def _maker(self, classes: int) -> Make:
        learner = self.learner
        if not hasattr(learner, "get_params"):
            return learner
        library = type(learner).__module__.partition(".")[0]
        settings = _settings(learner, library, self.name)
        if library in ("lightgbm", "xgboost") and classes > 2:
            raise ValueError(
                f"a learner must grow one tree; {self.name} grows one for each of {classes} classes"
            )
        deep = {}
        if self.max_depth is not None:
            if "max_depth" not in learner.get_params():
                raise ValueError(
                    f"to limit depth, a learner must have the parameter max_depth; "
                    f"{self.name} has none"
                )
            deep = {"max_depth": self.max_depth}

        def make(X: Any, y: Any, size: int, *weights: Any) -> Any:
            from sklearn.base import clone

            model: Any = clone(learner)
            model.set_params(**settings(size) | deep)
            return model.fit(X, y, **dict(zip(["sample_weight"], weights, strict=False)))

        return make


def _settings(learner: Any, library: str, name: str) -> Callable[[int], dict[str, Any]]:
    """The parameters that make an estimator grow one tree of a size."""
    known = learner.get_params()
    if library == "lightgbm":
        return lambda size: LIGHTGBM | {"num_leaves": size + 1}
    if library == "xgboost":
        policy = known.get("grow_policy") or "lossguide"
        # growth level by level needs a depth limit that allows the size
        deep = {} if policy == "lossguide" else {"max_depth": 30}
        return lambda size: XGBOOST | deep | {"max_leaves": size + 1, "grow_policy": policy}
    seeded = {"random_state": 0} if known.get("random_state", 0) is None else {}
    if "max_size" in known:
        return lambda size: seeded | {"max_size": size}
    if "max_leaf_nodes" in known:
        return lambda size: seeded | {"max_leaf_nodes": size + 1}
    raise ValueError(
        "an estimator must have a parameter for its size: max_size, max_leaf_nodes, num_leaves or "
        f"max_leaves; {name} has none: pass a callable (X, y, size) that returns a fitted model"
    )


def read_peers(learners: Any, max_depth: int | None = None) -> tuple[Peer, ...]:
    """Named learners, from a mapping, a sequence or a single learner."""
    if isinstance(learners, Mapping):
        named = [(str(name), _peer(learner)) for name, learner in learners.items()]
        return tuple(Peer(name, peer.learner, max_depth) for name, peer in named)
    if isinstance(learners, str) or not isinstance(learners, Sequence):
        learners = [learners]
    peers: list[Peer] = []
    for peer in map(_peer, learners):
        uses = sum(other.name.partition(" #")[0] == peer.name for other in peers)
        name = f"{peer.name} #{uses + 1}" if uses else peer.name
        peers.append(Peer(name, peer.learner, max_depth))
    return tuple(peers)


def _peer(learner: Any) -> Peer:
    if isinstance(learner, str):
        return Peer(learner, _by_name(learner))
    if isinstance(learner, type):
        raise TypeError(f"a learner must be an instance, not a class; got {learner.__name__}")
    if isinstance(learner, Grower):
        return Peer(_short(learner), learner)
    if hasattr(learner, "fit") and hasattr(learner, "predict") and hasattr(learner, "get_params"):
        return Peer(type(learner).__name__, learner)
    if callable(learner):
        return Peer(getattr(learner, "__name__", repr(learner)), learner)
    raise TypeError(
        "a learner must be a rule, an estimator or a callable (X, y, size); "
        f"got {type(learner).__name__}"
    )


def _short(grower: Grower) -> str:
    """A rule's name and the parameters that differ from the defaults."""
    plain = vars(TopDown())
    changed = [
        f"{name}={name_of(value) if name == 'criterion' else value}"
        for name, value in vars(grower).items()
        if name not in plain or value != plain[name]
    ]
    return f"{type(grower).__name__}({', '.join(changed)})" if changed else type(grower).__name__


def _by_name(name: str) -> Any:
    if name in RULES:
        return RULES[name]()
    if name == "sklearn":
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(criterion="entropy", random_state=0)
    if name in ("lightgbm", "xgboost"):
        from importlib import import_module

        try:
            module = import_module(name)
        except ImportError:
            raise ValueError(f"to compare {name}, install it first; it is not installed") from None
        kind = module.LGBMClassifier if name == "lightgbm" else module.XGBClassifier
        return kind(n_jobs=1, random_state=0)
    raise ValueError(f"a learner must be one of {', '.join(NAMES)}; got {name!r}")


def check_max_size(max_size: int) -> int:
    """Check the largest size to compare."""
    limit = check_size(max_size)
    if limit == 0:
        raise ValueError("trees are compared at sizes 1 to max_size; max_size must be at least 1")
    return limit
