"""A tree grown on data, drawn as cards: each has a test or a class, a bar of class shares, notes.

Tests are wrapped between words and never cut. A class's name has at most four lines; the legend has
more of a longer one. Cards are as wide as their texts in the current font. Layout and pens are
those of ``mictree.plotting.tree``: inches at full size, drawn at one scale.

A tree that predicts numbers shows them in place of classes: a leaf has the colour of its mean on a
scale, and the bar shows the mean and a standard deviation to both sides.

No two classes share a colour of the palette. If there are more classes than colours, those that
leaves predict come first, then the most frequent ones, and all others are grey.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import to_hex, to_rgb

from mictree._support.words import count_of
from mictree.plotting.tree import (
    INK,
    LINE,
    NAME_POINTS,
    NOTE_POINTS,
    TEXT_PAD,
    Extent,
    Layout,
    Pen,
    TikzPen,
    draw_caption,
    short_names,
    text_width,
    to_centres,
    to_tops,
    with_caption,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mictree.tree import Tree


TITLE_LINE, NOTE_LINE = 0.155, 0.125
PAD = 0.05
BAR = 0.085
BAR_WIDTH = 0.7  # the least width of a card
LONGEST_LINE = 24  # characters; only a longer word of a test makes a card wider
MOST_LINES = 4  # of a class's name
LONGEST_ENTRY = 72  # characters of a name in the legend
LEGEND_ROW, LEGEND_GAP = 0.2, 0.16

SPLIT_FILL, FOLDED_FILL = "#EEF1F5", "#F7F7F7"


@dataclass(frozen=True)
class Card:
    """What a node shows.

    Attributes
    ----------
    title : a test, or a class
    notes : lines below the bar
    shares : of each class, which sum to one; empty or zeros if rows have no classes
    label : the class of a leaf, None at a split
    folded : whether splits below it are not shown
    marked : whether the node is on the path to highlight
    level : of a leaf that predicts a number: where that lies on the scale, from 0 to 1
    span : on the same scale, a standard deviation below the mean, the mean, and one above
    whole : the test, where the title shows only a part of it
    """

    title: str
    notes: tuple[str, ...]
    shares: tuple[float, ...]
    label: int | None = None
    folded: bool = False
    marked: bool = False
    level: float | None = None
    span: tuple[float, float, float] | None = None
    whole: str = ""


def draw_data_tree(
    ax: Axes | None, tree: Tree, cards: Sequence[Card], classes: Sequence[str], caption: str = ""
) -> Axes:
    """Draw a tree, "no" to the left and "yes" to the right, and a legend of its classes.

    Parameters
    ----------
    ax : where to draw; None makes a new figure of a fitting size
    tree : the tree
    cards : one for each node
    classes : their names
    caption : a line below all; may be empty
    """
    drawing = _lay_out(tree, cards, classes)
    pen = Pen.on(ax, *with_caption(drawing.extent, caption))
    _draw(pen, tree, cards, drawing)
    draw_caption(pen, drawing.extent, caption)
    return pen.ax


def data_tree_to_tikz(
    tree: Tree, cards: Sequence[Card], classes: Sequence[str], caption: str = ""
) -> str:
    """The same drawing as a ``tikzpicture``."""
    drawing = _lay_out(tree, cards, classes)
    pen = TikzPen(*with_caption(drawing.extent, caption))
    _draw(pen, tree, cards, drawing)
    draw_caption(pen, drawing.extent, caption)
    return pen.picture()


LegendEntry = tuple[str, str, float]  # a colour, its name, the width that it needs


@dataclass(frozen=True)
class _Drawing:
    """The lines of each card's title, where the cards lie, and the rows of the legend below."""

    titles: list[list[str]]
    layout: Layout
    colours: ClassColours | Ramp
    legend: list[list[LegendEntry]]

    @property
    def extent(self) -> Extent:
        left, right, bottom = self.layout.extent
        widest = max((sum(width for *_, width in row) for row in self.legend), default=0.0)
        middle = (left + right) / 2
        below = LEGEND_GAP + LEGEND_ROW * len(self.legend)
        return min(left, middle - widest / 2), max(right, middle + widest / 2), bottom - below


