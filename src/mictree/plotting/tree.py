r"""A decision tree as a node-link diagram, on matplotlib's axes or as LaTeX.

The nodes are laid out first: every node gets a box that holds its texts, sibling subtrees are
pushed together until their outlines touch (Reingold and Tilford, 1981), and each level lies below
the last. Then a pen draws the boxes. ``Pen`` draws on axes; ``TikzPen`` writes the commands of a
``tikzpicture``. Both follow the same ``Layout``, in inches.

The layout is made at full size and drawn at one scale, so that text, boxes and lines shrink
together when the axes are smaller than the tree. Nothing recurses: depth is no limit. In LaTeX all
sizes of text are written out, so that the picture does not depend on the document's font size. The
document needs ``\usepackage{tikz}``, and ``\usepackage[T1]{fontenc}`` when names have accents or
other quotes.

The last functions draw the paper's example trees with their errors underneath.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyBboxPatch, Patch, Rectangle
from matplotlib.textpath import text_to_path

from mictree._support.words import HOVER, show_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.experiments.examples import Examples, ExampleTree
    from mictree.problems.base import Problem
    from mictree.tree import Tree


LEAF = -1
DIGITS = 4  # of numbers that are predicted
IRRELEVANT = -1
LONGEST_NAME = 18
LARGEST_FIGURE = 100.0  # inches; a raster of a larger one may not fit into memory
POINTS_PER_INCH = 72
NAME_POINTS, NOTE_POINTS = 9.0, 7.0

NAME_HEIGHT = 0.25  # also the side of a leaf's square
NOTE_LINE, NOTE_PAD = 0.125, 0.07
TEXT_PAD = 0.08  # left and right of a text
GAP = 0.13  # between neighbours of one level
MARGIN = 0.1  # around the tree
CAPTION_HEIGHT = 0.26
# An edge that spans a wide tree gets more room to fall, or its two ends look unrelated.
FALL_PER_SPAN, LEAST_FALL, MOST_FALL = 0.22, 0.34, 0.9

INK, LINE = "#1A1A1A", "#6B6B6B"
# Okabe and Ito's palette without black: distinct for every common kind of colour vision.
TERM_COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
DARK_COLOURS = (INK, "#0072B2")  # white text has more contrast on these
# Terms beyond the palette repeat its colours inside a heavy frame of one of these line styles.
TERM_FRAMES = ("solid", (0, (3.2, 1.2)), (0, (1, 1)))

Style = dict[str, Any]
Point = tuple[float, float]
Extent = tuple[float, float, float]  # the left, right and bottom ends of a drawing


@dataclass(frozen=True)
class Layout:
    """Where the nodes lie, in inches, index = node; y points up and the root's top is 0."""

    centre: np.ndarray
    top: np.ndarray
    width: np.ndarray
    height: np.ndarray

    @property
    def extent(self) -> Extent:
        """The left, right and bottom ends of the tree."""
        left, right = self.centre - self.width / 2, self.centre + self.width / 2
        return float(left.min()), float(right.max()), float((self.top - self.height).min())


def decorations(
    tree: Tree, problem: Problem | None, show: Sequence[str]
) -> tuple[dict[str, int], list[str]]:
    """The term of each variable, and the notes under the nodes: ``"reach"`` and ``"rate"``."""
    unknown = [what for what in show if what not in ("reach", "rate")]
    if unknown:
        raise ValueError(f"show may hold 'reach' and 'rate'; got {unknown[0]!r}")
    if show and problem is None:
        raise ValueError("reach and rate are a problem's; show needs problem=...")
    notes = [""] * len(tree.tests)
    if show and problem is not None:
        kinds = {"reach": "p={0.reach:.3g}", "rate": "q={0.positive_rate:.3g}"}
        notes = [
            "\n".join(kinds[what].format(leaf) for what in show) for leaf in tree.walk(problem)
        ]
    term_of = getattr(problem, "term_of", None)
    terms = dict(zip(problem.variables, term_of, strict=True)) if problem and term_of else {}
    return terms, notes


