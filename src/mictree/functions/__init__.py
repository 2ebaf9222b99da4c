"""Targets: Boolean functions; parse, print, evaluate."""

from mictree.functions.read_once import Literal, ReadOnceDNF, Term

__all__ = ["Literal", "ReadOnceDNF", "Term"]
