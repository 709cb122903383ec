"""Pools of threads and hardware threads, applied by assay-exec to real programs and read back."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from test_settings import WAIT, compiled, launched

from assay.launch.planner import plan
from assay.machine.document import Machine
from assay.machine.reader import read_machine
from assay.records import Configuration, GrantStatus, Level, Prospect, Value, Workload
from assay.settings.registry import builtin
from rotation import others_in_turns

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]

REGISTRY = builtin()
STAND_INS = str(Path(__file__).parents[1] / "stand_ins")
THREADS = min(2, len(os.sched_getaffinity(0)))
"""More threads than CPUs make a grant *degraded*."""
C_RUNTIME = """
#include <omp.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    printf("%d %d\\n", (int)(kind & 0x7fffffff), chunk);
#pragma omp parallel
    usleep(100000);
    return usleep(300000);
}
"""


@pytest.fixture(scope="module")
def host() -> Machine:
    return read_machine()


def python(code: str) -> Workload:
    return Workload(argv=(sys.executable, "-c", f"{code}; import time; time.sleep(0.4)"))


@pytest.mark.parametrize(
    "given",
    others_in_turns(
        {"omp.wait": "active"},
        {"omp.wait": "passive"},
        {"omp.blocktime": 5},
        {"omp.blocktime": "infinite"},
        {"omp.wait": "passive", "omp.blocktime": 0, "omp.schedule": "guided"},
        {"threads.mkl": THREADS, "threads.blas": 1, "threads.numexpr": 1},
        {"threads.mkl.dynamic": "false"},
    ),
)
def test_pool_sizes_are_applied(
    assay_exec: Path, tmp_path: Path, host: Machine, given: dict[str, Value]
) -> None:
    grants, _ = launched(assay_exec, tmp_path, host, given, Workload(argv=WAIT))
    assert {(g.status, g.level) for g in grants.values()} == {(GrantStatus.GRANTED, Level.SET)}


# The numbers are those of omp_sched_t: OpenMP 5.2, section 18.2.11.
@pytest.mark.parametrize(
    ("value", "expected"), [("static,7", "1 7"), ("dynamic,64", "2 64"), ("guided,3", "3 3")]
)
def test_runtime_applies_schedule(
    assay_exec: Path, tmp_path: Path, host: Machine, value: str, expected: str
) -> None:
    work = Workload(argv=(compiled(tmp_path, C_RUNTIME, "-fopenmp"),))
    grants, _ = launched(assay_exec, tmp_path, host, {"omp.schedule": value}, work)
    assert grants["omp.schedule"].status is GrantStatus.GRANTED
    assert (tmp_path / "out").read_text().strip() == expected


def test_libgomp_reports_spin_time(assay_exec: Path, tmp_path: Path, host: Machine) -> None:
    work = Workload(argv=(compiled(tmp_path, C_RUNTIME, "-fopenmp"),))
    for given, message, grant in (
        ({"omp.wait": "active"}, "GOMP_SPINCOUNT = '18446744073709551615'", GrantStatus.GRANTED),
        ({"omp.wait": "passive"}, "GOMP_SPINCOUNT = '0'", GrantStatus.GRANTED),
        ({"omp.blocktime": 5}, "GOMP_SPINCOUNT = '500000'", GrantStatus.DEGRADED),
    ):
        asked: dict[str, Value] = {**given}
        inherited = {"GOMP_SPINCOUNT": "77", "OMP_DISPLAY_ENV": "VERBOSE"}
        grants, facts = launched(assay_exec, tmp_path, host, asked, work, **inherited)
        assert [g.status for g in grants.values()] == [grant], grants
        assert message in (facts.stderr_head or "")


def test_one_thread_per_core_is_used(assay_exec: Path, tmp_path: Path, host: Machine) -> None:
    grants, facts = launched(
        assay_exec, tmp_path, host, {"threads.per_core": 1}, Workload(argv=WAIT)
    )
    assert (grants["threads.per_core"].status, grants["threads.per_core"].level) == (
        GrantStatus.GRANTED,
        Level.SEEN,
    )
    assert facts.readback is not None and facts.readback.cpus is not None
    cores = [cpu.core for cpu in host.cpus if cpu.id in facts.readback.cpus]
    assert len(set(cores)) == len(cores) == len(host.cores)


def test_more_threads_than_cores_have_are_refused(host: Machine) -> None:
    most = max(len(cpu.siblings) for cpu in host.cpus)
    words = plan(Configuration({"threads.per_core": most + 1}), host, REGISTRY).settings
    assert words["threads.per_core"].status is Prospect.REFUSED


def test_framework_pools_are_read_back(assay_exec: Path, tmp_path: Path, host: Machine) -> None:
    given: dict[str, Value] = {
        "threads.torch.intra": 3,
        "threads.torch.inter": 2,
        "threads.tf.intra": 5,
        "threads.tf.inter": 4,
    }
    work = python("import torch, tensorflow; print(torch.get_num_threads())")
    grants, _ = launched(assay_exec, tmp_path, host, given, work, PYTHONPATH=STAND_INS)
    assert {(g.status, g.level) for g in grants.values()} == {(GrantStatus.GRANTED, Level.SEEN)}
    assert (tmp_path / "out").read_text() == "3\n"


@pytest.mark.parametrize(
    ("code", "grant", "message"),
    [
        ("import torch; torch.set_num_threads(7)", GrantStatus.REFUSED, "changed the size itself"),
        ("import json", GrantStatus.UNVERIFIED, "no Python process of the program imported torch"),
    ],
)
def test_different_pool_size_is_reported(
    assay_exec: Path,
    tmp_path: Path,
    host: Machine,
    code: str,
    grant: GrantStatus,
    message: str,
) -> None:
    given: dict[str, Value] = {"threads.torch.intra": 3}
    grants, _ = launched(assay_exec, tmp_path, host, given, python(code), PYTHONPATH=STAND_INS)
    assert grants["threads.torch.intra"].status is grant
    assert message in (grants["threads.torch.intra"].reason or "")


def test_program_without_pools_is_unverified(
    assay_exec: Path, tmp_path: Path, host: Machine
) -> None:
    work = Workload(argv=("sleep", "0.4"))
    grants, _ = launched(assay_exec, tmp_path, host, {"threads.tf.intra": 2}, work)
    assert grants["threads.tf.intra"].status is GrantStatus.UNVERIFIED


def test_default_has_no_import_hook(assay_exec: Path, tmp_path: Path, host: Machine) -> None:
    work = python("import os; print([n for n in os.environ if n.startswith('ASSAY_HOOK')])")
    _, facts = launched(assay_exec, tmp_path, host, {}, work)
    assert (tmp_path / "out").read_text() == "[]\n"
    assert facts.hook_report is None
