"""``cache``: planning, script and judgement."""

from __future__ import annotations

import pytest

from assay.launch.document import launcher_document
from assay.launch.file_arguments import file_words
from assay.launch.planner import plan
from assay.launch.script import shell_script
from assay.records import (
    Configuration,
    GrantStatus,
    Launch,
    Level,
    PageCache,
    Plan,
    Stage,
    Workload,
    decode,
    encode,
)
from assay.records.facts import CachedFiles
from assay.settings.registry import builtin, judge_all

from .hosts import facts, machine

REGISTRY = builtin()
HOST = machine()
MIB = 2**20


def planned(value: str) -> Plan:
    return plan(Configuration({"cache": value}), HOST, REGISTRY)


@pytest.mark.parametrize("value", ["warm", "cold"])
def test_cache_action_is_not_passed_to_launcher(value: str) -> None:
    made = planned(value)
    assert made.actions == (PageCache(state=value),)  # type: ignore[arg-type]
    assert decode(encode(made), Plan) == made
    launch = Launch(
        configuration=made.configuration, arm="x", stage=Stage.SEARCH, block=0, position=0
    )
    work = Workload(argv=("prog",))
    default = plan(Configuration({}), HOST, REGISTRY)
    of_study = {"env": {}, "varied": ("cache",)}
    documents = [launcher_document(p, work, launch, **of_study) for p in (made, default)]
    assert documents[0] == documents[1]


def test_other_values_are_refused() -> None:
    assert "Use warm,cold" in (planned("hot").settings["cache"].reason or "")


@pytest.mark.parametrize(
    ("value", "cached", "expected"),
    [
        ("cold", CachedFiles(files=2, size_bytes=MIB, cached_bytes=0), GrantStatus.GRANTED),
        ("cold", CachedFiles(files=2, size_bytes=MIB, cached_bytes=MIB // 2), GrantStatus.DEGRADED),
        ("cold", CachedFiles(files=2, size_bytes=MIB, cached_bytes=MIB), GrantStatus.REFUSED),
        ("warm", CachedFiles(files=2, size_bytes=MIB, cached_bytes=MIB), GrantStatus.GRANTED),
        ("warm", CachedFiles(files=2, size_bytes=MIB, cached_bytes=MIB // 2), GrantStatus.DEGRADED),
        ("warm", CachedFiles(files=2, size_bytes=MIB, cached_bytes=0), GrantStatus.REFUSED),
        ("cold", CachedFiles(files=0, size_bytes=0, cached_bytes=0), GrantStatus.REFUSED),
        ("cold", CachedFiles(files=1, size_bytes=MIB, unavailable="EPERM"), GrantStatus.UNVERIFIED),
        ("cold", None, GrantStatus.UNVERIFIED),
    ],
)
def test_grant_depends_on_cached_share(
    value: str, cached: CachedFiles | None, expected: GrantStatus
) -> None:
    made = planned(value)
    found = judge_all(made.configuration, REGISTRY, made, facts(cached_files=cached))["cache"]
    assert found.status is expected
    assert found.reason or (expected is GrantStatus.GRANTED and found.level is Level.EFFECTIVE)


@pytest.mark.parametrize(
    ("argv", "stdin", "expected"),
    [
        (("prog", "a", "--in=b", "a"), "c", ("a", "--in=b", "b", "c")),
        (("prog",), None, ()),
        (
            ("/bin/sh", "-c", "prog 'a b' <in.txt; x=y"),
            None,
            ("-c", "prog 'a b' <in.txt; x=y", "y", "prog", "a b", "<", "in.txt", ";", "x=y"),
        ),
        (("sh", "-c", "prog 'unclosed"), None, ("-c", "prog 'unclosed")),
    ],
)
def test_possible_file_words_are_found(
    argv: tuple[str, ...], stdin: str | None, expected: tuple[str, ...]
) -> None:
    assert set(file_words(argv, stdin)) == set(expected)


def test_script_uses_distribution_tools() -> None:
    work = Workload(argv=("prog", "it's", "-o"), stdin="/in put")
    cold = shell_script(planned("cold"), work)
    assert """ 'it'"'"'s' -o '/in put'; do""" in cold
    assert "iflag=nocache count=0" in cold
    assert 'cat -- "$file"' in shell_script(planned("warm"), work)
