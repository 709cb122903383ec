"""Names of the public verb functions: no submodule of assay may replace one of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

VERBS = (
    *("tune", "compare", "measure", "run", "sweep", "report", "predict", "recommend", "compose"),
    *("serve", "suite", "bisect", "history", "gate", "progress"),
)
"""Functions of the public Python API, present and planned."""
SRC = Path(__file__).resolve().parents[2] / "src"
IMPORT_ALL = """
import importlib, pkgutil, sys
import assay

def verb(name):
    return lambda: name

verbs = sys.argv[1].split(",")
for name in verbs:
    setattr(assay, name, verb(name))
failed = []
for module in pkgutil.walk_packages(assay.__path__, "assay.", onerror=failed.append):
    if module.name.rpartition(".")[2] in ("__main__", "env") or ".migrations" in module.name:
        continue
    importlib.import_module(module.name)
assert not failed, failed
called = [name for name in verbs if getattr(assay, name)() == name]
assert called == verbs, set(verbs) - set(called)
print(len([name for name in sys.modules if name.startswith("assay.")]))
"""


def test_no_package_has_the_name_of_a_verb() -> None:
    modules = {path.stem for path in (SRC / "assay").iterdir()}
    assert modules.isdisjoint(VERBS)


def test_verbs_can_be_called_after_every_module_is_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, ",".join(VERBS)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > 500
