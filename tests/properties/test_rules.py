"""Rules, SQL and Python text give the labels that predict gives, also to missing values."""

import datetime as dt
import re
import sqlite3
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import mictree as mt
from mictree.estimators.saved import from_json, to_json
from tests.properties.test_saved_models import tables


def as_text(value):
    """Dates and times as SQLite has them."""
    return str(value) if isinstance(value, dt.date | dt.time) else value


def by_sql(sql, frame):
    """The labels that a database computes."""
    return [label for (label,) in query(sql, frame)]


def query(sql, frame):
    database = sqlite3.connect(":memory:")
    columns = ", ".join(f'"{name}"' for name in frame.columns)
    database.execute(f"CREATE TABLE data ({columns})")
    marks = ", ".join("?" * frame.width)
    rows = [[as_text(value) for value in row] for row in frame.rows()]
    database.executemany(f"INSERT INTO data VALUES ({marks})", rows)
    return database.execute(f"SELECT {sql} FROM data")


def by_python(text, frame, spelling=None):
    names = {}
    exec(text, names)
    rows = frame.rows(named=True)
    return [
        names["predict"]({k: spelling if v is None else v for k, v in row.items()}) for row in rows
    ]


def by_rules(rules, frame):
    """Each row's labels by the rules whose conditions hold, read as Python."""
    return [
        [
            rule.label
            for rule in rules
            if all(
                eval(each.in_python("value"), {"value": row[each.column.name]})
                for each in rule.conditions
            )
        ]
        for row in frame.rows(named=True)
    ]


@settings(max_examples=60)
@given(tables(), tables(), st.integers(0, 7))
def test_all_forms_agree_with_predict(table, other, size):
    (X, y), (new, _) = table, other
    model = mt.TopDownClassifier(size).fit(X, y)
    rules = model.to_rules()
    for frame in (X, new):
        expected = model.predict(frame).tolist()
        assert by_rules(rules, frame) == [[label] for label in expected]  # exactly one applies
        assert by_python(rules.to_python(), frame) == expected
        assert by_python(rules.to_python(), frame, float("nan")) == expected
        assert by_sql(rules.to_sql(), frame) == expected
    assert from_json(to_json(model)).to_rules() == rules


@settings(max_examples=60)
@given(tables(), tables(), st.integers(0, 7))
def test_code_for_probabilities_agrees_with_predict_proba(table, other, size):
    """To the last bit, as both are quotients of the same numbers."""
    (X, y), (new, _) = table, other
    model = mt.TopDownClassifier(size).fit(X, y)
    rules = model.to_rules()
    names = {}
    exec(rules.to_python(proba=True), names)
    for frame in (X, new):
        expected = model.predict_proba(frame).tolist()
        found = query(rules.to_sql(proba=True), frame)
        assert [name for name, *_ in found.description] == [
            f"probability of {label}" for label in model.classes_
        ]
        assert [list(row) for row in found] == expected
        rows = [names["predict_proba"](row) for row in frame.rows(named=True)]
        assert all(list(row) == model.classes_.tolist() for row in rows)
        assert [list(row.values()) for row in rows] == expected
    loaded = from_json(to_json(model)).to_rules()
    assert loaded.to_sql(proba=True) == rules.to_sql(proba=True)


def test_probabilities_of_leaves_that_agree_stay_apart():
    """The labels need no rule for b, but probabilities do."""
    X = pl.DataFrame({"a": [0, 0, 1, 1] * 3 + [1], "b": [0, 1, 0, 1] * 3 + [1]})
    model = mt.TopDownClassifier(3).fit(X, ["it's", "it's", 'a"b', 'a"b'] * 3 + ["it's"])
    rules = model.to_rules()
    assert len(rules) == 2
    assert rules.to_sql().count("WHEN") == 1
    assert rules.to_sql(proba=True).count("WHEN") == 2 * model.tree_.size > 2
    found = query(rules.to_sql(proba=True), X)
    named = [name for name, *_ in found.description]
    assert named == ['probability of a"b', "probability of it's"]
    lone = mt.TopDownClassifier(0).fit(X, [0, 1] * 6 + [1]).to_rules()
    assert lone.to_sql(proba=True).endswith(' AS "probability of 1"')
    assert lone.to_python("shares", proba=True).startswith("def shares(row):\n    return {0: 0.4")
    with pytest.raises(ValueError, match="name must be an identifier; got 'a b'"):
        lone.to_python("a b", proba=True)


