"""Arrays on a disk, for numbers that do not fit into memory."""

import shutil
import tempfile
from pathlib import Path

import numpy as np

from mictree._support.checks import TooLarge
from mictree._support.files import reserve


def scratch_floats(folder: Path, count: int, what: str) -> np.typing.NDArray[np.float64]:
    """So many 64-bit floats in a file that is mapped into memory, all 0.

    The file has no name and vanishes with the array, or with the process, however that ends. Its
    space is reserved at once; a disk that is too small is refused with the size that is needed.
    """
    if not folder.is_dir():
        raise ValueError(f"scratch must be an existing folder; got {str(folder)!r}")
    size, free = 8 * count, shutil.disk_usage(folder).free
    if size > free:
        raise TooLarge(
            f"{what} must fit on the disk of {folder}, which has {free / 2**30:.3g} GiB left; they "
            f"need {size / 2**30:.3g} GiB"
        )
    with tempfile.TemporaryFile(dir=folder, prefix="mictree-") as file:
        reserve(file.fileno(), size)
        file.truncate(size)
        # the plain array keeps the mapping, and the mapping the file
        return np.asarray(np.memmap(file, dtype=np.float64, mode="r+", shape=(count,)))
