"""``python -m mictree`` is the command line."""

from mictree.cli import main

main()
