"""Parsing of ``/proc/PID/stat``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.machine.process_stat import parse_process_stat

LINE = "7 ({}) S 3 7 5 0 -1 2097152 0 0 0 0 11 12 13 14 20 -5 1 0 900"


@pytest.mark.parametrize("name", ["sh", "a b", "x) R 1 (y", "two\nlines", ""])
def test_name_may_hold_parentheses_and_spaces(name: str) -> None:
    stat = parse_process_stat(LINE.format(name))
    assert stat is not None
    assert (stat.name, stat.state, stat.parent, stat.session) == (name, "S", 3, 5)
    assert (stat.user_ticks, stat.sys_ticks, stat.children_ticks) == (11, 12, 27)
    assert (stat.nice, stat.started_ticks, stat.flags, stat.cpu) == (-5, 900, 2097152, None)


def test_own_process_is_read() -> None:
    stat = parse_process_stat(Path("/proc/self/stat").read_bytes())
    assert stat is not None
    assert stat.parent == os.getppid() and stat.session == os.getsid(0)
    assert stat.cpu is not None and stat.cpu in range(os.sysconf("SC_NPROCESSORS_CONF"))


def test_name_that_is_not_utf8_is_read() -> None:
    stat = parse_process_stat(LINE.format("x").encode().replace(b"(x)", b"(\xff)"))
    assert stat is not None and stat.parent == 3


@pytest.mark.parametrize("text", [None, "", "7 (sh", "7 (sh) S 3", LINE.format("x")[:-4] + "?"])
def test_incomplete_content_is_missing(text: str | None) -> None:
    assert parse_process_stat(text) is None
