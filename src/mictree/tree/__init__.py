"""Decision trees over named binary variables, immutable and independent of how they were grown."""

from mictree.tree.nested import LEAF, Source
from mictree.tree.tree import Tree

__all__ = ["LEAF", "Source", "Tree"]
