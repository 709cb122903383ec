"""Cases of one test: some are in every run, the others in ``make test-full``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def cases(every: Iterable[Any], slow: Iterable[Any]) -> list[Any]:
    """Return the cases for ``pytest.mark.parametrize``.

    Args:
        every: cases of every run.
        slow: further cases, marked ``slow``.
    """

    def case(one: Any, *marks: pytest.MarkDecorator) -> Any:
        values = one if isinstance(one, tuple) else (one,)
        return pytest.param(*values, marks=marks)

    return [*(case(one) for one in every), *(case(one, pytest.mark.slow) for one in slow)]
