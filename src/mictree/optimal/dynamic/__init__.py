"""Least errors of formulas and tables: dynamic programs over restrictions and subcubes."""
