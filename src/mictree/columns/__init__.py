"""Tables of data: their columns, the tests on them, and the packed bits of the tests."""
