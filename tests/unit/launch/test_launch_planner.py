"""Plans: actions, status of settings, merging and conflicts."""

from __future__ import annotations

import pytest
from settings.hosts import AVX2, LIBRARIES, machine, program

from assay.errors import InvalidInputError
from assay.launch.planner import plan
from assay.machine.document import HugePages, Machine, Program, Rights
from assay.records import (
    Affinity,
    Arg,
    Command,
    Configuration,
    EnvSet,
    Plan,
    Prctl,
    Preload,
    Prospect,
    Sched,
    Unpreload,
    Value,
    decode,
    encode,
)
from assay.settings.registry import builtin

REGISTRY = builtin()
HOST = machine(caches=2, cores=2, smt=2)


def planned(given: dict[str, Value], host: Machine = HOST, prog: Program | None = None) -> Plan:
    return plan(Configuration(given), host, REGISTRY, prog)


def variables(made: Plan) -> dict[str, str]:
    return {a.name: a.value for a in made.actions if isinstance(a, EnvSet)}


def prospects(made: Plan) -> dict[str, Prospect]:
    return {name: word.status for name, word in made.settings.items()}


def test_default_has_no_actions() -> None:
    assert planned({}) == Plan(configuration=Configuration())


def test_threads_sets_every_pool() -> None:
    made = planned({"threads": 3})
    assert set(variables(made).values()) == {"3", "--threads=3"}
    assert variables(made)["XZ_DEFAULTS"] == "--threads=3"
    expected = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS", "GOMAXPROCS"}
    assert expected <= variables(made).keys()
    assert prospects(made) == {"threads": Prospect.GRANTABLE}


def test_narrower_settings_take_precedence() -> None:
    made = planned({"threads": 4, "threads.omp": 2, "threads.blas": 1})
    got = variables(made)
    assert (got["OMP_NUM_THREADS"], got["MKL_NUM_THREADS"], got["GOMAXPROCS"]) == ("2", "1", "4")
    assert set(prospects(made).values()) == {Prospect.GRANTABLE}
    assert "threads.omp" in (made.settings["threads"].reason or "")


def test_env_setting_overrides_other_settings() -> None:
    made = planned({"threads": 4, "env.OMP_NUM_THREADS": 1})
    assert variables(made)["OMP_NUM_THREADS"] == "1"
    assert made.settings["threads"].status is Prospect.DEGRADED
    assert "env.OMP_NUM_THREADS sets OMP_NUM_THREADS" in (made.settings["threads"].reason or "")
    agreed = planned({"threads": 4, "env.OMP_NUM_THREADS": 4})
    assert set(prospects(agreed).values()) == {Prospect.GRANTABLE}


def test_env_setting_of_list_keeps_its_assignments() -> None:
    made = planned({"threads": 4, "env.XZ_DEFAULTS": "--threads=1"})
    assert variables(made)["XZ_DEFAULTS"] == "--threads=1"
    assert variables(made)["OMP_NUM_THREADS"] == "4"
    assert made.settings["threads"].status is Prospect.DEGRADED
    other = planned({"threads": 4, "env.XZ_DEFAULTS": "--memory=1GiB"})
    assert sorted(variables(other)["XZ_DEFAULTS"].split()) == ["--memory=1GiB", "--threads=4"]


def test_tunables_of_several_settings_are_merged() -> None:
    made = planned({"cpu.isa": "avx2", "thp": "always"})
    tunables = variables(made)["GLIBC_TUNABLES"].split(":")
    assert "glibc.malloc.hugetlb=1" in tunables
    assert any(t.startswith("glibc.cpu.hwcaps=-AVX512F,") for t in tunables)
    with_user = planned({"thp": "always", "env.GLIBC_TUNABLES": "glibc.malloc.perturb=1"})
    assert variables(with_user)["GLIBC_TUNABLES"].split(":") == [
        "glibc.malloc.hugetlb=1",
        "glibc.malloc.perturb=1",
    ]
    against = planned({"thp": "always", "env.GLIBC_TUNABLES": "glibc.malloc.hugetlb=0"})
    assert list(against.refused) == ["thp"]
    assert variables(against)["GLIBC_TUNABLES"] == "glibc.malloc.hugetlb=0"


def test_sched_and_nice_are_one_action() -> None:
    made = planned({"sched": "batch", "nice": 5})
    assert [a for a in made.actions if isinstance(a, Sched)] == [Sched(policy="batch", nice=5)]
    assert planned({"nice": 0}).actions == (Sched(nice=0),)


