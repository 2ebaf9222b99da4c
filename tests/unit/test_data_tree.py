"""Drawings of trees on data: whole texts in boxes, right shares, folded tops, marked paths."""

import re

import numpy as np
import polars as pl
import pytest
from matplotlib import pyplot, rc_context
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, Rectangle

import mictree as mt
from mictree.plotting.data_tree import (
    CLASS_COLOURS,
    LONGEST_ENTRY,
    OTHERS_COLOUR,
    choose_colours,
    wrap,
)
from mictree.plotting.tree import TikzPen, to_latex

LONG = "would certainly recommend the product to a friend"
COLUMN = "answer to the long question number seventeen"


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def model():
    numbers = np.arange(60)
    X = pl.DataFrame({COLUMN: numbers * 7 % 31 + 0.5, "colour": ["red", "blue", None] * 20})
    y = np.where(numbers * 7 % 31 > 15, LONG, np.where(numbers % 3 == 2, "no answer", "50% & more"))
    return mt.TopDownClassifier(4).fit(X, y), X


def texts(ax):
    return [text.get_text() for text in ax.texts]


def boxes(ax):
    return [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]


@pytest.mark.parametrize("font", ["DejaVu Sans", "DejaVu Serif", "DejaVu Sans Mono"])
def test_every_text_is_whole_and_inside_its_box(model, font):
    classifier, _ = model
    with rc_context({"font.family": font}):
        ax = classifier.draw()
        figure = ax.figure
        figure.canvas.draw()
        renderer = figure.canvas.get_renderer()
        cards = [box.get_window_extent(renderer) for box in boxes(ax)][::2]
        inside = 0
        for text in ax.texts:
            shown = text.get_text()
            if shown in ("no", "yes") or shown in classifier._class_names:
                continue
            extent = text.get_window_extent(renderer)
            inside += any(
                card.x0 - 1 <= extent.x0 and extent.x1 <= card.x1 + 1
                and card.y0 - 1 <= extent.y0 and extent.y1 <= card.y1 + 1
                for card in cards
            )  # fmt: skip
        assert inside >= 2 * len(cards) - len(classifier._class_names)
    joined = " ".join(" ".join(texts(ax)).split())
    for name in [*classifier._class_names, COLUMN]:
        assert name in joined


def test_boxes_do_not_overlap(model):
    ax = model[0].draw()
    cards = [box.get_bbox() for box in boxes(ax)][::2]
    for number, one in enumerate(cards):
        for other in cards[number + 1 :]:
            apart = (
                one.x1 <= other.x0 or other.x1 <= one.x0 or one.y1 <= other.y0 or other.y1 <= one.y0
            )
            assert apart


def test_bars_show_the_shares_of_the_classes(model):
    classifier, _ = model
    ax = classifier.draw(size=0)
    shares = classifier.to_frame(0).row(0)[-3:]
    bars = [p for p in ax.patches if isinstance(p, Rectangle)][:4]
    whole = bars[3].get_width()
    assert [bar.get_width() / whole for bar in bars[:3]] == pytest.approx(shares)
    assert [bar.get_facecolor()[:3] for bar in bars[:3]] == [
        pytest.approx(tuple(int(CLASS_COLOURS[n][k : k + 2], 16) / 255 for k in (1, 3, 5)))
        for n in range(3)
    ]


def test_only_the_top(model):
    classifier, _ = model
    depth, size = classifier.tree_.depth, classifier.tree_.size
    for most in range(depth + 2):
        shown = texts(classifier.draw(max_depth=most))
        hidden = sum(
            int(found) for text in shown for found in re.findall(r"(\d+) splits? not", text)
        )
        tests = sum(text.endswith("?") for text in shown)
        assert tests + hidden == size
        assert (hidden == 0) == (most >= depth)
    with pytest.raises(ValueError, match="max_depth must be an integer"):
        classifier.draw(max_depth=-1)


def test_the_path_of_a_row(model):
    classifier, X = model
    for number in (0, 1, 2, 3):
        ax = classifier.draw(row=X[number])
        thick = [line for line in ax.lines if line.get_linewidth() > 2]
        visited = classifier.decision_path(X[number]).sum()
        assert len(thick) == visited - 1
        assert sum(box.get_linewidth() > 1.5 for box in boxes(ax)) == 2 * visited
    assert not [line for line in classifier.draw().lines if line.get_linewidth() > 2]


