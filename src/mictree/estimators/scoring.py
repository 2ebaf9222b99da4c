"""Scorings of held-out rows: by their names in scikit-learn, or callables."""

from __future__ import annotations

import difflib
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

USEFUL = (
    "accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef", "neg_log_loss", "roc_auc",
    "roc_auc_ovr",
)  # fmt: skip


@dataclass(frozen=True)
class Scorer:
    """A measure on held-out rows; more is better.

    Attributes
    ----------
    score : a callable ``(model, X, y)``
    name : what to call it
    named : whether it is one of scikit-learn's by its name; only these take weights
    """

    score: Callable[..., Any]
    name: str
    named: bool

    def __call__(self, model: Any, X: Any, y: Any, weights: Any = None) -> float:
        """The score of a model, one finite number."""
        options = {"sample_weight": weights} if weights is not None and self.named else {}
        score = self._apply(model, X, y, options)
        if not isinstance(score, Real) or not math.isfinite(score):
            raise ValueError(f"a scoring must give one finite number; got {score!r}")
        return float(score)

    def check(self, classes: Any) -> None:
        """Refuse a scoring by name that cannot judge these classes, before any tree is grown."""
        if not self.named:
            return
        from sklearn.dummy import DummyClassifier

        rows = np.zeros((len(classes), 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that constant answers are poor
            self._apply(DummyClassifier().fit(rows, classes), rows, classes, {})

    def _apply(self, model: Any, X: Any, y: Any, options: dict[str, Any]) -> Any:
        try:
            return self.score(model, X, y, **options)
        except ValueError as error:
            if not self.named:
                raise
            reason = str(error).partition("\n")[0]
            raise ValueError(f"scoring must suit the labels; {self.name} says: {reason}") from error


def read_scoring(scoring: Any) -> Scorer | None:
    """A scoring by its name, or a callable ``(model, X, y)``; None for none."""
    if scoring is None:
        return None
    if callable(scoring):
        return Scorer(scoring, getattr(scoring, "__name__", "score"), named=False)
    from sklearn.metrics import get_scorer, get_scorer_names

    if scoring not in get_scorer_names():
        near = difflib.get_close_matches(str(scoring), get_scorer_names(), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"scoring must be a name that scikit-learn knows, such as {', '.join(USEFUL)}, or a "
            f"callable (model, X, y); got {scoring!r}{hint}"
        )
    return Scorer(get_scorer(scoring), scoring, named=True)
