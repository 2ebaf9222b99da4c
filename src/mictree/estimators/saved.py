"""Models as JSON: only the tests of their trees, every size, and nothing that could run.

``FORMAT`` names the version of the layout; models of the version before are read too. Reading
checks everything, see ``saved_parts``, so whatever a file holds, the answer is a model that works
or a ``ValueError``.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np

from mictree._support.files import write_whole
from mictree._support.words import count_of, shorten, show_name
from mictree.columns.data import Data
from mictree.columns.written import Column, Pair, Tests
from mictree.estimators.base import TreeClassifier
from mictree.estimators.saved_parts import (
    CELLS,
    LATER,
    MODEL,
    Record,
    read_classes,
    read_tests,
    read_tree,
)
from mictree.growers.data_loop import Splitting
from mictree.tree import Tree

FORMAT, OLDER = "mictree.model/2", "mictree.model/1"
SHOWN = 6  # names of columns in the repr
MOST_BYTES = 2**28  # a larger file is no model


class SavedTreeClassifier(TreeClassifier):
    """A tree classifier that was read from a file: it predicts, draws and explains.

    It finds the columns that its trees test by their names, whatever other columns a table has.
    ``mictree.load`` makes it.

    Attributes
    ----------
    estimator_ : the name of the class that was fitted, such as ``"TopDownClassifier"``
    classes_, n_features_in_ : as in scikit-learn
    literals_ : the tests that the trees make
    tree_ : the ``Tree`` of full size
    """

    estimator_: str
    _tests: Tests
    _splittings: tuple[Splitting, ...]  # one by size, or the largest if smaller ones begin it
    _prefixes: bool

    def __sklearn_is_fitted__(self) -> bool:
        return "_tests" in vars(self)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The class that was fitted, the size of the tree, and the columns that it tests."""
        if not self.__sklearn_is_fitted__():
            return super().__repr__(N_CHAR_MAX)
        tested = {self._tests.tests[test].column for test in self._splitting.literals.tolist()}
        names = [show_name(shorten(self._tests.read[place].name)) for place in sorted(tested)]
        more = ["..."] if len(names) > SHOWN else []
        columns = f" on {', '.join(names[:SHOWN] + more)}" if names else ""
        return f"{type(self).__name__}({self.estimator_}, {count_of(self._made, 'split')}{columns})"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> NoReturn:
        """Refuse: a saved model has no parameters to fit with."""
        raise ValueError(f"a saved model cannot be fitted; make a new {self.estimator_}")

    def at_size(self, size: int) -> Self:
        """A copy that predicts with the tree of a size."""
        wanted = self._check_size(size)
        smaller = copy.copy(self)
        smaller._max_size = wanted
        if self._prefixes:
            smaller._splittings = (self._splitting.until(wanted),)
        else:
            smaller._splittings = self._splittings[: wanted + 1]
        smaller._splitting = smaller._splittings[-1]
        return smaller

    def _all_sizes(self) -> tuple[Sequence[Splitting], bool]:
        return self._splittings, self._prefixes

    def _write_tests(self, used: Sequence[Pair]) -> Tests:
        return self._tests.only([number for number, _ in used])

    @property
    def tree_(self) -> Tree:
        """The tree of full size."""
        splitting = self._splitting
        return Tree.from_splits(
            self._tests.names,
            splitting.leaves.tolist(),
            splitting.literals.tolist(),
            splitting.labels.tolist(),
        )

    @property
    def literals_(self) -> Any:
        """The tests that the trees make."""
        return self._fitted("_tests")

    def _read(self, X: Any, reset: bool) -> Data:
        if not hasattr(X, "columns") or hasattr(X, "tocsc"):
            return super()._read(X, reset)
        data = Data(self._tests.complete(X), remember=True)
        if not self._tests.named and data.width != self.n_features_in_:
            raise ValueError(f"X must have {self.n_features_in_} columns; it has {data.width}")
        self._tests.check(data)
        return data


def save(model: TreeClassifier, path: Path) -> None:
    """Write a model; the file is whole or absent."""
    write_whole(path, to_json(model).encode())