def test_small_axes_shrink_the_tree(model):
    figure = pyplot.figure(figsize=(3.3, 2.5))
    ax = model[0].draw(figure.add_axes((0, 0, 1, 1)))
    assert ax.figure is figure
    assert max(text.get_fontsize() for text in ax.texts) < 9


def test_wrapping():
    assert wrap("worst concave points > 0.1102?") == ["worst concave points", "> 0.1102?"]
    assert wrap("x > 1?") == ["x > 1?"]
    assert wrap("a" * 50) == ["a" * 50]
    assert wrap("two\nlines") == ["two lines"]
    assert wrap("") == [" "]


def test_long_words_break_between_their_parts():
    assert wrap("class_with_a_long_name_number_8_of_ten") == [
        "class_with_a_long_name_",
        "number_8_of_ten",
    ]
    assert wrap("a_column-of/all_measurements > 1?") == ["a_column-of/all_", "measurements", "> 1?"]
    # a number stays whole, however long
    assert wrap("x > -1234567890.123456789012e-05?")[-1].endswith("-1234567890.123456789012e-05?")


def test_long_names_of_classes_make_no_wide_cards():
    X = np.arange(6)[:, None]
    sentence = "a diagnosis that goes on for very many words and then for some more, " * 3
    names = ["Donaudampfschifffahrtsgesellschaftskapitän" * 2, sentence + "old", sentence + "new"]
    model = mt.TopDownClassifier(max_size=2).fit(X, np.repeat(names, 2))
    short = mt.TopDownClassifier(max_size=2).fit(X, np.repeat(["a", "b", "c"], 2))
    ax = model.draw()
    assert ax.figure.get_figwidth() < 3 * short.draw().figure.get_figwidth()
    shown = [text.get_text() for text in ax.texts]
    assert "Donaudampfschifffahrtsge\nsellschaftskapitänDonaud\nampfschifffahrtsgesellsc\n" \
        "haftskapitän" in shown  # fmt: skip
    ends = {text.split("\n")[-1] for text in shown if "\n…\n" in text}
    assert ends == {"then for some more, new", "then for some more, old"}
    assert max(len(line) for text in shown for line in text.split("\n")) <= LONGEST_ENTRY
    assert len([text for text in shown if text.endswith((" old", " new"))]) == 4
    pyplot.close("all")


def test_no_two_classes_share_a_colour():
    assert len({*CLASS_COLOURS, OTHERS_COLOUR}) == len(CLASS_COLOURS) + 1 > 10
    for count in (1, 2, len(CLASS_COLOURS)):
        colours = choose_colours([1 / count] * count, {0})
        assert len({colours.of(number) for number in range(count)}) == count
        assert colours.others == 0


def test_of_many_classes_those_of_leaves_and_the_most_frequent_have_colours():
    shares = [number / 190 for number in range(20)]
    colours = choose_colours(shares, {3, 0})
    assert colours.named == (0, 3, *range(10, 20))
    assert colours.others == 8
    assert {colours.of(number) for number in (1, 2, *range(4, 10))} == {OTHERS_COLOUR}
    *own, (rest, grey) = colours.parts(shares)
    assert [share for share, _ in own] == [shares[number] for number in colours.named]
    assert rest == pytest.approx((1 + 2 + sum(range(4, 10))) / 190)
    assert grey == OTHERS_COLOUR


@pytest.mark.parametrize("kind", ["axes", "tikz"])
def test_a_legend_of_200_classes_names_twelve(kind):
    rows = np.arange(400)
    classifier = mt.TopDownClassifier(3).fit(rows[:, None], [f"c{row // 2}" for row in rows])
    if kind == "axes":
        shown = texts(classifier.draw())
    else:
        shown = re.findall(r"\{([^{}]*)\};", classifier.to_tikz())
    assert sum(bool(re.fullmatch(r"c\d+", text)) for text in shown) == 12 + 4  # of leaves
    assert sum(text == "188 other classes" for text in shown) == 1


