"""Parameters -> a frozen result; one module per figure or claim of the paper."""