@pytest.mark.parametrize(
    ("given", "cpus"),
    [
        ({"cpus": 2}, (0, 4)),
        ({"cpus": 2, "placement": "scatter"}, (0, 2)),
        ({"cpus": 2, "placement": "one-per-core"}, (0, 1)),
        ({"cpus": "7,1-2"}, (1, 2, 7)),
        ({"cpus": "3"}, (3,)),
        ({"cpus": 8}, tuple(range(8))),
        ({"placement": "one-per-core"}, (0, 1, 2, 3)),
    ],
)
def test_cpus(given: dict[str, Value], cpus: tuple[int, ...]) -> None:
    made = planned(given)
    assert made.actions == (Affinity(cpus=cpus),)
    assert not made.refused


def test_placement_without_count_is_degraded() -> None:
    assert prospects(planned({"placement": "scatter"})) == {"placement": Prospect.DEGRADED}
    listed = planned({"placement": "scatter", "cpus": "0-1"})
    assert listed.settings["placement"].status is Prospect.DEGRADED
    assert listed.actions == (Affinity(cpus=(0, 1)),)


def test_allocators() -> None:
    made = planned({"malloc": "tbbmalloc"})
    clear, preload = made.actions
    assert isinstance(clear, Unpreload) and "libjemalloc" in clear.prefixes
    assert preload == Preload(path=LIBRARIES["tbbmalloc"])
    assert [type(a) for a in planned({"malloc": "glibc"}).actions] == [Unpreload]


@pytest.mark.parametrize(
    ("malloc", "expected"),
    [
        ("glibc", {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}),
        ("jemalloc", {"MALLOC_CONF": "thp:always"}),
        ("mimalloc", {"MIMALLOC_LARGE_OS_PAGES": "1", "MIMALLOC_ALLOW_LARGE_OS_PAGES": "1"}),
    ],
)
def test_huge_pages_are_requested_from_allocator_in_use(
    malloc: str, expected: dict[str, str]
) -> None:
    made = planned({"thp": "always", "malloc": malloc})
    assert variables(made) == expected
    assert made.settings["thp"].status is Prospect.DEGRADED
    assert malloc in (made.settings["thp"].reason or "")


def system(mode: str | None, kernel: tuple[int, int] = (6, 18)) -> Machine:
    return machine(
        huge_pages=HugePages(enabled=mode), kernel_version=kernel, kernel=f"{kernel[0]}.{kernel[1]}"
    )


@pytest.mark.parametrize(
    ("value", "host", "actions"),
    [
        ("default", system("always"), ()),
        ("never", system("always"), (Prctl(option=41, args=(1, 0, 0, 0)),)),
        ("never", system(None), ()),
        ("madvise", system("madvise", (5, 10)), ()),
        ("madvise", system("always"), (Prctl(option=41, args=(1, 2, 0, 0)),)),
        ("always", system("always"), ()),
    ],
)
def test_thp(value: str, host: Machine, actions: tuple[object, ...]) -> None:
    made = planned({"thp": value}, host)
    assert made.actions == actions
    assert prospects(made) == {"thp": Prospect.GRANTABLE}


@pytest.mark.parametrize(
    ("given", "host", "told"),
    [
        ({"thp": "madvise"}, system("always", (6, 17)), "6.18"),
        ({"thp": "madvise"}, system("never"), "echo madvise"),
        ({"thp": "always"}, system("never"), "echo madvise"),
        ({"thp": "always"}, system(None), "no transparent huge pages"),
        ({"thp": "always", "malloc": "tcmalloc"}, HOST, "tcmalloc cannot request"),
        ({"thp": "sometimes"}, HOST, "default,never"),
        ({"malloc": "jemalloc"}, machine(libraries={}), "apt-get install libjemalloc2"),
        ({"malloc": "hoard"}, HOST, "glibc,jemalloc"),
        ({"malloc": "jemalloc"}, machine(libraries={"jemalloc": "/my libs/j.so"}), "space"),
        ({"cpus": 9}, HOST, "from 1 to 8"),
        ({"cpus": 0}, HOST, "from 1 to 8"),
        ({"cpus": 5, "placement": "one-per-core"}, HOST, "4 cores"),
        ({"cpus": "0,8-9"}, HOST, "CPUs 8-9 are not"),
        ({"cpus": "1"}, machine(cores=2, allowed=(0,)), "CPU 1 is not"),
        ({"nice": -5}, HOST, "root"),
        ({"nice": 25}, HOST, "-20..19"),
        ({"sched": "fifo"}, HOST, "other, batch, idle"),
        ({"cpu.isa": "avx512"}, machine(flags=AVX2), "avx512f"),
        ({"cpu.isa": "sve"}, HOST, "x86_64"),
        ({"omp.bind": "true"}, HOST, "close"),
        ({"threads": 0}, HOST, "count"),
        ({"command": "'a"}, HOST, "quot"),
        ({"env.F": "a\0b"}, HOST, "NUL"),
    ],
)
def test_impossible_value_is_refused_with_remedy(
    given: dict[str, Value], host: Machine, told: str
) -> None:
    made = planned(given, host)
    (name,) = made.refused
    assert told in (made.refused[name].reason or "")


