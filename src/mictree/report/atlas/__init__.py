"""The atlas: where greed fails, for every small function and every bias, on one page."""
