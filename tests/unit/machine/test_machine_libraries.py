import re
import shutil
import struct
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.machine.programs.elf import Ident, parse_ident, read_elf, read_ident
from assay.machine.programs.libraries import find_libraries
from assay.machine.programs.loader import default_folders, read_cache
from assay.machine.root import Root

X86 = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 3, 62)
ARM = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 3, 183)
I386 = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HH", 3, 3)
S390 = b"\x7fELF\x02\x02\x01" + bytes(9) + struct.pack(">HH", 3, 22)
LIB = "/usr/lib/x86_64-linux-gnu"


def machine(tree, files, links=None):
    """Return a tree of files with the given heads, and links."""
    root = tree(dict.fromkeys(files, "") | {path: f"->{to}" for path, to in (links or {}).items()})
    for path, head in files.items():
        root.on_host(path).write_bytes(head)
    return root


@pytest.mark.parametrize(
    ("head", "ident"),
    [
        (X86, Ident(62, 64)),
        (ARM, Ident(183, 64)),
        (I386, Ident(3, 32)),
        (S390, Ident(22, 64)),
        (X86[:19], None),
        (b"/* GNU ld script */ GROUP", None),
    ],
)
def test_ident(head, ident):
    assert parse_ident(head) == ident


def test_ident_selects_loadable_libraries():
    assert Ident(62, 64).runs_on("x86_64") and not Ident(62, 32).runs_on("x86_64")
    assert not Ident(183, 64).runs_on("x86_64") and Ident(183, 64).runs_on("unheard-of")


def test_versioned_names_in_multiarch_folders(tree):
    files = {
        f"{LIB}/libjemalloc.so.2": X86,
        f"{LIB}/libtcmalloc_minimal.so.4.5.10": X86,
        f"{LIB}/libtcmalloc_minimal_debug.so.4": X86,
        f"{LIB}/libtcmalloc.so.4": X86,
        f"{LIB}/libtbbmalloc.so.2": X86,
        f"{LIB}/libtbbmalloc_proxy.so.2.8": X86,
        f"{LIB}/libmimalloc-secure.so.2.0": X86,
        f"{LIB}/libmimalloc.so.2.0": X86,
        "/usr/lib/llvm-14/lib/libomp.so.5": X86,
    }
    links = {
        f"{LIB}/libtcmalloc_minimal.so.4": "libtcmalloc_minimal.so.4.5.10",
        f"{LIB}/libtbbmalloc_proxy.so.2": "libtbbmalloc_proxy.so.2.8",
        f"{LIB}/libomp.so.5": "/usr/lib/llvm-14/lib/libomp.so.5",
    }
    assert find_libraries(machine(tree, files, links), {}, "x86_64") == {
        "jemalloc": f"{LIB}/libjemalloc.so.2",
        "llvm-omp": "/usr/lib/llvm-14/lib/libomp.so.5",
        "mimalloc": f"{LIB}/libmimalloc.so.2.0",
        "tbbmalloc": f"{LIB}/libtbbmalloc_proxy.so.2.8",
        "tcmalloc": f"{LIB}/libtcmalloc_minimal.so.4.5.10",
    }


def test_tbbmalloc_alone_is_not_enough(tree):
    assert find_libraries(machine(tree, {f"{LIB}/libtbbmalloc.so.2": X86}), {}, "x86_64") == {}


def test_other_architectures_and_linker_scripts_are_ignored(tree):
    files = {
        "/usr/lib/libjemalloc.so.2": I386,
        "/usr/lib64/libjemalloc.so.1": X86,
        "/usr/lib64/libjemalloc.so": b"INPUT ( -ljemalloc )          ",
        f"{LIB}/libmimalloc.so.2": ARM,
    }
    found = find_libraries(machine(tree, files), {}, "x86_64")
    assert found == {"jemalloc": "/usr/lib64/libjemalloc.so.1"}


def test_activated_environments_come_first(tree):
    files = {
        f"{folder}/libjemalloc.so.2": X86 for folder in ("/c/lib", "/v/lib", "/h/.local/lib", LIB)
    }
    root = machine(tree, files | {"/c/lib/libiomp5.so": X86})
    env = {"CONDA_PREFIX": "/c", "VIRTUAL_ENV": "/v", "HOME": "/h"}
    found = find_libraries(root, env, "x86_64")
    assert found == {"jemalloc": "/c/lib/libjemalloc.so.2", "iomp": "/c/lib/libiomp5.so"}
    del env["CONDA_PREFIX"]
    assert find_libraries(root, env, "x86_64")["jemalloc"] == "/v/lib/libjemalloc.so.2"
    assert find_libraries(root, {"HOME": "/h"}, "x86_64")["jemalloc"].startswith("/h/.local")
    assert find_libraries(root, {"LD_LIBRARY_PATH": "rel:"}, "x86_64")["jemalloc"].startswith(LIB)


