"""Swap information of ``assay tier doctor``."""

from __future__ import annotations

from pathlib import Path

from assay.tier.swap import SwapUsage, read_swap

TWO = """\
Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority
/dev/vda2                               partition\t2097148\t\t1024\t\t-2
/a\\040file                              file\t\t1048576\t\t0\t\t5
"""


def test_all_swap_devices_are_summed(tmp_path: Path) -> None:
    (tmp_path / "sys/vm").mkdir(parents=True)
    (tmp_path / "sys/vm/page-cluster").write_text("3\n")
    (tmp_path / "swaps").write_text(TWO)
    assert read_swap(tmp_path) == SwapUsage(
        size_bytes=(2097148 + 1048576) << 10, used_bytes=1 << 20, page_cluster=3
    )
    (tmp_path / "swaps").write_text(TWO.splitlines()[0] + "\n")
    assert read_swap(tmp_path) == SwapUsage(page_cluster=3)


def test_missing_proc_means_no_swap(tmp_path: Path) -> None:
    assert read_swap(tmp_path) == SwapUsage()
