"""Build a wheel that installs without a compiler on other Linux distributions.

python3 tools/portable_wheel.py FOLDER [WHEEL]

WHEEL is one that ``pip wheel`` built; without it the checkout is built. FOLDER receives
``assay-VERSION-py3-none-manylinux_2_N_ARCH.whl``. The tag follows from the native programs: N is
the newest version of glibc that one of them needs, 36 at least (Debian 12, the oldest supported
distribution). A program that needs a library which other distributions lack is refused.
libgomp, which manylinux does not promise, is copied into the wheel under its own name: auditwheel
would rename it, and assay recognises an OpenMP runtime by its name.

Needs the package ``wheel``, and binutils, which come with the compiler.
"""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NATIVE = Path("assay", "_native")
"""Folder of the native programs in the wheel."""
OLDEST_GLIBC = (2, 36)
"""Version of glibc in Debian 12."""
OPENMP = "libgomp.so.1"
ALLOWED = re.compile(r"ld-linux[-\w]*\.so\.\d|lib(c|m|dl|rt|pthread)\.so\.\d")
"""Libraries of glibc, which PEP 600 promises."""


@dataclass(frozen=True)
class Needs:
    """Requirements of one program, as its dynamic section lists them.

    Attributes:
        libraries: names of the libraries that the dynamic loader loads.
        symbols: versions of the symbols taken from them, such as ``GLIBC_2.34``.
    """

    libraries: tuple[str, ...]
    symbols: tuple[str, ...]

    @property
    def glibc(self) -> tuple[int, int]:
        """Return the newest version of glibc that the symbols need; ``(0, 0)`` for none."""
        found = (re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", name) for name in self.symbols)
        return max(((int(one[1]), int(one[2])) for one in found if one), default=(0, 0))


def needs(program: Path) -> Needs:
    """Read the requirements of a program or library with ``objdump``."""
    shown = subprocess.run(["objdump", "-p", program], capture_output=True, text=True, check=True)
    libraries = re.findall(r"^ +NEEDED +(\S+)$", shown.stdout, re.M)
    _, _, references = shown.stdout.partition("Version References:")
    symbols = re.findall(r"^ +0x[0-9a-f]+ 0x[0-9a-f]+ \d+ (\S+)$", references, re.M)
    return Needs(tuple(libraries), tuple(symbols))


def programs(folder: Path) -> Iterator[Path]:
    """Yield the ELF files below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.open("rb").read(4) == b"\x7fELF":
            yield path


def faults(folder: Path) -> list[str]:
    """Return one line for each program that not every distribution can start."""
    found = []
    for program in programs(folder):
        listed = needs(program)
        others = [name for name in listed.libraries if not ALLOWED.fullmatch(name)]
        if OPENMP in others and (program.parent / "lib" / OPENMP).exists():
            others.remove(OPENMP)
        if others:
            found.append(f"{program.name} needs {', '.join(others)}")
        if unusual := [name for name in listed.symbols if name.startswith("GLIBC_ABI_")]:
            found.append(f"{program.name} needs {', '.join(unusual)} of the dynamic loader")
    return found


def newest_glibc(folder: Path) -> tuple[int, int]:
    """Return the oldest version of glibc with which all programs start."""
    return max((needs(program).glibc for program in programs(folder)), default=(0, 0))


def platform_tag(folder: Path) -> str:
    """Return the platform tag that the programs below a folder allow (PEP 600)."""
    major, minor = max(OLDEST_GLIBC, newest_glibc(folder))
    return f"manylinux_{major}_{minor}_{platform.machine()}"


def add_openmp(folder: Path) -> None:
    """Copy libgomp, with its origin, to where the kernels look for it first."""
    if not any(OPENMP in needs(program).libraries for program in programs(folder)):
        return
    shown = subprocess.run(
        ["c++", f"-print-file-name={OPENMP}"], capture_output=True, text=True, check=True
    )
    library = Path(shown.stdout.strip()).resolve()
    if not library.is_file():
        sys.exit(f"tools/portable_wheel.py: the compiler has no {OPENMP}")
    (folder / "lib").mkdir()
    copy = folder / "lib" / OPENMP
    shutil.copyfile(library, copy)
    copy.chmod(0o644)
    words = ["c++", "-dumpfullversion"]
    version = subprocess.run(words, capture_output=True, text=True, check=True)
    digest = hashlib.sha256(copy.read_bytes()).hexdigest()
    (folder / "lib" / "libgomp.txt").write_text(
        f"{OPENMP} is an unmodified copy of the OpenMP runtime of GCC.\n"
        f"Compiler of this build: GCC {version.stdout.strip()}, package {package_of(library)}\n"
        f"SHA-256: {digest}\n"
        "Copyright: Free Software Foundation, Inc.\n"
        "Licence: GPL-3.0-or-later WITH GCC-exception-3.1\n"
        "Source code: https://gcc.gnu.org/releases.html, or the source package gcc of the\n"
        "distribution named above.\n",
        encoding="utf-8",
    )


def package_of(library: Path) -> str:
    """Return name and version of the Debian package that owns a file, ``unknown`` without one."""
    if not shutil.which("dpkg-query"):
        return "unknown"
    for path in (library, Path("/", *library.parts[2:])):  # where /lib is a link to /usr/lib
        owner = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True)
        if owner.returncode == 0:
            name = owner.stdout.partition(": ")[0]
            shown = "${binary:Package} ${Version} (${source:Package} ${source:Version})"
            words = ["dpkg-query", "-W", "-f", shown, name]
            return subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return "unknown"


def set_tag(contents: Path, tag: str) -> None:
    """Replace the tags in the metadata of an unpacked wheel."""
    (metadata,) = contents.glob("*.dist-info/WHEEL")
    lines = metadata.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line and not line.startswith("Tag:")]
    metadata.write_text("\n".join([*kept, f"Tag: {tag}", ""]), encoding="utf-8")


def repair(built: Path, folder: Path) -> Path:
    """Write a portable wheel from one that was built for this distribution.

    Args:
        built: the wheel as pip builds it.
        folder: where the new one goes.

    Returns:
        The path of the new wheel.
    """
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        wheel("unpack", "--dest", work, built)
        (contents,) = work.iterdir()
        native = contents / NATIVE
        add_openmp(native)
        if found := faults(native):
            sys.exit("tools/portable_wheel.py: not portable:\n  " + "\n  ".join(found))
        set_tag(contents, f"py3-none-{platform_tag(native)}")
        (work / "new").mkdir()
        wheel("pack", "--dest-dir", work / "new", contents)
        (packed,) = (work / "new").iterdir()
        return Path(shutil.copy(packed, folder))


def wheel(*words: str | Path) -> None:
    """Run a command of the package ``wheel``."""
    subprocess.run([sys.executable, "-m", "wheel", *words], stdout=subprocess.DEVNULL, check=True)


def main(folder: Path, built: Path | None = None) -> None:
    """Write the portable wheel and print its path."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        if built is None:
            words = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", name, ROOT]
            subprocess.run(words, check=True)
            (built,) = Path(name).glob("*.whl")
        print(repair(built, folder))


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("usage: python3 tools/portable_wheel.py FOLDER [WHEEL]")
    main(*map(Path, sys.argv[1:]))
