"""What a target is: Boolean functions; parse, print, evaluate."""
