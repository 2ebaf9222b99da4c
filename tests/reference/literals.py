"""What columns of data may be tested for. A row is a list of numbers, texts or None (missing)."""

from itertools import pairwise


def literals(rows, names):
    """(text, test) for each literal, column by column."""
    found = []
    for column, name in enumerate(names):
        known = {row[column] for row in rows} - {None}
        values = sorted(known)
        missing = any(row[column] is None for row in rows)
        if values and isinstance(values[0], str):
            shown = values if missing and len(values) > 1 else [] if missing else values
            shown = values[1:] if len(values) <= 2 and not missing else shown
            found += [(f"{name} is {v}", lambda row, c=column, v=v: row[c] == v) for v in shown]
        elif set(values) == {0, 1}:
            found.append((name, lambda row, c=column: row[c] == 1))
        else:
            for t in [(a + b) / 2 for a, b in pairwise(values)]:
                test = lambda row, c=column, t=t: row[c] is not None and row[c] > t  # noqa: E731
                found.append((f"{name} > {t:g}", test))
        if missing and values:
            found.append((f"{name} is missing", lambda row, c=column: row[c] is None))
    return found
