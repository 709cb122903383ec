"""Import of assay: standard library only, all public names, and types for checkers."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import assay
import assay.api

SRC = Path(assay.__file__).parents[1]
MAX_MODULES = 4
"""Largest number of modules that ``import assay`` loads beyond those of the interpreter."""
SAMPLE = """\
import datetime

import assay

result = assay.tune(
    ["python", "train.py"],
    {"threads": [1, 2, 4], "malloc": "glibc,jemalloc", "nice": assay.Range(0, 19), "x": range(4)},
    budget=datetime.timedelta(minutes=10),
    goal="higher",
    progress=assay.Progress("sps", r"samples/s: ([0-9.]+)", goal="higher"),
    until="auto",
)
threads: object = result.recommendation.settings["threads"]
verdict: str = result.claims[0].verdict
path = result.report("r.html")
compared: assay.Result = assay.compare([["xz", "-T1"], ["xz", "-T2"]], runs=20, margin=0.02)
status: int | None = assay.run(["true"], settings={"threads": 2}).exit_status


async def main() -> assay.Result:
    with assay.Study(assay.measure, ["true"], runs=8) as study:
        first: assay.Result = study.result()
    return await assay.tune_async(["true"], budget=first.elapsed_s)
"""
WRONG = """\
import assay

assay.tune(["true"], budgt="10m")
assay.nothing
assay.measure(["true"], runs=[1])
"""


def loaded_by(code: str) -> set[str]:
    """Return the modules that a fresh interpreter loads for ``code``."""
    script = f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(done.stdout.split())


def test_import_loads_standard_library_only() -> None:
    loaded = loaded_by("import assay")
    own = {name for name in loaded if name.partition(".")[0] == "assay"}
    assert {name.partition(".")[0] for name in loaded - own} <= sys.stdlib_module_names
    assert own == {"assay"}
    assert len(loaded) <= MAX_MODULES


def test_list_of_names_loads_no_function() -> None:
    loaded = loaded_by("import assay; assert 'tune' in dir(assay)")
    own = {name for name in loaded if name.startswith("assay")}
    assert own == {"assay", "assay.api", "assay.lazy_names"}


def test_each_public_name_is_loaded_on_first_use() -> None:
    for name in assay.api.MODULES:
        assert getattr(assay, name) is getattr(assay.api, name)
        assert name in dir(assay)
        assert name in dir(assay.api)


def test_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        _ = assay.nothing
    with pytest.raises(AttributeError, match="nothing"):
        _ = assay.api.nothing


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(assay.api.__file__).read_text())
    imported = {
        name.asname: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.asname is not None
    }
    assert imported == assay.api.MODULES


@pytest.mark.rotating
def test_program_of_a_user_passes_strict_type_check(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    good, wrong = tmp_path / "good.py", tmp_path / "wrong.py"
    good.write_text(SAMPLE)
    wrong.write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path / 'cache'}"]
    # mypy finds an installed package itself, and refuses its folder as a path.
    env = dict(os.environ) if SRC.name == "site-packages" else {**os.environ, "MYPYPATH": str(SRC)}
    done = subprocess.run([*command, str(good)], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    done = subprocess.run([*command, str(wrong)], env=env, capture_output=True, text=True)
    assert done.stdout.count("error:") == 3, done.stdout
