from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from assay.errors import NotPossible
from assay.machine.document import Program
from assay.machine.surroundings import surroundings
from assay.records import (
    Choices,
    Configuration,
    Parameter,
    Plan,
    Prospect,
    Range,
    Space,
    Stratum,
    Word,
)
from assay.records.plan import Level
from assay.study.choose import grantable
from assay.study.session import Laboratory
from assay.study.stratum import demand_same, differences

THEN = Stratum(
    number=0,
    program_digest="a" * 64,
    kernel="6.1.0",
    cpus=(0, 1),
    default_state={"thp": "madvise"},
    engine="0.1.0",
    machine="m",
)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"program_digest": "b" * 64}, "the program: aaaaaaaaaaaa then, bbbbbbbbbbbb now"),
        ({"kernel": "6.18.0"}, "the kernel: 6.1.0 then, 6.18.0 now"),
        ({"cpus": (0,)}, "the usable CPUs: 0,1 then, 0 now"),
        ({"engine": "0.2.0"}, "assay's version: 0.1.0 then, 0.2.0 now"),
        ({"machine": "n"}, "the machine: m then, n now"),
        ({"default_state": {"thp": "never"}}, "thp: madvise then, never now"),
        ({"default_state": {}}, "thp: madvise then, None now"),
    ],
)
def test_what_changed_is_named_and_refused(change: dict[str, object], said: str) -> None:
    now = msgspec.structs.replace(THEN, **change)
    assert differences(THEN, now) == [said]
    with pytest.raises(NotPossible, match="cannot be pooled") as caught:
        demand_same(THEN, now)
    assert said in caught.value.cause
    assert "--new-stratum" in str(caught.value.remedy)


def test_what_is_the_same_may_be_pooled() -> None:
    demand_same(THEN, msgspec.structs.replace(THEN, number=3, model="x", host={"a": 1}))


def test_the_digest_of_a_comparison_is_of_all_its_programs() -> None:
    def lab(*digests: str | None) -> Laboratory:
        first, *others = (Program(argv0="x", digest=digest) for digest in digests)
        return Laboratory(None, None, None, first, tuple(others))  # type: ignore[arg-type]

    assert lab("a").digest == "a"
    assert lab("a", "b").digest not in ("a", "b")
    assert len({lab(*d).digest for d in (("a", "b"), ("a", "c"), ("b", "a"), ("a", None))}) == 4
    assert Laboratory(None, None, None).digest is None  # type: ignore[arg-type]


def test_values_that_are_refused_leave_the_space() -> None:
    def plan(configuration: Configuration) -> Plan:
        ((name, value),) = configuration.items()
        refused = value == -5 or name == "smt"
        word = Word(
            value=value,
            prospect=Prospect.REFUSED if refused else Prospect.GRANTABLE,
            level=Level.SET,
            reason="not allowed" if refused else None,
        )
        return Plan(configuration=configuration, words={name: word})

    space = Space(
        parameters=(
            Parameter(name="nice", domain=Choices((-5, 0, 5), ordered=True)),
            Parameter(name="smt", domain=Choices((True, False))),
            Parameter(name="arg.n", domain=Range(1, 9, step=1)),
        )
    )
    found, refused = grantable(space, plan)
    assert [p.name for p in found.parameters] == ["nice", "arg.n"]
    assert found.parameters[0].domain == Choices((0, 5), ordered=True)
    assert refused == {
        "nice=-5": "not allowed",
        "smt=true": "not allowed",
        "smt=false": "not allowed",
    }


def _above(limit: int) -> Callable[[Configuration], Plan]:
    """A planner that refuses numbers above a limit."""

    def plan(configuration: Configuration) -> Plan:
        ((name, value),) = configuration.items()
        refused = int(value) > limit
        word = Word(
            value=value,
            prospect=Prospect.REFUSED if refused else Prospect.GRANTABLE,
            level=Level.SET,
            reason=f"at most {limit}" if refused else None,
        )
        return Plan(configuration=configuration, words={name: word})

    return plan


def test_a_range_keeps_what_can_be_granted() -> None:
    space = Space(parameters=(Parameter(name="cpus", domain=Range(1, 6, step=1)),))
    found, refused = grantable(space, _above(2))
    assert found.parameters[0].domain.values() == (1, 2)
    assert refused == {"cpus=3..6": "at most 2"}


@pytest.mark.parametrize("when", [None, "cpus > 7"])
def test_an_expression_about_what_cannot_be_granted_says_so(when: str | None) -> None:
    space = Space(
        parameters=(
            Parameter(name="cpus", domain=Choices((8, 9))),
            Parameter(name="arg.n", domain=Choices((1, 2)), when=when),
        ),
        constraints=() if when else ("cpus > arg.n",),
    )
    with pytest.raises(NotPossible, match=r"needs cpus.*at most 2"):
        grantable(space, _above(2))


def test_another_environment_is_another_stratum() -> None:
    env = {"OMP_NUM_THREADS": "2", "SL": "0.1", "PWD": "/a", "SSH_TTY": "/dev/pts/1"}
    then = msgspec.structs.replace(THEN, surroundings=surroundings(env))
    assert then.surroundings.keys() >= {"variable SL", "niceness", "scheduling class"}
    assert "0.1" not in str(then.surroundings)
    same = surroundings({**env, "PWD": "/b", "SSH_TTY": "/dev/pts/2"})
    assert differences(then, msgspec.structs.replace(THEN, surroundings=same)) == []
    other = surroundings({"SL": "0.2", "LD_PRELOAD": "x.so"})
    assert differences(then, msgspec.structs.replace(THEN, surroundings=other)) == [
        "variable LD_PRELOAD: not set then",
        "variable OMP_NUM_THREADS: not set now",
        "variable SL: another value now",
    ]
