"""Models as JSON: only the tests of their trees, every size, and nothing that could run.

``to_json`` writes the columns that are tested, the tests, and for each tree its splits with the
rows and weights of every node; ``FORMAT`` names the version of this layout, and models of the
version before are read too. Models that predict numbers, or actions by what they cost, have more
parts, the layout ``TASK_FORMAT``. ``from_json`` trusts nothing. A schema checks types and ranges of
each kind of part; then it is checked that every split has a leaf to split, that counts add up, and
that no name is unknown or occurs twice. So whatever a file holds, the answer is a model that works
or a ``ValueError``, and what could not be read back is not written.

A loaded model finds its columns by name, whatever other columns a table has. A test "code is 007"
fails for every other text. That is right for the categories that the tree was grown on, but a text
that it has never seen may be one of them in another spelling; ``Unseen`` counts such texts where
they reach a test, and warns.
"""

from __future__ import annotations

import copy
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, Self

import numpy as np

from mictree._support.files import write_whole
from mictree._support.words import count_of, shorten, show_name
from mictree.columns.cells import FIRST, MOMENTS, NUMBERS
from mictree.columns.data import PARTS, Data
from mictree.columns.written import KINDS, Column, Pair, Test, Tests
from mictree.estimators.base import TreeModel
from mictree.estimators.kinds import TreeClassifier, TreePolicy, TreeRegressor
from mictree.growers.data_loop import Splitting
from mictree.problems.tasks import ActionCosts, Errors, MatrixCosts, Outcome, Squared, Task
from mictree.tree import Tree

FORMAT, OLDER = "mictree.model/2", "mictree.model/1"
TASK_FORMAT = "mictree.model/3"  # of other tasks than the fewest errors
SHOWN = 6  # names of columns in the repr
MOST_BYTES = 2**28  # a larger file is no model


class SavedTree(TreeModel):
    """A tree that was read from a file: it predicts, draws and explains.

    It finds the columns that its trees test by their names, whatever other columns a table has.
    ``mictree.load`` makes it.

    Attributes
    ----------
    estimator_ : the name of the class that was fitted, such as ``"TopDownClassifier"``
    n_features_in_ : as in scikit-learn
    literals_ : the tests that the trees make
    tree_ : the ``Tree`` of full size
    """

    estimator_: str
    _tests: Tests
    _splittings: tuple[Splitting, ...]  # one by size, or the largest if smaller ones begin it
    _prefixes: bool
    _loaded_task: Task

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

    def to_sklearn(self, on: str = "columns") -> NoReturn:
        """Refuse: the file does not have all that scikit-learn's trees hold."""
        raise ValueError(f"a saved model has no to_sklearn; the fitted {self.estimator_} has")

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

    @property
    def _task(self) -> Task:
        return self._fitted("_loaded_task")

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


class SavedTreeClassifier(SavedTree, TreeClassifier):
    """A tree classifier that was read from a file: it predicts, draws and explains.

    Attributes
    ----------
    classes_ : as in scikit-learn
    actions_ : what leaves may predict
    """


class SavedTreeRegressor(SavedTree, TreeRegressor):
    """A tree regressor that was read from a file: it predicts, draws and explains."""


class SavedPolicyTree(SavedTree, TreePolicy):
    """A tree of actions that was read from a file: it predicts, draws and explains.

    Attributes
    ----------
    actions_ : what leaves may predict
    """


def save(model: TreeModel, path: Path) -> None:
    """Write a model; the file is whole or absent."""
    write_whole(path, to_json(model).encode())


def load(path: str | Path) -> Any:
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