@settings(max_examples=40)
@given(tables(), st.integers(0, 7))
def test_counts_and_order(table, size):
    X, y = table
    model = mt.TopDownClassifier(size).fit(X, y)
    rules = model.to_rules()
    predicted = model.predict(X)
    assert sum(rule.rows for rule in rules) == len(y)
    assert sum(rule.coverage for rule in rules) == pytest.approx(1)
    assert [rule.rows for rule in rules] == sorted((rule.rows for rule in rules), reverse=True)
    for rule in rules:
        columns = [each.column for each in rule.conditions]
        assert len(set(columns)) == len(columns)
    right = sum(rule.rows * rule.precision for rule in rules)
    assert right == pytest.approx((predicted == y).sum())
    assert len(rules) <= model.get_n_leaves()
    lines = str(rules).splitlines()
    assert len(set(lines)) == len(lines) == len(rules)
    assert rules.frame.height == len(rules)


@settings(max_examples=40)
@given(tables(), st.integers(0, 5), st.data())
def test_an_explanation_is_the_path_of_the_row(table, size, data):
    X, y = table
    model = mt.TopDownClassifier(size).fit(X, y)
    number = data.draw(st.integers(0, len(y) - 1))
    row = X.rows(named=True)[number]
    text = model.explain(row)
    assert text.startswith(f"{model.predict(X)[number]}, ")
    assert text == model.explain(X[number]) == from_json(to_json(model)).explain(row)
    leaf = model.apply(X)[number]
    count = int((model.apply(X) == leaf).sum())
    assert f"The {count} training row" in text


AGES = [20, 30, 40, 50, 60, 70, None, 45] * 3
COLORS = ["red", "blue", "green", None] * 6


def test_words():
    X = pl.DataFrame({"radius": [1.0, 2, 3, 4, 5, 6]})
    model = mt.TopDownClassifier(5).fit(X, ["a", "a", "b", "b", "c", "c"])
    assert str(model.to_rules()) == (
        "if radius <= 2.5 then a  (2 rows, 33% of all; 100% of them a)\n"
        "if 2.5 < radius <= 4.5 then b  (2 rows, 33% of all; 100% of them b)\n"
        "if radius > 4.5 then c  (2 rows, 33% of all; 100% of them c)"
    )
    assert model.explain({"radius": 3}) == (
        "b, because\n  2.5 < radius <= 4.5 (it is 3)\nThe 2 training rows like this: 100% b."
    )
    assert model.explain({"radius": None}).startswith("a, because\n  radius <= 2.5 (it is missing)")


def test_words_of_weighted_shares():
    """Raw counts stand beside weighted shares, which are not those of the counted rows."""
    X, y = pl.DataFrame({"x": [1.0] * 6 + [2.0] * 4}), ["a"] * 6 + ["a"] + ["b"] * 3
    weighted = mt.TopDownClassifier(1, class_weight={"a": 1, "b": 3}).fit(X, y)
    by_rows = mt.TopDownClassifier(1).fit(X, y, sample_weight=[1] * 7 + [3] * 3)
    for model in (weighted, by_rows, from_json(to_json(weighted))):
        rules = model.to_rules()
        assert str(rules) == (
            "if x > 1.5 then b  (4 rows; weighted: 62% of all, 90% b)\n"
            "if x <= 1.5 then a  (6 rows; weighted: 38% of all, 100% a)"
        )
        assert model.explain({"x": 2}).endswith(
            "The 4 training rows like this; weighted: 90% b, 10% a."
        )
        assert "<th>weighted coverage</th>" in rules._repr_html_()
        assert "4 rows (weighted: 62\\%)" in model.to_tikz()
        assert "weighted error 10.0" in model.to_tikz()