def test_names_are_no_commands():
    assert to_latex("a_b $x^2$ \\ {#~") == (
        r"a\_b \$x\textasciicircum{}2\$ \textbackslash{} \{\#\textasciitilde{}"
    )
    assert to_latex('50% & <5> | "x" `y\'') == (
        r"50\% \& $<$5$>$ $|$ \char34{}x\char34{} \textquoteleft{}y'{}"
    )
    assert to_latex("''--") == "'{}'{}-{}-{}"  # no ligatures
    assert to_latex("a\tb\x00c\nd…") == r"a b c d\ldots{}"
    assert to_latex("Größe") == "Größe"


def test_a_line_that_begins_with_a_bracket_is_no_argument_of_the_break():
    pen = TikzPen(0, 1, -1)
    pen.text(0, 0, "a\n[b]\n*c", 9.0)
    assert r"{a\\{}[b]\\{}*c};" in pen.picture()


def test_a_picture_that_tex_cannot_hold_is_refused():
    with pytest.raises(ValueError, match=r"TeX holds no picture beyond 200 inches; .* needs 301"):
        TikzPen(0, 301, -1)


def test_no_edge_crosses_a_card(model):
    """Cards of one level differ in height; edges begin below the tallest."""
    classifier, _ = model
    ax = classifier.draw()
    frames = [
        (box.get_x(), box.get_x() + box.get_width(), box.get_y(), box.get_y() + box.get_height())
        for box in boxes(ax)
    ]
    assert len({round(high - low, 6) for *_, low, high in frames}) > 1
    for line in ax.lines:
        for place in np.linspace(0.02, 1.98, 99):  # from the card to its level's foot, to the child
            x, y = (np.interp(place, range(3), ends) for ends in line.get_data())
            assert not any(a < x < b and low < y < high for a, b, low, high in frames)


@pytest.mark.parametrize("kind", ["words", "top", "row", "one leaf", "ten classes", "formula"])
def test_tikz_draws_what_the_axes_show(model, kind):
    """Every text, box and line of the drawing, at the same place and in the same colour."""
    classifier, X = model
    options = {"top": {"max_depth": 1}, "row": {"row": X[0]}, "one leaf": {"size": 0}}.get(kind, {})
    if kind == "ten classes":
        numbers = np.arange(100)
        labels = [f"{{{number % 10}}}_#" for number in numbers]
        classifier = mt.TopDownClassifier(12).fit(numbers.reshape(-1, 1), labels)
    if kind == "formula":
        problem = mt.FormulaProblem(
            "x_1 & x_2 | y", bias={"x_1": 0.5, "x_2": 0.4, "y": 0.3, "irrelevant": 0.5}
        )
        tree = mt.TopDown().grow(problem, 3).tree(3)
        classifier, options = tree, {"problem": problem, "show": ("reach", "rate")}
    ax, text = classifier.draw(**options), classifier.to_tikz(**options)
    lines = text.splitlines()
    assert lines[0].startswith(r"\begin{tikzpicture}[x=1in, y=1in")
    assert lines[-1] == r"\end{tikzpicture}"
    assert all(line.endswith(";") for line in lines[1:-1] if "definecolor" not in line)
    nodes = re.findall(r"\\node\[.*\] at \((\S+), (\S+)\) \{(.*)\};", text)
    shown = [
        (f"{x:.3f}", f"{y:.3f}", r"\\{}".join(map(to_latex, words.get_text().split("\n"))))
        for words in ax.texts
        for x, y in [words.get_position()]
    ]
    assert sorted(nodes) == sorted(shown)
    assert text.count(r"\path[") == len(ax.patches)
    edges = len(ax.lines) + sum(len(lines.get_segments()) for lines in ax.collections)
    assert text.count(r"\draw[") == edges
    colours = {
        to_hex(patch.get_facecolor())[1:].upper() for patch in ax.patches if patch.get_fill()
    }
    declared = set(re.findall(r"\\definecolor\{mictree(\w+)\}\{HTML\}\{\1\}", text))
    assert colours - {"FFFFFF", "000000"} <= declared
    assert set(re.findall(r"=mictree(\w+)", text)) <= declared
    bare = re.sub(r"\\[\\{}$&#%_]", "", text)
    assert bare.count("{") == bare.count("}")
    assert not re.search(r"[&#%_^~]", bare)


