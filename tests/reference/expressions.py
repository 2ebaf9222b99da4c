"""The value of a Boolean expression, by cutting its text at the loosest operator."""

LOOSEST_FIRST = ("<->", "->", "|", "^", "&")


def value(text: str, assignment: dict[str, int]) -> int:
    """0 or 1. Operators are spelled ``~ & ^ | -> <->``; spaces do not count."""
    text = text.replace(" ", "")
    for operator in LOOSEST_FIRST:
        places = [at for at in top_level(text) if is_operator(text, at, operator)]
        if places:
            # the last place makes an operator associate to the left
            place = places[0] if operator == "->" else places[-1]
            left = value(text[:place], assignment)
            right = value(text[place + len(operator) :], assignment)
            return combine(operator, left, right)
    if text.startswith("~"):
        return 1 - value(text[1:], assignment)
    if text.startswith("("):
        return value(text[1:-1], assignment)
    return int(text) if text in ("0", "1") else assignment[text]


def top_level(text: str) -> list[int]:
    """The places outside of all parentheses."""
    return [at for at in range(len(text)) if text[:at].count("(") == text[:at].count(")")]


def is_operator(text: str, at: int, operator: str) -> bool:
    """Whether the operator stands there; ``->`` is also a part of ``<->``."""
    return text.startswith(operator, at) and not (operator == "->" and text[at - 1] == "<")


def combine(operator: str, left: int, right: int) -> int:
    table = {  # for (left, right) = 00, 01, 10, 11
        "&": (0, 0, 0, 1),
        "|": (0, 1, 1, 1),
        "^": (0, 1, 1, 0),
        "->": (1, 1, 0, 1),
        "<->": (1, 0, 0, 1),
    }
    return table[operator][2 * left + right]
