"""Speed and memory, as ratios to peers measured side by side in the same run."""
