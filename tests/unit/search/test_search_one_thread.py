"""Computations of the search on one thread leave the environment of launches as it is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from assay.search.model.one_thread import on_one_thread

SCRIPT = """
import os
from assay.search.model.one_thread import on_one_thread
before = dict(os.environ)
assert on_one_thread(lambda: 5)() == 5
assert dict(os.environ) == before, set(os.environ) ^ set(before)
"""


@pytest.mark.parametrize("value", [None, "FALSE"])
def test_environment_stays_as_it_is(value: str | None) -> None:
    env = {name: text for name, text in os.environ.items() if not name.startswith("KMP_")}
    if value is not None:
        env["KMP_DUPLICATE_LIB_OK"] = value
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, env=env)


def test_method_keeps_its_name_and_its_result() -> None:
    @on_one_thread
    def total(*values: int, start: int = 0) -> int:
        return sum(values, start)

    assert total.__name__ == "total"
    assert total(1, 2, start=3) == 6