@pytest.mark.parametrize("weight", [1, 0.1, 7, 1e-300])
def test_words_of_equal_weights(weight):
    X, y = pl.DataFrame({"x": [1.0] * 6 + [2.0] * 4}), ["a"] * 6 + ["a"] + ["b"] * 3
    plain, equal = (
        mt.TopDownClassifier(1).fit(X, y, sample_weight=each) for each in (None, [weight] * 10)
    )
    assert str(equal.to_rules()) == str(plain.to_rules())
    assert equal.explain({"x": 2}) == plain.explain({"x": 2})
    assert equal.to_tikz() == plain.to_tikz()
    assert "weighted" not in plain.to_tikz() + plain.to_rules()._repr_html_()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, unique=True))
@example([1_000_000.25, 1_000_000.5])
@example([123_456_792.0, 123_456_793.0])
@example([-0.0, 5e-324])
def test_a_reason_shows_the_very_value(values):
    """A value in six digits may be on the other side of the threshold."""
    X = pl.DataFrame({"a": values})
    model = mt.TopDownClassifier().fit(X, [str(number % 2) for number in range(len(values))])
    for value in values:
        shown = model.explain({"a": value}).partition("(it is ")[2].partition(")")[0]
        assert float(shown) == value


def test_a_value_of_32_bits_has_no_digits_of_64():
    X = np.array([[0.1], [0.2], [0.3], [16_777_215.0]], dtype=np.float32)
    model = mt.TopDownClassifier().fit(X, [0, 1, 0, 1])
    shown = [model.explain([row]).partition("(it is ")[2].partition(")")[0] for row in X]
    assert shown == ["0.1", "0.2", "0.3", "16777215"]


def test_leaves_of_one_class_are_one_rule():
    X = pl.DataFrame({"a": [0, 0, 1, 1] * 3 + [1], "b": [0, 1, 0, 1] * 3 + [1]})
    model = mt.TopDownClassifier(3).fit(X, [0, 0, 1, 1] * 3 + [0])
    assert model.get_n_leaves() > 2
    assert [str(rule) for rule in model.to_rules()] == ["if a then 1", "if not a then 0"]


def test_categories_in_words():
    X = pl.DataFrame({"c": ["red", "blue", "green", None, "pink", "grey"] * 2})
    model = mt.TopDownClassifier(6).fit(X, ["r", "b", "g", "m", "o", "o"] * 2)
    shown = {str(rule) for rule in model.to_rules()}
    assert {"if c is red then r", "if c is missing then m"} <= shown
    assert any(text.startswith("if c is none of ") for text in shown)


def test_code_with_quotes_in_names_and_texts():
    X = pl.DataFrame({'it\'s "x"': ["o'k", 'n"o', "\n"] * 4, "y\\": range(12)})
    labels = np.array(["a'b", 'c"d', "e\nf"] * 4)
    model = mt.TopDownClassifier(6).fit(X, labels)
    rules = model.to_rules()
    assert by_python(rules.to_python(), X) == labels.tolist()
    database = sqlite3.connect(":memory:")
    database.execute('CREATE TABLE data ("it\'s ""x""", "y\\")')
    database.executemany("INSERT INTO data VALUES (?, ?)", X.rows())
    found = database.execute(f"SELECT {rules.to_sql()} FROM data")
    assert [label for (label,) in found] == labels.tolist()
    with pytest.raises(ValueError, match="name must be an identifier"):
        rules.to_python("f()")


def test_matrices_and_bad_rows():
    X = np.array([[0.5, 1], [1.5, 1], [2.5, 0], [3.5, 0]])
    model = mt.TopDownClassifier(2).fit(X, [0, 0, 1, 1])
    assert model.explain(X[2]).startswith("1, because")
    assert model.explain([[0.5, 1]]).startswith("0, because")
    assert model.explain({"x0": 3, "x1": 0}).startswith("1, because")
    with pytest.raises(ValueError, match="row must be one row; got 4 rows"):
        model.explain(X)
    with pytest.raises(ValueError, match="row must be one row; got 2 rows"):
        model.draw(row=X[:2])
    with pytest.raises(ValueError, match="it has no 'x"):
        model.explain({})


