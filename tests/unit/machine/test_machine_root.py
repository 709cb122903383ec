import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.machine import open_below as opening
from assay.machine.remembered_root import remembered
from assay.machine.root import Root


@pytest.fixture(autouse=True, params=["openat2", "components"])
def resolution(request, monkeypatch) -> Iterator[str]:
    """Resolve paths by the kernel, or as where it cannot."""
    if request.param == "components":
        monkeypatch.setattr(opening, "_openat2", lambda *_: (-1, errno.ENOSYS))
    return request.param


def test_files_are_read_below_the_root(tree):
    root = tree({"/proc/version": "Linux 6\n", "/n": "42\n", "/nul": "abc\n\0"})
    assert root.read_text("/proc/version") == "Linux 6"
    assert root.read_int("/n") == 42
    assert root.read_text("/nul") == "abc"
    assert root.listdir("/") == ("n", "nul", "proc")
    assert root.exists("/proc") and not root.exists("/sys")


def test_missing_file_is_none(tree):
    root = tree({"/a/b": "text", "/loop": "->/loop"})
    for path in ("/x", "/a/b/c", "/a", "/loop", "/a\0b"):
        assert root.read_text(path) is None
        assert root.read_int(path) is None
    assert root.read_int("/a/b") is None
    assert root.listdir("/a/b") == () == root.listdir("/x")
    assert root.real("/loop") is None and root.real("/x") is None


def test_links_stay_below_the_root(tree, tmp_path):
    (tmp_path / "secret").write_text("outside")
    root = tree(
        {
            "/etc/secret": "inside",
            "/absolute": "->/etc/secret",
            "/up": "->../secret",
            "/dir": "->/etc",
            "/chain": "->dir/../absolute",
            "/out": f"->{tmp_path}/secret",
        }
    )
    assert root.read_text("/absolute") == "inside"
    assert root.read_text("/dir/secret") == "inside"
    assert root.read_text("/chain") == "inside"
    for path in ("/up", "/out", "/../secret", "/../../secret"):
        assert root.read_text(path) is None
    assert root.real("/chain") == "/etc/secret"


def test_pipes_of_a_recorded_tree_do_not_block(tree, tmp_path):
    root = tree({"/a": ""})
    os.mkfifo(tmp_path / "root" / "pipe")
    assert root.read_text("/pipe") is None


def test_live_root_reads_the_host():
    assert Root().live
    assert Root().read_text("/proc/sys/kernel/osrelease") == os.uname().release
    assert Root().real("/proc/self") == f"/proc/{os.getpid()}"


@pytest.fixture(scope="module")
def loops(tmp_path_factory) -> Path:
    """Return a tree whose links lead out of it for a reader that ignores the root."""
    base = tmp_path_factory.mktemp("escape") / "tree"
    (base / "a").mkdir(parents=True)
    (base / "a" / "file").write_text("inside")
    (base / "a" / "l").symlink_to("/")
    (base / "up").symlink_to("../../..")
    (base / "a" / "x").symlink_to(base)
    (base.parent / "file").write_text("outside")
    return base


WORDS = st.lists(st.sampled_from(["..", ".", "", "a", "l", "up", "x", "file"]), max_size=12)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(WORDS)
def test_paths_stay_below_the_root(loops, words):
    root, path = Root(loops), "/" + "/".join(words)
    place = root.on_host(path)
    assert place is not None
    assert Path(os.path.normpath(place)).is_relative_to(loops.resolve())
    assert root.read_text(path) in (None, "inside")
    assert root.read_texts(path, ("file", "l")) in ({}, {"file": "inside"})


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(WORDS, st.integers(-1, 8), st.integers(-1, 8))
def test_remembered_root_reads_like_the_root(loops, words, first, second):
    root, path = Root(loops), "/" + "/".join(words)
    with remembered(root) as once:
        for limit in (first, second):
            assert once.read_bytes(path, limit) == root.read_bytes(path, limit)
        assert once.read_folder(path, ("file", "a")) == root.read_folder(path, ("file", "a"))
        assert once.listdir(path) == root.listdir(path)


def test_remembered_root_reads_each_file_once(tree):
    root = tree({"/d/a": "1", "/d/b": "2"})
    with remembered(root) as once:
        assert once.read_texts("/d", ("a", "b", "c")) == {"a": "1", "b": "2"}
        (root.path / "d" / "a").write_text("3")
        assert once.read_text("/d/a") == "1" and once.read_int("/d/c") is None
    assert root.read_text("/d/a") == "3"


def test_links_in_a_folder_stay_below_the_root(tree, tmp_path):
    (tmp_path / "secret").write_text("outside")
    root = tree({"/d/in": "->../x", "/x": "inside", "/d/out": f"->{tmp_path}/secret", "/d/f": ""})
    os.mkfifo(tmp_path / "root" / "d" / "pipe")
    names = ("in", "out", "pipe", "f", "missing")
    assert root.read_texts("/d", names) == {"in": "inside", "f": ""}
    assert root.read_texts("/missing", names) == {}


@pytest.mark.parametrize("text", ["0x10", "1 2", "", "max"])
def test_read_int_takes_decimal_numbers_only(tree, text):
    assert tree({"/n": text}).read_int("/n") is None
