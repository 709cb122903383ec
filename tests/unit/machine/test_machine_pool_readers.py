"""Variables of thread pools that a process tree reads, by its mapped files."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from assay.executors.evidence.thread_pools import KIND, pools_read_in
from assay.launch.planner import plan
from assay.launch.pool_variables import without_unread_pools
from assay.machine.programs.pool_readers import read_variables
from assay.machine.reader import read_machine
from assay.records import Configuration, EnvSet, Evidence, Launch, Outcome, Sample, Stage
from assay.settings.pools import POOLS
from assay.settings.registry import builtin

ELF = b"\x7fELF\x02\x01\x01"


def program(folder: Path, name: str, content: bytes = b"") -> str:
    path = folder / name
    path.write_bytes(ELF + content)
    return str(path)


@pytest.mark.parametrize(
    ("libraries", "content", "read"),
    [
        (("/usr/lib/libgomp.so.1",), b"", {"OMP_NUM_THREADS"}),
        (("/x/libopenblas.so.0",), b"", {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}),
        ((), b"..TOKIO_WORKER_THREADS..", {"TOKIO_WORKER_THREADS"}),
        ((), b"\xff Go buildinf:", {"GOMAXPROCS"}),
        (("/usr/lib/libc.so.6",), b"", set()),
    ],
)
def test_readers_are_found_in_libraries_and_in_the_program(
    tmp_path: Path, libraries: tuple[str, ...], content: bytes, read: set[str]
) -> None:
    assert read_variables((program(tmp_path, "app", content), *libraries), POOLS) == read


def test_tool_reads_by_its_name(tmp_path: Path) -> None:
    assert read_variables((program(tmp_path, "xz"),), POOLS) == {"XZ_DEFAULTS"}


def test_shell_or_no_program_leaves_it_unknown(tmp_path: Path) -> None:
    both = (program(tmp_path, "bash"), program(tmp_path, "app"))
    assert read_variables(both, POOLS) is None
    assert read_variables(("/usr/lib/libgomp.so.1", str(tmp_path / "gone")), POOLS) is None


def test_extension_module_reads_named_variables(tmp_path: Path) -> None:
    module = program(tmp_path, "tokenizers.abi3.so", b"..RAYON_NUM_THREADS..")
    assert read_variables((program(tmp_path, "app"), module), POOLS) == {"RAYON_NUM_THREADS"}


def test_children_of_other_programs_leave_it_unknown(tmp_path: Path) -> None:
    """Further programs may have ended before they were observed."""
    one, other = program(tmp_path, "app"), program(tmp_path, "helper")
    assert read_variables((one, one), POOLS) == set()
    assert read_variables((one, other), POOLS) is None


def test_python_reads_own_variables(tmp_path: Path) -> None:
    found = read_variables((program(tmp_path, Path(sys.executable).name),), POOLS)
    assert found is not None and "PYTHON_CPU_COUNT" in found


def names(config: dict[str, int], read: set[str] | None) -> set[str]:
    planned = plan(Configuration(config), read_machine(), builtin())
    kept, gone = without_unread_pools(planned, read)
    found = {action.name for action in kept.actions if isinstance(action, EnvSet)}
    assert not found.intersection(gone)
    return found


def test_plan_sets_read_and_requested_variables() -> None:
    assert names({"threads": 1}, {"OMP_NUM_THREADS"}) == {"OMP_NUM_THREADS"}
    both = {"threads": 1, "env.GOMAXPROCS": 3}
    assert names(both, {"OMP_NUM_THREADS"}) == {"OMP_NUM_THREADS", "GOMAXPROCS"}
    assert names({"threads": 1}, None) == set(POOLS)
    assert names({"threads": 1}, set()) == set(POOLS), "something did read them, or nothing can"


def sample(note: str | None, *, known: bool = True) -> Sample:
    launch = Launch(
        configuration=Configuration({}), arm="a", stage=Stage.SURVEY, block=0, position=0
    )
    evidence = Evidence(kind=KIND, value=1.0 if known else None, note=note)
    return Sample(launch=launch, outcome=Outcome.OK, evidence=(evidence,))


def test_first_launches_together_show_read_variables() -> None:
    found = pools_read_in([sample("OMP_NUM_THREADS"), sample("GOMAXPROCS OMP_NUM_THREADS")])
    assert found == {"OMP_NUM_THREADS", "GOMAXPROCS"}
    assert pools_read_in([sample("OMP_NUM_THREADS"), sample(None, known=False)]) is None
    assert pools_read_in([]) is None
    unread = msgspec.structs.replace(sample(None), evidence=())
    assert pools_read_in([unread, sample("OMP_NUM_THREADS")]) == {"OMP_NUM_THREADS"}
    assert pools_read_in([unread]) is None
