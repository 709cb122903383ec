"""Every setting applied by assay-exec to a real program, and judged from the real record.

Programs live long enough to be read; the host is left as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from command_line import CommandLine

from assay.launch.document import launcher_document
from assay.launch.driver import Driver
from assay.launch.planner import plan
from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.records import (
    Configuration,
    Grant,
    GrantStatus,
    Launch,
    Level,
    Prospect,
    RunFacts,
    Stage,
    Value,
    Workload,
)
from assay.settings.registry import builtin, judge_all
from narrow import narrow_program

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]

REGISTRY = builtin()
WAIT = (sys.executable, "-c", "import time; time.sleep(0.4)")
HUGE_PAGE_POOL = Path("/proc/sys/vm/nr_hugepages")
THREADS = min(2, len(os.sched_getaffinity(0)))
"""More threads than CPUs make a grant *degraded*."""
C_FILL = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 65536; ++i) memset(malloc(1000), 1, 1000);
    return usleep(400000);
}
"""
C_TEAM = """
#include <unistd.h>
int main(void) {
#pragma omp parallel
    usleep(400000);
    return 0;
}
"""
C_DGEMM = """
#include <stdlib.h>
#include <unistd.h>
#include <cblas.h>
int main(void) {
    double *a = calloc(3 * 64 * 64, sizeof *a);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 64, 64, 64, 1, a, 64, a + 4096, 64, 0,
                a + 8192, 64);
    return usleep(400000);
}
"""


@pytest.fixture(scope="module")
def host() -> Machine:
    return read_machine()


def compiled(folder: Path, source: str, *options: str) -> str:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    code = folder / "program.c"
    code.write_text(source)
    target = str(folder / "program")
    done = subprocess.run(["cc", "-O1", str(code), "-o", target, *options], capture_output=True)
    if done.returncode:
        pytest.skip(f"cannot build: {done.stderr.decode()[:200]}")
    return target


def launched(
    launcher: Path,
    folder: Path,
    host: Machine,
    given: dict[str, Value],
    workload: Workload,
    **env: str,
) -> tuple[dict[str, Grant], RunFacts]:
    config = Configuration(given)
    made = plan(config, host, REGISTRY)
    launch = Launch(configuration=config, arm="x", stage=Stage.SEARCH, block=0, position=0)
    whole_env = {**os.environ, **env}
    document = launcher_document(
        made,
        workload,
        launch,
        env=whole_env,
        stdout=str(folder / "out"),
        stderr=str(folder / "err"),
    )
    with Driver(launcher, whole_env).start(document) as running:
        assert running.finished(30)
        facts = running.facts()
    assert facts.outcome == "exited", facts
    return judge_all(config, REGISTRY, made, facts), facts


@pytest.mark.parametrize(
    ("given", "level"),
    [
        ({"threads": THREADS}, Level.SET),
        ({"threads.omp": THREADS, "threads.blas": 1}, Level.SET),
        ({"env.MODE": "a b\n$(c)"}, Level.SET),
        ({"cpus": 1}, Level.SEEN),
        ({"malloc": "glibc"}, Level.SEEN),
        ({"malloc": "jemalloc"}, Level.SEEN),
        ({"malloc": "tcmalloc"}, Level.SEEN),
        ({"malloc": "tbbmalloc"}, Level.SEEN),
        ({"malloc": "mimalloc"}, Level.SEEN),
        ({"thp": "never"}, Level.SEEN),
        ({"thp": "madvise"}, Level.SET),
        ({"sched": "batch"}, Level.SEEN),
        ({"sched": "idle"}, Level.SEEN),
        ({"sched": "other"}, Level.SEEN),
        ({"nice": 11}, Level.SEEN),
        ({"sched": "batch", "nice": 3, "cpus": 1, "thp": "never"}, Level.SEEN),
    ],
)
def test_each_setting_is_granted(
    assay_exec: Path, tmp_path: Path, host: Machine, given: dict[str, Value], level: Level
) -> None:
    refused = plan(Configuration(given), host, REGISTRY).refused
    if refused:
        pytest.skip(str(refused))
    grants, _ = launched(assay_exec, tmp_path, host, given, Workload(argv=WAIT))
    assert {g.status for g in grants.values()} == {GrantStatus.GRANTED}, grants
    assert {g.level for g in grants.values()} == {level}, grants


