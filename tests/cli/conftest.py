"""What tests of the command line share."""

import pytest


@pytest.fixture
def save(tmp_path):
    """A file with some text."""

    def write(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
