"""Parameters -> a frozen result; one module per figure or claim of the paper or of the atlas."""