def load(path: str | Path) -> SavedTreeClassifier:
    """Read a model that ``save`` or ``mictree fit --save`` has written.

    Nothing in the file is executed. A file that is no model raises a ``ValueError``, one that does
    not exist a ``FileNotFoundError``.

    Parameters
    ----------
    path : the file

    Examples
    --------
    >>> import os, tempfile
    >>> import mictree as mt
    >>> model = mt.TopDownClassifier(max_size=1).fit([[0], [1]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.json"))
    ...     loaded = mt.load(os.path.join(folder, "model.json"))
    >>> loaded.predict([[1], [0]]).tolist()
    ['yes', 'no']
    """
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"a model must be a file; there is no {str(path)!r}")
    if not file.is_file():
        raise ValueError(f"a model must be a file; {str(path)!r} is a folder or a device")
    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"a model must have at most {MOST_BYTES} bytes; {file} has more")
    content = file.read_bytes()
    if not content:
        raise ValueError(f"a model must be JSON; {file} is empty")
    try:
        return from_json(content.decode("utf-8"), str(file))
    except UnicodeDecodeError:
        raise ValueError(f"a model must be JSON in UTF-8; {file} is not") from None


def to_json(model: TreeClassifier) -> str:
    """A text that ``from_json`` reads back."""
    grown, prefixes = model._all_sizes()
    dates = getattr(model, "dates_", {})  # how mictree fit read columns of dates
    splittings, tests = model._write(grown)
    classes = [_plain(label) for label in model.classes_.tolist()]
    levels = [level for column in tests.read for level in column.levels or ()]
    for value in [*classes, *levels, *(test.value for test in tests.tests)]:
        if not isinstance(value, (*CELLS, type(None))):
            raise ValueError(f"classes and categories must be texts or numbers; got {value!r}")
    content = {
        "format": FORMAT,
        "estimator": getattr(model, "estimator_", type(model).__name__),
        "columns": [
            _column(replace(column, **dates.get(column.name, {}))) for column in tests.read
        ],
        "width": model.n_features_in_,
        "named": tests.named,
        "classes": {"type": _type_of(model.classes_), "values": classes},
        "tests": [vars(test) for test in tests.tests],
        "max_size": model._max_size,
        "prefixes": prefixes,
        "trees": [
            {
                "leaves": each.leaves.tolist(),
                "tests": each.literals.tolist(),
                "gains": each.gains.tolist(),
                "rows": each.rows.tolist(),
                "masses": each.masses.tolist(),
            }
            for each in splittings
        ],
    }
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    from_json(text)  # what cannot be read is not written
    return text


def _column(column: Column) -> dict[str, Any]:
    """A column's parts, without what only columns of dates have."""
    return {
        key: value for key, value in vars(column).items() if key not in LATER or value is not None
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _type_of(classes: np.ndarray) -> str:
    return "text" if classes.dtype.kind == "U" else str(classes.dtype)


def from_json(text: str, name: str = "the text") -> SavedTreeClassifier:
    """Read the output of ``to_json``, else raise a ``ValueError``."""
    try:
        content = json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_without_duplicates
        )
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"a model must be JSON; {name} is not: {error}") from None
    if isinstance(content, dict) and content.get("format") == OLDER:
        content = _renew(content)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"a model's JSON must say format {FORMAT!r}; {name} does not")
    parts = Record(content, "the model", MODEL)
    classes = read_classes(parts["classes"])
    tests = read_tests(parts)
    trees = [
        read_tree(tree, f"tree {number}", tests, len(classes))
        for number, tree in enumerate(parts["trees"])
    ]
    if not trees or (parts["prefixes"] and len(trees) > 1):
        raise ValueError(f"a model must have trees, one if they are prefixes; it has {len(trees)}")
    sizes = [len(tree.leaves) for tree in trees]
    most = parts["max_size"]
    if not parts["prefixes"] and (sizes[0] != 0 or any(size > n for n, size in enumerate(sizes))):
        raise ValueError(f"the tree of a size must have at most so many splits; they have {sizes}")
    if (most is None) > parts["prefixes"] or (most is not None and sizes[-1] > most):
        raise ValueError(f"max_size must be at least the size of the trees; it is {most}")
    model = SavedTreeClassifier()
    model.estimator_, model.n_features_in_ = parts["estimator"], parts["width"]
    model.classes_, model._tests, model._max_size = classes, tests, most
    model._splittings, model._prefixes = tuple(trees), parts["prefixes"]
    model._splitting = trees[-1]
    return model


def _renew(content: dict[str, Any]) -> dict[str, Any]:
    """A model of the older version, with the parts that this one has."""
    columns = content.get("columns")
    if isinstance(columns, list):
        columns = [each | {"seen": None} if isinstance(each, dict) else each for each in columns]
    return content | {"format": FORMAT, "columns": columns}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"a model's numbers must be finite; got {name}")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a model's JSON must name each part once; a name occurs twice")
    return content
