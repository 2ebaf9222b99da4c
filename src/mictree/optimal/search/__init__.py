"""Least errors on data: branch and bound over row sets."""
