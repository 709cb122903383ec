"""The import hook in real interpreters, with substitutes for the frameworks."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.settings.frameworks import HOOK

STAND_INS = Path(__file__).parents[2] / "stand_ins"
TORCH = {"ASSAY_HOOK_TORCH_INTRA": "3", "ASSAY_HOOK_TORCH_INTER": "2"}
TF = {"ASSAY_HOOK_TF_INTRA": "5", "ASSAY_HOOK_TF_INTER": "4"}


class Ran:
    """Output of a program, and the report of the hook: name, moment, text."""

    def __init__(self, done: subprocess.CompletedProcess[str], report: Path) -> None:
        self.output = done.stdout.strip()
        self.errors = done.stderr
        self.status = done.returncode
        lines = [line.split(" ", 3) for line in report.read_text().splitlines()]
        self.processes = {line[0] for line in lines}
        self.told = [tuple(line[1:]) for line in lines]


@pytest.fixture
def frameworks(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STAND_INS, tmp_path / "packages"))


def run(code: str, folder: Path, given: dict[str, str], *options: str) -> Ran:
    report = folder.parent / "report"
    report.write_text("")
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    env |= {
        "PYTHONPATH": f"{HOOK}:{folder}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "ASSAY_HOOK_REPORT": str(report),
        **given,
    }
    argv = [sys.executable, *options, "-c", code]
    return Ran(subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60), report)


def test_torch_is_set_at_import_and_read_at_import_and_exit(frameworks: Path) -> None:
    ran = run(
        "import torch; print(torch.get_num_threads(), torch.get_num_interop_threads())",
        frameworks,
        TORCH,
    )
    assert (ran.output, ran.errors, ran.status) == ("3 2", "", 0)
    assert set(ran.told) == {
        ("torch.intra", "import", "3"),
        ("torch.intra", "exit", "3"),
        ("torch.inter", "import", "2"),
        ("torch.inter", "exit", "2"),
    }


def test_tensorflow_is_read_only_at_exit(frameworks: Path) -> None:
    ran = run("import tensorflow as t; print(t.config.threading.asked)", frameworks, TF)
    assert (ran.output, ran.errors) == ("0", "")
    assert set(ran.told) == {
        ("tf.intra", "asked", "5"),
        ("tf.intra", "exit", "5"),
        ("tf.inter", "asked", "4"),
        ("tf.inter", "exit", "4"),
    }


def test_zero_is_passed_to_tensorflow(frameworks: Path) -> None:
    given = {"ASSAY_HOOK_TF_INTRA": "0"}
    code = "import tensorflow as t;print(t.config.threading.get_intra_op_parallelism_threads())"
    ran = run(code, frameworks, given)
    assert (ran.output, ran.errors) == ("0", "")
    assert set(ran.told) == {("tf.intra", "asked", "0"), ("tf.intra", "exit", "0")}


def test_only_requested_pools_change(frameworks: Path) -> None:
    code = "import torch, tensorflow; print(torch.get_num_interop_threads())"
    ran = run(code, frameworks, {"ASSAY_HOOK_TORCH_INTRA": "3"})
    assert ran.output == "8"
    assert {name for name, *_ in ran.told} == {"torch.intra"}


@pytest.mark.parametrize(
    "code",
    [
        "import torch.nn",
        "from torch import nn",
        "import importlib as i; i.import_module('torch.nn')",
    ],
)
def test_any_import_form_triggers_hook(frameworks: Path, code: str) -> None:
    ran = run(f"{code}; import torch; print(torch.get_num_threads(), torch.nn.layers)",
              frameworks, TORCH)  # fmt: skip
    assert (ran.output, ran.errors) == ("3 3", "")


def test_changes_by_program_are_reported(frameworks: Path) -> None:
    ran = run("import torch; torch.set_num_threads(7)", frameworks, TORCH)
    assert ("torch.intra", "exit", "7") in ran.told


def test_each_process_reports(frameworks: Path) -> None:
    code = "import subprocess, sys, torch; subprocess.run([sys.executable, '-c', 'import torch'])"
    ran = run(code, frameworks, TORCH)
    assert len(ran.processes) == 2
    assert {text for name, _, text in ran.told if name == "torch.intra"} == {"3"}


def test_program_without_import_reports_nothing(frameworks: Path) -> None:
    ran = run("print('torch' in __import__('sys').modules)", frameworks, TORCH)
    assert (ran.output, ran.errors, ran.told) == ("False", "", [])


@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_isolated_interpreter_reports_nothing(frameworks: Path, option: str) -> None:
    ran = run("print(1)", frameworks, TORCH, option)
    assert (ran.output, ran.told) == ("1", [])


def test_framework_without_functions_still_works(frameworks: Path) -> None:
    (frameworks / "torch" / "__init__.py").write_text("kept = 1\n")
    ran = run("import torch; print(torch.kept)", frameworks, TORCH)
    assert (ran.output, ran.errors, ran.status) == ("1", "", 0)
    assert all(text.startswith("error: ") for _, _, text in ran.told) and ran.told


def test_error_is_reported_on_one_line(frameworks: Path) -> None:
    with (frameworks / "torch" / "__init__.py").open("a") as file:
        file.write("set_num_interop_threads(6)\n")
    ran = run("import torch; print(torch.get_num_interop_threads())", frameworks, TORCH)
    assert ran.output == "6"
    assert (
        "torch.inter",
        "import",
        "error: cannot set number of interop threads after it was set",
    ) in ran.told


def test_failing_import_fails_as_without_hook(frameworks: Path) -> None:
    (frameworks / "torch" / "__init__.py").write_text("raise ImportError('no such library')\n")
    code = "try:\n  import torch\nexcept ImportError as error:\n  print(error)"
    assert run(code, frameworks, TORCH).output == "no such library"
    shutil.rmtree(frameworks / "torch")
    if importlib.util.find_spec("torch") is None:
        assert run(code, frameworks, TORCH).output == "No module named 'torch'"


def test_hidden_sitecustomize_runs_too(frameworks: Path) -> None:
    (frameworks / "sitecustomize.py").write_text("import sys\nsys.mine = __file__\n")
    code = "import sys, sitecustomize, torch; print(sys.mine, sitecustomize.__file__)"
    ran = run(code, frameworks, TORCH)
    theirs = str(frameworks / "sitecustomize.py")
    assert (ran.output, ran.errors) == (f"{theirs} {theirs}", "")
    assert ("torch.intra", "import", "3") in ran.told


def test_broken_sitecustomize_fails_as_without_hook(frameworks: Path) -> None:
    (frameworks / "sitecustomize.py").write_text("raise ValueError('broken here')\n")
    ran = run("import torch; print(torch.get_num_threads())", frameworks, TORCH)
    assert ran.output == "3"
    assert "broken here" in ran.errors and "sitecustomize" in ran.errors


def test_hook_folder_is_not_in_sys_path(frameworks: Path) -> None:
    ran = run("import sys; print('/hook' in ' '.join(sys.path))", frameworks, TORCH)
    assert ran.output == "False"


def test_unwritable_report_does_not_prevent_setting(frameworks: Path) -> None:
    given = {**TORCH, "ASSAY_HOOK_REPORT": "/nonexistent/report"}
    ran = run("import torch; print(torch.get_num_threads())", frameworks, given)
    assert (ran.output, ran.errors) == ("3", "")


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_real_torch_is_set(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    folder.mkdir()
    code = "import torch; print(torch.get_num_threads(), torch.get_num_interop_threads())"
    assert run(code, folder, TORCH).output == "3 2"
