"""The command fit: grow a tree from a table of data."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from mictree._support.words import count_of
from mictree.cli.common import (
    check_drawing,
    print_json,
    print_parts,
    save,
    show_number,
    working,
)
from mictree.cli.options import (
    AsJson,
    Criterion,
    DataFile,
    Draw,
    Drop,
    MostSplits,
    MostThresholds,
    Rule,
    Target,
    Ties,
)
from mictree.growers.rules import RULES

if TYPE_CHECKING:
    import polars

READERS = {".csv": "read_csv", ".parquet": "read_parquet"}
MISSING_TEXTS = ["", "NA", "NaN", "nan", "null", "?"]


def fit(
    file: DataFile,
    target: Target,
    rule: Rule = "topdown",
    max_size: MostSplits = 20,
    size: Annotated[
        int | None,
        typer.Option(
            help="Size of the tree to show; default: the smallest size with the lowest "
            "held-out error.",
            show_default=False,
        ),
    ] = None,
    drop: Drop = [],  # noqa: B006  # typer copies defaults
    held_out: Annotated[
        float, typer.Option(help="Share of the rows to hold out for testing.")
    ] = 0.25,
    seed: Annotated[
        int, typer.Option(help="Random seed for the held-out rows and for --ties random.")
    ] = 0,
    criterion: Criterion = "entropy",
    ties: Ties = "last",
    min_samples_split: Annotated[
        int, typer.Option(help="Do not split leaves with fewer rows.")
    ] = 2,
    min_samples_leaf: Annotated[int, typer.Option(help="Do not make leaves with fewer rows.")] = 1,
    max_depth: Annotated[
        int | None, typer.Option(help="Largest number of tests on a path.", show_default=False)
    ] = None,
    max_thresholds: MostThresholds = None,
    as_json: AsJson = False,
    draw: Draw = None,
) -> None:
    """Grow a tree from data and test it on held-out rows.

    Prints the training error and the held-out error at every size, and one tree.

    \b
    Examples:
      mictree fit iris.csv --target species
      mictree fit loans.parquet --target default --rule bestfirst --max-size 50 --drop id
      mictree fit iris.csv --target species --size 3 --draw tree.svg
    """
    from mictree.estimators.greedy import CLASSIFIERS

    if rule not in RULES:
        raise ValueError(f"--rule must be one of {', '.join(RULES)}; got {rule!r}")
    if size is not None and not 0 <= size <= max_size:
        raise ValueError(f"--size must be from 0 to --max-size, {max_size}; got {size}")
    check_drawing(draw)
    X, y = read_table(file, target, drop)
    train, test = split_rows(len(y), held_out, seed)
    model = CLASSIFIERS[rule](
        max_size,
        criterion=criterion,
        ties=ties,
        random_state=seed,
        min_samples_split=min_samples_split,
        min_samples_leaf=min_samples_leaf,
        max_depth=max_depth,
        max_thresholds=max_thresholds,
    )
    with working("growing"):
        model.fit(X[train], y[train])
        errors = model.growth_.errors
        test_errors = 1 - model.staged_score(X[test], y[test])
    made = model.get_n_leaves() - 1
    shown = int(test_errors.argmin()) if size is None else min(size, made)
    tree = model.growth_.tree(shown)
    if as_json:
        print_json(
            {"file": str(file), "target": target, "rule": rule, "criterion": criterion,
             "ties": ties, "seed": seed},
            train_rows=len(train), held_out_rows=len(test),
            classes=[str(label) for label in model.classes_],
            train_errors=errors, held_out_errors=test_errors,
            size=tree.size, tree=json.loads(tree.to_json()),
        )  # fmt: skip
    else:
        table = Table("size", "split on", "training error", "held-out error")
        splits = ["", *(step.variable for step in model.growth_.steps)]
        for number in range(made + 1):
            cells = (show_number(errors[number]), show_number(test_errors[number]))
            table.add_row(str(number), splits[number], *cells)
        print_parts(
            f"{count_of(len(train), 'row')} to grow on, {len(test):,} held out, "
            f"{count_of(len(model.literals_), 'literal')}",
            table,
            model.to_text(shown),
            f"size {tree.size}, training error {show_number(errors[shown])}, "
            f"held-out error {show_number(test_errors[shown])}"
            + ("" if size in (None, shown) else f"; growth ended before --size {size}"),
        )
    if draw is not None:
        save(draw, model.draw(size=shown))


def read_table(file: Path, target: str, drop: list[str]) -> tuple["polars.DataFrame", Any]:
    """Read a file into the columns to learn from and the labels."""
    import polars

    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise ValueError(f"FILE must end in .csv or .parquet; got {str(file)!r}")
    if not file.is_file():
        raise ValueError(f"FILE must exist; there is no {str(file)!r}")
    options: dict[str, Any] = {}
    if reader == "read_csv":
        options = {"null_values": MISSING_TEXTS, "infer_schema_length": None}
    try:
        frame = getattr(polars, reader)(file, **options)
        if reader == "read_csv":
            _check_header(polars.read_csv(file, has_header=False, n_rows=1, infer_schema=False))
    except polars.exceptions.PolarsError as error:
        raise ValueError(f"{file} cannot be read: {str(error).splitlines()[0]}") from None
    for name in [target, *drop]:
        if name not in frame.columns:
            known = ", ".join(frame.columns[:10])
            raise ValueError(f"the file must have a column {name!r}; it has {known}")
    if not frame.height:
        raise ValueError("the file must have a row beside its header; it has none")
    missing = frame[target].null_count()
    if missing:
        rows = count_of(missing, "row")
        raise ValueError(f"every row must have a label; {target} is missing in {rows}")
    kind = frame.schema[target]
    if kind.is_nested() or kind.is_decimal():
        raise ValueError(f"labels must be numbers, texts or booleans; {target} has {kind}")
    features = frame.drop([target, *drop])
    if not features.width:
        raise ValueError("the file must have a column beside the target; it has none")
    return features, frame[target].to_numpy()


def _check_header(frame: "polars.DataFrame") -> None:
    """Refuse duplicate names: a copy of the target would give the answer away."""
    names = frame.row(0)
    for name in names:
        if name is not None and names.count(name) > 1:
            raise ValueError(f"columns must have different names; {name!r} occurs twice")


def split_rows(rows: int, held_out: float, seed: int) -> tuple[Any, Any]:
    """Row numbers to grow on and to test on; the same seed gives the same rows."""
    import numpy as np

    if not 0 < held_out < 1:
        raise ValueError(f"--held-out must lie strictly between 0 and 1; got {held_out}")
    if seed < 0:
        raise ValueError(f"--seed must be at least 0; got {seed}")
    count = round(rows * held_out)
    if count < 1 or rows - count < 1:
        found = count_of(rows, "row")
        raise ValueError(f"both parts of the rows must have at least 1; the file has {found}")
    shuffled = np.random.default_rng(seed).permutation(rows)
    return np.sort(shuffled[count:]), np.sort(shuffled[:count])