ZONE = dt.timezone(dt.timedelta(hours=5, minutes=30))
MOMENTS = st.datetimes(dt.datetime(1901, 1, 1), dt.datetime(2100, 1, 1))
NEAR = st.integers(0, 40).map(
    lambda number: dt.datetime(1969, 12, 31, 23, 59, 59) + dt.timedelta(microseconds=number)
)
SPANS = {
    "datetime": (MOMENTS | NEAR, pl.Datetime("us")),
    "aware": (
        (MOMENTS | NEAR).map(lambda each: each.replace(tzinfo=dt.UTC)), pl.Datetime("us", "UTC"),
    ),
    "time": (st.times(), pl.Time),
    "duration": (st.timedeltas(dt.timedelta(-9), dt.timedelta(9)), pl.Duration("us")),
    "date": (st.dates(dt.date(1950, 1, 1), dt.date(1990, 1, 1)), pl.Date),
}  # fmt: skip


@settings(max_examples=60)
@given(st.sampled_from(sorted(SPANS)), st.data())
def test_code_for_times_agrees_with_predict(kind, data):
    cells, dtype = SPANS[kind]
    column = data.draw(st.lists(st.none() | cells, min_size=2, max_size=12))
    X = pl.DataFrame({"when": pl.Series(column, dtype=dtype)})
    y = data.draw(st.lists(st.sampled_from("ab"), min_size=len(column), max_size=len(column)))
    other = data.draw(st.lists(st.none() | cells, min_size=1, max_size=12))
    new = pl.concat([X, pl.DataFrame({"when": pl.Series(other, dtype=dtype)})])
    model = mt.TopDownClassifier(4).fit(X, y)
    rules = model.to_rules()
    expected = model.predict(new).tolist()
    assert by_python(rules.to_python(), new) == expected
    assert by_rules(rules, new) == [[label] for label in expected]
    if kind == "aware":  # the same moments on another clock
        rows = [None if each is None else each.astimezone(ZONE) for each in new["when"].to_list()]
        names = {}
        exec(rules.to_python(), names)
        assert [names["predict"]({"when": each}) for each in rows] == expected
    if kind in ("datetime", "time", "date"):
        assert by_sql(rules.to_sql(), new) == expected


def test_sql_has_no_durations():
    X = pl.DataFrame({"wait": [dt.timedelta(1), dt.timedelta(2)] * 3})
    rules = mt.TopDownClassifier(1).fit(X, [0, 1] * 3).to_rules()
    with pytest.raises(ValueError, match="no literal for durations that all databases read; wait"):
        rules.to_sql()


def test_a_date_and_an_ordered_category_as_code():
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 4)] * 4
    sizes = pl.Series(list("SSMMLLSM"), dtype=pl.Enum(["S", "M", "L"]))
    X = pl.DataFrame({"day": days, "size": sizes})
    by_day = mt.TopDownClassifier(1).fit(X.select("day"), ["old", "new"] * 4).to_rules()
    assert "\"day\" > '2024-01-02'" in by_day.to_sql() or "<= '2024-01-02'" in by_day.to_sql()
    small = ["yes", "yes", "no", "no", "no", "no", "yes", "no"]
    by_size = mt.TopDownClassifier(1).fit(X.select("size"), small).to_rules()
    assert by_size.to_sql() == ("CASE\n  WHEN \"size\" IN ('M', 'L') THEN 'no'\n  ELSE 'yes'\nEND")


def test_an_ordered_category_at_a_bound_as_code():
    """Halfway between the first and the third level lies the second, which no training row has."""
    sizes = pl.Enum(["S", "M", "L", "XL"])
    X = pl.DataFrame({"size": pl.Series(["S", "L"] * 3, dtype=sizes)})
    model = mt.TopDownClassifier(1).fit(X, ["small", "large"] * 3)
    new = pl.DataFrame({"size": pl.Series(["S", "M", "L", "XL"], dtype=sizes)})
    expected = ["small", "small", "large", "large"]
    rules = model.to_rules()
    assert model.predict(new).tolist() == expected
    assert by_python(rules.to_python(), new) == expected
    assert by_sql(rules.to_sql(), new) == expected
    assert [rule.conditions[0].in_sql() for rule in rules] == [
        "(\"size\" IN ('S', 'M') OR \"size\" IS NULL)",
        "\"size\" IN ('L', 'XL')",
    ]


