"""``mem.dram``, ``mem.tier``, ``mem.numa``: preload, variables, refusals and judgement."""

from __future__ import annotations

import msgspec
import pytest

from assay.errors import InvalidInputError
from assay.launch.document import launcher_document
from assay.launch.planner import plan
from assay.machine.document import Machine
from assay.machine.swaps import SWAPS
from assay.records import (
    Configuration,
    EnvSet,
    GrantStatus,
    Launch,
    Level,
    Plan,
    Preload,
    Prospect,
    ReadBack,
    Stage,
    Value,
    Workload,
)
from assay.settings.base import Refused, Resolved
from assay.settings.registry import builtin, judge_all
from assay.settings.tier import LIBRARY, DramBudget, TierPlacement, TierStorage

from .hosts import LIBRARIES, facts, machine, program

REGISTRY = builtin()
PAGER = "/opt/assay/_native/libassay-tier.so"
HOST = machine(libraries={**LIBRARIES, LIBRARY: PAGER})
BOTH: dict[str, Value] = {"mem.dram": "64M", "mem.tier": "/mnt/disk"}


def planned(given: dict[str, Value], host: Machine = HOST) -> Plan:
    return plan(Configuration(given), host, REGISTRY)


def preloaded(made: Plan) -> list[str]:
    return [action.path for action in made.actions if isinstance(action, Preload)]


def test_library_is_preloaded_with_variables() -> None:
    made = planned(BOTH)
    assert {word.status for word in made.settings.values()} == {Prospect.GRANTABLE}
    assert {a.name: a.value for a in made.actions if isinstance(a, EnvSet)} == {
        "ASSAY_TIER_DRAM": str(64 << 20),
        "ASSAY_TIER_HOW": "pager",
        "ASSAY_TIER_PATH": "/mnt/disk",
    }
    assert preloaded(made) == [PAGER]


HEAD = "Filename\tType\tSize\tUsed\tPriority\n"


@pytest.mark.parametrize("system", [{}, {SWAPS: HEAD + "/swap file 1048576 0 -2\n"}])
def test_swap_instead_of_directory_preloads_advisor(system: dict[str, str]) -> None:
    host = machine(libraries=HOST.libraries, system_files=system)
    made = planned({**BOTH, "mem.tier": "swap"}, host)
    assert {word.status for word in made.settings.values()} == {Prospect.GRANTABLE}
    assert {a.name: a.value for a in made.actions if isinstance(a, EnvSet)} == {
        "ASSAY_TIER_DRAM": str(64 << 20),
        "ASSAY_TIER_HOW": "advisor",
    }
    assert preloaded(made) == [PAGER]


def test_missing_swap_is_refused() -> None:
    host = machine(libraries=HOST.libraries, system_files={SWAPS: HEAD})
    word = planned({**BOTH, "mem.tier": "swap"}, host).settings["mem.tier"]
    assert word.status is Prospect.REFUSED
    assert "no swap area is in use" in (word.reason or "") and "swapon" in (word.reason or "")
    assert planned(BOTH, host).settings["mem.tier"].status is Prospect.GRANTABLE


def test_launcher_searches_maps_for_pager() -> None:
    made = planned(BOTH)
    launch = Launch(
        configuration=made.configuration, arm="x", stage=Stage.SEARCH, block=0, position=0
    )
    document = launcher_document(made, Workload(argv=("prog",)), launch, env={"LD_PRELOAD": "/x"})
    assert document["env_set"]["LD_PRELOAD"] == f"{PAGER}:/x"
    assert any(name in PAGER for name in document["map_names"])


@pytest.mark.parametrize("malloc", ["jemalloc", "tcmalloc", "mimalloc"])
def test_pager_precedes_other_allocator(malloc: str) -> None:
    """Behind an allocator the pager would get no requests, but be granted."""
    assert preloaded(planned({**BOTH, "malloc": malloc})) == [PAGER, LIBRARIES[malloc]]


@pytest.mark.parametrize(
    ("dram", "bytes_"), [("1.5G", 3 << 29), (64 << 20, 64 << 20), ("16M", 16 << 20)]
)
def test_dram_sizes_are_passed_in_bytes(dram: Value, bytes_: int) -> None:
    made = planned({**BOTH, "mem.dram": dram})
    assert EnvSet(name="ASSAY_TIER_DRAM", value=str(bytes_)) in made.actions


@pytest.mark.parametrize(("alone", "other"), [("mem.dram", "mem.tier=DIR"), ("mem.tier", "SIZE")])
def test_single_setting_is_refused_naming_the_other(alone: str, other: str) -> None:
    word = planned({alone: BOTH[alone]}).settings[alone]
    assert word.status is Prospect.REFUSED
    assert f"{alone} needs " in (word.reason or "")
    assert f"Add {other}" in (word.reason or "") or f"={other}" in (word.reason or "")


@pytest.mark.parametrize("dram", ["15M", "0", 1, 0])
def test_too_small_budget_error_names_minimum(dram: Value) -> None:
    with pytest.raises(InvalidInputError, match=rf"too small: mem\.dram={dram}") as error:
        planned({**BOTH, "mem.dram": dram})
    assert "at least 16M" in (error.value.remedy or "")


@pytest.mark.parametrize("dram", ["much", "8Q", "-1G"])
def test_invalid_size_is_rejected(dram: str) -> None:
    with pytest.raises(InvalidInputError, match="is not a size"):
        planned({**BOTH, "mem.dram": dram})