def draw_tree(
    ax: Axes | None, tree: Tree, term_of: dict[str, int], notes: list[str], caption: str = ""
) -> Axes:
    """Draw a tree, low branches to the left; tests of one term share colour and frame.

    Parameters
    ----------
    ax : where to draw; None makes a new figure of a fitting size
    tree : the tree
    term_of : the number of each variable's term, -1 when it is irrelevant (drawn with a dashed
        frame); tests of a variable that is missing here are grey
    notes : for each node a text to write under its name or label; may be empty
    caption : a line below the tree; may be empty
    """
    names, layout = _name_and_place(tree, notes)
    pen = Pen.on(ax, *with_caption(layout.extent, caption))
    _draw_nodes(pen, tree, term_of, notes, names, layout)
    draw_caption(pen, layout.extent, caption)
    return pen.ax


def tree_to_tikz(tree: Tree, term_of: dict[str, int], notes: list[str], caption: str = "") -> str:
    """The same drawing as a ``tikzpicture``."""
    names, layout = _name_and_place(tree, notes)
    pen = TikzPen(*with_caption(layout.extent, caption))
    _draw_nodes(pen, tree, term_of, notes, names, layout)
    draw_caption(pen, layout.extent, caption)
    return pen.picture()


def with_caption(extent: Extent, caption: str) -> Extent:
    """The left, right and bottom ends of a drawing with a caption below."""
    if not caption:
        return extent
    left, right, bottom = extent
    middle = (left + right) / 2
    half = 0.53 * text_width(caption, NOTE_POINTS)  # small letters on a screen are wider
    return min(left, middle - half), max(right, middle + half), bottom - CAPTION_HEIGHT


def draw_caption(pen: Pen | TikzPen, extent: Extent, caption: str) -> None:
    """Write a caption below a drawing that ends there."""
    if caption:
        left, right, bottom = extent
        middle = (left + right) / 2
        pen.text(middle, bottom - CAPTION_HEIGHT + NOTE_LINE / 2, caption, NOTE_POINTS)


def _name_and_place(tree: Tree, notes: list[str]) -> tuple[list[str], Layout]:
    """The names and labels of the nodes, and where the nodes lie."""
    names = short_names([tree.variables[tree.tests[node]] for node in tree.internal_nodes])
    captions = [
        _label(label) if test == LEAF else names[tree.variables[test]]
        for test, label in zip(tree.tests, tree.labels, strict=True)
    ]
    return captions, lay_out(tree, captions, notes)


def _label(label: Any) -> str:
    """A class, or a number that is predicted."""
    return show_digits(label, DIGITS) if isinstance(label, float) else str(label)


def _draw_nodes(
    pen: Pen | TikzPen, tree: Tree, term_of: dict[str, int], notes: list[str],
    captions: list[str], layout: Layout,
) -> None:  # fmt: skip
    _draw_edges(pen, tree, layout)
    for node, test in enumerate(tree.tests):
        if test == LEAF:
            is_number = isinstance(tree.labels[node], float)
            _draw_leaf(pen, layout, node, captions[node], notes[node], is_number)
        else:
            style = _test_style(term_of.get(tree.variables[test]))
            _draw_test(pen, layout, node, captions[node], notes[node], style)


def short_names(names: list[str], longest: int = LONGEST_NAME) -> dict[str, str]:
    """Long names without their middle, unless two of them would then read the same."""
    tail = longest // 2 - 1
    head = longest - tail - 1
    short = {
        name: name if len(name) <= longest else f"{name[:head]}…{name[-tail:]}" for name in names
    }
    uses = Counter(short.values())
    return {name: text if uses[text] == 1 else name for name, text in short.items()}