def test_brackets_around_or():
    X = pl.DataFrame({"age": [20, 30, 40, 50, None, None] * 4, "red": [0, 1, 1] * 8})
    y = [
        "old" if age is not None and age > 35 else "red" if red else "young"
        for age, red in X.rows()
    ]
    rules = mt.TopDownClassifier(2).fit(X, y).to_rules()
    assert str(rules[-1]).startswith("if (age <= 35 or missing) and ")
    alone = mt.TopDownClassifier(1).fit(
        X.select("age"), ["no" if a is None or a < 35 else "yes" for a in X["age"]]
    )
    assert "if age <= 35 or missing then no" in str(alone.to_rules())


def test_the_clock_of_another_zone():
    hours = [dt.datetime(2024, 1, 1, hour, tzinfo=dt.UTC) for hour in (0, 1)]
    X = pl.DataFrame({"when": pl.Series(hours * 3, dtype=pl.Datetime("us", "UTC"))})
    text = mt.TopDownClassifier(1).fit(X, ["a", "b"] * 3).to_rules().to_python()
    names = {}
    exec(text, names)
    assert [names["predict"]({"when": hour.astimezone(ZONE)}) for hour in hours] == ["a", "b"]


def test_neighbouring_microseconds():
    moments = [dt.datetime(2024, 1, 1, 0, 0, 0, number) for number in (0, 1)]
    X = pl.DataFrame({"when": pl.Series(moments * 3, dtype=pl.Datetime("us"))})
    rules = mt.TopDownClassifier(1).fit(X, ["a", "b"] * 3).to_rules()
    assert by_python(rules.to_python(), X) == ["a", "b"] * 3
    assert by_sql(rules.to_sql(), X) == ["a", "b"] * 3


UNITS = {"ns": 1, "us": 1000, "ms": 10**6, "s": 10**9}
BASES = [
    "1970-01-01",
    "1969-12-31 23:59:59",
    "1971-02-03",
    "2024-03-31 00:59:59",
    "1700-01-01",
    "2261-01-01",
]
KINDS = {"datetime": "M8", "instant": "M8", "duration": "m8", "time": "m8"}