def test_tikz_keeps_frames_apart():
    """A folded card and an irrelevant variable are dashed, a path is drawn with heavy lines."""
    X, y = np.arange(40).reshape(-1, 1), np.arange(40) // 10 % 2
    classifier = mt.TopDownClassifier(3).fit(X, y)
    assert "dash pattern" not in classifier.to_tikz()
    assert "dash pattern=on 2.4pt off 1.6pt" in classifier.to_tikz(max_depth=1)
    assert "line width=2.4pt" not in classifier.to_tikz()
    assert "line width=2.4pt" in classifier.to_tikz(row=X[0])


def agreeing_model():
    """Four splits, of which those below the left child of the root agree."""
    X = np.array([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1], [1, 2], [1, 3]] * 5)
    y = np.array((["no"] * 4 + ["yes"] * 4) * 5)
    y[[1, 3, 11, 6]] = "yes", "yes", "yes", "no"
    return mt.TopDownClassifier(5).fit(X, y), X, y


@pytest.mark.parametrize("kind", [mt.TopDownClassifier, mt.TopDownRegressor])
def test_shares_of_weighted_trees_are_those_of_the_rules(kind):
    """A share that is not the rows' own says so; equal weights leave them as they are."""
    X, y, weights = [[0], [0], [0], [1]], [0, 0, 0, 1], [1, 1, 2, 12]
    model = kind(1).fit(X, y, sample_weight=weights)
    shown = {text.splitlines()[0] for text in texts(model.draw()) if " row" in text}
    assert shown == {"4 rows (weighted: 100%)", "3 rows (weighted: 25%)", "1 row (weighted: 75%)"}
    assert {rule.coverage for rule in model.to_rules()} == {0.25, 0.75}
    plain = kind(1).fit(X, y, sample_weight=[2, 2, 2, 2])
    assert any(text.startswith("3 rows (75%)") for text in texts(plain.draw()))


def test_leaves_that_agree_are_one_card_with_all_their_rows():
    model, X, y = agreeing_model()
    tree = model.tree_
    assert 0 < tree.merged().size < tree.size
    shown = texts(model.draw())
    assert shown[-1] == (
        f"{tree.size - tree.merged().size} splits whose leaves agree are not shown"
    )
    predicted = model.predict(X)
    for value in (0, 1):
        rows = X[:, 0] == value
        wrong = (y[rows] != predicted[rows]).mean()
        assert f"20 rows (50%)\nerror {wrong:.1%}" in shown
    assert sum(text.startswith("x") for text in shown) == tree.merged().size
    every = texts(model.draw(merge=False))
    assert sum(text.startswith("x") for text in every) == tree.size
    assert not any("agree" in text for text in every)
    assert shown[-1] in model.to_tikz()
    assert "agree" not in model.to_tikz(merge=False)


def test_a_path_ends_in_the_merged_leaf():
    model, X, _ = agreeing_model()
    for row in X[:8]:
        ax = model.draw(row=row)
        marked = [box for box in boxes(ax)[::2] if box.get_linewidth() > 1.5]
        assert len(marked) == model.tree_.merged().depth + 1 == 2


def test_a_folded_top_counts_the_splits_of_the_merged_tree():
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 3)
    y = (X[:, 0] & X[:, 1]).copy()
    y[0] = 1  # in one of three equal rows: leaves below a = 0 agree
    model = mt.TopDownClassifier(4).fit(X, y)
    assert model.tree_.size > model.tree_.merged().size == 2
    shown = texts(model.draw(max_depth=1))
    assert any(text.endswith("1 split not shown") for text in shown)
    assert "agree" in shown[-1]


def test_files_and_probabilities_keep_leaves_that_agree(tmp_path):
    model, X, _ = agreeing_model()
    model.save(tmp_path / "model.json")
    loaded = mt.load(tmp_path / "model.json")
    assert loaded.tree_.size == model.tree_.size == model.to_sklearn().tree_.node_count // 2
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert len(model.to_frame()) == 2 * model.tree_.size + 1
    assert model.to_dot().count("->") == 2 * model.tree_.size
    assert loaded.to_text() == model.to_text() != model.to_text(merge=False)