def _lay_out(tree: Tree, cards: Sequence[Card], classes: Sequence[str]) -> _Drawing:
    titles = [_title(card) for card in cards]
    layout = _place(tree, titles, cards)
    left, right, _ = layout.extent
    predicted = {card.label for card in cards if card.label is not None}
    numbers = any(card.span is not None for card in cards)
    shares = cards[0].shares or [0.0] * len(classes)
    colours = Ramp(len(classes)) if numbers else choose_colours(shares, predicted)
    return _Drawing(titles, layout, colours, _legend_rows(classes, colours, right - left))


def _draw(pen: Pen | TikzPen, tree: Tree, cards: Sequence[Card], drawing: _Drawing) -> None:
    _draw_edges(pen, tree, drawing.layout, cards)
    for node, card in enumerate(cards):
        _draw_card(pen, drawing, node, card)
    left, right, bottom = drawing.layout.extent
    for number, row in enumerate(drawing.legend):
        y = bottom - LEGEND_GAP - LEGEND_ROW * (number + 0.5)
        _draw_legend_row(pen, row, (left + right) / 2, y)


def _title(card: Card) -> list[str]:
    """The lines of a test, or of a class's name, whose words may break and whose middle may go."""
    lines = wrap(card.title)
    if card.label is None:  # a test, or a number, which is short
        return lines
    lines = [part for line in lines for part in textwrap.wrap(line, LONGEST_LINE) or [line]]
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 2], "…", lines[-1]]


def wrap(text: str) -> list[str]:
    """Lines of whole words, a sign and its number together; its line breaks become spaces.

    A word that is longer than a line is broken before a part that begins with a letter, as in
    first_part, first/part and first-part.
    """
    joined = re.sub(r" (>|is|is not) (?=\S+$)", lambda found: f" {found[1]}\xa0", text)
    lines = textwrap.wrap(joined, LONGEST_LINE, break_long_words=False, break_on_hyphens=False)
    parts = [part for line in lines for part in _break(line)]
    return [part.replace("\xa0", " ") for part in parts] or [" "]


def _break(line: str) -> list[str]:
    """Fill lines with the parts of a word that is too long."""
    if len(line) <= LONGEST_LINE:
        return [line]
    filled = [""]
    for part in re.split(r"(?<=\w[_/-])(?=[^\W\d_])", line):
        if filled[-1] and len(filled[-1] + part) > LONGEST_LINE:
            filled.append("")
        filled[-1] += part
    return filled


def _place(tree: Tree, titles: Sequence[Sequence[str]], cards: Sequence[Card]) -> Layout:
    width = np.array(
        [
            max(text_width("\n".join(title), NAME_POINTS),
                text_width("\n".join(card.notes), NOTE_POINTS), BAR_WIDTH) + 2 * TEXT_PAD
            for title, card in zip(titles, cards, strict=True)
        ]
    )  # fmt: skip
    lines = np.array([len(title) for title in titles])
    notes = np.array([len(card.notes) for card in cards])
    bars = np.array([_bar_height(card) for card in cards])
    height = TITLE_LINE * lines + NOTE_LINE * notes + bars + 4 * PAD
    centre = to_centres(tree, width)
    return Layout(centre, to_tops(tree, centre, height), width, height)


