"""The statements of the paper, and of other papers on greedy trees, checked."""
