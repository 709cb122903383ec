"""Scripts, run by /bin/sh; their effect is read from /proc."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from settings.hosts import machine

from assay.errors import NotPossibleError
from assay.launch.exported_variables import space_notes
from assay.launch.planner import confined_to_cpus, plan
from assay.launch.script import explain, shell_script
from assay.machine.document import HugePages, Machine
from assay.records import (
    Choices,
    Configuration,
    MemPolicy,
    Parameter,
    Plan,
    Range,
    Rlimit,
    Space,
    Value,
    Workload,
    Wrap,
)
from assay.settings.frameworks import HOOK
from assay.settings.registry import builtin

REGISTRY = builtin()
LOOK = """
import ctypes, json, os, sys
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({
    "argv": sys.argv[1:],
    "environ": dict(os.environ),
    "cpus": status["Cpus_allowed_list"].strip(),
    "thp_enabled": status.get("THP_enabled", "").strip(),
    "thp_disable": ctypes.CDLL(None).prctl(42, 0, 0, 0, 0),
    "policy": os.sched_getscheduler(0),
    "nice": os.getpriority(os.PRIO_PROCESS, 0),
    "maps": sorted({line.split()[-1] for line in open("/proc/self/maps") if "/" in line}),
    "stdin": sys.stdin.read(),
    "cwd": os.getcwd(),
    "nofile": __import__("resource").getrlimit(7),
}))
"""
HOSTILE = [
    "plain",
    "two words",
    "it's",
    'say "hi"',
    "$(touch {marker}) `touch {marker}` ; touch {marker} &",
    "line\nbreak\ttab",
    "",
    "-n",
    "back\\slash",
    "*?[a]",
    "ümlaut €",
    "!history",
    "#comment",
]


def work(*arguments: str, **others: object) -> Workload:
    return Workload(argv=(sys.executable, "-c", LOOK, *arguments), **others)  # type: ignore[arg-type]


def script(given: dict[str, Value], workload: Workload, host: Machine | None = None) -> str:
    return shell_script(plan(Configuration(given), host or machine(), REGISTRY), workload)


def run(text: str, folder: Path, told: bytes = b"", **env: str) -> dict[str, object]:
    file = folder / "run.sh"
    file.write_text(text)
    done = subprocess.run(
        ["/bin/sh", str(file)],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **env},
        input=told,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_hostile_words_arrive_unchanged(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    words = [word.replace("{marker}", str(marker)) for word in HOSTILE]
    values: dict[str, Value] = {f"env.V{i}": word for i, word in enumerate(words)}
    values["arg.x"] = words[4]
    text = script(values, work(*words, "<{x}>"))
    seen = run(text, tmp_path)
    assert seen["argv"] == [*words, f"<{words[4]}>"]
    environ = seen["environ"]
    assert [environ[f"V{i}"] for i in range(len(words))] == words  # type: ignore[index]
    assert not marker.exists()


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))))
def test_any_words_arrive_unchanged(tmp_path: Path, words: list[str]) -> None:
    quick = Workload(argv=("/usr/bin/env", "printf", "%s\\0", "-", *words))
    values: dict[str, Value] = {f"env.W{i}": word for i, word in enumerate(words)}
    file = tmp_path / "any.sh"
    file.write_bytes(script(values, quick).encode())
    done = subprocess.run(["/bin/sh", str(file)], capture_output=True, check=True, timeout=30)
    assert done.stdout.decode() == "".join(f"{word}\0" for word in ("-", *words))


def test_script_sets_cpus_class_and_nice_value(tmp_path: Path) -> None:
    mine = sorted(os.sched_getaffinity(0))[-1]
    host = machine(cores=mine + 1)
    seen = run(script({"cpus": str(mine), "sched": "batch", "nice": 7}, work(), host), tmp_path)
    assert seen["cpus"] == str(mine)
    assert seen["policy"] == os.SCHED_BATCH
    assert seen["nice"] == 7


def test_nice_value_is_absolute(tmp_path: Path) -> None:
    text = script({"nice": 9}, work())
    file = tmp_path / "n.sh"
    file.write_text(text)
    done = subprocess.run(
        ["nice", "-n", "4", "/bin/sh", str(file)], capture_output=True, check=True, timeout=30
    )
    assert json.loads(done.stdout)["nice"] == 9


def test_script_disables_huge_pages(tmp_path: Path) -> None:
    seen = run(script({"thp": "never"}, work()), tmp_path)
    assert seen["thp_disable"] == 1
    assert seen["thp_enabled"] in ("0", "")


def test_script_restricts_huge_pages_to_advised_memory(tmp_path: Path) -> None:
    release = tuple(int(n) for n in os.uname().release.split(".")[:2])
    host = machine(huge_pages=HugePages(enabled="always"))
    text = script({"thp": "madvise"}, work(), host)
    if release >= (6, 18):
        assert run(text, tmp_path)["thp_disable"] == 3
    else:
        file = tmp_path / "m.sh"
        file.write_text(text)
        done = subprocess.run(["/bin/sh", str(file)], capture_output=True, check=False)
        assert done.returncode == 1 and b"prctl" in done.stderr


def test_shared_lists_are_merged_in_the_shell(tmp_path: Path) -> None:
    text = script({"thp": "always"}, work())
    seen = run(text, tmp_path, GLIBC_TUNABLES="glibc.malloc.perturb=3")
    environ = seen["environ"]
    assert environ["GLIBC_TUNABLES"] == "glibc.malloc.perturb=3:glibc.malloc.hugetlb=1"  # type: ignore[index]
    alone = run(text, tmp_path)["environ"]
    assert alone["GLIBC_TUNABLES"] == "glibc.malloc.hugetlb=1"  # type: ignore[index]


def copy_of_libm(folder: Path, name: str) -> str:
    """Copy a harmless shared object under the name of an allocator."""
    loaded = next(
        line.split()[-1]
        for line in Path("/proc/self/maps").read_text().splitlines()
        if "libm." in line
    )
    target = folder / name
    target.write_bytes(Path(loaded).read_bytes())
    return str(target)


def test_preloads_replace_inherited_allocators_and_keep_the_rest(tmp_path: Path) -> None:
    jemalloc, mimalloc, other = (
        copy_of_libm(tmp_path, name) for name in ("libjemalloc.so.2", "libmimalloc.so", "other.so")
    )
    host = machine(libraries={"jemalloc": jemalloc})
    inherited = f"{mimalloc} {other}"
    seen = run(script({"malloc": "jemalloc"}, work(), host), tmp_path, LD_PRELOAD=inherited)
    assert seen["environ"]["LD_PRELOAD"] == f"{jemalloc}:{other}"  # type: ignore[index]
    assert jemalloc in seen["maps"] and mimalloc not in seen["maps"]  # type: ignore[operator]
    plain = run(script({"malloc": "glibc"}, work()), tmp_path, LD_PRELOAD=f"{jemalloc}:{other}")
    assert plain["environ"]["LD_PRELOAD"] == other  # type: ignore[index]


def test_script_sets_input_folder_and_limits(tmp_path: Path) -> None:
    inside = tmp_path / "a folder; $(id)"
    inside.mkdir()
    given_input = inside / "in put"
    given_input.write_text("content")
    config = Configuration()
    made = Plan(
        configuration=config,
        actions=(Wrap(argv=("env", "A=1")), Rlimit(resource="nofile", soft=64, hard=128)),
    )
    text = shell_script(made, work(stdin=str(given_input), cwd=str(inside)))
    seen = run(text, tmp_path)
    assert (seen["stdin"], seen["cwd"]) == ("content", str(inside))
    assert seen["nofile"] == [64, 128]
    assert seen["environ"]["A"] == "1"  # type: ignore[index]


def test_script_without_input_reads_dev_null(tmp_path: Path) -> None:
    text = script({}, work())
    assert run(text, tmp_path, told=b"typed")["stdin"] == ""
    assert "# Measured with standard input from /dev/null" in text
    assert text.endswith("  < /dev/null\n")


def test_explained_run_inherits_standard_input(tmp_path: Path) -> None:
    """The program reads the standard input of the script."""
    made = plan(Configuration({"nice": 1}), machine(), REGISTRY)
    text = shell_script(made, work(), inherits_stdin=True)
    assert run(text, tmp_path, told=b"typed")["stdin"] == "typed"
    explained = explain(made, work(), {})
    assert explained.endswith(text.removeprefix("#!/bin/sh"))
    assert run(explained, tmp_path, told=b"typed")["stdin"] == "typed"


def test_explained_run_begins_with_its_interpreter(tmp_path: Path) -> None:
    """Without it on the first line, execve(2) fails with ENOEXEC."""
    tool = tmp_path / "app.sh"
    tool.write_text(explain(plan(Configuration(), machine(), REGISTRY), work("true"), {}))
    tool.chmod(0o755)
    assert subprocess.run([tool]).returncode == 0


def test_program_name_with_equals_sign_is_run(tmp_path: Path) -> None:
    tool = tmp_path / "a=b"
    tool.write_text('#!/bin/sh\nprintf "{\\"ran\\": \\"$F\\"}"\n')
    tool.chmod(0o755)
    assert run(script({"env.F": "x"}, Workload(argv=(str(tool),))), tmp_path) == {"ran": "x"}


@pytest.mark.parametrize(
    ("policy", "option"),
    [
        (MemPolicy(mode="bind", nodes=(0, 1)), "numactl --membind=0-1"),
        (MemPolicy(mode="preferred", nodes=(1,)), "numactl --preferred=1"),
        (MemPolicy(mode="preferred", nodes=(0, 1)), "numactl --preferred-many=0-1"),
        (MemPolicy(mode="interleave", nodes=(0, 1)), "numactl --interleave=0-1"),
        (MemPolicy(mode="weighted", nodes=(0,)), "numactl --weighted-interleave=0"),
        (MemPolicy(mode="local"), "numactl --localalloc"),
    ],
)
def test_memory_policy_becomes_numactl_option(policy: MemPolicy, option: str) -> None:
    made = Plan(configuration=Configuration(), actions=(policy,))
    assert option in shell_script(made, work())
    local = msgspec.structs.replace(made, actions=(MemPolicy(mode="default"),))
    assert "numactl" not in shell_script(local, work())


def test_settings_are_single_line_comments() -> None:
    text = script({"threads.omp": 2, "env.F": "a\nrm -rf /\n", "thp": "always"}, work())
    told = [line for line in text.splitlines() if line.startswith("# ")]
    assert any("threads.omp=2" in line for line in told)
    assert any("thp=always [degraded]" in line for line in told)
    assert any("env.F=a\\nrm -rf /\\n" in line for line in told)


def test_refused_plan_has_an_explanation_only() -> None:
    made = plan(Configuration({"cpus": 99, "threads.omp": 1}), machine(), REGISTRY)
    with pytest.raises(NotPossibleError, match="cpus=99"):
        shell_script(made, work())
    text = explain(made, Workload(argv=("prog",)), {})
    assert "cpus=99 [refused]" in text and "threads.omp=1" in text
    assert "#!/bin/sh" not in text


def test_explanation_contains_settings_and_script() -> None:
    made = plan(Configuration({"thp": "always"}), machine(), REGISTRY)
    text = explain(made, Workload(argv=("prog", "a\x1b[31m b")), {})
    assert "thp=always [degraded]" in text and "#!/bin/sh" in text
    assert "prog 'a\\x1b[31m b'" in text
    default = plan(Configuration(), machine(), REGISTRY)
    assert "none: the default" in explain(default, Workload(argv=("prog",)), {})


def test_overridden_exported_variables_are_listed() -> None:
    made = plan(Configuration({"threads.omp": 2, "thp": "always"}), machine(), REGISTRY)
    env = {"OMP_NUM_THREADS": "7\x1b", "GLIBC_TUNABLES": "glibc.malloc.check=1"}
    text = explain(made, work(), env)
    assert (
        "  OMP_NUM_THREADS=7\\x1b is already exported: the default keeps it, "
        "this configuration sets 2\n"
    ) in text
    assert "GLIBC_TUNABLES=glibc.malloc.check" not in text.partition("Without assay")[0]
    for same in ({"OMP_NUM_THREADS": "2"}, {}):
        assert "exported" not in explain(made, work(), same)


def test_exported_variables_of_a_space_are_listed() -> None:
    space = Space(
        parameters=(
            Parameter(name="threads.omp", domain=Range(1, 4)),
            Parameter(name="nice", domain=Choices((0, 5))),
        )
    )

    def planner(configuration: Configuration) -> Plan:
        return plan(configuration, machine(), REGISTRY)

    told = list(space_notes(space, planner, {"OMP_NUM_THREADS": "1", "HOME": "/"}))
    assert told == ["OMP_NUM_THREADS=1 is already exported: the default keeps it"]
    assert list(space_notes(space, planner, {})) == []


@given(st.text(st.characters(exclude_characters="\0")))
def test_plan_comments_are_single_lines_for_any_values(text: str) -> None:
    made = plan(Configuration({"env.X": text}), machine(), REGISTRY)
    comments = shell_script(made, Workload(argv=("prog",))).partition("\nset -eu")[0]
    assert len(comments.splitlines()) == 4
    told = [
        line for line in explain(made, Workload(argv=("prog",)), {}).split("\n") if "env.X=" in line
    ]
    assert told and not any(c in line for line in told for c in "\r\t\x1b\u2028\u202e")


def test_script_contains_the_import_hook(tmp_path: Path) -> None:
    stand_ins = str(Path(__file__).parents[2] / "stand_ins")
    code = "import json, torch; print(json.dumps([torch.get_num_threads(), torch.__file__]))"
    text = script({"threads.torch.intra": 3}, Workload(argv=(sys.executable, "-c", code)))
    file = tmp_path / "run.sh"
    file.write_text(text)
    done = subprocess.run(
        ["/bin/sh", str(file)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": stand_ins, "TMPDIR": str(tmp_path)},
        capture_output=True,
        check=True,
        timeout=30,
    )
    assert json.loads(done.stdout) == [3, f"{stand_ins}/torch/__init__.py"]
    (left,) = tmp_path.glob("*/sitecustomize.py")
    assert left.parent != Path(HOOK)


def test_folders_of_user_are_unchanged(tmp_path: Path) -> None:
    text = script({"env.PYTHONPATH": "/a b::/c:/c"}, work())
    assert run(text, tmp_path, PYTHONPATH="/d")["environ"]["PYTHONPATH"] == "/a b::/c:/c"  # type: ignore[index]


def test_script_explains_cpus_of_a_slot() -> None:
    """The comment states their source, since no setting names them."""
    plain = plan(Configuration(), machine(), REGISTRY)
    assert "# On CPUs 0-1, as launched (--parallel, --reserve)." in shell_script(
        confined_to_cpus(plain, (0, 1)), work()
    )
    assert "--parallel" not in shell_script(plain, work())
    assert "--parallel" not in script({"cpus": 2}, work())


def test_explanation_lists_only_variables_that_are_set() -> None:
    made = plan(Configuration({"threads": 2}), machine(), REGISTRY)
    env = {"OMP_NUM_THREADS": "7", "GOMAXPROCS": "7"}
    text = explain(made, work(), env, pools=frozenset({"OMP_NUM_THREADS"}))
    assert "OMP_NUM_THREADS=7 is already exported: the default keeps it, this configuration" in text
    assert "GOMAXPROCS=7 is already exported: the default keeps it, this configuration" not in text
