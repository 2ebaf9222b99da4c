"""The content of compressed files, and refusals of files that hold no table."""

from __future__ import annotations

import gzip
import io
import zipfile

GZIP, ZSTD, ZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
CONTENT = "[Content_Types].xml"  # in every Excel file, which is a zip archive
FOREIGN = {
    b"BZh": "it is packed by bzip2: unpack it",
    b"\xfd7zXZ\0": "it is packed by xz: unpack it",
    b"7z\xbc\xaf": "it is packed by 7-Zip: unpack it",
    b"\xd0\xcf\x11\xe0": "it is an old Excel file: save it as .xlsx or CSV",
    b"%PDF-": "it is a PDF",
    b"SQLite format 3": "it is a database: export the table as CSV",
}


def unpack(raw: bytes) -> bytes:
    """The content of a compressed file, else the bytes themselves."""
    if raw.startswith(GZIP):
        try:
            return gzip.decompress(raw)
        except (OSError, EOFError) as error:
            raise ValueError(f"the compressed file is damaged: {error}") from None
    if raw.startswith(ZSTD):
        import polars

        try:  # Python reads Zstandard from 3.14 on; polars always does, but only UTF-8
            lines = polars.read_lines(io.BytesIO(raw))
        except (polars.exceptions.PolarsError, OSError):
            raise ValueError("a .zst file must hold UTF-8 text; this one does not") from None
        return "\n".join(lines.to_series()).encode()
    _check_foreign(raw)
    return raw


def _check_foreign(raw: bytes) -> None:
    """Refuse files that are no tables; as text they would be read as nonsense."""
    for mark, what in FOREIGN.items():
        if raw.startswith(mark) and (b"\0" in raw or not raw.isascii()):
            raise ValueError(f"the file must hold a table; {what}")
    if not raw.startswith(ZIP):
        return
    try:
        names = zipfile.ZipFile(io.BytesIO(raw)).namelist()
    except zipfile.BadZipFile as error:
        raise ValueError(f"the file begins as an Excel file but is damaged: {error}") from None
    if CONTENT not in names:
        raise ValueError(
            f"the file must hold a table; it is a zip archive of {', '.join(names[:3])}: unpack it"
        )
