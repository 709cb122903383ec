"""Examples in the documentation of the public functions run, with real launches."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

import pytest

import assay
import assay.api

pytestmark = pytest.mark.system
WRITERS = ("get_include", "progress")
"""Names for measured programs, which ``assay`` exports as well."""
EXAMPLES = sorted({*assay.api.MODULES, *WRITERS})


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_of_a_public_name_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assay_exec: Path
) -> None:
    monkeypatch.setenv("ASSAY_DB", str(tmp_path / "studies.db"))
    monkeypatch.setenv("ASSAY_EXEC", str(assay_exec))
    monkeypatch.setenv("ASSAY_DISTURBED_ABOVE", "never")
    monkeypatch.chdir(tmp_path)
    public = getattr(assay, name)
    (test,) = doctest.DocTestFinder(recurse=False).find(
        public, name, module=sys.modules[public.__module__], globs={}
    )
    assert test.examples, f"assay.{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    told: list[str] = []
    runner.run(test, out=told.append)
    assert runner.failures == 0, "".join(told)
