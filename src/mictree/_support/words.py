"""Numbers in sentences."""


def count_of(number: int, what: str, plural: str = "s") -> str:
    """A number of things: 1 row, 2,000 rows."""
    return f"{number:,} {what}{'' if number == 1 else plural}"
