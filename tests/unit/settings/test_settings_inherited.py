"""Exported variables: reported, and their removal is a value of a setting."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assay.errors import InvalidInputError
from assay.launch.document import launcher_document
from assay.launch.exported_variables import plan_notes
from assay.launch.planner import plan
from assay.launch.script import shell_script
from assay.records import (
    Choices,
    Configuration,
    GrantStatus,
    Launch,
    ReadBack,
    Stage,
    Value,
    Workload,
)
from assay.settings.inherited import exported_of, inherited_parameters, inherited_settings
from assay.settings.registry import builtin, judge_all
from assay.study.space_choice import choose_space
from assay.study.stratum import stratum_of
from assay.wording.conditions import condition_notes

from .hosts import facts, machine, program

REGISTRY = builtin()
HOST = machine()
SPEAKS = Workload(argv=("/bin/sh", "-c", 'echo "${OMP_PROC_BIND-none} ${GLIBC_TUNABLES-none}"'))


def document(given: dict[str, Value], env: dict[str, str]) -> dict[str, object]:
    config = Configuration(given)
    launch = Launch(configuration=config, arm="x", stage=Stage.SEARCH, block=0, position=0)
    return launcher_document(plan(config, HOST, REGISTRY), SPEAKS, launch, env=env)


@pytest.mark.parametrize(
    ("name", "runtimes"),
    [
        ("OMP_PROC_BIND", ("gomp",)),
        ("OMP_NUM_THREADS", ("openblas",)),
        ("KMP_BLOCKTIME", ("iomp",)),
        ("GOMP_SPINCOUNT", ("gomp",)),
        ("MKL_NUM_THREADS", ("mkl",)),
        ("MALLOC_ARENA_MAX", ()),
        ("MALLOC_CONF", ("jemalloc",)),
        ("GLIBC_TUNABLES", ()),
        ("LD_PRELOAD", ()),
    ],
)
def test_removal_of_exported_variable_is_suggested(name: str, runtimes: tuple[str, ...]) -> None:
    env = {name: "1", "HOME": "/root"}
    space = choose_space(REGISTRY, program(*runtimes), HOST, env).space
    found = {one.name: one for one in space.parameters}[f"inherited.{name}"]
    assert found.domain == Choices(("unset",)) and found.default == "kept"
    assert f"{name}=1 is exported" == found.reason
    assert inherited_settings(env) == {name: "1"}


@pytest.mark.parametrize(
    ("name", "value", "runtimes", "others"),
    [
        ("OMP_PROC_BIND", "true", (), {}),  # no runtime that reads it
        ("KMP_AFFINITY", "compact", ("gomp",), {}),
        ("MALLOC_ARENA_MAX", "1", (), {"static": True}),
        ("OMP_STACKSIZE", "64M", ("gomp",), {}),  # it may affect the robustness of the program
        ("OMP_PROC_BIND", "", ("gomp",), {}),
        ("OMPI_COMM_WORLD_RANK", "0", ("gomp",), {}),
        ("OMP_DISPLAY_ENV", "true", ("gomp",), {}),
        ("EDITOR", "vi", ("gomp",), {}),
    ],
)
def test_unread_variable_is_not_suggested(
    name: str, value: str, runtimes: tuple[str, ...], others: dict[str, object]
) -> None:
    assert not list(inherited_parameters({name: value}, program(*runtimes, **others)))


def test_unset_variable_is_removed_from_launch() -> None:
    env = {"OMP_PROC_BIND": "true", "LD_PRELOAD": "/lib/libx.so"}
    given: dict[str, Value] = {f"inherited.{name}": "unset" for name in env}
    found = document(given, env)
    assert found["env_unset"] == ["LD_PRELOAD", "OMP_PROC_BIND"]
    assert "env_unset" not in document(given, {})
    assert "env_unset" not in document({"inherited.OMP_PROC_BIND": "kept"}, env)


def test_unset_list_contains_only_planned_assignments() -> None:
    env = {"GLIBC_TUNABLES": "glibc.malloc.arena_max=1"}
    given: dict[str, Value] = {"malloc.hugepages": "thp"}
    kept = document(given, env)["env_set"]
    alone = document({**given, "inherited.GLIBC_TUNABLES": "unset"}, env)["env_set"]
    assert isinstance(kept, dict) and isinstance(alone, dict)
    assert "arena_max" in kept["GLIBC_TUNABLES"] and "arena_max" not in alone["GLIBC_TUNABLES"]
    assert "hugetlb" in alone["GLIBC_TUNABLES"]


def test_inherited_preload_is_removed_and_planned_one_kept() -> None:
    given: dict[str, Value] = {"malloc": "jemalloc", "inherited.LD_PRELOAD": "unset"}
    found = document(given, {"LD_PRELOAD": "/lib/libx.so"})["env_set"]
    assert isinstance(found, dict)
    assert found["LD_PRELOAD"] == HOST.libraries["jemalloc"]


def test_planned_preload_is_not_taken_for_inherited_one() -> None:
    config = Configuration({"malloc": "jemalloc", "inherited.LD_PRELOAD": "unset"})
    found = plan(config, HOST, REGISTRY)
    seen = ReadBack(environ={"LD_PRELOAD": HOST.libraries["jemalloc"]}, maps=())
    grant = judge_all(config, REGISTRY, found, facts(seen))["inherited.LD_PRELOAD"]
    assert grant.status is GrantStatus.GRANTED
    alone = Configuration({"inherited.LD_PRELOAD": "unset"})
    grants = judge_all(alone, REGISTRY, plan(alone, HOST, REGISTRY), facts(seen))
    assert grants["inherited.LD_PRELOAD"].status is GrantStatus.REFUSED


def test_variable_of_the_workload_replaces_the_exported_one() -> None:
    config = Configuration({"inherited.OMP_PROC_BIND": "kept"})
    exported = {"OMP_PROC_BIND": "true", "HOME": "/root"}
    assert exported_of(config, exported, {"OMP_PROC_BIND": "false"}) == {"OMP_PROC_BIND": "false"}


def test_variable_of_another_setting_is_not_unset() -> None:
    found = plan(
        Configuration({"inherited.OMP_PROC_BIND": "unset", "omp.bind": "close"}), HOST, REGISTRY
    )
    assert found.refused["inherited.OMP_PROC_BIND"].reason == "omp.bind sets OMP_PROC_BIND itself"


def test_script_unsets_variable(tmp_path: Path) -> None:
    config = Configuration(
        {"inherited.OMP_PROC_BIND": "unset", "inherited.GLIBC_TUNABLES": "unset"}
    )
    script = tmp_path / "script"
    script.write_text(shell_script(plan(config, HOST, REGISTRY), SPEAKS))
    env = {**os.environ, "OMP_PROC_BIND": "true", "GLIBC_TUNABLES": "glibc.malloc.arena_max=1"}
    done = subprocess.run(["/bin/sh", script], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "none none\n"


@pytest.mark.parametrize(
    ("value", "environ", "grant"),
    [
        ("unset", {}, GrantStatus.GRANTED),
        ("unset", {"OMP_PROC_BIND": "true"}, GrantStatus.REFUSED),
        ("kept", {"OMP_PROC_BIND": "true"}, GrantStatus.GRANTED),
        ("unset", None, GrantStatus.UNVERIFIED),
    ],
)
def test_inherited_setting_is_judged_by_environment_of_program(
    value: str, environ: dict[str, str] | None, grant: GrantStatus
) -> None:
    config = Configuration({"inherited.OMP_PROC_BIND": value})
    made = plan(config, HOST, REGISTRY)
    found = judge_all(config, REGISTRY, made, facts(ReadBack(environ=environ)))
    assert found["inherited.OMP_PROC_BIND"].status is grant


@pytest.mark.parametrize(
    ("exported", "environ", "grant"),
    [
        ("true", {"OMP_PROC_BIND": "true"}, GrantStatus.GRANTED),
        ("true", {}, GrantStatus.REFUSED),  # a wrapper cleaned the environment
        ("true", {"OMP_PROC_BIND": "close"}, GrantStatus.REFUSED),
        (None, {}, GrantStatus.GRANTED),
    ],
)
def test_kept_variable_is_compared_with_exported_value(
    exported: str | None, environ: dict[str, str], grant: GrantStatus
) -> None:
    config = Configuration({"inherited.OMP_PROC_BIND": "kept"})
    env = {} if exported is None else {"OMP_PROC_BIND": exported}
    found = facts(ReadBack(environ=environ), exported=exported_of(config, env, {}))
    judged = judge_all(config, REGISTRY, plan(config, HOST, REGISTRY), found)
    assert judged["inherited.OMP_PROC_BIND"].status is grant


@pytest.mark.parametrize("value", ["kept", "unset"])
def test_launcher_reads_back_variable(value: str) -> None:
    names = document({"inherited.OMP_PROC_BIND": value}, {"OMP_PROC_BIND": "true"})["environ_names"]
    assert names == ["OMP_PROC_BIND"]


def test_inherited_variables_are_reported_everywhere() -> None:
    env = {"OMP_PROC_BIND": "true", "TOKEN": "secret", "MALLOC_ARENA_MAX": "1"}
    stratum = stratum_of(0, HOST, None, env)
    assert stratum.inherited_variables == {"MALLOC_ARENA_MAX": "1", "OMP_PROC_BIND": "true"}
    (note,) = condition_notes(stratum, ())
    assert "MALLOC_ARENA_MAX=1, OMP_PROC_BIND=true" in note and "secret" not in note
    made = plan(Configuration({"inherited.OMP_PROC_BIND": "unset"}), HOST, REGISTRY)
    assert list(plan_notes(made, env)) == [
        "OMP_PROC_BIND=true is already exported: the default keeps it, "
        "this configuration unsets it",
        "MALLOC_ARENA_MAX=1 is already exported and remains set",
    ]


@pytest.mark.parametrize("name", ["", "A-B", "1A"])
def test_invalid_variable_name_is_rejected(name: str) -> None:
    with pytest.raises(InvalidInputError):
        REGISTRY.get(f"inherited.{name}")