def lay_out(tree: Tree, captions: list[str], notes: list[str]) -> Layout:
    """Give every node a box that holds its texts and touches no other."""
    is_number = [isinstance(label, float) for label in tree.labels]  # classes stand in a square
    padding = np.where((np.array(tree.tests) == LEAF) & ~np.array(is_number), 0, 2 * TEXT_PAD)
    text_widths = [
        max(text_width(caption, NAME_POINTS), text_width(note, NOTE_POINTS))
        for caption, note in zip(captions, notes, strict=True)
    ]
    width = np.maximum(NAME_HEIGHT, text_widths + padding)
    note_lines = np.array([note.count("\n") + 1 if note else 0 for note in notes])
    height = NAME_HEIGHT + NOTE_LINE * note_lines + NOTE_PAD * (note_lines > 0)
    centre = to_centres(tree, width)
    return Layout(centre, to_tops(tree, centre, height), width, height)


def text_width(text: str, points: float) -> float:
    """The width of the longest line, in inches."""
    font = FontProperties(size=points)
    widths = [
        text_to_path.get_text_width_height_descent(line, font, ismath=False)[0]
        for line in text.split("\n")
    ]
    return max(widths) / POINTS_PER_INCH


def to_centres(tree: Tree, width: np.ndarray) -> np.ndarray:
    """Push sibling subtrees together until their outlines touch (Reingold and Tilford, 1981)."""
    shift = np.zeros(len(width))  # from the parent's centre to the node's
    outlines: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # left and right end of each level
    for node in reversed(range(len(width))):  # children come after their parents
        half = width[node : node + 1] / 2
        outlines[node] = -half, half
        low, high = tree.low[node], tree.high[node]
        if low == LEAF:
            continue
        (low_left, low_right), (high_left, high_right) = outlines.pop(low), outlines.pop(high)
        shared = min(len(low_left), len(high_left))
        side = (np.max(low_right[:shared] - high_left[:shared]) + GAP) / 2
        shift[low], shift[high] = -side, side
        left = np.concatenate([-half, low_left - side, high_left[shared:] + side])
        right = np.concatenate([half, high_right + side, low_right[shared:] - side])
        outlines[node] = left, right
    for node in tree.internal_nodes:
        shift[[tree.low[node], tree.high[node]]] += shift[node]
    return shift


def to_tops(tree: Tree, centre: np.ndarray, height: np.ndarray) -> np.ndarray:
    """Put each level below the last, farther when its edges span more."""
    depth = np.array(tree.depths)
    level_height, span = np.zeros(depth.max() + 1), np.zeros(depth.max() + 1)
    np.maximum.at(level_height, depth, height)
    for node in tree.internal_nodes:
        below = depth[node] + 1
        span[below] = max(span[below], centre[tree.high[node]] - centre[node])
    fall = np.clip(FALL_PER_SPAN * span, LEAST_FALL, MOST_FALL)
    return -np.concatenate([[0.0], np.cumsum(level_height[:-1] + fall[1:])])[depth]


def _test_style(term: int | None) -> Style:
    if term is None:
        return {"facecolor": "#DDE3EA", "edgecolor": INK, "linewidth": 0.7}
    if term == IRRELEVANT:
        return {"facecolor": "white", "edgecolor": LINE, "linewidth": 0.9, "linestyle": (0, (3, 2))}
    cycle, colour = divmod(term, len(TERM_COLOURS))
    style = {"facecolor": TERM_COLOURS[colour], "edgecolor": INK, "linewidth": 0.7}
    if cycle:
        style |= {"linewidth": 2.0, "linestyle": TERM_FRAMES[(cycle - 1) % len(TERM_FRAMES)]}
    return style


