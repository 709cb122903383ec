"""Use of assay from Optuna: a sampler, and trials of Optuna as a warm start.

It needs Optuna 4.0 or newer (``pip install 'assay[optuna]'``).
"""

TYPE_CHECKING = False
"""Same as ``typing.TYPE_CHECKING``; loading ``typing`` takes longer than all other imports."""

if TYPE_CHECKING:
    from assay.optuna.history import read_study as read_study
    from assay.optuna.sampler import AssaySampler as AssaySampler

MODULES = {
    "AssaySampler": "assay.optuna.sampler",
    "read_study": "assay.optuna.history",
}
"""Module of each public name."""


if not TYPE_CHECKING:  # a type checker reports unknown names

    def __getattr__(name: str) -> object:
        """Return a public name, loaded on first use (PEP 562)."""
        if name not in MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value: object = getattr(import_module(MODULES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> "list[str]":
    """Return all names, public ones included."""
    return sorted({*globals(), *MODULES})
