"""Versions of the code and libraries that a kept result depends on, besides its parameters."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import mictree

LIBRARIES = ("numba", "numpy", "scikit-learn")
# what these hold changes how a result is shown, never the result
SHOWN_BY = ("cli", "plotting", "report")


@cache
def code_version() -> str:
    """The release and a digest of the modules that compute, so that edits count too."""
    package = Path(mictree.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] not in SHOWN_BY:
            digest.update(path.read_bytes())
    return f"{mictree.__version__}+{digest.hexdigest()[:12]}"


@cache
def library_versions() -> dict[str, str]:
    """Releases of the libraries that results depend on."""
    return {name: version(name) for name in LIBRARIES}