@dataclass(frozen=True)
class Pen:
    """Draws in inches of the full-size tree, on axes that show it at some scale."""

    ax: Axes
    scale: float

    @classmethod
    def on(cls, ax: Axes | None, left: float, right: float, bottom: float) -> Pen:
        """Fit axes around the tree, or a new figure; a tree is never magnified."""
        width, height = right - left + 2 * MARGIN, 2 * MARGIN - bottom
        if ax is None:
            from matplotlib import pyplot

            shrink = min(1.0, LARGEST_FIGURE / max(width, height))
            size = (width * shrink, height * shrink)
            figure = pyplot.figure(figsize=size, facecolor="white", layout="none")
            ax = figure.add_axes((0, 0, 1, 1))
        room = np.array([ax.bbox.width, ax.bbox.height]) / ax.figure.dpi
        scale = float(min(1.0, *(room / (width, height))))
        half_width, half_height = room / scale / 2
        ax.set_xlim((left + right) / 2 - half_width, (left + right) / 2 + half_width)
        ax.set_ylim(bottom / 2 - half_height, bottom / 2 + half_height)
        ax.set_aspect("equal")
        ax.set_axis_off()
        return cls(ax, scale)

    def box(
        self, x: float, top: float, width: float, height: float, shape: str, style: Style
    ) -> None:
        """A box with round or square corners, from the middle of its top."""
        scaled = style | {"linewidth": style["linewidth"] * self.scale}
        corner = (x - width / 2, top - height)
        self.ax.add_patch(FancyBboxPatch(corner, width, height, boxstyle=shape, **scaled))

    def rectangle(self, x: float, y: float, width: float, height: float, style: Style) -> None:
        """A plain box from its lower left corner."""
        scaled = style | {"linewidth": style["linewidth"] * self.scale, "zorder": 3}
        self.ax.add_patch(Rectangle((x, y), width, height, **scaled))

    def line(self, points: Sequence[Point], colour: str, width: float) -> None:
        """A line through points, below all boxes."""
        x, y = zip(*points, strict=True)
        self.ax.plot(x, y, color=colour, linewidth=width * self.scale, zorder=1)

    def lines(self, paths: Sequence[Sequence[Point]], colour: str, width: float) -> None:
        """Many lines of one look, below all boxes."""
        look = {"colors": colour, "linewidths": width * self.scale, "zorder": 1}
        self.ax.add_collection(LineCollection(paths, **look))

    def text(
        self, x: float, y: float, text: str, points: float, whole: str = "", **look: Any
    ) -> None:
        """A text around a point, by default; ``whole`` shows up under the pointer."""
        plain = {"ha": "center", "va": "center", "color": INK, "zorder": 4, "usetex": False}
        size = points * self.scale
        drawn = self.ax.text(x, y, text, fontsize=size, parse_math=False, **(plain | look))
        if whole:
            drawn.set_gid(f"{HOVER}{len(self.ax.texts)}")
            drawn.set_label(whole)


def _draw_edges(pen: Pen | TikzPen, tree: Tree, layout: Layout) -> None:
    backing = {"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none"}
    edges = []
    for node in tree.internal_nodes:
        start = layout.centre[node], layout.top[node] - layout.height[node]
        for value, child in enumerate((tree.low[node], tree.high[node])):
            edges.append((start, (layout.centre[child], layout.top[child])))
            x, y = np.mean(edges[-1], axis=0)
            pen.text(x, y, str(value), NOTE_POINTS, bbox=backing, zorder=2)
    pen.lines(edges, LINE, 0.9)


def _draw_test(
    pen: Pen | TikzPen, layout: Layout, node: int, name: str, note: str, style: Style
) -> None:
    x, top, width = layout.centre[node], layout.top[node], layout.width[node]
    shape = "round,pad=0,rounding_size=0.07"
    if note:  # on a card, because edges leave from below it
        card = {"facecolor": "white", "edgecolor": LINE, "linewidth": 0.6}
        pen.box(x, top, width, layout.height[node], shape, card)
        _draw_note(pen, layout, node, note)
    pen.box(x, top, width, NAME_HEIGHT, shape, style)
    colour = "white" if style["facecolor"] in DARK_COLOURS else INK
    pen.text(x, top - NAME_HEIGHT / 2, name, NAME_POINTS, color=colour)