@st.composite
def moments(draw):
    """Nanoseconds that a unit holds, near one of some moments, often a few units apart."""
    kind, unit = draw(st.sampled_from(sorted(KINDS))), draw(st.sampled_from(sorted(UNITS)))
    unit = "ns" if kind == "time" else unit  # polars has no other
    base = int(np.datetime64(draw(st.sampled_from(BASES)), "ns").astype(np.int64))
    base = {"time": 43_200 * 10**9, "duration": draw(st.sampled_from([0, -5000, base]))}.get(
        kind, base
    )
    step = UNITS[unit] * draw(st.sampled_from([1, 1, 7, 300, 1000, 86_400]))
    places = draw(st.lists(st.integers(-9, 9), min_size=2, max_size=8))
    ticks = [base // UNITS[unit] * UNITS[unit] + step * place for place in places]
    return kind, unit, [tick % (86_400 * 10**9) if kind == "time" else tick for tick in ticks]


def timed_frame(kind, unit, ticks, made_by):
    """A frame of one column; the pandas column of times with a zone has one of its own."""
    if kind == "time":
        return pl.DataFrame({"when": pl.Series(ticks, dtype=pl.Int64).cast(pl.Time)})
    cells = (
        np.array(ticks, dtype=np.int64).view(f"{KINDS[kind]}[ns]").astype(f"{KINDS[kind]}[{unit}]")
    )
    if made_by == "polars" and unit != "s":
        series = pl.Series(cells)
        return pl.DataFrame(
            {"when": series.dt.replace_time_zone("UTC") if kind == "instant" else series}
        )
    column = pd.Series(cells)
    return pd.DataFrame(
        {
            "when": column.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
            if kind == "instant"
            else column
        }
    )


def around(model, unit, ticks):
    """The ticks, and those of the unit around every threshold, to the nanosecond if it has them."""
    length = UNITS[unit]
    near = [
        int(1000 * Fraction(each)) // length for each in model._splitting.thresholds if each == each
    ]
    steps = [*range(-3, 4), *range(-1100, 1200, 37)] if unit == "ns" else range(-3, 4)
    return sorted({*ticks, *(length * (place + step) for place in near for step in steps)})


def iso(kind, tick):
    """A time as a database without a type for it would hold it: no zeros at the end."""
    if kind == "time":
        return str(np.datetime64(tick, "ns"))[11:].removesuffix("000").removesuffix(".000000")
    return str(pd.Timestamp(tick, tz="UTC" if kind == "instant" else None))


def fit_or_reject(size, X, y):
    """Far from 1970, nanoseconds that are one float are an error."""
    try:
        return mt.TopDownClassifier(size).fit(X, y)
    except ValueError as error:
        assume("must differ as 64-bit floats" not in str(error))
        raise


@settings(max_examples=150, deadline=None)
@given(moments(), st.sampled_from(["pandas", "polars"]), st.data())
def test_code_for_nanoseconds_agrees_with_predict(case, made_by, data):
    """Around every threshold; Python code gets pandas' types, and refuses its own or is right."""
    kind, unit, ticks = case
    y = data.draw(st.lists(st.sampled_from("ab"), min_size=len(ticks), max_size=len(ticks)))
    X = timed_frame(kind, unit, ticks, made_by)
    model = fit_or_reject(3, X, y)
    new = [
        tick for tick in around(model, unit, ticks) if kind != "time" or 0 <= tick < 86_400 * 10**9
    ]
    expected = model.predict(timed_frame(kind, unit, new, made_by)).tolist()
    loaded = from_json(to_json(model))
    assert loaded.predict(timed_frame(kind, unit, new, made_by)).tolist() == expected
    rules = model.to_rules()
    assert loaded.to_rules() == rules
    if kind != "duration":
        rows = pl.DataFrame({"when": [iso(kind, tick) for tick in new]})
        assert by_sql(rules.to_sql(), rows) == expected
    cells = {
        "datetime": lambda tick: pd.Timestamp(tick),
        "instant": lambda tick: pd.Timestamp(tick, tz="UTC").tz_convert("Europe/Berlin"),
        "duration": lambda tick: pd.Timedelta(tick),
    }
    tested = [each for rule in rules[:-1] for each in rule.conditions]
    bounds = [bound.value for each in tested for bound in (each.low, each.high) if bound]
    fine = any(bound % 1 for bound in bounds)
    if kind == "time" and fine:
        with pytest.raises(ValueError, match="have microseconds; when is tested for nanoseconds: "):
            rules.to_python()
    if kind == "time":
        return
    assert fine == ("has no nanoseconds" in rules.to_python())
    names = {}
    exec(rules.to_python(), names)
    assert [names["predict"]({"when": cells[kind](tick)}) for tick in new] == expected
    for tick, label in zip(new, expected, strict=True):
        if tick % 1000 == 0 and not fine:
            plain = cells[kind](tick)
            plain = plain.to_pytimedelta() if kind == "duration" else plain.to_pydatetime()
            assert names["predict"]({"when": plain}) == label


def test_python_code_with_nanoseconds_refuses_types_without():
    for kind, plain in (("M8", dt.datetime(2024, 1, 1)), ("m8", dt.timedelta(1))):
        X = pd.DataFrame({"when": np.array([0, 300, 700, 900], dtype=f"{kind}[ns]")})
        names = {}
        exec(mt.TopDownClassifier(1).fit(X, ["a", "a", "b", "b"]).to_rules().to_python(), names)
        with pytest.raises((ValueError, AttributeError), match=r"nanoseconds|timespec"):
            names["predict"]({"when": plain})


def read_text(kind, text):
    """A threshold as it is shown, in nanoseconds."""
    text = text.removesuffix(" UTC")
    if kind in ("datetime", "instant"):
        return int(np.datetime64(text.replace(" ", "T"), "ns").astype(np.int64))
    days, clock = re.fullmatch(r"(?:(-?\d+) days? ?)?([\d:.]*)", text).groups()
    whole = int(np.datetime64(f"1970-01-01T{clock or '00:00'}", "ns").astype(np.int64))
    return whole + 86_400 * 10**9 * int(days or 0)


@settings(max_examples=100, deadline=None)
@given(moments(), st.sampled_from(["pandas", "polars"]), st.data())
def test_texts_of_times_tell_the_training_rows_apart(case, made_by, data):
    """In the tree, in a rule and in a reason, which shows the row's very time."""
    kind, unit, ticks = case
    cut = data.draw(st.sampled_from(sorted(ticks)))
    assume(cut < max(ticks))
    X = timed_frame(kind, unit, ticks, made_by)
    model = fit_or_reject(1, X, ["b" if tick > cut else "a" for tick in ticks])
    shown = model.to_text().partition("?")[0].removeprefix("when > ")
    assert [tick > read_text(kind, shown) for tick in ticks] == [tick > cut for tick in ticks]
    assert f"if when > {shown} then b" in str(model.to_rules())
    assert model.literals_.names[0].startswith("when > ")
    for number, tick in enumerate(ticks):
        row = X[number : number + 1]
        reason = model.explain(row)
        assert reason.startswith("b" if tick > cut else "a")
        if tick % 1000:
            value = reason.partition("(it is ")[2].partition(")")[0]
            assert read_text(kind, value) == tick
            if made_by == "pandas" and kind != "time":
                assert model.explain(X.iloc[number]) == reason
                assert model.explain({"when": X["when"].iloc[number]}) == reason


def test_a_row_of_numpys_times():
    """In nanoseconds polars would take them for microseconds."""
    X = pd.DataFrame({"when": np.array([0, 300, 700, 900], dtype="M8[ns]")})
    model = mt.TopDownClassifier(1).fit(X, ["a", "a", "b", "b"])
    for unit in ("ns", "us", "s", "D"):
        moment = np.datetime64("1970-01-02", unit)
        assert model.explain({"when": moment}).startswith("b, because")
    assert model.explain({"when": np.datetime64(300, "ns")}).startswith("a, because")
    assert "(it is 1970-01-01 00:00:00.000000700)" in model.explain({"when": X["when"].iloc[2]})


def test_rows_of_times_among_numbers_and_missing_times():
    """NumPy has no common type for times and numbers; polars cannot read pandas' NaT and NA."""
    when = pd.to_datetime(pd.Series(["2020-01-01", "2021-01-01", None, "2022-01-01"]))
    X = pd.DataFrame({"when": when, "n": [1, 2, 3, 4]})
    model = mt.TopDownClassifier(1).fit(X, ["a", "b", "a", "b"])
    other = pl.from_pandas(X)
    for number, label in enumerate("abab"):
        reason = model.explain(other[number])
        assert reason.startswith(label)
        assert model.explain(X.iloc[[number]]) == model.explain(X.iloc[number]) == reason
        model.to_tikz(row=X.iloc[number])
    for missing in (pd.NaT, pd.NA, np.datetime64("NaT"), None):
        assert "(it is missing)" in model.explain({"when": missing})


def test_python_code_in_an_hour_that_the_clock_repeats():
    """At 01:00 UTC on 31 March clocks in Berlin jump by an hour."""
    hours = pd.date_range("2024-03-30 20:00", periods=12, freq="30min", tz="UTC")
    X = pd.DataFrame({"when": hours.tz_convert("Europe/Berlin")})
    model = mt.TopDownClassifier(1).fit(X, ["a"] * 9 + ["b"] * 3)
    names = {}
    exec(model.to_rules().to_python(), names)
    near = pd.date_range("2024-03-30 22:00", periods=40, freq="10min", tz="UTC").tz_convert(
        "Europe/Berlin"
    )
    expected = model.predict(pd.DataFrame({"when": near})).tolist()
    assert [names["predict"]({"when": moment}) for moment in near] == expected
    assert [names["predict"]({"when": moment.to_pydatetime()}) for moment in near] == expected


def test_explain_finds_the_values_of_a_pandas_row_by_name():
    X = pd.DataFrame({"a": [1, 2, 3, 4] * 20, "b": [10, 20, 30, 40, 50] * 16})
    X["day"] = pd.Timestamp("2024-03-01")
    model = mt.TopDownClassifier(max_size=3).fit(X, (X["a"] > 2) & (X["b"] > 20))
    row = {"b": 30, "a": 4}
    assert model.explain(pd.Series(row)) == model.explain(row)
    for number in range(20):
        assert model.explain(X.iloc[number]) == model.explain(X.iloc[[number]])
    by_position = mt.TopDownClassifier(max_size=3).fit(X[["a", "b"]].to_numpy(), X["a"] > 2)
    assert by_position.explain(pd.Series([4, 30])) == by_position.explain([4, 30])
