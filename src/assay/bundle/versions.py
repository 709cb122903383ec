"""Versions of what a verdict is worked out with."""

from __future__ import annotations

import platform
import re
from importlib import metadata

from assay import __version__

COMPUTING_PACKAGES = ("numpy", "scipy", "msgspec")
"""Packages whose next version might give another last digit, proposal or spelling of a number."""

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]{0,40}")


def is_engine(recorded: dict[str, str]) -> bool:
    """Whether these are versions: they come to stand in a command that is offered."""
    return all(_VERSION.fullmatch(version) for version in recorded.values())


def engine() -> dict[str, str]:
    """The version of each package that works out verdicts here, and of Python."""
    found = {"assay": __version__, "python": platform.python_version()}
    for package in COMPUTING_PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # run from sources without an installation
            continue
    return found


def different_versions(recorded: dict[str, str]) -> dict[str, str]:
    """What of a recorded engine is of another version here, with the version recorded.

    Of Python the first two numbers count: arithmetic does not change within them.
    """
    here = engine()
    return {
        name: version
        for name, version in recorded.items()
        if name in ("assay", "python", *COMPUTING_PACKAGES)
        and _counting(name, version) != _counting(name, here.get(name, ""))
    }


def _counting(name: str, version: str) -> str:
    return ".".join(version.split(".")[:2]) if name == "python" else version


def install_command(recorded: dict[str, str]) -> str:
    """The command that installs what differs, as a shell would read it."""
    packages = [f"{name}=={version}" for name, version in recorded.items() if name != "python"]
    python = (
        f" with Python {_counting('python', recorded['python'])}" if "python" in recorded else ""
    )
    return f"`pip install {' '.join(packages)}`{python}" if packages else f"assay{python}"
