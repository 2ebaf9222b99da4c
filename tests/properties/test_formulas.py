"""Formulas: what is printed is read back, and nothing a user types does more than a ValueError."""

import sys
from collections import deque

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mictree as mt
from mictree.functions import read_once
from mictree.functions.read_once import as_formula
from tests.strategies import FormulaCase, all_inputs, formula_cases, formula_text, formulas
from tests.strategies import identifiers as any_identifiers

SPELLINGS = {"&": ("&", "and", "∧"), "|": ("|", "or", "∨"), "~": ("~", "not", "¬")}
EXPECTED = mt.ReadOnceDNF(
    (
        mt.Term((mt.Literal("a"), mt.Literal("b", positive=False))),
        mt.Term((mt.Literal("c"),)),
    )
)


def built(formula: tuple) -> mt.ReadOnceDNF:
    """Without the parser."""
    return mt.ReadOnceDNF(
        tuple(mt.Term(tuple(mt.Literal(n, positive) for n, positive in term)) for term in formula)
    )


@given(formulas())
def test_parsing_reads_what_was_written(formula):
    reference = built(formula)
    assert mt.ReadOnceDNF.parse(formula_text(formula)) == reference
    assert mt.ReadOnceDNF.parse(str(reference)) == reference
    assert str(reference) == formula_text(formula)


@given(st.lists(any_identifiers(), min_size=1, max_size=4, unique=True))
@example(["e\u0301"])  # e and a combining accent: "e\u0301".isidentifier()
@example(["Ünïcode_1", "变量", "_", "__class__"])
def test_any_identifier_is_a_name(names):
    reference = built(tuple(((name, True),) for name in names))
    assert mt.ReadOnceDNF.parse(str(reference)) == reference


@given(st.text(max_size=40))
@example("\ud800")
@example("a & (b")
@example("¬" * 50)
def test_text_gives_a_formula_or_a_value_error(text):
    check_total(text)


@given(st.text("ab1_~&|¬∧∨() \t\n", max_size=30))
def test_almost_formulas_give_a_formula_or_a_value_error(text):
    check_total(text)


@given(st.lists(st.sampled_from(["a", "b", "c", "(", ")", "not", "and", "or", "~", "&"])))
def test_tokens_in_any_order_give_a_formula_or_a_value_error(tokens):
    check_total(" ".join(tokens))


def check_total(text: str) -> None:
    try:
        formula = mt.ReadOnceDNF.parse(text)
    except ValueError:
        return
    assert mt.ReadOnceDNF.parse(str(formula)) == formula


@given(formula_cases(max_irrelevant=2))
def test_evaluation_agrees_with_brute_force(case: FormulaCase):
    names = tuple(case.biases)
    computed = mt.ReadOnceDNF.parse(case.text).evaluate(all_inputs(len(names)), names)
    np.testing.assert_array_equal(computed, case.table.labels)
    assert computed.dtype == np.uint8


@pytest.mark.parametrize("conjunction", SPELLINGS["&"])
@pytest.mark.parametrize("disjunction", SPELLINGS["|"])
@pytest.mark.parametrize("negation", SPELLINGS["~"])
def test_every_spelling_of_the_operators(conjunction, disjunction, negation):
    text = f"a {conjunction} {negation} b {disjunction} c"
    assert mt.ReadOnceDNF.parse(text) == EXPECTED


@pytest.mark.parametrize(
    "text",
    [
        "a&~b|c",
        "(a & ~b) | (c)",
        "((a) & (~b)) | c",
        "(a & (~(b))) | c",
        "(a & ~b | c)",
        "a & ~(~~b) | ~~c",
        "(((a&((not b)))))or(c)",
        "\ta ∧¬b\n∨ c ",
        "(a) and (not(b)) or c",
    ],
)
def test_parentheses_and_spaces(text):
    assert mt.ReadOnceDNF.parse(text) == EXPECTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at least one term"),
        ("   \n", "at least one term"),
        ("()", r"missing.*position 2"),
        ("a &", r"literal is missing.*position 4"),
        ("& a", r"start with '&'.*position 1"),
        ("a | | b", r"missing before '\|'.*position 5"),
        ("a b", r"missing before 'b'.*position 3"),
        ("a & b | a", r"only once; a .*position 9"),
        ("a & ~a", r"only once; a .*position 6"),
        ("a $ b", r"unknown character '\$'.*position 3"),
        ("a & 2b", r"'2b' is not an identifier.*position 5"),
        ("(a & b", r"'\(' is never closed.*position 1"),
        ("a & b)", r"'\)' has no '\('.*position 6"),
        ("~(a & b)", r"only a single variable may be negated.*position 1"),
        ("(a | b) & c", r"not a DNF.*position 9"),
        ("a ~ b", r"missing before '~'.*position 3"),
        ("and", r"start with '&'"),
    ],
)
def test_errors_name_the_variable_or_point_at_the_position(text, message):
    with pytest.raises(ValueError, match=message):
        mt.ReadOnceDNF.parse(text)


@pytest.mark.parametrize("name", ["", "1a", "a b", "and", "or", "not", "a-b", 3, None])
def test_a_literal_needs_an_identifier(name):
    with pytest.raises(ValueError, match="variable name must"):
        mt.Literal(name)


