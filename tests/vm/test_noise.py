"""assay-noise in a guest: another kernel, without a C library, of two CPUs."""

from pathlib import Path

import pytest

from assay.noise.causes import CauseKind, cause_of
from assay.records import decode
from assay.records.noise import NoiseRun

from .guest import Guest

pytestmark = [pytest.mark.vm, pytest.mark.rotating("small guests", together="noise")]

# In an emulated guest nearly every 20 us are disturbed, and each disturbance is looked at: little
# else is done then.
RUN = "assay-noise {} --seconds 2 --threshold-us 200 > /out/document"
MANY = 48
"""Number of CPUs of a large guest."""
BUSY = "taskset 2 sh -c 'while :; do :; done' & busy=$!;"


@pytest.fixture(scope="module")
def found(guest_kernel: Path, assay_noise: Path) -> dict[str, NoiseRun]:
    """Results of each method; those of `busy` with a competing thread on the second CPU."""
    scripts = {method: RUN.format(method) for method in ("selfish", "fwq", "ftq")}
    scripts["busy"] = f"{BUSY} {RUN.format('selfish')}; kill $busy"
    results = Guest(kernel=guest_kernel, cpus="2").run(
        {"/bin/assay-noise": assay_noise}, [["sh", "-c", text] for text in scripts.values()]
    )
    documents = {}
    for name, result in zip(scripts, results, strict=True):
        assert "/out/document" in result.files, str(result)
        documents[name] = decode(result.files["/out/document"], NoiseRun)
    return documents


@pytest.mark.parametrize("method", ["selfish", "fwq", "ftq"])
def test_each_method_measures_both_cpus(found: dict[str, NoiseRun], method: str) -> None:
    run = found[method]
    assert (run.method, [one.cpu for one in run.measured]) == (method, [0, 1])
    assert all(one.interrupts for one in run.measured)
    assert all(bool(one.values) == (method != "selfish") for one in run.measured)


def test_competing_thread_shows_on_its_cpu(found: dict[str, NoiseRun]) -> None:
    _, shared = (sum(one.duration_ns) / one.measured_ns for one in found["busy"].measured)
    assert shared > 0.25
    cpu = found["busy"].measured[1]
    assert CauseKind.THREAD in {cause_of(message, cpu).kind for message in cpu.worst[:5]}


@pytest.mark.slow
def test_long_interrupt_table_is_read_completely(guest_kernel: Path, assay_noise: Path) -> None:
    """The kernel returns a page of it at once, and with many CPUs a page contains few rows."""
    script = RUN.format("selfish --cpus 0")
    many = Guest(kernel=guest_kernel, cpus=MANY, memory_mib=1024)
    (result, shown) = many.run(
        {"/bin/assay-noise": assay_noise},
        [["sh", "-c", script], ["cat", "/proc/interrupts"]],
    )
    rows = shown.stdout.splitlines()
    before = rows.index(next(row for row in rows if row.lstrip().startswith(b"LOC:")))
    assert sum(len(row) + 1 for row in rows[:before]) > 4096, "else nothing is tried here"
    (cpu,) = decode(result.files["/out/document"], NoiseRun).measured
    assert any(name.startswith("LOC") for name in cpu.interrupts)