def _draw_leaf(
    pen: Pen | TikzPen, layout: Layout, node: int, label: str, note: str, is_number: bool
) -> None:
    x, top, width = layout.centre[node], layout.top[node], NAME_HEIGHT
    fill, ink = (INK, "white") if label == "1" and not is_number else ("white", INK)
    if is_number:
        width = max(NAME_HEIGHT, text_width(label, NAME_POINTS) + 2 * TEXT_PAD)
    style = {"facecolor": fill, "edgecolor": INK, "linewidth": 0.9}
    pen.box(x, top, width, NAME_HEIGHT, "square,pad=0", style)
    pen.text(x, top - NAME_HEIGHT / 2, label, NAME_POINTS, color=ink)
    _draw_note(pen, layout, node, note)


def _draw_note(pen: Pen | TikzPen, layout: Layout, node: int, note: str) -> None:
    if note:
        middle = layout.top[node] - (NAME_HEIGHT + layout.height[node]) / 2
        pen.text(layout.centre[node], middle, note, NOTE_POINTS)


WIDEST_PICTURE = 200.0  # inches; TeX's largest length is 227
LINE_SKIP = {9.0: 11.2, 7.0: 9.0}  # points from line to line, by the size of the letters
LATEX_SPELLINGS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": "$<$",
    ">": "$>$", "|": "$|$", '"': r"\char34{}", "`": r"\textquoteleft{}", "'": "'{}",
    "-": "-{}", "…": r"\ldots{}",
}  # fmt: skip


def to_latex(text: str) -> str:
    """A text in which nothing is a command or a ligature; control characters become spaces."""
    shown = (" " if unicodedata.category(mark) == "Cc" else mark for mark in text)
    return "".join(LATEX_SPELLINGS.get(mark, mark) for mark in shown)


class TikzPen:
    """Collects commands; ``picture`` has them in the order in which they cover each other."""

    def __init__(self, left: float, right: float, bottom: float) -> None:
        widest = max(right - left, -bottom)
        if widest > WIDEST_PICTURE:
            raise ValueError(
                f"TeX holds no picture beyond {WIDEST_PICTURE:.0f} inches; this tree needs "
                f"{widest:.0f}"
            )
        self._commands: list[tuple[int, str]] = []
        self._colours: set[str] = set()

    def box(
        self, x: float, top: float, width: float, height: float, shape: str, style: Any
    ) -> None:
        """A box with round or square corners, from the middle of its top."""
        radius = re.search(r"rounding_size=([\d.]+)", shape)
        corners = [f"rounded corners={radius[1]}in"] if radius else []
        self._rectangle(1, x - width / 2, top - height, width, height, style, corners)

    def rectangle(self, x: float, y: float, width: float, height: float, style: Any) -> None:
        """A plain box from its lower left corner."""
        self._rectangle(3, x, y, width, height, style, [])

    def line(self, points: Sequence[Any], colour: str, width: float) -> None:
        """A line through points, below all boxes."""
        path = " -- ".join(_at(x, y) for x, y in points)
        self._add(0, rf"\draw[{self._colour(colour)}, line width={width:g}pt] {path};")

    def lines(self, paths: Sequence[Sequence[Any]], colour: str, width: float) -> None:
        """Many lines of one look, below all boxes."""
        for points in paths:
            self.line(points, colour, width)

    def text(self, x: float, y: float, text: str, points: float, **look: Any) -> None:
        """A text around a point, or from its left end."""
        options = [f"font=\\fontsize{{{points:g}}}{{{LINE_SKIP[points]:g}}}\\selectfont"]
        options.append(f"text={self._colour(look['color'])}" if "color" in look else "")
        options.append("anchor=west" if look.get("ha") == "left" else "")
        options.append("fill=white, inner sep=1pt" if "bbox" in look else "")
        shown = r"\\{}".join(to_latex(line) for line in text.split("\n"))
        chosen = ", ".join(filter(None, options))
        self._add(look.get("zorder", 4), rf"\node[{chosen}] at {_at(x, y)} {{{shown}}};")

    def picture(self) -> str:
        """The environment, with its colours."""
        lines = [
            r"\begin{tikzpicture}[x=1in, y=1in, every node/.style={align=center, inner sep=0pt}]"
        ]
        lines += [
            rf"  \definecolor{{mictree{code}}}{{HTML}}{{{code}}}" for code in sorted(self._colours)
        ]
        lines += [f"  {command}" for _, command in sorted(self._commands, key=lambda pair: pair[0])]
        return "\n".join([*lines, r"\end{tikzpicture}"]) + "\n"

    def _rectangle(
        self, layer: int, x: float, y: float, width: float, height: float, style: Any,
        options: list[str],
    ) -> None:  # fmt: skip
        for option, key in (("fill", "facecolor"), ("draw", "edgecolor")):
            if style[key] != "none":
                options = [*options, f"{option}={self._colour(style[key])}"]
        if style["edgecolor"] != "none":
            options = [*options, f"line width={style['linewidth']:g}pt"]
        if isinstance(style.get("linestyle"), tuple):
            on, off = (f"{part * style['linewidth']:.2g}pt" for part in style["linestyle"][1])
            options = [*options, f"dash pattern=on {on} off {off}"]
        far = _at(x + width, y + height)
        self._add(layer, rf"\path[{', '.join(options)}] {_at(x, y)} rectangle {far};")

    def _colour(self, colour: str) -> str:
        if not colour.startswith("#"):
            return colour
        self._colours.add(colour[1:])
        return f"mictree{colour[1:]}"

    def _add(self, layer: int, command: str) -> None:
        self._commands.append((layer, command))


