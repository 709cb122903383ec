"""The launcher's document."""

from __future__ import annotations

import pytest
from settings.hosts import LIBRARIES, machine

from assay.errors import InvalidInputError, NotPossibleError
from assay.launch.document import PROGRESS_VARIABLES, launcher_document, readback_sources
from assay.launch.planner import plan
from assay.machine.document import HugePages
from assay.records import (
    Configuration,
    Hooks,
    Launch,
    Limits,
    MemPolicy,
    Plan,
    Rlimit,
    Stage,
    Value,
    Workload,
    Wrap,
)
from assay.settings.registry import builtin

REGISTRY = builtin()
HOST = machine(caches=2, cores=2, smt=2)
WORK = Workload(argv=("prog", "--size={n}", "{other}"), placeholders={"n": "1"})


def document(
    given: dict[str, Value],
    workload: Workload = WORK,
    env: dict[str, str] | None = None,
    stage: Stage = Stage.SEARCH,
    cap_s: float | None = None,
    host: object = HOST,
    measured: bool = False,
) -> dict[str, object]:
    config = Configuration(given)
    launch = Launch(
        configuration=config, arm="x", stage=stage, block=0, position=0, timeout_s=cap_s
    )
    made = plan(config, host, REGISTRY)  # type: ignore[arg-type]
    return launcher_document(
        made,
        workload,
        launch,
        env=env or {},
        stdout="/t/out",
        stderr="/t/err",
        measured=measured,
    )


def test_default_launch_sets_nothing() -> None:
    assert document({}) == {
        "schema": 2,
        "argv": ["prog", "--size=1", "{other}"],
        "stdin": "/dev/null",
        "stdout": "/t/out",
        "stderr": "/t/err",
    }


def test_every_action_has_its_key() -> None:
    got = document(
        {"cpus": 2, "sched": "batch", "nice": 5, "thp": "never", "env.F": "x", "arg.n": 8}
    )
    assert got["affinity"] == [0, 4]
    assert got["sched"] == {"policy": "batch", "nice": 5}
    assert got["prctl"] == [{"option": 41, "args": [1, 0, 0, 0]}]
    assert got["env_set"] == {"F": "x"}
    assert got["environ_names"] == ["F"]
    assert got["argv"] == ["prog", "--size=8", "{other}"]
    assert "smaps" in got["readback"]  # type: ignore[operator]


def test_workload_becomes_keys() -> None:
    work = Workload(
        argv=("p",),
        stdin="/in",
        cwd="/w",
        timeout_s=9.0,
        limits=Limits(memory_bytes=1, processes=2, cpu_s=3.0, output_bytes=4),
    )
    got = document({}, work, cap_s=20.0)
    assert (got["stdin"], got["cwd"], got["timeout_s"]) == ("/in", "/w", 9.0)
    assert got["limits"] == {"memory_bytes": 1, "pids": 2, "cpu_s": 3.0, "output_bytes": 4}
    assert document({}, work, cap_s=2.0)["timeout_s"] == 2.0


@pytest.mark.parametrize(
    ("timeout_s", "grace_s", "cap_s", "expected_s"),
    [
        (None, None, None, 10.0),
        (9.0, None, None, 10.0),
        (9.0, None, 9.0, 10.0),
        (9.0, None, 0.5, 0.5),
        (None, None, 0.5, 0.5),
        (None, None, 60.0, 10.0),
        (9.0, 30.0, 0.5, 30.0),
        (9.0, 0.0, None, None),
    ],
    ids=[
        "nothing is asked",
        "at a limit",
        "at a limit that assay has too",
        "sooner than the limit",
        "by a limit of assay alone",
        "by a late limit of assay",
        "as asked",
        "killed at once",
    ],
)
def test_grace_period_is_at_most_the_cap(
    timeout_s: float | None, grace_s: float | None, cap_s: float | None, expected_s: float | None
) -> None:
    work = Workload(
        argv=("p",), timeout_s=timeout_s, grace_s=grace_s, hooks=Hooks(stop=("quit", "now"))
    )
    got = document({}, work, cap_s=cap_s, measured=True)
    assert got.get("grace_s") == expected_s
    assert got.get("stop") == (None if expected_s is None else ["quit", "now"])
    assert "grace_s" not in document({}, work, cap_s=cap_s, measured=False)


def test_signals_are_left_to_program_on_request_only() -> None:
    launch = Launch(
        configuration=Configuration(), arm="x", stage=Stage.CONFIRM, block=0, position=0
    )
    made = plan(Configuration(), HOST, REGISTRY)
    assert "signals" not in launcher_document(made, WORK, launch, env={})
    left = launcher_document(made, WORK, launch, env={}, signals="leave")
    assert left["signals"] == "leave"


def test_progress_goes_to_named_channel_only() -> None:
    launch = Launch(
        configuration=Configuration(), arm="x", stage=Stage.CONFIRM, block=0, position=0
    )
    made = plan(Configuration(), HOST, REGISTRY)
    assert launcher_document(made, WORK, launch, env={}, progress="/t/p")["progress"] == "/t/p"
    outer = dict.fromkeys(PROGRESS_VARIABLES, "1")
    got = document({}, env=outer, measured=True)
    assert "progress" not in got
    assert got["env_unset"] == list(PROGRESS_VARIABLES)
    assert "env_unset" not in document({}, env=outer)  # `assay run` is transparent
    assert "env_unset" not in document({}, env={}, measured=True)


