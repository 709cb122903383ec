"""assay: an open performance laboratory for Linux."""

__version__ = "0.2.0"

TYPE_CHECKING = False
"""Same as ``typing.TYPE_CHECKING``; loading ``typing`` takes longer than all other imports."""

_WRITERS = {
    "get_include": "assay.writers",
    "progress": "assay.writers.assay_progress",
}
"""Modules of the names that measured programs use; they load the standard library only."""

if TYPE_CHECKING:
    from assay.api import *  # noqa: F403 - names for type checkers
    from assay.writers import get_include as get_include
    from assay.writers.assay_progress import progress as progress
else:  # a type checker reports unknown names

    def __getattr__(name: str) -> object:
        """Return a public name, loaded on first use (PEP 562)."""
        from importlib import import_module

        if name in _WRITERS:
            module = import_module(_WRITERS[name])
        else:
            module = import_module("assay.api")
            if name not in module.MODULES:
                import sys

                text = f"module {__name__!r} has no attribute {name!r}"
                raise AttributeError(text, name=name, obj=sys.modules[__name__])
        globals()[name] = value = getattr(module, name)
        return value


def __dir__() -> "list[str]":
    """Return all names, public ones included."""
    from importlib import import_module

    return sorted({*globals(), *_WRITERS, *import_module("assay.api").MODULES})