def test_cpu_list_is_granted(assay_exec: Path, tmp_path: Path, host: Machine) -> None:
    last = str(host.allowed_cpus[-1])
    grants, facts = launched(assay_exec, tmp_path, host, {"cpus": last}, Workload(argv=WAIT))
    assert grants["cpus"].status is GrantStatus.GRANTED
    assert facts.readback is not None and facts.readback.cpus == (host.allowed_cpus[-1],)


def test_argument_is_passed_to_program(assay_exec: Path, tmp_path: Path, host: Machine) -> None:
    work = Workload(argv=("sh", "-c", "echo {n}"), placeholders={"n": "1"})
    grants, _ = launched(assay_exec, tmp_path, host, {"arg.n": 7}, work)
    assert grants["arg.n"].status is GrantStatus.GRANTED
    assert (tmp_path / "out").read_text() == "7\n"


def test_inherited_allocator_is_removed(assay_exec: Path, tmp_path: Path, host: Machine) -> None:
    if "jemalloc" not in host.libraries:
        pytest.skip("jemalloc is not installed")
    inherited = {"LD_PRELOAD": host.libraries["jemalloc"]}
    work = Workload(argv=WAIT)
    grants, _ = launched(assay_exec, tmp_path, host, {"malloc": "glibc"}, work, **inherited)
    assert grants["malloc"].status is GrantStatus.GRANTED


def test_setting_reverted_by_program_is_not_granted(
    assay_exec: Path, tmp_path: Path, host: Machine
) -> None:
    undo = (
        "import os, time; os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0));"
        "os.setpriority(0, 0, 19); time.sleep(0.4)"
    )
    work = Workload(argv=(sys.executable, "-c", undo))
    grants, _ = launched(assay_exec, tmp_path, host, {"sched": "batch", "nice": 3}, work)
    assert {g.status for g in grants.values()} == {GrantStatus.REFUSED}


def test_static_program_is_not_granted_allocator(
    assay_exec: Path, tmp_path: Path, host: Machine
) -> None:
    if "jemalloc" not in host.libraries:
        pytest.skip("jemalloc is not installed")
    program = compiled(tmp_path, C_FILL, "-static")
    work = Workload(argv=(program,))
    grants, _ = launched(assay_exec, tmp_path, host, {"malloc": "jemalloc"}, work)
    assert grants["malloc"].status in (GrantStatus.REFUSED, GrantStatus.UNVERIFIED)


@pytest.mark.parametrize(
    "kind",
    [
        "narrow",
        "leak",
        *(pytest.param(one, marks=pytest.mark.rotating) for one in ("address", "thread")),
    ],
)
def test_allocator_refused_before_launch_for_program_that_cannot_take_it(
    assay_exec: Path, tmp_path: Path, host: Machine, kind: str
) -> None:
    if "jemalloc" not in host.libraries:
        pytest.skip("jemalloc is not installed")
    program = str(tmp_path / "program")
    if kind == "narrow":
        Path(program).write_bytes(narrow_program())
        Path(program).chmod(0o755)
    else:
        compiled(tmp_path, "int main(void) { return 0; }", f"-fsanitize={kind}")
    answer = CommandLine(assay_exec, tmp_path)("run", "--with", "malloc=jemalloc", "--", program)
    assert (answer.status, answer.out) == (125, "")
    message = "is a 32-bit" if kind == "narrow" else f"is built with -fsanitize={kind}"
    assert f"malloc=jemalloc cannot be granted: {program} {message}" in answer.err


def test_program_too_short_to_read_is_unverified(
    assay_exec: Path, tmp_path: Path, host: Machine
) -> None:
    grants, facts = launched(assay_exec, tmp_path, host, {"nice": 5}, Workload(argv=("/bin/true",)))
    expected = (
        GrantStatus.GRANTED
        if facts.readback and facts.readback.nice == 5
        else GrantStatus.UNVERIFIED
    )
    assert grants["nice"].status is expected
    assert expected is GrantStatus.GRANTED or grants["nice"].reason


