"""assay: an open performance laboratory for Linux."""

__version__ = "0.2.0"

TYPE_CHECKING = False
"""Substitute for ``typing.TYPE_CHECKING``, since ``typing`` takes long to load."""

if TYPE_CHECKING:
    from assay.writers import get_include as get_include
    from assay.writers.assay_progress import progress as progress

_PLACES = {
    "get_include": "assay.writers",
    "progress": "assay.writers.assay_progress",
}
"""Module of each public name. It is loaded at the first use, so that ``import assay`` is quick."""


def __getattr__(name: str) -> object:
    """Load the module of a public name."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value  # later uses do not come here
    return value


def __dir__() -> list[str]:
    """Return the names of the module, with those that are not loaded yet."""
    return sorted({*globals(), *_PLACES})