def to_json(model: TreeModel) -> str:
    """A text that ``from_json`` reads back."""
    grown, prefixes = model._all_sizes()
    dates = getattr(model, "dates_", {})  # how mictree fit read columns of dates
    splittings, tests = model._write(grown)
    classes = _write_labels(getattr(model, "classes_", None))
    levels = [level for column in tests.read for level in column.levels or ()]
    for value in [*levels, *(value for test in tests.tests for value in test.values)]:
        _check_cell(value)
    task = model._task
    content = {
        "format": FORMAT if isinstance(task, Errors) else TASK_FORMAT,
        "estimator": getattr(model, "estimator_", type(model).__name__),
        "columns": [
            _column(replace(column, **dates.get(column.name, {}))) for column in tests.read
        ],
        "width": model.n_features_in_,
        "named": tests.named,
        "classes": classes,
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
    if not isinstance(task, Errors):
        content["task"] = _write_task(model, task)
        for part, each in zip(content["trees"], splittings, strict=True):
            part["outcome"] = _write_outcome(each)
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    from_json(text)  # what cannot be read is not written
    return text


def _write_labels(labels: np.ndarray | None) -> dict[str, Any] | None:
    """Classes or actions with their type; None for none."""
    if labels is None:
        return None
    values = [_plain(label) for label in labels.tolist()]
    for value in values:
        _check_cell(value)
    return {"type": _type_of(labels), "values": values}


def _check_cell(value: Any) -> None:
    if not isinstance(value, (*CELLS, type(None))):
        raise ValueError(f"classes and categories must be texts or numbers; got {value!r}")


def _write_task(model: Any, task: Task) -> dict[str, Any]:
    """What a leaf costs, and what it may predict."""
    return {
        "name": task.name,
        "actions": _write_labels(getattr(model, "actions_", None)),
        "matrix": task.given.tolist() if isinstance(task, MatrixCosts) else None,
        "offset": model._splitting.offset,
        "rewards": getattr(model, "_rewarded", False),
    }


def _write_outcome(splitting: Splitting) -> dict[str, Any]:
    """What each node predicts, and what that costs."""
    outcome = splitting.outcome
    assert outcome is not None
    return {
        name: None if part is None else part.tolist() for name, part in outcome._asdict().items()
    }


def _column(column: Column) -> dict[str, Any]:
    """A column's parts, without what only columns of dates have."""
    return {
        key: value for key, value in vars(column).items() if key not in LATER or value is not None
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _type_of(classes: np.ndarray) -> str:
    return "text" if classes.dtype.kind == "U" else str(classes.dtype)


def from_json(text: str, name: str = "the text") -> Any:
    """Read the output of ``to_json``, else raise a ``ValueError``."""
    try:
        content = json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_without_duplicates
        )
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"a model must be JSON; {name} is not: {error}") from None
    if isinstance(content, dict) and content.get("format") == OLDER:
        content = _renew(content)
    form = content.get("format") if isinstance(content, dict) else None
    tasked = form == TASK_FORMAT and "task" in content
    if form != FORMAT and not tasked:
        raise ValueError(f"a model's JSON must say format {FORMAT!r}; {name} does not")
    parts = _Record(content, "the model", TASK_MODEL if tasked else MODEL)
    model = _read_kind(parts) if tasked else _plain_classifier(parts)
    tests = _read_tests(parts)
    trees = [
        _read_tree(tree, f"tree {number}", tests, model)
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
    model.estimator_, model.n_features_in_ = parts["estimator"], parts["width"]
    model._tests, model._max_size = tests, most
    model._splittings, model._prefixes = tuple(trees), parts["prefixes"]
    model._splitting = trees[-1]
    return model


def _plain_classifier(parts: _Record) -> SavedTreeClassifier:
    """A model with its classes, which are all that leaves may predict."""
    model = SavedTreeClassifier()
    model.classes_ = model.actions_ = _read_labels(parts["classes"])
    model._loaded_task = Errors()
    return model


def _read_kind(parts: _Record) -> Any:
    """A model of another task, with its classes and actions."""
    task = _Record(parts["task"], "the task", TASK)
    name, matrix = task["name"], task["matrix"]
    wanted = {
        "classes": name == MatrixCosts.name,
        "actions": name != Squared.name,
        "matrix": name == MatrixCosts.name,
    }
    for key, there in wanted.items():
        if (parts if key == "classes" else task)[key] is None and there:
            raise ValueError(f"a model by {name} must have {key}; it has none")
        if (parts if key == "classes" else task)[key] is not None and not there:
            raise ValueError(f"a model by {name} must have no {key}; it has some")
    if name == Squared.name:
        model: Any = SavedTreeRegressor()
        model._loaded_task, model._offset = Squared(), float(task["offset"])
        return model
    actions = _read_labels(task["actions"], "actions")
    if name == ActionCosts.name:
        model = SavedPolicyTree()
        model._loaded_task, model._rewarded = ActionCosts(tuple(actions.tolist())), task["rewards"]
    else:
        model = SavedTreeClassifier()
        model.classes_ = _read_labels(parts["classes"])
        costs = _table(matrix, "the cost matrix", len(actions), _is_number)
        if len(costs) != len(model.classes_) or min(map(min, costs)) < 0:
            raise ValueError("a cost matrix must have a row a class, not negative; this has not")
        given = np.array(costs, dtype=float)
        least = given.min(axis=1)
        model._loaded_task = MatrixCosts(given - least[:, None], least, tuple(actions.tolist()))
    model.actions_, model._offset = actions, float(task["offset"])
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


TYPES = r"bool|object|text|u?int(8|16|32|64)|float(16|32|64)"
CELLS = (bool, int, float, str)  # the kinds of categories and classes that JSON keeps apart

Check = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def _are_cells(value: Any) -> bool:
    """Whether it is a list of different cells."""
    cells = _is_list(value) and value and all(isinstance(each, CELLS) for each in value)
    return bool(cells) and len(set(value)) == len(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_part(value: Any) -> bool:
    """What, of which column of dates, and of which kind these are."""
    if not _is_list(value) or len(value) != 3 or not all(map(_is_text, value)):
        return False
    return value[0] in PARTS and value[2] in MOMENTS


MODEL: dict[str, Check] = {
    "format": _is_text,
    "estimator": lambda value: _is_text(value) and value.isidentifier() and len(value) < 200,
    "columns": _is_list,
    "width": lambda value: _is_count(value) and value < 2**31,
    "named": _is_bool,
    "classes": _is_object,
    "tests": _is_list,
    "max_size": lambda value: value is None or (_is_count(value) and value < 2**31),
    "prefixes": _is_bool,
    "trees": _is_list,
}
TASK_MODEL = MODEL | {
    "classes": lambda value: value is None or _is_object(value),
    "task": _is_object,
}
TASK: dict[str, Check] = {
    "name": lambda value: value in (MatrixCosts.name, ActionCosts.name, Squared.name),
    "actions": lambda value: value is None or _is_object(value),
    "matrix": lambda value: value is None or _is_list(value),
    "offset": _is_number,
    "rewards": _is_bool,
}
OUTCOME: dict[str, Check] = {
    "labels": _is_list,
    "costs": _is_list,
    "by_action": lambda value: value is None or _is_list(value),
    "base": lambda value: value is None or _is_list(value),
}
COLUMN: dict[str, Check] = {
    "name": _is_text,
    "position": _is_count,
    "kind": lambda value: _is_text(value) and value in KINDS,
    "levels": lambda value: (
        value is None or (_is_list(value) and all(isinstance(each, CELLS) for each in value))
    ),
    "seen": lambda value: value is None or (_is_list(value) and all(map(_is_text, value))),
    "order": lambda value: value is None or (_is_text(value) and value in FIRST),
    "part": lambda value: value is None or _is_part(value),
}
LATER = {"order": None, "part": None}  # of columns; models without dates do not have them
CLASSES: dict[str, Check] = {
    "type": lambda value: _is_text(value) and re.fullmatch(TYPES, value) is not None,
    "values": lambda value: _is_list(value) and len(value) > 0,
}
TEST: dict[str, Check] = {
    "column": _is_count,
    "relation": lambda value: _is_text(value) and value in ("above", "is", "in", "missing"),
    "value": lambda value: value is None or isinstance(value, CELLS) or _are_cells(value),
    "text": lambda value: _is_text(value) and bool(value.strip()),
    "negated": lambda value: _is_text(value) and bool(value.strip()),
}
TREE: dict[str, Check] = dict.fromkeys(("leaves", "tests", "gains", "rows", "masses"), _is_list)
TASK_TREE: dict[str, Check] = TREE | {"outcome": _is_object}


class _Record(dict[str, Any]):
    """A JSON object with exactly the keys of a schema, each of which its check accepts."""

    def __init__(self, content: Any, what: str, schema: dict[str, Check]) -> None:
        if not isinstance(content, dict):
            raise ValueError(f"{what} must be a JSON object; got {_short(content)}")
        if content.keys() != schema.keys():
            odd = sorted(content.keys() ^ schema.keys())[0]
            raise ValueError(f"{what} must have {', '.join(schema)}; {_short(odd)} is not right")
        for key, check in schema.items():
            if not check(content[key]):
                raise ValueError(f"{what} has a wrong {key}: {_short(content[key])}")
        super().__init__(content)


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, (*CELLS, type(None))) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _read_labels(content: Any, what: str = "classes") -> np.ndarray:
    """Different classes of one type, in order; actions in any order."""
    parts = _Record(content, what, CLASSES)
    values, kind = parts["values"], parts["type"]
    if not all(isinstance(value, CELLS) for value in values):
        raise ValueError(f"{what} must be texts or numbers; one is not")
    wanted = {"text": (str,), "object": CELLS, "bool": (bool,)}.get(kind)
    if wanted is None:
        wanted = (float,) if kind.startswith("float") else (int,)
    if any(type(value) not in wanted for value in values):
        raise ValueError(f"{what} must all be of the type {kind}; one is not")
    try:
        classes = np.array(values, dtype=None if kind == "text" else kind)
        if what == "classes":
            distinct = bool(np.all(classes[:-1] < classes[1:]))
        else:
            distinct = len(set(classes.tolist())) == len(classes)
    except (OverflowError, TypeError) as error:
        raise ValueError(f"{what} must be of the type {kind} and have an order; {error}") from None
    if not distinct:
        raise ValueError(f"{what} must be different and in order; they are not")
    return classes


def _read_tests(parts: _Record) -> Tests:
    """Tests that fit their columns."""
    records = [
        _Record(LATER | each if isinstance(each, dict) else each, f"column {number}", COLUMN)
        for number, each in enumerate(parts["columns"])
    ]
    for record in records:
        levels = record["levels"]
        if (levels is not None) != (record["kind"] == "enum") or len(set(levels or ())) < len(
            levels or ()
        ):
            raise ValueError("ordered categories must have levels, all different; others have none")
        if record["seen"] is not None and record["kind"] != "category":
            raise ValueError("only columns of categories have seen any; another one has")
        if record["part"] is not None and record["kind"] not in NUMBERS:
            raise ValueError("a part of a date must be a number; another column is one")
        if record["order"] and record["part"] is None and record["kind"] not in MOMENTS:
            raise ValueError("only dates have an order of day and month; another column has one")
    columns = [
        Column(
            r["name"],
            r["position"],
            r["kind"],
            _as_tuple(r["levels"]),
            _as_tuple(r["seen"]),
            r["order"],
            _as_tuple(r["part"]),
        )
        for r in records
    ]
    for what in ("name", "position"):
        if len({getattr(column, what) for column in columns}) < len(columns):
            raise ValueError(f"columns must have different {what}s; two have the same")
    if any(column.position >= parts["width"] for column in columns):
        raise ValueError(f"a column's position must be below the width, {parts['width']}")
    tests = [
        _read_test(_Record(each, f"test {number}", TEST))
        for number, each in enumerate(parts["tests"])
    ]
    for number, test in enumerate(tests):
        if test.column >= len(columns):
            raise ValueError(f"test {number} must name one of {len(columns)} columns")
        category = columns[test.column].kind == "category"
        fits = {
            "above": not category and _is_number(test.value),
            "is": category and isinstance(test.value, CELLS),
            "in": category and isinstance(test.value, tuple),
            "missing": test.value is None,
        }
        seen = columns[test.column].seen
        listed = test.values if test.relation in ("is", "in") and seen is not None else ()
        unseen = any(value not in (seen or ()) for value in listed)
        if not fits[test.relation] or unseen:
            raise ValueError(f"test {number} does not fit its column; value {_short(test.value)}")
    if len({text for test in tests for text in (test.text, test.negated)}) < 2 * len(tests):
        raise ValueError("tests must have different texts; two have the same")
    return Tests(columns, tests, parts["named"])


def _read_test(parts: _Record) -> Test:
    """A test; sets of categories are lists in JSON."""
    value = parts["value"]
    if isinstance(value, list):
        value = tuple(value)
    return Test(parts["column"], parts["relation"], value, parts["text"], parts["negated"])


def _as_tuple(content: list[Any] | None) -> tuple[Any, ...] | None:
    return None if content is None else tuple(content)


def _read_tree(content: Any, what: str, tests: Tests, model: Any) -> Splitting:
    """Splits whose leaves exist, and counts that add up."""
    plain = isinstance(model._loaded_task, Errors)
    parts = _Record(content, what, TREE if plain else TASK_TREE)
    classes = len(model.classes_) if hasattr(model, "classes_") else 1
    size = len(parts["leaves"])
    for key, length in (("tests", size), ("gains", size), ("rows", 2 * size + 1)):
        if len(parts[key]) != length:
            raise ValueError(f"{what} must have {length} {key}; it has {len(parts[key])}")
    open_leaves = {0}
    for split, leaf in enumerate(parts["leaves"]):
        if not _is_count(leaf) or leaf not in open_leaves:
            raise ValueError(f"{what} must split leaves that it has; split {split} does not")
        open_leaves.remove(leaf)
        open_leaves |= {2 * split + 1, 2 * split + 2}
    count = len(tests)
    if not all(_is_count(test) and test < count for test in parts["tests"]):
        raise ValueError(f"{what} must make the {count} tests of the model; one is not among them")
    if not all(_is_number(gain) and gain >= 0 for gain in parts["gains"]):
        raise ValueError(f"{what} must have gains of at least 0; one is not")
    rows = _table(parts["rows"], f"{what}'s rows", classes, _is_count)
    masses = _table(parts["masses"], f"{what}'s masses", classes, _is_number)
    if len(masses) != len(rows) or any(
        min(each) < 0 or not 0 < sum(each) < math.inf for each in masses
    ):
        raise ValueError(f"{what} must have weight at every node; a node has none")
    for split, leaf in enumerate(parts["leaves"]):
        sides = zip(rows[2 * split + 1], rows[2 * split + 2], strict=True)
        if rows[leaf] != [low + high for low, high in sides]:
            raise ValueError(f"{what} must keep its rows; split {split} does not")
    return Splitting(
        np.array(parts["leaves"], dtype=np.int64), np.array(parts["tests"], dtype=np.int64),
        np.array([tests.threshold(test) for test in parts["tests"]], dtype=float),
        np.array(parts["gains"], dtype=float), np.array(rows, dtype=np.int64),
        np.array(masses, dtype=float),
        None if plain else _read_outcome(parts["outcome"], f"{what}'s outcome", len(rows), model),
        0.0 if plain else model._offset,
    )  # fmt: skip


def _read_outcome(content: Any, what: str, nodes: int, model: Any) -> Outcome:
    """What each node predicts, and what that costs."""
    parts = _Record(content, what, OUTCOME)
    numbers = isinstance(model._loaded_task, Squared)
    actions = 0 if numbers else len(model.actions_)
    for key in ("labels", "costs") if numbers else OUTCOME:
        if parts[key] is None or len(parts[key]) != nodes:
            raise ValueError(f"{what} must have {key} of {nodes} nodes; it has not")
    if numbers and (parts["by_action"] is not None or parts["base"] is not None):
        raise ValueError(f"{what} must have no costs of actions; it has some")
    for label in parts["labels"]:
        if not (_is_number(label) if numbers else _is_count(label) and label < actions):
            raise ValueError(f"{what} must have labels that the model has; got {_short(label)}")
    if not all(_is_number(cost) and cost >= 0 for cost in parts["costs"]):
        raise ValueError(f"{what} must have costs of at least 0; one is not")
    labels = np.array(parts["labels"], dtype=float if numbers else np.intp)
    costs = np.array(parts["costs"], dtype=float)
    if numbers:
        return Outcome(labels, costs)
    by_action = _table(parts["by_action"], what, actions, _is_number)
    if not all(_is_number(number) for number in parts["base"]):
        raise ValueError(f"{what} must have finite numbers; one is not")
    return Outcome(
        labels, costs, np.array(by_action, dtype=float), np.array(parts["base"], dtype=float)
    )


def _table(content: list[Any], what: str, width: int, check: Check) -> list[list[Any]]:
    for row in content:
        if not isinstance(row, list) or len(row) != width or not all(map(check, row)):
            raise ValueError(f"{what} must be {width} numbers a node; {_short(row)} is not")
    return content


class Unseen:
    """Counts such texts, by column, in one table or in the batches of a larger one."""

    def __init__(self, model: SavedTree, size: int | None = None) -> None:
        self._model = model if size is None else model.at_size(size)
        self._tests = self._model.literals_
        self._rows: dict[int, Counter[str]] = {}  # by the number of the tested column

    def add(self, X: Any) -> None:
        """Count the rows of a table."""
        data = self._model._read(X, reset=False)
        unknown = {
            number: texts
            for number, column in enumerate(self._tests.read)
            if column.seen is not None and (texts := self._unknown(data, number))
        }
        if not unknown:
            return
        splitting = self._model._splitting
        reached: dict[int, set[int]] = {number: set() for number in unknown}
        staged = self._model._staged_leaves(X)
        for leaf, test, leaves in zip(splitting.leaves, splitting.literals, staged, strict=False):
            number = self._tests.tests[test].column
            if number in unknown:
                rows = np.flatnonzero(leaves == leaf).tolist()
                reached[number] |= unknown[number].keys() & rows
        for number, rows in reached.items():
            counts = self._rows.setdefault(number, Counter())
            counts.update(unknown[number][row] for row in sorted(rows))

    def _unknown(self, data: Data, number: int) -> dict[int, str]:
        """The rows with a text that was not seen, and that text."""
        column = self._tests.read[number]
        values = data.column(self._tests.find(data, column))
        if not isinstance(values, list):  # no text at all
            return {}
        seen = {None, *(column.seen or ())}
        return {row: value for row, value in enumerate(values) if value not in seen}

    def lines(self) -> list[str]:
        """A warning for each column with such texts."""
        return [self._line(number, texts) for number, texts in sorted(self._rows.items()) if texts]

    def _line(self, number: int, texts: Counter[str]) -> str:
        column = self._tests.read[number]
        meant = {_without_spelling(text): text for text in reversed(column.seen or ())}
        like = [text for text in texts if _without_spelling(text) in meant]
        example = (like or list(texts))[0]
        hint = f" (is it {shorten(meant[_without_spelling(example)])!r}?)" if like else ""
        rows = count_of(texts.total(), "row")
        return (
            f"warning: column {show_name(column.name)} has texts that no training row had, such as "
            f"{shorten(example)!r}{hint}, in {rows} that a test on it meets; the test takes them "
            "for none of the texts that it knows"
        )


def _without_spelling(text: str) -> str:
    """A text without what spellings differ in: case, spaces, leading zeros, ``.0`` at the end."""
    return "".join(text.casefold().split()).removesuffix(".0").lstrip("0")
