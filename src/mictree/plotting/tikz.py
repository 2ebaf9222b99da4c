r"""A drawing as a ``tikzpicture``: a pen that writes TikZ's commands where another draws on axes.

Everything lies where the other pen puts it, in inches, and all sizes of text are written out, so
that the picture does not depend on the document's font size. The document needs
``\usepackage{tikz}``, and ``\usepackage[T1]{fontenc}`` when names have accents or other quotes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

WIDEST = 200.0  # inches; TeX's largest length is 227
LINE_SKIP = {9.0: 11.2, 7.0: 9.0}  # points from line to line, by the size of the letters
LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": "$<$",
    ">": "$>$", "|": "$|$", '"': r"\char34{}", "`": r"\textquoteleft{}", "'": "'{}",
    "-": "-{}", "…": r"\ldots{}",
}  # fmt: skip


def to_latex(text: str) -> str:
    """A text in which nothing is a command or a ligature; control characters become spaces."""
    shown = (" " if unicodedata.category(mark) == "Cc" else mark for mark in text)
    return "".join(LATEX.get(mark, mark) for mark in shown)


class TikzPen:
    """Collects commands; ``picture`` has them in the order in which they cover each other."""

    def __init__(self, left: float, right: float, bottom: float) -> None:
        widest = max(right - left, -bottom)
        if widest > WIDEST:
            raise ValueError(
                f"TeX holds no picture beyond {WIDEST:.0f} inches; this tree needs {widest:.0f}"
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
        way = " -- ".join(_at(x, y) for x, y in points)
        self._add(0, rf"\draw[{self._colour(colour)}, line width={width:g}pt] {way};")

    def lines(self, ways: Sequence[Sequence[Any]], colour: str, width: float) -> None:
        """Many lines of one look, below all boxes."""
        for points in ways:
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