def _draw_edges(pen: Pen | TikzPen, tree: Tree, layout: Layout, cards: Sequence[Card]) -> None:
    """Edges go down to the bottom of their level first, so that they cross no taller card."""
    backing = {"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none"}
    bottoms = _bottoms(tree, layout)
    for node in tree.internal_nodes:
        bottom = layout.centre[node], layout.top[node] - layout.height[node]
        knee = layout.centre[node], bottoms[tree.depths[node]]
        for word, child in (("no", tree.low[node]), ("yes", tree.high[node])):
            end = layout.centre[child], layout.top[child]
            marked = cards[node].marked and cards[child].marked
            pen.line([bottom, knee, end], INK if marked else LINE, 2.4 if marked else 0.9)
            x, y = (knee[0] + end[0]) / 2, (knee[1] + end[1]) / 2
            pen.text(x, y, word, NOTE_POINTS, bbox=backing, zorder=2)


def _bottoms(tree: Tree, layout: Layout) -> np.ndarray:
    """The lowest end of a card, by depth."""
    bottoms = np.zeros(max(tree.depths) + 1)
    np.minimum.at(bottoms, np.array(tree.depths), layout.top - layout.height)
    return bottoms


def _draw_card(pen: Pen | TikzPen, drawing: _Drawing, node: int, card: Card) -> None:
    layout, title, colours = drawing.layout, drawing.titles[node], drawing.colours
    x, top = float(layout.centre[node]), float(layout.top[node])
    width, height = float(layout.width[node]), float(layout.height[node])
    strip = TITLE_LINE * len(title) + 2 * PAD
    shape = "round,pad=0,rounding_size=0.06"
    frame = {"edgecolor": INK if card.marked else LINE, "linewidth": 2.0 if card.marked else 0.8}
    style = (0, (3, 2)) if card.folded else "solid"
    pen.box(x, top, width, height, shape, frame | {"facecolor": "white", "linestyle": style})
    fill = SPLIT_FILL
    if card.label is not None:
        fill = colours.of(card.label)
    elif card.level is not None and isinstance(colours, Ramp):
        fill = colours.at(card.level)
    pen.box(x, top, width, strip, shape, frame | {"facecolor": fill, "linestyle": style})
    ink = INK if fill == SPLIT_FILL else _ink_on(fill)
    pen.text(x, top - strip / 2, "\n".join(title), NAME_POINTS, whole=card.whole, color=ink)
    start, inner = x - width / 2 + TEXT_PAD, width - 2 * TEXT_PAD
    for begin, end, colour in _bar(card, colours):
        part = {"facecolor": colour, "edgecolor": "none", "linewidth": 0}
        if end > begin:
            place = start + begin * inner
            pen.rectangle(place, top - strip - PAD - BAR, (end - begin) * inner, BAR, part)
    bar = _bar_height(card)
    if bar:
        outline = {"facecolor": "none", "edgecolor": LINE, "linewidth": 0.4}
        pen.rectangle(x - inner / 2, top - strip - PAD - BAR, inner, BAR, outline)
    middle = top - strip - PAD - bar - (height - strip - PAD - bar) / 2
    pen.text(x, middle, "\n".join(card.notes), NOTE_POINTS)


def _bar_height(card: Card) -> float:
    """The height of a card's bar, 0 where there is nothing to show."""
    return BAR if card.span is not None or any(card.shares) else 0.0


def _bar(card: Card, colours: ClassColours | Ramp) -> list[tuple[float, float, str]]:
    """The parts of a bar from 0 to 1: where each begins and ends, and its colour."""
    if card.span is not None:
        low, mean, high = card.span
        tick = min(max(mean, TICK / 2), 1 - TICK / 2)
        return [(low, high, SPAN_COLOUR), (tick - TICK / 2, tick + TICK / 2, INK)]
    if not isinstance(colours, ClassColours) or not card.shares:
        return []
    parts, begin = [], 0.0
    for share, colour in colours.parts(card.shares):
        parts.append((begin, begin + share, colour))
        begin += share
    return parts


