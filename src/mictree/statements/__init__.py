"""What papers claim, checked."""
