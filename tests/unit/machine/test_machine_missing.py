"""Word of a command that is not a program, behind wrappers and within shells."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from assay.machine.programs.program import inspect

BASH = "BASH_FUNC_%s%%%%"
NOSUCH = "no-such-program"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Provide an environment whose PATH has every wrapper, installed here or not."""
    for name in ("nice", "env", "timeout", "taskset", "numactl", "chrt", "time", "stdbuf"):
        (tmp_path / name).write_text("#!/bin/sh\n")
    for name in ("setsid", "nohup", "ionice", "setarch", "prog"):
        (tmp_path / name).write_text("#!/bin/sh\n")
    for path in tmp_path.iterdir():
        path.chmod(0o755)
    for name in ("sh", "bash"):
        found = shutil.which(name) or pytest.skip(f"{name} is not installed")
        (tmp_path / name).symlink_to(found)
    return {"PATH": str(tmp_path)}


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "nice -n 5 {}",
        "nice -5 {}",
        "env A=1 {} x",
        "timeout -k 1 5s {}",
        "taskset -c 0 {}",
        "numactl -C 0 --localalloc {}",
        "chrt -b 0 {}",
        "time -p {}",
        "stdbuf -oL {}",
        "setsid -w {}",
        "nohup {}",
        "ionice -c 3 {}",
        "setarch -R {}",
        "nice nohup env -u B {}",
    ],
)
def test_missing_program_behind_wrapper_is_named(line: str, env: dict[str, str]) -> None:
    found = inspect(shlex.split(line.format(NOSUCH)), env=env)
    assert (found.path, found.missing) == (None, NOSUCH)
    there = inspect(shlex.split(line.format("prog")), env=env)
    assert there.path is not None and there.missing is None


def test_missing_wrapper_is_named(env: dict[str, str]) -> None:
    Path(env["PATH"], "nohup").unlink()
    assert inspect(("nice", "nohup", NOSUCH), env=env).missing == "nohup"


@pytest.mark.parametrize(
    "words",
    ["f", "times", "type ls", "let x=1", "read x", "declare -f", "f 1 2", NOSUCH, "A=1 f"],
)
@pytest.mark.parametrize("front", [(), ("nice", "-n", "1"), ("env", "B=2")])
def test_shell_runs_builtin_without_file(
    words: str, front: tuple[str, ...], env: dict[str, str]
) -> None:
    found = inspect((*front, "bash", "-c", words), env={**env, BASH % "f": "() { :; }"})
    assert found.missing is None
    assert found.through == front[:1]
    assert found.path == f"{env['PATH']}/bash"


def test_exported_function_precedes_program_of_same_name(env: dict[str, str]) -> None:
    words = ("bash", "-c", "prog x")
    assert inspect(words, env=env).path == f"{env['PATH']}/prog"
    assert inspect(words, env={**env, BASH % "prog": "() { :; }"}).path == f"{env['PATH']}/bash"
