"""The first sheet of an Excel file as a table."""

from __future__ import annotations

import io
import logging
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from mictree.columns.header import doubt_header, numbered
from mictree.columns.lines import Lines, name_columns

if TYPE_CHECKING:
    import polars


def read_sheet(raw: bytes, header: bool, known: Collection[str] = ()) -> Lines:
    """Read all cells, numbers as numbers; unnamed columns without a cell are left out.

    Parameters
    ----------
    raw : the content of the file
    header : whether its first row holds names, else columns are numbered
    known : names that stay as they are, see ``read_names``
    """
    frame = _read(raw, has_header=header)
    if not header:
        name_columns(frame, numbered(frame.width), known, "")
        return Lines(frame, "", "")
    # names are read on their own: where two are the same, the frame has another one
    top = _read(raw, has_header=False, read_options={"n_rows": 1, "dtypes": "string"})
    cells = [cell or "" for cell in top.row(0)]
    used = [place for place, cell in enumerate(cells) if cell.strip() or frame[:, place].count()]
    frame, cells = frame[:, used], [cells[place] for place in used]
    doubt = doubt_header(cells, _as_texts(frame))
    name_columns(frame, cells, known, doubt)
    return Lines(frame, "", doubt)


def _as_texts(frame: polars.DataFrame) -> polars.DataFrame:
    import polars
    from polars import selectors

    return frame.with_columns(selectors.duration().dt.to_string()).cast(polars.String)


def _read(raw: bytes, **options: Any) -> polars.DataFrame:
    import polars

    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns about empty columns
    try:
        return polars.read_excel(io.BytesIO(raw), drop_empty_cols=False, **options)
    except ModuleNotFoundError:
        raise ValueError(
            "an Excel file needs the package fastexcel; pip install 'mictree[excel]', "
            "or save the sheet as CSV"
        ) from None
    except polars.exceptions.NoDataError:
        raise ValueError("the first sheet of the Excel file must have a row; it is empty") from None
    except Exception as error:  # fastexcel has errors of its own
        raise ValueError(f"the Excel file cannot be read: {error}") from None
