import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.machine.root import Root


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


@settings(deadline=None)
@given(st.lists(st.sampled_from(["..", ".", "", "a", "l", "up", "x"]), max_size=12))
def test_paths_stay_below_the_root(tmp_path_factory, words):
    base = tmp_path_factory.getbasetemp() / "escape"
    if not base.exists():
        (base / "a").mkdir(parents=True)
        (base / "a" / "l").symlink_to("/")
        (base / "up").symlink_to("../../..")
        (base / "a" / "x").symlink_to(base)
    place = Root(base).on_host("/".join(words))
    assert place is not None
    assert Path(os.path.normpath(place)).is_relative_to(base.resolve())


@pytest.mark.parametrize("text", ["0x10", "1 2", "", "max"])
def test_read_int_takes_decimal_numbers_only(tree, text):
    assert tree({"/n": text}).read_int("/n") is None
