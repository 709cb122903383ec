"""Import of Optuna, which is an optional dependency."""

from __future__ import annotations

from assay.errors import NotPossibleError

try:
    import optuna as optuna
except ImportError as error:
    raise NotPossibleError(
        "Optuna is not installed.", "Install it with `pip install 'assay[optuna]'`."
    ) from error