@pytest.mark.parametrize("malloc", ["glibc", "jemalloc", "mimalloc"])
def test_allocator_uses_huge_pages(
    assay_exec: Path, tmp_path: Path, host: Machine, malloc: str
) -> None:
    given: dict[str, Value] = {"thp": "always", "malloc": malloc}
    word = plan(Configuration(given), host, REGISTRY).settings
    if any(w.status is Prospect.REFUSED for w in word.values()):
        pytest.skip(str(word))
    if host.huge_pages.enabled != "madvise":
        pytest.skip("the system is not set to madvise")
    if malloc == "mimalloc" and HUGE_PAGE_POOL.exists() and int(HUGE_PAGE_POOL.read_text()) > 0:
        pytest.skip("mimalloc takes the machine's reserved huge pages first")
    work = Workload(argv=(compiled(tmp_path, C_FILL),))
    grants, facts = launched(assay_exec, tmp_path, host, given, work)
    assert facts.readback is not None and (facts.readback.anon_huge_bytes or 0) > 32 << 20, facts
    assert (grants["thp"].status, grants["thp"].level) == (GrantStatus.DEGRADED, Level.EFFECTIVE)
    without, plain = launched(assay_exec, tmp_path, host, {"thp": "never", "malloc": malloc}, work)
    assert without["thp"].status is GrantStatus.GRANTED
    assert plain.readback is not None and plain.readback.anon_huge_bytes == 0


def test_bound_openmp_threads_are_read_back(
    assay_exec: Path, tmp_path: Path, host: Machine
) -> None:
    if len(host.usable) < 2:
        pytest.skip("one CPU")
    work = Workload(argv=(compiled(tmp_path, C_TEAM, "-fopenmp"),))
    given: dict[str, Value] = {"omp.bind": "close", "omp.places": "threads", "cpus": 2}
    grants, _ = launched(assay_exec, tmp_path, host, given, work)
    assert all(g.status is GrantStatus.GRANTED for g in grants.values()), grants
    assert grants["omp.bind"].level is Level.SEEN
    loose, _ = launched(assay_exec, tmp_path, host, {"omp.bind": "false"}, work)
    assert loose["omp.bind"].level is Level.SET


@pytest.mark.rotating
def test_openblas_accepts_every_instruction_set_level(
    assay_exec: Path, tmp_path: Path, host: Machine
) -> None:
    program = compiled(tmp_path, C_DGEMM, f"-I/usr/include/{host.arch}-linux-gnu", "-lopenblas")
    work = Workload(argv=(program,))
    levels = REGISTRY.get("cpu.isa").domain(host).values() or ()
    assert levels
    taken = []
    for value in levels:
        grants, _ = launched(assay_exec, tmp_path, host, {"cpu.isa": value}, work)
        assert (grants["cpu.isa"].status, grants["cpu.isa"].level) == (
            GrantStatus.GRANTED,
            Level.SEEN,
        )
        taken.append(grants["cpu.isa"].observed)
    assert len(set(taken)) == len(levels)


def test_unsupported_openblas_core_type_is_not_granted(
    assay_exec: Path, tmp_path: Path, host: Machine
) -> None:
    program = compiled(tmp_path, C_DGEMM, f"-I/usr/include/{host.arch}-linux-gnu", "-lopenblas")
    given: dict[str, Value] = {"env.OPENBLAS_CORETYPE": "Nosuch"}
    _, facts = launched(
        assay_exec, tmp_path, host, given, Workload(argv=(program,)), OPENBLAS_VERBOSE="2"
    )
    assert "Core not found: Nosuch" in (facts.stderr_head or "")
    highest = (REGISTRY.get("cpu.isa").domain(host).values() or ())[-1]
    config = Configuration({"cpu.isa": highest})
    fooled = msgspec.structs.replace(
        facts, stderr_head=(facts.stderr_head or "").replace("Nosuch", "SkylakeX")
    )
    grants = judge_all(config, REGISTRY, plan(config, host, REGISTRY), fooled)
    assert grants["cpu.isa"].status is GrantStatus.REFUSED