def test_shared_variables_keep_inherited_assignments() -> None:
    env = {"GLIBC_TUNABLES": "glibc.malloc.perturb=3:glibc.malloc.hugetlb=0"}
    got = document({"thp": "always"}, env=env)
    assert got["env_set"] == {"GLIBC_TUNABLES": "glibc.malloc.perturb=3:glibc.malloc.hugetlb=1"}
    whole = document({"env.GLIBC_TUNABLES": "glibc.malloc.check=1"}, env=env)
    assert whole["env_set"] == {"GLIBC_TUNABLES": "glibc.malloc.check=1"}


@pytest.mark.parametrize(
    ("malloc", "inherited", "expected", "unset"),
    [
        ("jemalloc", None, LIBRARIES["jemalloc"], False),
        ("jemalloc", "/a.so", f"{LIBRARIES['jemalloc']}:/a.so", False),
        ("jemalloc", "/x/libtcmalloc.so.4 /a.so", f"{LIBRARIES['jemalloc']}:/a.so", False),
        ("jemalloc", LIBRARIES["jemalloc"], LIBRARIES["jemalloc"], False),
        ("glibc", None, None, False),
        ("glibc", "/a.so:/x/libjemalloc.so.2:/b.so", "/a.so:/b.so", False),
        ("glibc", "/x/libjemalloc.so.2", None, True),
    ],
)
def test_preloads(malloc: str, inherited: str | None, expected: str | None, unset: bool) -> None:
    env = {} if inherited is None else {"LD_PRELOAD": inherited}
    got = document({"malloc": malloc}, env=env)
    assert got.get("env_set", {}).get("LD_PRELOAD") == expected  # type: ignore[attr-defined]
    assert got.get("env_unset") == (["LD_PRELOAD"] if unset else None)


def test_values_are_not_replaced_twice() -> None:
    work = Workload(argv=("p", "{a}{b}", "{c}"), placeholders={"a": "{b}", "b": "{a}"})
    assert document({}, work)["argv"] == ["p", "{b}{a}", "{c}"]


def test_argument_without_placeholder_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"no placeholder \{nn\}") as caught:
        document({"arg.nn": 1})
    assert "arg.n" in str(caught.value.remedy)


def test_command_setting_keeps_placeholders() -> None:
    assert document({"command": "other {n}"})["argv"] == ["other", "1"]


def test_refused_plan_is_not_launched() -> None:
    with pytest.raises(NotPossibleError, match="cpus=99"):
        document({"cpus": 99})


def test_openblas_reports_its_core_if_judged() -> None:
    assert document({"cpu.isa": "avx512"})["env_set"] == {
        "OPENBLAS_CORETYPE": "SkylakeX",
        "OPENBLAS_VERBOSE": "2",
    }
    quiet = document({"cpu.isa": "avx512"}, env={"OPENBLAS_VERBOSE": "0"})
    assert quiet["env_set"] == {"OPENBLAS_CORETYPE": "SkylakeX"}
    survey = document({}, stage=Stage.SURVEY)
    assert survey["env_set"] == {"OPENBLAS_VERBOSE": "2"}
    assert "map_names" not in survey


def test_arms_of_a_study_differ_in_settings_only() -> None:
    """Every arm prints the report of OpenBLAS if one does, since printing takes time."""

    def told(given: dict[str, Value], varied: tuple[str, ...]) -> object:
        config = Configuration(given)
        launch = Launch(configuration=config, arm="x", stage=Stage.SEARCH, block=0, position=0)
        made = plan(config, HOST, REGISTRY)
        got = launcher_document(made, WORK, launch, env={}, stderr="/t/err", varied=varied)
        return got.get("env_set", {}).get("OPENBLAS_VERBOSE")

    for given in ({}, {"nice": 5}, {"cpu.isa": "avx512"}):
        assert told(given, ("cpu.isa", "nice")) == "2"
        assert told(given, ("nice",)) is None


def test_openblas_report_stays_off_in_standard_error_of_user() -> None:
    """A run without a study uses the standard error of the user."""
    config = Configuration({"cpu.isa": "avx512"})
    launch = Launch(configuration=config, arm="x", stage=Stage.CONFIRM, block=0, position=0)
    got = launcher_document(plan(config, HOST, REGISTRY), WORK, launch, env={})
    assert got["env_set"] == {"OPENBLAS_CORETYPE": "SkylakeX"}


def test_smaps_is_read_only_if_thp_varies() -> None:
    assert "smaps" in readback_sources(("threads", "thp"))
    assert "smaps" not in readback_sources(("threads",))


def test_actions_without_a_setting_have_keys() -> None:
    config = Configuration()
    actions = (
        Wrap(argv=("strace", "-f")),
        MemPolicy(mode="bind", nodes=(0, 1)),
        Rlimit(resource="nofile", soft=10, hard=None),
    )
    launch = Launch(configuration=config, arm="d", stage=Stage.SEARCH, block=0, position=0)
    made = Plan(configuration=config, actions=actions)
    got = launcher_document(made, WORK, launch, env={})
    assert got["argv"][:2] == ["strace", "-f"]
    assert got["mempolicy"] == {"mode": "bind", "nodes": [0, 1]}
    assert got["rlimits"] == [{"resource": "nofile", "soft": 10, "hard": None}]


def test_thp_never_needs_no_action_without_huge_pages() -> None:
    got = document({"thp": "never"}, host=machine(huge_pages=HugePages()))
    assert "prctl" not in got
