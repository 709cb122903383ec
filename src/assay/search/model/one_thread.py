"""Computations without threads of the linear algebra."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_P = ParamSpec("_P")
_R = TypeVar("_R")
_VARIABLE = "KMP_DUPLICATE_LIB_OK"
"""Variable that the import of threadpoolctl sets, and that all later launches would inherit."""


def on_one_thread(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """Run a method without threads of the linear algebra.

    Matrices of some hundred rows do not profit from threads, and idle threads keep spinning for a
    while on the CPUs of the next launch.
    """

    @functools.wraps(method)
    def limited(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with _one_thread():
            return method(*args, **kwargs)

    return limited


def _one_thread() -> AbstractContextManager[object]:
    """Return a context with one thread; the environment stays as it is."""
    found: AbstractContextManager[object] = _libraries().limit(limits=1)
    return found


@functools.cache
def _libraries() -> ThreadpoolController:
    """Return the libraries of linear algebra of this process; to find them takes milliseconds."""
    import numpy  # noqa: F401  # loads its library: one that is loaded later has its threads
    import scipy.linalg  # noqa: F401  # loads another copy of the library

    is_set = _VARIABLE in os.environ
    from threadpoolctl import ThreadpoolController

    if not is_set:
        os.environ.pop(_VARIABLE, None)
    return ThreadpoolController()
