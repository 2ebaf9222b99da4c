"""Least errors on data: branch and bound over sets of rows."""
