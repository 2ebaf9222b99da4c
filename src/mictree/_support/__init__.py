"""What every room may use and that uses none of them: checks, kernels, draws, files."""
