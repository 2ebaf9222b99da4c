"""Frozen results -> figures, files and one self-contained HTML page."""
