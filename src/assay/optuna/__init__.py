"""Use of assay from Optuna: a sampler, and trials of Optuna as a warm start.

It needs Optuna 4.0 or newer (``pip install 'assay[optuna]'``).
"""

from assay.lazy_names import lazy_names

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
    __getattr__, __dir__ = lazy_names(globals(), MODULES)