def test_minimum_nice_value_depends_on_rights() -> None:
    root = machine(rights=Rights(uid=0, min_nice=-20))
    assert planned({"nice": -20}, root).actions == (Sched(nice=-20),)
    limited = machine(rights=Rights(uid=1000, min_nice=-5))
    assert not planned({"nice": -5}, limited).refused
    assert planned({"nice": -6}, limited).refused
    # Within a user namespace the capability says nothing: the kernel asks the initial one.
    contained = Rights(uid=0, capabilities=frozenset({"CAP_SYS_NICE"}), min_nice=0)
    assert planned({"nice": -1}, machine(rights=contained)).refused


def test_static_program_refuses_preload() -> None:
    made = planned({"malloc": "jemalloc"}, prog=program(static=True))
    assert "statically" in (made.refused["malloc"].reason or "")
    assert not any(isinstance(a, Preload) for a in made.actions)
    assert not planned({"malloc": "glibc"}, prog=program(static=True)).refused


@pytest.mark.parametrize(
    ("built", "told"),
    [
        ({"elf_machine": 3, "elf_bits": 32}, "is a 32-bit i686 program"),
        ({"elf_machine": 62, "elf_bits": 32}, "is a 32-bit machine 62 program"),
        ({"elf_machine": 243, "elf_bits": 64}, "is a 64-bit riscv64 program"),
        ({"loader": "/lib/ld-musl-x86_64.so.1"}, "uses musl"),
        ({"sanitizers": ("address",)}, "is built with -fsanitize=address"),
        ({"sanitizers": ("leak", "thread")}, "-fsanitize=leak, -fsanitize=thread"),
        ({"sanitizers": ("leak",), "through": ("nice",), "path": "/p"}, "/p is built with -fs"),
        ({"sanitizers": ("leak",), "argv0": "./p", "path": "/p"}, "./p is built with -fsanitize"),
    ],
)
def test_unsupported_program_refuses_preload(built: dict[str, object], told: str) -> None:
    made = planned({"malloc": "jemalloc", "nice": 5}, prog=program(**built))
    assert told in (made.refused["malloc"].reason or "")
    assert not any(isinstance(a, Preload) for a in made.actions)
    assert made.settings["nice"].status is not Prospect.REFUSED
    assert not planned({"malloc": "glibc"}, prog=program(**built)).refused
    native = program(elf_machine=62, elf_bits=64)
    assert not planned({"malloc": "jemalloc"}, prog=native).refused


def test_places_without_binding_are_degraded() -> None:
    made = planned({"omp.bind": "false", "omp.places": "cores"})
    assert made.settings["omp.places"].status is Prospect.DEGRADED
    assert planned({"omp.places": "cores"}).settings["omp.places"].status is Prospect.GRANTABLE


def test_highest_isa_level_sets_only_openblas_core() -> None:
    assert variables(planned({"cpu.isa": "avx512"})) == {"OPENBLAS_CORETYPE": "SkylakeX"}
    lower = variables(planned({"cpu.isa": "avx2-zen"}))
    assert lower["OPENBLAS_CORETYPE"] == "Zen"
    assert lower["ONEDNN_MAX_CPU_ISA"] == "AVX2"
    assert "-AVX512F" in lower["GLIBC_TUNABLES"] and "-AVX2" not in lower["GLIBC_TUNABLES"]
    # On a processor without AVX-512 the same level is the highest.
    assert variables(planned({"cpu.isa": "avx2"}, machine(flags=AVX2))) == {
        "OPENBLAS_CORETYPE": "Haswell"
    }


def test_isa_levels_of_arm() -> None:
    grace = machine(arch="aarch64", flags=frozenset({"asimd", "atomics", "asimddp", "sve"}))
    assert REGISTRY.get("cpu.isa").domain(grace).values() == ("armv8", "armv8.2", "sve")
    assert variables(planned({"cpu.isa": "sve"}, grace)) == {"OPENBLAS_CORETYPE": "NEOVERSEV1"}


def test_named_settings() -> None:
    made = planned({"env.MODE": "fast", "arg.n": 0.1, "command": "prog 'a b'"})
    assert made.actions == (
        Command(argv=("prog", "a b")),
        Arg(name="n", value="0.1"),
        EnvSet(name="MODE", value="fast"),
    )


@pytest.mark.parametrize(
    ("given", "told"), [({"tread": 1}, "threads"), ({"cpus": "x"}, "'x'"), ({"cpus": ""}, "cpus")]
)
def test_unreadable_value_is_invalid_input(given: dict[str, Value], told: str) -> None:
    with pytest.raises(InvalidInputError, match=told):
        planned(given)


def test_plan_round_trips_json() -> None:
    made = planned(
        {"threads": 2, "malloc": "jemalloc", "thp": "always", "cpus": 3, "nice": 4, "arg.n": 1}
    )
    assert decode(encode(made), Plan) == made