def test_pager_belongs_to_this_installation(tree):
    """A library in another directory may have another version."""
    files = {f"{folder}/libassay-tier.so": X86 for folder in ("/a/_native", "/c/lib", LIB)}
    env = {"ASSAY_EXEC": "/a/_native/assay-exec", "CONDA_PREFIX": "/c"}
    found = find_libraries(machine(tree, files), env, "x86_64")
    assert found == {"assay-tier": "/a/_native/libassay-tier.so"}


def test_higher_versions_are_preferred(tree):
    files = {f"/usr/lib/libmimalloc.so.{v}": X86 for v in ("1.9", "2.0", "2.10")}
    found = find_libraries(machine(tree, files), {}, "aarch64")
    assert found == {}
    found = find_libraries(machine(tree, files), {}, "x86_64")
    assert found == {"mimalloc": "/usr/lib/libmimalloc.so.2.10"}


def test_libraries_in_loader_cache_are_found(tree):
    root = machine(tree, {"/opt/odd/libjemalloc.so.2": X86, "/etc/ld.so.cache": b""})
    entries = [("libjemalloc.so.2", "/opt/odd/libjemalloc.so.2")]
    root.on_host("/etc/ld.so.cache").write_bytes(cache(entries))
    assert find_libraries(root, {}, "x86_64") == {"jemalloc": "/opt/odd/libjemalloc.so.2"}


def cache(entries, hwcaps=(), prefix=b""):
    """Return an ``ld.so.cache`` as written by glibc 2.32."""
    rows = [(name, path, 0) for name, path in entries] + [(n, p, 1 << 62) for n, p in hwcaps]
    strings, table = b"", b""
    start = 48 + 24 * len(rows)
    for name, path, hwcap in rows:
        key = start + len(strings)
        strings += name.encode() + b"\0"
        value = start + len(strings)
        strings += path.encode() + b"\0"
        table += struct.pack("=iIIIQ", 0x303, key, value, 0, hwcap)
    head = b"glibc-ld.so.cache1.1" + struct.pack("=II", len(rows), len(strings)) + bytes(20)
    return prefix + head + table + strings


def test_cache_format(tree):
    root = tree({"/etc/ld.so.cache": ""})
    rows = [("libz.so.1", "/lib/libz.so.1"), ("libz.so.1", "/lib32/libz.so.1")]
    place = root.on_host("/etc/ld.so.cache")
    for prefix in (b"", b"ld.so-1.7.0\0" + bytes(4)):
        place.write_bytes(cache(rows, hwcaps=[("libz.so.1", "/hw/libz.so.1")], prefix=prefix))
        assert read_cache(root) == {"libz.so.1": ("/lib/libz.so.1", "/lib32/libz.so.1")}


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(0, 300))
def test_damaged_caches_raise_no_error(tmp_path_factory, noise, cut):
    base = tmp_path_factory.getbasetemp() / "any-cache"
    (base / "etc").mkdir(parents=True, exist_ok=True)
    good = cache([("liba.so", "/liba.so"), ("libb.so", "/libb.so")])
    (base / "etc" / "ld.so.cache").write_bytes(good[:cut] + noise)
    assert set(read_cache(Root(base))) is not None


def test_cache_matches_ldconfig_output():
    ldconfig = shutil.which("ldconfig", path="/usr/sbin:/sbin")
    if ldconfig is None or not Root().exists("/etc/ld.so.cache"):
        pytest.skip("needs glibc's ldconfig")
    text = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=True).stdout
    printed = set()
    for name, kind, path in re.findall(r"^\t(\S+) \((.*)\) => (\S+)$", text, re.M):
        if "hwcap" not in kind:
            printed.add((name, path))
    found = {(name, path) for name, paths in read_cache(Root()).items() for path in paths}
    assert found == printed


def test_default_folders_name_the_multiarch_one():
    assert "/usr/lib/aarch64-linux-gnu" in default_folders("aarch64")
    assert "/usr/lib64" in default_folders("unheard-of")


@settings(deadline=None)
@given(st.binary(max_size=400), st.integers(0, 399))
def test_damaged_elf_files_raise_no_error(tmp_path_factory, noise, at):
    place = tmp_path_factory.getbasetemp() / "any-elf"
    whole = bytearray(X86 + bytes(380))
    whole[at : at + len(noise)] = noise
    place.write_bytes(whole)
    elf = read_elf(place)
    assert elf is None or elf.ident == read_ident(place)
