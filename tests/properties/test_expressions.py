"""Boolean expressions: read as the reference reads them, printed so that they are read back."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mictree as mt
from mictree.functions.expression import Expression
from tests.reference import expressions as reference
from tests.strategies import all_inputs, formula_text, formulas

NAMES = ("a", "b", "c", "d")
BINARY = ("&", "^", "|", "->", "<->")
OTHER_SPELLINGS = {
    "~": ("~", "not ", "¬"),
    "&": ("&", " and ", "∧"),
    "^": ("^", " xor ", "⊕"),
    "|": ("|", " or ", "∨"),
    "->": ("->", " implies ", "→"),
    "<->": ("<->", " iff ", "↔"),
}
OPERANDS = st.sampled_from((*NAMES, "0", "1"))
# operands joined by operators, parenthesised or not, so that precedence decides
TEXTS = st.recursive(
    OPERANDS,
    lambda parts: st.one_of(
        parts.map(lambda part: f"~{part}"),
        parts.map(lambda part: f"({part})"),
        st.tuples(parts, st.sampled_from(BINARY), parts).map(" ".join),
    ),
    max_leaves=12,
)


def expected(text: str, names: tuple = NAMES) -> list[int]:
    rows = all_inputs(len(names)).tolist()
    return [reference.value(text, dict(zip(names, row, strict=True))) for row in rows]


@given(TEXTS)
@example("a -> b -> c")
@example("a <-> b <-> c")
@example("~a & b ^ c | d -> a <-> b")
def test_values_are_those_of_the_reference(text):
    expression = Expression.parse(text)
    assert expression.truth_table(NAMES).tolist() == expected(text)
    assert expression.truth_table().dtype == np.uint8


@given(TEXTS)
@example("a & (b & c)")
@example("(a -> b) -> c")
@example("a -> (b -> c)")
@example("~(~a) <-> (b <-> 1)")
def test_what_is_printed_is_read_back(text):
    expression = Expression.parse(text)
    printed = str(expression)
    assert Expression.parse(printed) == expression
    assert Expression.parse(f"(({printed}))") == expression
    assert expected(printed) == expected(text)
    assert hash(Expression.parse(printed)) == hash(expression)


@given(TEXTS)
def test_no_pair_of_printed_parentheses_is_needless(text):
    expression = Expression.parse(text)
    printed = str(expression)
    for opening, character in enumerate(printed):
        if character != "(":
            continue
        depth, closing = 0, opening
        while True:
            depth += {"(": 1, ")": -1}.get(printed[closing], 0)
            if depth == 0:
                break
            closing += 1
        without = printed[:opening] + printed[opening + 1 : closing] + printed[closing + 1 :]
        assert Expression.parse(without) != expression


@given(TEXTS, st.data())
def test_every_spelling_of_the_operators(text, data):
    respelled = text
    for operator in ("<->", "->", "~", "&", "^", "|"):  # <-> first, as -> is a part of it
        spelling = data.draw(st.sampled_from(OTHER_SPELLINGS[operator]))
        if operator == "->" and "<->" in respelled:
            continue
        respelled = respelled.replace(operator, spelling)
    assert Expression.parse(respelled) == Expression.parse(text)


@given(formulas())
def test_a_read_once_dnf_is_an_expression(formula):
    text = formula_text(formula)
    dnf, expression = mt.ReadOnceDNF.parse(text), Expression.parse(text)
    assert dnf.variables == expression.variables
    rows = all_inputs(len(dnf.variables))
    np.testing.assert_array_equal(dnf.evaluate(rows), expression.evaluate(rows))


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a & b | a", "a & b | a"),
        ("((a | b)) & (~(c)) ^ a", "(a | b) & ~c ^ a"),
        ("a -> b -> c", "a -> b -> c"),
        ("(a -> b) -> c", "(a -> b) -> c"),
        ("(a <-> b) <-> c", "a <-> b <-> c"),
        ("not not a and 1", "~~a & 1"),
        ("¬(a ∧ b) ⊕ c → d ↔ 0", "~(a & b) ^ c -> d <-> 0"),
        ("a iff b implies c or d xor not a and b", "a <-> b -> c | d ^ ~a & b"),
        ("(a)xor(b)", "a ^ b"),
        ("a xor xor", "a ^ xor"),  # the second is a variable
        ("xor xor iff & ~implies implies iff", "xor ^ iff & ~implies -> iff"),
    ],
)
def test_printing(text, printed):
    assert str(Expression.parse(text)) == printed


@given(TEXTS.map(lambda text: text.replace("a", "xor").replace("b", "implies").replace("c", "iff")))
def test_variables_may_have_the_names_of_words_between_operands(text):
    """As before these were words: where an operand is due, they are names."""
    expression, names = Expression.parse(text), ("xor", "implies", "iff", "d")
    renamed = dict(zip(names, NAMES, strict=True))
    plain = Expression(tuple(renamed.get(symbol, symbol) for symbol in expression.symbols))
    assert expression.truth_table(names).tolist() == plain.truth_table(NAMES).tolist()
    assert Expression.parse(str(expression)) == expression
    problem = mt.TableProblem.from_formula(
        "xor & iff", bias={"xor": 0.3, "iff": 0.5, "implies": 0.5}
    )
    assert problem.variables == ("xor", "iff", "implies")


def test_a_constant_has_no_variables():
    assert Expression.parse("1").variables == ()
    assert Expression.parse("1").truth_table().tolist() == [1]
    assert Expression.parse("0 | ~1").truth_table(["a"]).tolist() == [0, 0]


@given(st.text(max_size=40), st.text("ab01~&|^<->()¬∧⊕→↔ ", max_size=30))
def test_any_text_gives_an_expression_or_a_value_error(wild, close):
    for text in (wild, close):
        try:
            expression = Expression.parse(text)
        except ValueError:
            continue
        assert Expression.parse(str(expression)) == expression


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at least one term; the text is empty"),
        ("-> a", r"start with '->', at position 1"),
        ("a ->", r"literal is missing, at position 5"),
        ("a - b", r"unknown character '-', at position 3"),
        ("a <- b", r"unknown character '<', at position 3"),
        ("a <-> -> b", r"missing before '->', at position 7"),
        ("a (b)", r"operator is missing before '\(', at position 3"),
        ("a 1", r"operator is missing before '1', at position 3"),
        ("a & 2", r"'2' is not an identifier, at position 5"),
        ("a & 01", r"'01' is not an identifier, at position 5"),
        ("(a -> b", r"'\(' is never closed, at position 1"),
        ("a ^ b)", r"'\)' has no '\(', at position 6"),
        ("a xor and b", r"missing before '&', at position 7"),
        ("xor b", r"operator is missing before 'b', at position 5"),
        ("a xor", r"literal is missing, at position 6"),
        ("a = b", r"unknown character '=', at position 3"),
    ],
)
def test_errors_point_at_the_position(text, message):
    with pytest.raises(ValueError, match=message):
        Expression.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a ^ b", r"only '~', '&' and '\|'; got '\^', at position 3"),
        ("a -> b", r"got '->', at position 3"),
        ("a iff b", r"got '<->', at position 3"),
        ("a | 1", r"no constants; got '1', at position 5"),
    ],
)
def test_a_read_once_dnf_refuses_the_rest_of_the_language(text, message):
    with pytest.raises(ValueError, match=message):
        mt.ReadOnceDNF.parse(text)


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ((), "make 0"),
        (("a", "b"), "make 2"),
        (("a", "&"), "'&' does not"),
        (("~", "a"), "'~' does not"),
        (("a b",), "identifier; got 'a b'"),
        (("and",), "operator; got 'and'"),
    ],
)
def test_symbols_must_make_one_expression(symbols, message):
    with pytest.raises(ValueError, match=message):
        Expression(symbols)


DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("(" * DEEP + "a" + ")" * DEEP, [0, 1]),
        ("~" * DEEP + "a", [0, 1]),
        ("~(" * DEEP + "a" + ")" * DEEP, [0, 1]),
        ("(" * DEEP + "a" + " | a)" * DEEP, [0, 1]),
        ("(a | " * DEEP + "a" + ")" * DEEP, [0, 1]),
        ("(~a & " * DEEP + "~a" + ")" * DEEP, [1, 0]),
        ("a -> " * DEEP + "a", [1, 1]),
        ("(" * DEEP + "a" + " -> a)" * DEEP, [0, 1]),
        ("a <-> " * DEEP + "a", [0, 1]),
    ],
    ids=range(9),
)
def test_a_hundred_thousand_levels(text, table):
    expression = Expression.parse(text)
    assert expression.truth_table().tolist() == table
    printed = str(expression)
    assert Expression.parse(printed) == expression
    assert "a" in printed


def test_deep_expressions_need_few_results_at_once():
    """A result of sixteen variables has 64 KiB: a hundred thousand of them would fill memory."""
    right = Expression.parse("(~a & " * 1000 + "b" + ")" * 1000)
    left = Expression.parse("(" * 1000 + "b" + " & ~a)" * 1000)
    assert max(right._registers) == max(left._registers) == 2


@pytest.mark.parametrize("text", ["(" * DEEP + "a", "(" * DEEP, "a" + ")" * DEEP, "a -> " * DEEP])
def test_a_hundred_thousand_levels_left_open(text):
    with pytest.raises(ValueError, match="position"):
        Expression.parse(text)


def test_sixteen_variables_are_the_most():
    names = [f"x{number}" for number in range(17)]
    assert Expression.parse(" ^ ".join(names[:16])).truth_table().sum() == 2**15
    with pytest.raises(ValueError, match=r"at most 16 variables.*; there are 17"):
        Expression.parse(" ^ ".join(names)).truth_table()
    with pytest.raises(ValueError, match="there are 17"):
        Expression.parse("x0").truth_table(names)


def test_every_variable_needs_a_column():
    with pytest.raises(ValueError, match="none for c"):
        Expression.parse("a ^ c").evaluate([[0, 1]], ["a", "b"])


def test_right_nested_terms_of_a_dnf_are_read_in_order():
    text = "(x0 & " + "".join(f"(x{i} & " for i in range(1, 50_000)) + "y" + ")" * 50_000
    names = mt.ReadOnceDNF.parse(text).variables
    assert names == (*(f"x{i}" for i in range(50_000)), "y")