def test_budget_above_memory_is_refused() -> None:
    host = msgspec.structs.replace(HOST, memory_bytes=8 << 30, memory_limit_bytes=None)
    assert (
        planned(BOTH | {"mem.dram": "8G"}, host).settings["mem.dram"].status is Prospect.GRANTABLE
    )
    confined = msgspec.structs.replace(host, memory_limit_bytes=4 << 30)
    for dram, small in (("9G", host), ("64T", host), ("5G", confined)):
        word = planned(BOTH | {"mem.dram": dram}, small).settings["mem.dram"]
        assert word.status is Prospect.REFUSED
        assert "GiB of memory on this machine" in (word.reason or "")


def test_missing_pager_is_refused_with_remedy() -> None:
    word = planned(BOTH, machine()).settings["mem.tier"]
    assert word.status is Prospect.REFUSED
    assert "has no pager" in (word.reason or "")
    assert "liburing-dev" in (word.reason or "")


@pytest.mark.parametrize("folder", ["/opt/my assay", "/opt/a:b", "/opt/a\tb"])
def test_unloadable_library_name_is_refused(folder: str) -> None:
    host = machine(libraries={LIBRARY: f"{folder}/libassay-tier.so"})
    answer = TierStorage().resolve(Configuration(BOTH), host)
    assert isinstance(answer, Refused)
    assert "a space or a colon" in answer.reason


def test_static_program_is_refused() -> None:
    made = plan(Configuration(BOTH), HOST, REGISTRY, program(static=True))
    assert made.settings["mem.tier"].status is Prospect.REFUSED
    assert "statically linked" in (made.settings["mem.tier"].reason or "")
    assert preloaded(made) == []


@pytest.mark.parametrize("setting", [DramBudget(), TierStorage(), TierPlacement()])
def test_tier_is_never_suggested(setting: DramBudget | TierStorage | TierPlacement) -> None:
    assert isinstance(setting.suggest(program(), HOST), str)
    assert setting.default(HOST) is None


TWO_NODES = machine(nodes=2, libraries=HOST.libraries)


@pytest.mark.parametrize("numa", ["follow", "local", "interleave"])
def test_nodes_of_dram_are_set(numa: str) -> None:
    made = planned({**BOTH, "mem.numa": numa}, TWO_NODES)
    assert {word.status for word in made.settings.values()} == {Prospect.GRANTABLE}
    assert EnvSet(name="ASSAY_TIER_NUMA", value=numa) in made.actions
    assert not any(
        a.name == "ASSAY_TIER_NUMA" for a in planned(BOTH).actions if isinstance(a, EnvSet)
    )
    answer = TierPlacement().resolve(Configuration({**BOTH, "mem.numa": numa}), HOST)
    assert isinstance(answer, Resolved) and answer.note == "all memory is on one node"


@pytest.mark.parametrize(
    ("given", "reason", "step"),
    [
        ({"mem.numa": "local"}, "needs a DRAM budget", "Add mem.tier=DIR"),
        ({**BOTH, "mem.tier": "swap", "mem.numa": "local"}, "the kernel places", "mem.policy"),
        (
            {**BOTH, "mem.policy": "interleave:all", "mem.numa": "local"},
            "already selects the nodes",
            "Remove one",
        ),
        (
            {**BOTH, "mem.policy": "local", "mem.numa": "follow"},
            "already selects the nodes",
            "Remove one",
        ),
        ({**BOTH, "mem.numa": "everywhere"}, "everywhere", "follow,local,interleave"),
    ],
)
def test_conflicting_node_policies_are_refused(
    given: dict[str, Value], reason: str, step: str
) -> None:
    made = planned(given, TWO_NODES)
    word = made.settings["mem.numa"]
    assert word.status is Prospect.REFUSED
    assert reason in (word.reason or "") and step in (word.reason or "")
    assert {name for name, w in made.settings.items() if w.status is Prospect.REFUSED} == {
        "mem.numa"
    }


@pytest.mark.parametrize(
    ("seen", "grant"),
    [
        (ReadBack(maps=(PAGER,)), GrantStatus.GRANTED),
        (ReadBack(maps=("/lib/ld-linux.so.2",)), GrantStatus.REFUSED),
        (None, GrantStatus.UNVERIFIED),
    ],
)
def test_node_policy_is_judged_by_mapped_pager(seen: ReadBack | None, grant: GrantStatus) -> None:
    given: dict[str, Value] = {**BOTH, "mem.numa": "local"}
    found = judge_all(Configuration(given), REGISTRY, planned(given), facts(seen))["mem.numa"]
    assert found.status is grant
    if grant is GrantStatus.GRANTED:
        assert found.level is Level.SET


@pytest.mark.parametrize(
    ("seen", "grant", "level"),
    [
        (ReadBack(maps=("/lib/ld-linux.so.2", PAGER)), GrantStatus.GRANTED, Level.SEEN),
        (ReadBack(maps=("/lib/ld-linux.so.2",)), GrantStatus.REFUSED, Level.SEEN),
        (
            ReadBack(maps=("/lib/libtier.so", "/x/libassay-region.so")),
            GrantStatus.REFUSED,
            Level.SEEN,
        ),
        (ReadBack(), GrantStatus.UNVERIFIED, Level.SET),
        (None, GrantStatus.UNVERIFIED, Level.SET),
    ],
)
def test_grant_depends_on_maps(seen: ReadBack | None, grant: GrantStatus, level: Level) -> None:
    config = Configuration(BOTH)
    grants = judge_all(config, REGISTRY, planned(BOTH), facts(seen))
    for name, value in BOTH.items():
        assert (grants[name].status, grants[name].level) == (grant, level)
        assert grants[name].value == value
    assert grants["mem.tier"].observed == (PAGER if grant is GrantStatus.GRANTED else None)
    if grant is GrantStatus.REFUSED:
        assert "not mapped" in (grants["mem.tier"].reason or "")
