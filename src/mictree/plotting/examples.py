"""The paper's example trees with their errors underneath."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.colors import to_hex
from matplotlib.patches import Patch

from mictree.plotting.tree import INK, TERM_COLOURS, draw_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mictree.experiments.examples import Examples, ExampleTree

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
        draw_example(ax, example, examples.term_of)
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


def draw_example(ax: Axes, example: ExampleTree, term_of: dict[str, int]) -> Axes:
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
