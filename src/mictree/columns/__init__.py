"""What a table offers: columns of data, the tests on them, and their packed bits."""