def _ink_on(colour: str) -> str:
    """The text colour that has more contrast, by relative luminance."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
              for part in to_rgb(colour)]  # fmt: skip
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if luminance < 0.18 else INK


def _legend_rows(
    classes: Sequence[str], colours: ClassColours | Ramp, most: float
) -> list[list[LegendEntry]]:
    """The classes in rows that are about as wide as the tree."""
    rows: list[list[LegendEntry]] = []
    room = 0.0
    names = [" ".join(name.split()) for name in classes]
    short = short_names(names, LONGEST_ENTRY)
    entries = [(colours.of(number), short[names[number]]) for number in colours.named]
    if colours.others:
        entries.append((OTHERS_COLOUR, count_of(colours.others, "other class", "es")))
    for colour, shown in entries:
        width = 1.06 * text_width(shown, NOTE_POINTS) + 0.36  # small letters on a screen are wider
        if not rows or width > room:
            rows.append([])
            room = max(most, 2.0)
        rows[-1].append((colour, shown, width))
        room -= width
    return rows


def _draw_legend_row(pen: Pen | TikzPen, row: list[LegendEntry], middle: float, y: float) -> None:
    x = middle - sum(width for *_, width in row) / 2
    for colour, name, width in row:
        swatch = {"facecolor": colour, "edgecolor": LINE, "linewidth": 0.4}
        pen.rectangle(x + 0.05, y - 0.05, 0.12, 0.1, swatch)
        pen.text(x + 0.22, y, name, NOTE_POINTS, ha="left")
        x += width


# Okabe and Ito's palette, then colours of Tol's that differ from them
CLASS_COLOURS = (
    "#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#D55E00", "#0072B2",
    "#999999", "#882255", "#44AA99", "#332288", "#DDCC77",
)  # fmt: skip
OTHERS_COLOUR = "#E4E4E4"
RAMP = ("#FFF7D6", "#8CCBBE", "#1F5A9A")  # of numbers, from the least to the largest
SPAN_COLOUR = "#B9C4D0"
TICK = 0.03  # the width of the mark of a mean, as a share of the bar


@dataclass(frozen=True)
class Ramp:
    """Colours of numbers on a scale.

    Attributes
    ----------
    count : how many of them the legend shows, evenly spaced
    """

    count: int
    others = 0

    @property
    def named(self) -> tuple[int, ...]:
        """The steps of the legend."""
        return tuple(range(self.count))

    def of(self, number: int) -> str:
        """The colour of a step."""
        return self.at(number / (self.count - 1) if self.count > 1 else 0.5)

    def at(self, level: float) -> str:
        """The colour at a level from 0 to 1."""
        stops = np.linspace(0, 1, len(RAMP))
        parts = np.array([to_rgb(colour) for colour in RAMP])
        red, green, blue = (float(np.interp(level, stops, part)) for part in parts.T)
        return to_hex((red, green, blue))


@dataclass(frozen=True)
class ClassColours:
    """A colour for each class.

    Attributes
    ----------
    named : the classes that have a colour of their own, ascending
    count : the number of all classes
    """

    named: tuple[int, ...]
    count: int

    @property
    def others(self) -> int:
        """The number of classes that are grey."""
        return self.count - len(self.named)

    def of(self, number: int) -> str:
        """The colour of a class."""
        return CLASS_COLOURS[self.named.index(number)] if number in self.named else OTHERS_COLOUR

    def parts(self, shares: Sequence[float]) -> list[tuple[float, str]]:
        """Shares of the classes with their colours, in their order; the grey ones last, as one."""
        own = [(shares[number], self.of(number)) for number in self.named]
        return [*own, (sum(shares) - sum(share for share, _ in own), OTHERS_COLOUR)]


def choose_colours(shares: Sequence[float], predicted: Collection[int]) -> ClassColours:
    """Choose the classes that have a colour of their own, by their shares and those of leaves."""
    numbers = range(len(shares))
    if len(shares) <= len(CLASS_COLOURS):
        return ClassColours(tuple(numbers), len(shares))
    ranked = sorted(numbers, key=lambda number: (number not in predicted, -shares[number], number))
    return ClassColours(tuple(sorted(ranked[: len(CLASS_COLOURS)])), len(shares))