def test_empty_parts_are_refused():
    with pytest.raises(ValueError, match="at least one literal"):
        mt.Term(())
    with pytest.raises(ValueError, match="at least one term"):
        mt.ReadOnceDNF(())
    with pytest.raises(ValueError, match="a is used twice"):
        built(((("a", True),), (("a", False),)))


def test_nothing_typed_is_evaluated(tmp_path):
    target = tmp_path / "made"
    for text in (f"__import__('pathlib').Path({str(target)!r}).touch()", "exec & eval | open"):
        try:
            mt.ReadOnceDNF.parse(text)
        except ValueError:
            continue
    assert not target.exists()


def test_ten_thousand_terms():
    text = " | ".join(f"x{i} & ~y{i}" for i in range(10_000))
    formula = mt.ReadOnceDNF.parse(text)
    assert str(formula) == text
    row = np.zeros((3, 20_000), dtype=np.uint8)
    row[1, 19_998] = 1
    row[2, 19_998:] = 1
    np.testing.assert_array_equal(formula.evaluate(row), [0, 1, 0])


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000 + "a" + ")" * 100_000,
        "~" * 100_000 + "a",
        "~(" * 100_000 + "a" + ")" * 100_000,
    ],
)
def test_a_hundred_thousand_levels(text):
    assert str(mt.ReadOnceDNF.parse(text)) == "a"


@pytest.mark.parametrize("text", ["(" * 100_000 + "a", "(" * 100_000, "a" + ")" * 100_000])
def test_a_hundred_thousand_levels_left_open(text):
    with pytest.raises(ValueError, match="position"):
        mt.ReadOnceDNF.parse(text)


def names(count: int) -> list[str]:
    return [f"x{number}" for number in range(count)]


SHAPES = {
    "and": lambda count: " & ".join(names(count)),
    "or": lambda count: " | ".join(names(count)),
    "pairs": lambda count: " | ".join(f"({a} & ~{a}y)" for a in names(count // 2)),
    "right and": lambda count: " & (".join(names(count)) + ")" * (count - 1),
    "right or": lambda count: " | (".join(names(count)) + ")" * (count - 1),
    "left and": lambda count: "(" * (count - 1) + ") & ".join(names(count)),
    "left or": lambda count: "(" * (count - 1) + ") | ".join(names(count)),
    "both": lambda count: (
        " & (".join(names(count // 2))
        + " & y"
        + ") & z".join(["", *map(str, range(1, count // 2))])
    ),
    "mixed": lambda count: " | (~".join(names(count)) + ")" * (count - 1),
    "levels": lambda count: "(" * count + "a" + ")" * count,
    "negations": lambda count: "~" * count + "a",
    "spaces": lambda count: "a" + " " * count + "|" + "\n" * count + "b",
    "one name": lambda count: "a" * count,
}


@pytest.mark.parametrize("shape", ["right and", "right or"])
def test_a_hundred_thousand_names_nested_to_the_right(shape):
    formula = mt.ReadOnceDNF.parse(SHAPES[shape](100_000))
    assert formula.variables == (*names(100_000),)
    assert len(formula.terms) == (1 if shape == "right and" else 100_000)


def work(text: str) -> tuple[int, int]:
    """Lines of Python that parsing runs, and elements that it moves between rows."""
    counted, moved = 0, 0

    class Counting(deque):
        def extend(self, others):
            nonlocal moved
            before = len(self)
            super().extend(others)
            moved += len(self) - before

        def extendleft(self, others):
            nonlocal moved
            before = len(self)
            super().extendleft(others)
            moved += len(self) - before

    def count_lines(frame, event, _):
        nonlocal counted
        counted += event == "line"
        return count_lines

    before = sys.gettrace()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_once, "deque", Counting)
        sys.settrace(count_lines)
        try:
            mt.ReadOnceDNF.parse(text)
        finally:
            sys.settrace(before)
    return counted, moved


@pytest.mark.parametrize("shape", SHAPES)
def test_parsing_takes_work_in_proportion_to_the_text(shape):
    (few, _), (many, moved) = (work(SHAPES[shape](count)) for count in (100, 1000))
    assert many <= 10.5 * few
    # a name of a chain is moved once; one of a balanced formula as often as its part doubles
    assert moved <= 1000


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5))
def test_of_sizes_has_terms_of_these_sizes(sizes):
    formula = mt.ReadOnceDNF.of_sizes(sizes)
    assert [len(term) for term in formula.terms] == sizes
    assert as_formula(str(formula)) == formula == as_formula(formula)


@pytest.mark.parametrize("sizes", [[], [0], [2, -1]])
def test_of_sizes_refuses_empty_terms(sizes):
    with pytest.raises(ValueError, match="at least one"):
        mt.ReadOnceDNF.of_sizes(sizes)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([0, 1, 0], "two dimensions and 3 columns"),
        ([[0, 1]], "two dimensions and 3 columns"),
        ([[0, 1, 2]], "only 0 and 1; it has 2"),
        ([[0, 1, np.nan]], "only 0 and 1; it has nan"),
    ],
)
def test_evaluation_refuses_other_matrices(inputs, message):
    with pytest.raises(ValueError, match=message):
        EXPECTED.evaluate(inputs)


def test_evaluation_needs_a_column_for_every_variable():
    with pytest.raises(ValueError, match="none for c"):
        EXPECTED.evaluate([[0, 1]], ["a", "b"])
