"""Drawings are tidy: nothing overlaps, nothing is missing, nothing warns."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyBboxPatch

import mictree as mt
from mictree.plotting.curves import draw_curves
from mictree.plotting.tree import (
    LARGEST_FIGURE,
    LONGEST_NAME,
    NAME_POINTS,
    TERM_COLOURS,
    draw_tree,
    lay_out,
    short_names,
)

EXAMPLE = mt.FormulaProblem("x1 & x2 | y1 & y2 & y3")
LARGE = mt.FormulaProblem(mt.ReadOnceDNF.of_sizes([3, 3, 4, 5, 3, 4, 3, 5, 4, 4]))


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


def grown(problem, size):
    return mt.TopDown().grow(problem, size).tree(size)


def right_skewed(depth):
    names = tuple(f"variable_{number}" for number in range(depth))
    nested = 1
    for name in reversed(names):
        nested = (name, 0, nested)
    return mt.Tree.build(names, nested)


def staircase():
    y_path = ("y1", 0, ("y2", 0, ("y3", 0, 1)))
    nested = ("x1", y_path, ("x2", y_path, ("x3", y_path, 1)))
    return mt.Tree.build(("x1", "x2", "x3", "y1", "y2", "y3"), nested)


def layout_of(tree, notes=None):
    captions = [
        tree.variables[test] if test >= 0 else str(label)
        for test, label in zip(tree.tests, tree.labels, strict=True)
    ]
    return lay_out(tree, captions, notes or [""] * len(captions))


def boxes_of(layout):
    left, right = layout.centre - layout.width / 2, layout.centre + layout.width / 2
    return np.column_stack([left, layout.top - layout.height, right, layout.top])


def overlapping(boxes, others=None):
    """Pairs of (left, bottom, right, top) rows that share an area."""
    others = boxes if others is None else others
    lower = np.maximum(boxes[:, None, :2], others[None, :, :2])
    upper = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    shared = (lower < upper).all(axis=2)
    if boxes is others:
        np.fill_diagonal(shared, False)
    return np.argwhere(shared).tolist()


def rendered(ax):
    """What is seen, in pixels: nodes' outer boxes, edges' labels, and all texts."""
    ax.figure.canvas.draw()
    patches = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    nodes = np.array([patch.get_window_extent().extents for patch in patches])
    inside = (
        (nodes[:, None, :2] >= nodes[None, :, :2] - 1e-6)
        & (nodes[:, None, 2:] <= nodes[None, :, 2:] + 1e-6)
    ).all(axis=2)
    np.fill_diagonal(inside, False)
    edge_labels = [text for text in ax.texts if text.get_bbox_patch() is not None]
    return (
        nodes[~inside.any(axis=1)],
        np.array([label.get_window_extent().extents for label in edge_labels]),
        np.array([text.get_window_extent().extents for text in ax.texts]),
    )


def assert_tidy(ax, tree):
    nodes, edge_labels, texts = rendered(ax)
    assert len(nodes) == 2 * tree.size + 1
    assert len(edge_labels) == 2 * tree.size
    assert overlapping(nodes) == []
    assert overlapping(nodes, edge_labels) == []
    assert overlapping(texts) == []
    shown = ax.figure.bbox.extents
    for boxes in (nodes, texts):
        assert (boxes[:, :2] >= shown[:2] - 1).all()  # pixels
        assert (boxes[:, 2:] <= shown[2:] + 1).all()


@pytest.mark.parametrize("show", [(), ("reach",), ("reach", "rate")])
@pytest.mark.parametrize("rule", [mt.TopDown(), mt.BestFirst(), mt.ID3()])
def test_nothing_overlaps_at_30_splits(rule, show):
    tree = rule.grow(LARGE, 30).tree(30)
    assert_tidy(tree.draw(problem=LARGE, show=show, merge=False), tree)


def test_what_may_be_shown():
    tree = mt.Tree.build(["a"], ("a", 0, 1))
    for draw in (tree.draw, tree.to_tikz):
        with pytest.raises(ValueError, match="show may hold 'reach' and 'rate'; got 'error'"):
            draw(problem=mt.FormulaProblem("a"), show=("error",))
        with pytest.raises(ValueError, match="show needs problem="):
            draw(show=("rate",))


@pytest.mark.parametrize("tree", [staircase(), right_skewed(60), grown(EXAMPLE, 8)])
def test_nothing_overlaps_in_skewed_trees(tree):
    assert_tidy(tree.draw(), tree)


def test_nothing_overlaps_on_small_axes():
    tree = grown(LARGE, 30)
    _, axes = pyplot.subplots(1, 2, figsize=(12, 5))
    ax = tree.draw(axes[0], problem=LARGE, show=("reach",))
    assert ax is axes[0]
    assert_tidy(ax, tree)


def test_nothing_overlaps_with_long_names():
    names = [f"petal_length_gt_{number}_45" for number in range(38)]
    formula = " | ".join(" & ".join(names[start : start + 4]) for start in range(0, 38, 4))
    tree = grown(mt.FormulaProblem(formula), 30)
    assert_tidy(tree.draw(), tree)


def test_splits_whose_leaves_agree_are_not_drawn():
    formula = mt.FormulaProblem("a & b")
    tree = mt.Tree.build(["a", "b"], ("a", ("b", 0, 0), ("b", 0, 1)))
    ax = tree.draw(problem=formula, show=("reach", "rate"))
    shown = [text.get_text() for text in ax.texts]
    *_, caption = shown
    assert caption == "1 split whose leaves agree is not shown"
    assert_tidy(ax, tree.merged())
    assert "p=0.5\nq=0" in shown  # what reaches both leaves
    low = min(text.get_window_extent().y0 for text in ax.texts[:-1])
    assert ax.texts[-1].get_window_extent().y1 <= low
    extent, room = ax.texts[-1].get_window_extent(), ax.figure.bbox
    assert room.x0 <= extent.x0 < extent.x1 <= room.x1 and room.y0 <= extent.y0  # noqa: PT018
    every = [text.get_text() for text in tree.draw(merge=False).texts]
    assert every.count("b") == 2
    assert not any("agree" in text for text in every)
    assert caption in tree.to_tikz()
    assert "agree" not in tree.to_tikz(merge=False)


@pytest.mark.parametrize("tree", [grown(LARGE, 30), staircase(), right_skewed(200)])
def test_layout_is_a_tidy_tree(tree):
    layout = layout_of(tree)
    assert overlapping(boxes_of(layout)) == []
    for node in tree.internal_nodes:
        low, high = tree.low[node], tree.high[node]
        bottom = layout.top[node] - layout.height[node]
        assert layout.top[low] == layout.top[high] < bottom
        assert layout.centre[low] < layout.centre[node] < layout.centre[high]
        middle = (layout.centre[low] + layout.centre[high]) / 2
        assert layout.centre[node] == pytest.approx(middle)
    levels = {}
    for top, depth in zip(layout.top, tree.depths, strict=True):
        assert levels.setdefault(depth, top) == top


@pytest.mark.parametrize("tree", [grown(LARGE, 30), grown(EXAMPLE, 8), staircase()])
def test_a_mirrored_tree_is_drawn_mirrored(tree):
    nested = []
    for node in reversed(range(len(tree.tests))):  # preorder backwards: children come first
        if tree.tests[node] < 0:
            nested.append(tree.labels[node])
        else:
            low, high = nested.pop(), nested.pop()
            nested.append((tree.variables[tree.tests[node]], high, low))
    mirrored = layout_of(mt.Tree.build(tree.variables, nested[0]))
    expected = boxes_of(layout_of(tree)) * (-1, 1, -1, 1)
    reflected = expected[:, [2, 1, 0, 3]]
    drawn = boxes_of(mirrored)
    by_place = [np.lexsort(boxes.round(6)[:, [0, 1]].T) for boxes in (drawn, reflected)]
    np.testing.assert_allclose(drawn[by_place[0]], reflected[by_place[1]], atol=1e-9)


def test_layout_is_packed():
    """Subtrees move under their neighbours instead of keeping columns of their own."""
    tree = grown(LARGE, 30)
    layout = layout_of(tree)
    left, right, _ = layout.extent
    assert right - left < 0.5 * layout.width.sum()
    zigzag = 0
    names = tuple(f"v{number}" for number in range(50))
    for number, name in enumerate(names):
        zigzag = (name, 0, zigzag) if number % 2 else (name, zigzag, 1)
    layout = layout_of(mt.Tree.build(names, zigzag))
    left, right, _ = layout.extent
    assert right - left < 4 * layout.width.max()


def test_depth_is_no_limit():
    tree = right_skewed(1000)
    layout = layout_of(tree)
    assert np.isfinite(layout.extent).all()
    for upper, lower in pairwise(tree.internal_nodes):
        assert layout.top[lower] < layout.top[upper]


def test_a_huge_tree_fits_a_bounded_figure():
    tree = right_skewed(200)
    ax = tree.draw()
    width, height = ax.figure.get_size_inches()
    assert max(width, height) == pytest.approx(LARGEST_FIGURE)
    scale = ax.bbox.height / np.ptp(ax.get_ylim()) / ax.figure.dpi
    names = [text for text in ax.texts if text.get_text() in tree.variables]
    assert names[0].get_fontsize() == pytest.approx(scale * NAME_POINTS)


def test_every_name_label_and_note_is_written():
    tree = grown(EXAMPLE, 8)
    notes = [f"first {node}\nsecond {node}" for node in range(len(tree.tests))]
    ax = draw_tree(None, tree, {}, notes)
    written = sorted(text.get_text() for text in ax.texts if text.get_bbox_patch() is None)
    names = [tree.variables[tree.tests[node]] for node in tree.internal_nodes]
    labels = [str(tree.labels[leaf]) for leaf in tree.leaves]
    assert written == sorted(names + labels + notes)


def test_edges_are_labelled_low_0_high_1():
    tree = mt.Tree.build(("a",), ("a", 1, 0))
    labels = [text for text in tree.draw().texts if text.get_bbox_patch() is not None]
    labels.sort(key=lambda text: text.get_position()[0])
    assert [label.get_text() for label in labels] == ["0", "1"]


def test_a_lone_leaf_is_drawn():
    tree = mt.Tree.build((), 1)
    ax = tree.draw()
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.texts] == ["1"]


@pytest.mark.parametrize("name", ["x_1", "a_b_c", "$x$", "$x^2_1$", r"\frac"])
def test_names_are_written_literally(name):
    tree = mt.Tree((name,), (0, -1, -1), (1, -1, -1), (2, -1, -1), (-1, 0, 1))
    with mpl.rc_context({"text.usetex": True}):
        ax = draw_tree(None, tree, {}, ["$p$", "", ""])
        ax.figure.canvas.draw()
    assert {"$p$", name} <= {text.get_text() for text in ax.texts}
    assert not any(text.get_parse_math() or text.get_usetex() for text in ax.texts)


def test_long_names_lose_their_middle():
    names = ["petal_length_gt_2_45", "petal_length_gt_1_75", "width"]
    short = short_names(names)
    assert short["width"] == "width"
    assert all(len(text) <= LONGEST_NAME for text in short.values())
    assert short["petal_length_gt_2_45"].startswith("petal_")
    assert short["petal_length_gt_2_45"].endswith("gt_2_45")
    tree = mt.Tree.build(names, (names[0], 0, (names[1], 0, 1)))
    written = {text.get_text() for text in tree.draw().texts}
    assert {short[names[0]], short[names[1]]} <= written


def test_short_names_stay_distinct():
    names = [f"a_long_common_head_{number}_and_a_long_tail" for number in range(3)]
    assert short_names(names) == {name: name for name in names}


def box_looks(tree, term_of):
    """The colour and frame of each test, by variable."""
    ax = draw_tree(None, tree, term_of, [""] * len(tree.tests))
    tested = [tree.variables[test] for test in tree.tests]
    looks = [
        (patch.get_facecolor(), patch.get_linewidth(), str(patch.get_linestyle()))
        for patch in ax.patches
    ]
    return {
        name: look for name, look, test in zip(tested, looks, tree.tests, strict=True) if test >= 0
    }


def test_terms_have_their_own_look():
    tree = right_skewed(30)
    names = tree.variables
    term_of = {name: number for number, name in enumerate(names[:28])} | {names[28]: -1}
    looks = box_looks(tree, term_of)
    assert len(set(looks.values())) == 30  # 28 terms, one irrelevant variable, one of no term
    same = box_looks(tree, dict.fromkeys(names, 2))
    assert len(set(same.values())) == 1


def test_leaves_differ_by_colour_and_text():
    ax = mt.Tree.build(("a",), ("a", 0, 1)).draw()
    zero, one = ax.patches[1:]
    assert luminance(zero.get_facecolor()) - luminance(one.get_facecolor()) > 0.8
    assert {"0", "1"} <= {text.get_text() for text in ax.texts if text.get_bbox_patch() is None}


def luminance(colour):
    channels = np.array(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def test_texts_contrast_with_their_boxes():
    """At least 4.5, which the WCAG ask for."""
    tree = right_skewed(len(TERM_COLOURS))
    term_of = {name: number for number, name in enumerate(tree.variables)}
    ax = draw_tree(None, tree, term_of, [""] * len(tree.tests))
    captions = [text for text in ax.texts if text.get_bbox_patch() is None]
    for patch, text in zip(ax.patches, captions, strict=True):
        pair = luminance(patch.get_facecolor()), luminance(text.get_color())
        assert (max(pair) + 0.05) / (min(pair) + 0.05) >= 4.5


def test_new_figures_are_made_only_without_axes():
    tree = grown(EXAMPLE, 4)
    result = mt.mic(mt.TopDown(), EXAMPLE, max_size=4)
    assert tree.draw() is not tree.draw()
    result.plot()
    assert len(pyplot.get_fignums()) == 3
    pyplot.close("all")
    _, axes = pyplot.subplots(1, 2)
    assert tree.draw(axes[0]) is axes[0]
    assert result.plot(axes[1]) is axes[1]
    assert len(pyplot.get_fignums()) == 1


def curve(ax, label):
    (line,) = [line for line in ax.lines if str(line.get_label()).startswith(label)]
    return line


@pytest.mark.parametrize("exact", [False, True])
def test_curves_are_the_results(exact):
    result = mt.mic(mt.BestFirst(), EXAMPLE, max_size=8, exact=exact)
    assert isinstance(result.mic, Fraction) == exact
    ax = result.plot()
    ax.figure.canvas.draw()
    for label in ("greedy", "optimal", "excess"):
        expected = np.array([float(error) for error in getattr(result, f"{label}_errors")])
        np.testing.assert_array_equal(curve(ax, label).get_xdata(), np.arange(9))
        np.testing.assert_array_equal(curve(ax, label).get_ydata(), expected)
    assert ax.get_xlabel() == "size (splits)"
    assert ax.get_ylabel() == "error"
    assert result.rule in ax.get_title()
    assert "MIC(8) = 0.01172" in ax.get_title()
    assert len(ax.get_legend().get_texts()) == 3


def test_the_shaded_area_is_the_excess():
    """MIC is the mean of the excess, so the area between the curves is MIC times max_size."""
    result = mt.mic(mt.BestFirst(), LARGE, max_size=20)
    (area,) = draw_curves(None, result).collections
    x, y = area.get_paths()[0].vertices.T
    shoelace = abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2
    half_steps = (
        result.excess_errors[0] - result.excess_errors[-1]
    ) / 2  # the ends are cut in half
    assert shoelace == pytest.approx(result.mic * 20 + half_steps)


def test_curves_are_told_apart_without_colour():
    ax = mt.mic(mt.TopDown(), EXAMPLE, max_size=4).plot()
    assert len({line.get_linestyle() for line in ax.lines}) == 3


def test_curves_of_zero_errors():
    zero = np.zeros(3)
    ax = draw_curves(None, mt.MicResult("any_$rule$", zero, zero, zero, 0.0, zero))
    ax.figure.canvas.draw()
    assert "any_$rule$" in ax.get_title()


def test_tops_are_the_results():
    problem = mt.TableProblem.from_formula("a & (b ^ c) | ~a & d")
    result = mt.mic_over_tops(problem, 8, exact=True)
    ax = result.plot()
    mean, _, largest, _ = ax.get_lines()
    assert mean.get_xdata().tolist() == largest.get_xdata().tolist() == [1, 2]
    assert mean.get_ydata().tolist() == [0.0625, 0]
    assert largest.get_ydata().tolist() == [0.125, 0]
    assert mean.get_marker() != largest.get_marker()
    assert ax.get_xlabel() == "splits of largest gain allowed at every node (entropy)"
    assert ax.get_legend_handles_labels()[1] == ["MIC(8)", "largest excess error"]


def test_tops_that_are_not_proved_are_hollow():
    whole = mt.mic_over_tops(mt.TableProblem([0, 1, 1, 0]), 3, tops=[1, 2])
    ax = replace(whole, proved=(False, True)).plot()
    assert ax.get_lines()[1].get_xdata().tolist() == [1]
    assert ax.get_lines()[1].get_markerfacecolor() == "white"


def test_rounding_does_not_fill_the_axis_of_biases():
    """TopDown is proved optimal for every bias; its bounds are 0 and 2e-11."""
    result = mt.mic_over_biases(mt.TopDown(), "a ^ b", max_size=2)
    assert 0 < result.supremum[1] < 1e-9
    ax = result.plot()
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylim()[1] > 1e5 * result.supremum[1]
