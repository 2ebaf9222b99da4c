"""Greedy rules and the growing loops."""
