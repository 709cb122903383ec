"""A quota of CPU time of a control group above the one of assay."""

from __future__ import annotations

import contextlib
import os
import re
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import CommandLine

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(os.environ.get("ASSAY_TEST_SYSTEM") != "1", reason="ASSAY_TEST_SYSTEM=1"),
]
NAMES = ("cpu", "cpu,cpuacct", "")
WORK = ("python3", "-c", "import time\nwhile time.process_time() < 0.15: pass")


@pytest.fixture
def limited() -> Iterator[Path]:
    """Provide a group without a quota below one with a quota of half a CPU."""
    name = f"assay-test-{uuid.uuid4().hex[:8]}"
    made: list[Path] = []
    try:
        for controller in NAMES:
            outer = Path("/sys/fs/cgroup") / controller / name
            with contextlib.suppress(OSError):
                outer.mkdir()
                made.append(outer)
                files = {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"}
                if not (outer / "cpu.cfs_quota_us").exists():
                    files = {"cpu.max": "50000 100000"}
                for file, text in files.items():
                    (outer / file).write_text(text)  # missing where the controller is not here
                (outer / "inner").mkdir()
                made.append(outer / "inner")
                break
        else:
            pytest.skip("no controller of CPU time can be used here")
        yield made[-1]
    finally:
        for folder in reversed(made):
            for _ in range(50):
                with contextlib.suppress(OSError):
                    folder.rmdir()
                    break
                time.sleep(0.1)


@pytest.mark.rotating
def test_quota_of_ancestor_group_is_reported(
    assay_exec: Path, tmp_path: Path, limited: Path
) -> None:
    into = f'echo $$ > {limited}/cgroup.procs && exec "$@"'
    assay = CommandLine(assay_exec, tmp_path, prefix=("sh", "-c", into, "sh"))
    assert re.search(r"quota 0\.5 CPU, throttled in \d+ of \d+ periods", assay("doctor").out)
    done = assay("measure", "--runs", "3", "--warmup", "0", "--json", "--", *WORK)
    (note,) = [one for one in done.document["notes"] if "quota" in one]
    found = re.match(r"quota 0\.5 CPU, throttled in (\d+) of (\d+) periods", note)
    # The number of throttled periods depends on other load of this host.
    assert found and int(found[1]) <= int(found[2]) > 0, note
    html = tmp_path / "report.html"
    assert assay("report", "last", "-o", html).status == 0
    assert "quota 0.5 CPU, throttled in" in html.read_text()
