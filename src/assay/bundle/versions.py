"""Versions of the packages that compute conclusions."""

from __future__ import annotations

import platform
import re
from importlib import metadata

from assay import __version__

COMPUTING_PACKAGES = ("numpy", "scipy", "msgspec")
"""Packages whose versions may change the last digit, a proposal or the format of a number."""

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]{0,40}")


def are_versions(recorded: dict[str, str]) -> bool:
    """Return whether all values are versions, because they become part of a suggested command."""
    return all(_VERSION.fullmatch(version) for version in recorded.values())


def package_versions() -> dict[str, str]:
    """Return the versions of Python and of each package that computes conclusions."""
    found = {"assay": __version__, "python": platform.python_version()}
    for package in COMPUTING_PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # sources without installation
            continue
    return found


def different_versions(recorded: dict[str, str]) -> dict[str, str]:
    """Return the recorded versions that differ from the installed ones.

    Of Python only major and minor version count: arithmetic does not change within them.
    """
    here = package_versions()
    return {
        name: version
        for name, version in recorded.items()
        if name in ("assay", "python", *COMPUTING_PACKAGES)
        and _counting(name, version) != _counting(name, here.get(name, ""))
    }


def _counting(name: str, version: str) -> str:
    return ".".join(version.split(".")[:2]) if name == "python" else version


def install_command(recorded: dict[str, str]) -> str:
    """Return the command that installs recorded versions."""
    packages = [f"{name}=={version}" for name, version in recorded.items() if name != "python"]
    python = (
        f" with Python {_counting('python', recorded['python'])}" if "python" in recorded else ""
    )
    return f"`pip install {' '.join(packages)}`{python}" if packages else f"assay{python}"
