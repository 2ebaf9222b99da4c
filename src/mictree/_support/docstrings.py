"""Docstrings of classes that share their parameters."""

EXAMPLES = "    Examples\n"


def insert_shared(own: str, shared: str) -> str:
    """A docstring with shared sections before its own examples; the shared ones bring none."""
    lead, mark, examples = own.partition(EXAMPLES)
    sections = shared.partition(EXAMPLES)[0]
    return f"{lead.rstrip()}\n\n{sections.strip(chr(10)).rstrip()}\n\n{mark}{examples}".rstrip(" ")
