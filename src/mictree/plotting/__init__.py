"""Values to matplotlib Axes; imports nothing of the package at run time."""
