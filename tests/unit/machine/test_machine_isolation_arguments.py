"""Missing boot arguments of reserved CPUs."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.machine.checks.isolation_arguments import missing_arguments
from assay.machine.root import Root

CPU = "/sys/devices/system/cpu"


def host(base: Path, line: str, *, full: bool = True) -> Root:
    files = {"/proc/cmdline": line, f"{CPU}/possible": "0-7", f"{CPU}/isolated": ""}
    files |= {f"{CPU}/nohz_full": ""} if full else {}
    for path, text in files.items():
        place = base / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text + "\n")
    return Root(base)


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("quiet", ["nohz_full=2-3", "isolcpus=managed_irq,2-3"]),
        ("nohz_full=2-5 isolcpus=managed_irq,domain,2-3", []),
        ("nohz_full=2", ["nohz_full=2-3", "isolcpus=managed_irq,2-3"]),
        ("nohz_full=2-3 isolcpus=2-3", ["isolcpus=managed_irq,2-3"]),
        ("nohz_full=2-3 isolcpus=nohz,domain,managed_irq,1-3", []),
    ],
)
def test_missing_arguments_are_returned(tmp_path: Path, line: str, missing: list[str]) -> None:
    assert [one.text for one in missing_arguments([2, 3], host(tmp_path, line))] == missing


def test_arguments_include_cpus_reserved_before(tmp_path: Path) -> None:
    tree = host(tmp_path, "nohz_full=2-3")
    found = [one.text for one in missing_arguments([5], tree, other_reserved=[2, 3])]
    assert found == ["nohz_full=2-3,5", "isolcpus=managed_irq,2-3,5"]
    found = [one.text for one in missing_arguments([2, 3], tree, other_reserved=[5])]
    assert found == ["isolcpus=managed_irq,2-3,5"]


def test_kernel_without_nohz_full_gets_rcu_nocbs(tmp_path: Path) -> None:
    first, *_ = missing_arguments([2, 3], host(tmp_path, "quiet", full=False))
    assert first.text == "rcu_nocbs=2-3" and "CONFIG_NO_HZ_FULL" in first.reason
    found = missing_arguments([2, 3], host(tmp_path, "rcu_nocbs=2-3", full=False))
    assert [one.text for one in found] == ["isolcpus=managed_irq,2-3"]


def test_missing_command_line_returns_no_arguments(tmp_path: Path) -> None:
    assert missing_arguments([1], Root(tmp_path)) == ()
