"""The base of all tree estimators: a fitted tree with its texts, pictures, files and exports.

``TreeModel`` adds to ``Predicting`` all that shows a tree or passes it on: text, rules in
words and code, the path of one row, a frame, Graphviz, drawings, TikZ, scikit-learn's own tree,
JSON, and predictions for Parquet files. Subclasses define ``fit``. Every method works on the pair
of ``_splitting``, the order in which leaves were split, and ``_problem``, whose literals name the
tests, so greedy, optimal and loaded trees share all of them. Each takes ``size=`` and then uses the
tree of that size. The modules that do the work are imported when a method needs them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import (
    check_is_fitted,
)

from mictree._support.checks import check_size
from mictree._support.progress import Report, ignore
from mictree._support.words import merged_note
from mictree.columns.parquet import ParquetSet, Paths, Share
from mictree.columns.written import Pair, Tests, write_out
from mictree.estimators import exports
from mictree.estimators.predicting import Predicting
from mictree.growers.data_loop import Splitting
from mictree.tree import Tree

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes

    from mictree.estimators.leaves import LeafWords
    from mictree.estimators.rules import Rules
    from mictree.plotting.data_tree import Card


FloatArray = np.typing.NDArray[np.float64]


class TreeModel(Predicting):
    """The methods of a fitted tree; subclasses define ``fit``, and what a leaf predicts."""

    @abstractmethod
    def _words(self, splitting: Splitting) -> LeafWords:
        """What the leaves of a growth predict, in words."""

    @abstractmethod
    def _sklearn_values(self) -> tuple[FloatArray, FloatArray]:
        """For scikit-learn's tree: what each node predicts, and its impurity, in preorder."""

    @property
    def _rule_classes(self) -> Sequence[Any]:
        """The classes whose shares code may give."""
        return ()

    @property
    def _own_words(self) -> LeafWords:
        """Of the tree of full size."""
        return self._words(self._splitting)

    def predict_parquet(
        self,
        paths: Paths,
        out: str | Path,
        size: int | None = None,
        proba: bool = False,
        progress: Report | None = None,
        *,
        keep: Sequence[str] = (),
    ) -> None:
        """Predict the rows of Parquet files, batch by batch, and write the answers as Parquet.

        Parameters
        ----------
        paths : a pattern such as ``"data/*.parquet"``, a folder, a file, or several of them; files
            are read in the order of their names
        out : the file to write; it is whole or absent
        size : of the tree; by default the full one
        proba : also write the probability of every class
        progress : called now and then with a ``Progress``, by rows
        keep : columns to write before the answers, such as a key; or "all"

        Examples
        --------
        >>> import os, tempfile, polars
        >>> import mictree as mt
        >>> table = polars.DataFrame({"flag": [0, 1, 1]})
        >>> model = mt.TopDownClassifier(max_size=1).fit(table, [0, 1, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table.write_parquet(os.path.join(folder, "a.parquet"))
        ...     out = os.path.join(folder, "answers.parquet")
        ...     model.predict_parquet(os.path.join(folder, "a.parquet"), out)
        ...     polars.read_parquet(out)["prediction"].to_list()
        [0, 1, 1]
        """
        from mictree.estimators.streamed import predict_parquet

        check_is_fitted(self)
        model: Any = self
        predict_parquet(model, paths, Path(out), size, proba, keep, progress)

    def staged_score_parquet(
        self,
        paths: Paths,
        target: str,
        *,
        rows: tuple[float, float] | None = None,
        seed: int = 0,
        sample_weight: str | None = None,
        progress: Report | None = None,
    ) -> FloatArray:
        """The accuracy by size on the rows of Parquet files, in one pass, index = size.

        Parameters
        ----------
        paths : as in ``predict_parquet``
        target : the column of labels; labels that the model does not have count as mistakes
        rows, seed : a share of the rows, as in ``SampleProblem.from_parquet``
        sample_weight : a column of weights
        progress : called now and then with a ``Progress``, by rows

        Examples
        --------
        >>> import os, tempfile, polars
        >>> import mictree as mt
        >>> table = polars.DataFrame({"flag": [0, 1] * 50, "label": [0, 1] * 49 + [1, 0]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = os.path.join(folder, "a.parquet")
        ...     table.write_parquet(file)
        ...     problem = mt.SampleProblem.from_parquet(file, "label", rows=(0, 0.5))
        ...     model = mt.TopDownClassifier(max_size=1).fit(problem)
        ...     model.staged_score_parquet(file, "label", rows=(0.5, 1)).round(2).tolist()
        [0.43, 0.98]
        """
        from mictree.estimators.streamed import staged_score_parquet

        check_is_fitted(self)
        files = ParquetSet(paths, Share.of(rows, seed))
        model: Any = self
        return staged_score_parquet(model, files, target, sample_weight, progress or ignore)

    def to_sklearn(self, on: str = "columns") -> Any:
        """A genuine ``DecisionTreeClassifier`` or ``DecisionTreeRegressor``: predictions are equal.

        With costs, its probabilities are 1 for the action that the leaf predicts and 0 for others.

        Parameters
        ----------
        on : "columns": the result takes the columns that this model was fitted on, which must be
            numeric. "literals": it takes ``literals_.transform(X, tree_)``, so it supports
            categories; also of a lone leaf, for which that is one column of zeros.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.to_sklearn().predict(X).tolist()
        ['even', 'odd', 'odd', 'even']
        """
        check_is_fitted(self)
        return exports.to_sklearn(self, on, *self._sklearn_values())

    def save(self, path: str | Path) -> None:
        """Write the trees of all sizes as JSON, without the data; ``mictree.load`` reads it.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(pathlib.Path(folder) / "model.json")
        ...     mt.load(pathlib.Path(folder) / "model.json").predict([[0, 1]]).tolist()
        ...
        ['odd']
        """
        from mictree.estimators import saved

        check_is_fitted(self)
        saved.save(self, Path(path))

    def to_text(self, size: int | None = None, *, merge: bool = True) -> str:
        """The tree as indented lines.

        Parameters
        ----------
        size : of the tree; by default the full one
        merge : leave out splits whose leaves all have one class, and say how many in a last line

        Examples
        --------
        >>> import mictree as mt
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = mt.TopDownClassifier(max_size=2).fit(X, y)
        >>> print(model.to_text())
        petal width (cm) > 0.8?
        ├─0─ label 0
        └─1─ petal width (cm) > 1.75?
             ├─0─ label 1
             └─1─ label 2
        """
        model = self._sized(size)
        return model.tree_.to_text(model._own_words.labels, merge=merge)

    def to_rules(self, size: int | None = None) -> Rules:
        """The tree as rules that a person would write, those that cover most rows first.

        Bounds on one column are merged, and so are leaves of one class under one test. Print the
        result, or use its ``frame``, ``to_sql()`` and ``to_python()``.

        Examples
        --------
        >>> import mictree as mt
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = mt.TopDownClassifier(max_size=2).fit(X, y)
        >>> print(model.to_rules())
        if 0.8 < petal width (cm) <= 1.75 then 1  (54 rows, 36% of all; 91% of them 1)
        if petal width (cm) <= 0.8 then 0  (50 rows, 33% of all; 100% of them 0)
        if petal width (cm) > 1.75 then 2  (46 rows, 31% of all; 98% of them 2)
        """
        from mictree.estimators.rules import make_rules

        splitting, tests = self._sized(size)._written()
        return make_rules(self._words(splitting), tests, self._rule_classes)

    def explain(self, row: Any, size: int | None = None) -> str:
        """The path of one row in words.

        Parameters
        ----------
        row : a mapping of columns to values, a frame of one row, a row of a pandas frame, or
            values in order
        size : of the tree; by default the full one

        Examples
        --------
        >>> import mictree as mt
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = mt.TopDownClassifier(max_size=2).fit(X, y)
        >>> print(model.explain(X.iloc[[60]]))
        1, because
          0.8 < petal width (cm) <= 1.75 (it is 1)
        The 54 training rows like this: 91% 1, 9% 2.
        """
        from mictree.estimators.rules import explain

        splitting, tests = self._sized(size)._written()
        return explain(self._words(splitting), tests, row)

    def _written(self) -> tuple[Splitting, Tests]:
        """The tree with its tests written out; its literals are numbers of these tests."""
        (splitting,), tests = self._write([self._splitting])
        return splitting, tests

    def _write(self, splittings: Sequence[Splitting]) -> tuple[list[Splitting], Tests]:
        """The same for several trees over one list of tests."""
        pairs = [
            list(zip(each.literals.tolist(), each.exact_thresholds, strict=True))
            for each in splittings
        ]
        used = sorted(
            {pair for each in pairs for pair in each},
            key=lambda pair: (pair[0], -math.inf if pair[1] is None else pair[1]),
        )
        number = {pair: place for place, pair in enumerate(used)}
        written = [
            replace(each, literals=np.array([number[pair] for pair in own], dtype=np.int64))
            for each, own in zip(splittings, pairs, strict=True)
        ]
        return written, self._write_tests(used)

    def _write_tests(self, used: Sequence[Pair]) -> Tests:
        return Tests(*write_out(self.literals_, used), hasattr(self, "feature_names_in_"))

    def to_frame(self, size: int | None = None) -> polars.DataFrame:
        """A polars frame with a row for each node, in the order of ``tree_``.

        Examples
        --------
        >>> import mictree as mt
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["even", "odd", "odd", "even"]
        >>> model = mt.TopDownClassifier(max_size=3).fit(X, y)
        >>> model.to_frame(size=1)["label"].to_list()
        ['even', 'even', 'even']
        """
        model = self._sized(size)
        return exports.to_frame(model._own_words, model.tree_)

    def to_dot(self, size: int | None = None) -> str:
        """The tree in Graphviz' language.

        Examples
        --------
        >>> import mictree as mt
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = mt.TopDownClassifier(max_size=2).fit(X, y)
        >>> print(model.to_dot(size=1))
        digraph tree {
          node [fontname="sans-serif"];
          0 [label="petal width (cm) > 0.8", shape=ellipse];
          0 -> 1 [label="0"];
          0 -> 2 [label="1"];
          1 [label="0", shape=box];
          2 [label="1", shape=box];
        }
        """
        model = self._sized(size)
        return exports.to_dot(model.tree_, model._own_words)

    def draw(
        self,
        ax: Axes | None = None,
        size: int | None = None,
        *,
        max_depth: int | None = None,
        row: Any = None,
        merge: bool = True,
    ) -> Axes:
        """Draw the tree with matplotlib: at every node class shares, rows and error.

        Of numbers, mean and standard deviation stand in place of shares and error, and leaves have
        the colour of their mean; of actions that have costs, the mean cost.

        Parameters
        ----------
        ax : where to draw; by default a new figure of a fitting size
        size : of the tree; by default the full one
        max_depth : show only the top; a node with hidden splits says how many
        row : highlight the path of a row, given as for ``explain``
        merge : draw splits whose leaves all have one class as one leaf with all their rows, and say
            how many below the tree

        Examples
        --------
        >>> import mictree as mt
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = mt.TopDownClassifier(max_size=2).fit(X, y)
        >>> axes = model.draw(max_depth=1)
        >>> axes.get_figure().savefig("tree.svg")  # doctest: +SKIP
        """
        from mictree.plotting.data_tree import draw_data_tree

        tree, cards, names, note = self._cards(size, max_depth, row, merge)
        return draw_data_tree(ax, tree, cards, names, note)

    def to_tikz(
        self,
        size: int | None = None,
        *,
        max_depth: int | None = None,
        row: Any = None,
        merge: bool = True,
    ) -> str:
        r"""The drawing as a ``tikzpicture`` for LaTeX, of the same size and colours.

        The document needs ``\usepackage{tikz}``, and ``\usepackage[T1]{fontenc}`` for names with
        accents; other alphabets need XeLaTeX or LuaLaTeX. ``\resizebox`` fits it to a column.

        Examples
        --------
        >>> import mictree as mt
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> model = mt.TopDownClassifier(max_size=2).fit(X, y)
        >>> print(model.to_tikz(size=0).splitlines()[-1])
        \end{tikzpicture}
        """
        from mictree.plotting.data_tree import data_tree_to_tikz

        tree, cards, names, note = self._cards(size, max_depth, row, merge)
        return data_tree_to_tikz(tree, cards, names, note)

    def _cards(
        self, size: int | None, max_depth: int | None, row: Any, merge: bool
    ) -> tuple[Tree, list[Card], Sequence[str], str]:
        """A tree or its top, what each node shows, a legend, and how many splits are merged."""
        from mictree.estimators.rules import walk

        model = self._sized(size)
        tree, words = model.tree_, model._own_words
        path = set() if row is None else set(walk(*model._written(), row).nodes)
        creation, full = exports.by_node(words.splitting, tree), tree.size
        if merge:
            tree, kept = tree.pruned(tree.agreed)
            creation = creation[kept]
        note = merged_note(full - tree.size)
        cards = exports.to_cards(words, tree, creation, path)
        if max_depth is not None and check_size(max_depth, "max_depth") < tree.depth:
            tree, cards = exports.fold(words, tree, cards, max_depth, creation)
        return tree, cards, words.legend, note

    def _repr_html_(self) -> str:  # type: ignore[override]
        """scikit-learn's diagram of the parameters and, once fitted, the drawn tree."""
        from sklearn.utils import estimator_html_repr

        from mictree._support.words import to_svg

        diagram = estimator_html_repr(self)
        return diagram + to_svg(self.draw()) if "_splitting" in vars(self) else diagram

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _choose_size(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """``max_size``; "auto" is replaced by the size that cross-validation chooses."""
        vars(self).pop("size_choice_", None)
        if not isinstance(self.max_size, str):  # type: ignore[attr-defined]  # subclasses have it
            return self.max_size  # type: ignore[attr-defined]
        from mictree.estimators.sizes import select_size

        self.size_choice_ = select_size(self, X, y, sample_weight=sample_weight)
        return self.size_choice_.size
