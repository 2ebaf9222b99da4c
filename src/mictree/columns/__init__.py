"""What a table offers: its columns, the tests on them, and their packed bits."""