def _at(x: float, y: float) -> str:
    return f"({x:.3f}, {y:.3f})"


LEAF_COLOUR = "#F0E442"
COLUMNS = 3
PANEL_WIDTH, PANEL_HEIGHT = 3.2, 3.9  # inches


def draw_examples(figure: Figure, examples: Examples) -> Figure:
    """One tree per panel, x-nodes, y-nodes and leaves each in a colour of their own."""
    rows = -(-len(examples.trees) // COLUMNS)
    figure.set_size_inches(COLUMNS * PANEL_WIDTH, rows * PANEL_HEIGHT)
    for number, example in enumerate(examples.trees):
        row, column = divmod(number, COLUMNS)
        # by hand, as a tree is fitted to its axes at once and not when the figure is laid out
        left, bottom = column / COLUMNS, 1 - (row + 1) * 0.96 / rows
        size = (1 / COLUMNS, 0.96 / rows)
        ax = figure.add_axes((left + 0.01, bottom + 0.15 * size[1], size[0] - 0.02, 0.7 * size[1]))
        _draw_example(ax, example, examples.term_of)
    handles = [
        Patch(facecolor=colour, edgecolor=INK, label=label)
        for colour, label in zip(
            (*TERM_COLOURS[:2], LEAF_COLOUR),
            ("x-node", "y-node", "leaf and its label"),
            strict=True,
        )
    ]
    figure.legend(handles=handles, loc="lower center", ncols=3, frameon=False)
    return figure


def _draw_example(ax: Axes, example: ExampleTree, term_of: dict[str, int]) -> Axes:
    """One tree, its title above and its errors underneath."""
    draw_tree(ax, example.tree, term_of, [""] * len(example.tree.tests))
    for box in ax.patches:
        if to_hex(box.get_facecolor()) not in {colour.lower() for colour in TERM_COLOURS[:2]}:
            box.set_facecolor(LEAF_COLOUR)
    for text in ax.texts:
        text.set_color(INK)
    ax.set_title(example.title, fontsize=10, parse_math=False)
    below = f"error {example.error}; least of this size {example.optimal_error}"
    ax.text(0.5, -0.06, below, transform=ax.transAxes, ha="center", va="top", fontsize=9.5)
    return ax
