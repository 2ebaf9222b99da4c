"""Least errors on data: branch and bound over sets of rows; see docs/how-the-search-works.md."""
