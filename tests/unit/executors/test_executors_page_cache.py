"""Files that a command names, and their pages in the page cache."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from assay.executors import page_cache
from assay.executors.page_cache import (
    cached_bytes_of,
    command_files,
    count_cached,
    evict_file,
    load_file,
)
from assay.records import Workload

SIZE = 3 * 2**20 + 17


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.write_bytes(os.urandom(SIZE))
    evict_file(path)
    if count_cached([path]).cached_bytes:
        pytest.skip("files here lie in memory only")
    return path


def test_regular_files_that_hold_something(tmp_path: Path) -> None:
    for name in ("prog", "in", "with=sign", "option"):
        (tmp_path / name).write_text("x")
    (tmp_path / "prog").chmod(0o755)
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("in")
    argv = ("prog", "with=sign", "--file=option", "empty", "folder", "pipe", "link", "none", "a\0b")
    work = Workload(argv=argv, cwd=str(tmp_path), stdin=str(tmp_path / "in"))
    found = command_files(argv, work, {"PATH": str(tmp_path)})
    assert [path.name for path in found] == ["prog", "with=sign", "option", "in"]


def test_dropped_and_read(data: Path) -> None:
    assert count_cached([data]).cached_bytes == 0
    load_file(data)
    found = count_cached([data])
    assert (found.files, found.size_bytes, found.cached_bytes) == (1, SIZE, SIZE)
    evict_file(data)
    assert count_cached([data]).cached_bytes == 0


def test_dirty_pages_are_evicted(data: Path) -> None:
    data.write_bytes(os.urandom(SIZE))
    evict_file(data)
    assert count_cached([data]).cached_bytes == 0


def test_both_calls_of_the_kernel_tell_the_same(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(fd: int) -> int:
        raise OSError(errno.ENOSYS, "no such call")

    with data.open("rb", buffering=0) as file:
        # What is read ahead is in the cache for the one call before it is for the other.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        file.read(2**20)
        told = cached_bytes_of(file.fileno())
        monkeypatch.setattr(page_cache, "_by_cachestat", missing)
        assert 2**20 <= cached_bytes_of(file.fileno()) == told <= SIZE


def test_unreadable_file_gives_reason(tmp_path: Path) -> None:
    found = count_cached([tmp_path / "none"])
    assert found.cached_bytes is None
    assert found.unavailable == "none: No such file or directory"
