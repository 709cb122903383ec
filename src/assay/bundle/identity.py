"""Identity: names of this host and its users, which bundles must not contain.

Interfaces: ``sysfs`` (``Documentation/ABI/testing/sysfs-firmware-dmi``, ``sysfs-class-net``,
``sysfs-block``), ``machine-id(5)``, ``random(4)`` for ``boot_id``, ``passwd(5)``.
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.machine.boot import BOOT_ID
from assay.machine.root import Root

# fmt: off
COMMON_NAMES = frozenset((
    "root", "user", "users", "admin", "administrator", "test", "tester", "guest", "nobody",
    "default", "ubuntu", "debian", "fedora", "centos", "rocky", "alma", "arch", "suse",
    "opensuse", "ec2-user", "azureuser", "vagrant", "docker", "podman", "runner", "build",
    "builder", "jenkins", "gitlab-runner", "ci", "app", "localhost",
    "localhost.localdomain", "localdomain", "raspberrypi", "pi", "vm", "host", "hostname",
    "linux", "none", "(none)", "container", "sandbox", "work", "main", "dev",
))
# fmt: on
"""Common names: they identify no host or user, and replacing them would garble other text."""

MIN_NAME_LENGTH = 2
"""Minimum length of a name; shorter ones occur in every text."""

_SERIALS = (
    *(
        f"/sys/class/dmi/id/{part}"
        for part in (
            *("product_serial", "product_uuid", "board_serial", "chassis_serial"),
            *("board_asset_tag", "chassis_asset_tag"),
        )
    ),
    "/sys/firmware/devicetree/base/serial-number",
    "/proc/device-tree/serial-number",
    "/etc/machine-id",
    "/var/lib/dbus/machine-id",
    BOOT_ID,
)
_DEVICES = {
    "/sys/class/net": ("address",),
    "/sys/block": ("device/serial", "device/wwid", "serial", "wwid"),
    "/sys/class/nvme": ("serial",),
    "/sys/class/infiniband": ("node_guid", "sys_image_guid"),
}
_MIN_SERIAL_CHARACTERS = 6
"""Minimum length of a serial number; firmware uses shorter placeholders."""
_NO_SERIAL = re.compile(
    r"[0.:\-xX]*|none|unknown|default string|not (specified|applicable|available|present|settable)"
    r"|to be filled.*|system serial.*|chassis serial.*|no asset.*|asset.*tag|(ff[:-]?)+",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASS(WD|WORD|PHRASE)?$|PASSWORD|CREDENTIAL|COOKIE|_KEY$|APIKEY|AUTH", re.I
)
_MIN_SECRET_CHARACTERS = 6
"""Minimum length of a secret; shorter values would match by chance."""


@dataclass(frozen=True)
class Identity:
    """Identifying names of a host and its users.

    Attributes:
        hosts: names of the host.
        users: login names, and full names if known.
        homes: home directories.
        serials: serial numbers, hardware addresses and ids of this installation.
        secrets: values of variables with names of secrets.
    """

    hosts: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    serials: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


def read_identity(root: Root | None = None, env: Mapping[str, str] = os.environ) -> Identity:
    """Read the identity of this host and of the current user.

    Args:
        root: root of the host's files; the running host by default.
        env: environment of this process.
    """
    root = root or Root()
    accounts = list(_accounts(env)) if root.live else []
    homes = [env.get("HOME", ""), *(account.pw_dir for account in accounts)]
    full = [account.pw_gecos.split(",")[0] for account in accounts]
    named = [env.get(name, "") for name in ("USER", "LOGNAME", "SUDO_USER", "DOAS_USER")]
    hosts = [os.uname().nodename if root.live else "", root.read_text("/etc/hostname") or ""]
    hosts += [env.get("HOSTNAME", "")]
    return Identity(
        hosts=_names([part for host in hosts for part in (host, host.partition(".")[0])]),
        users=_names([*(account.pw_name for account in accounts), *named, *full]),
        homes=_longest_first(_homes(homes)),
        serials=_longest_first(s for s in _serials(root) if _is_serial(s)),
        secrets=_longest_first(
            value
            for name, value in env.items()
            if _SECRET_NAME.search(name) and len(value) >= _MIN_SECRET_CHARACTERS
        ),
    )


def _accounts(env: Mapping[str, str]) -> Iterator[pwd.struct_passwd]:
    numbers = {os.getuid(), os.geteuid()}
    if env.get("SUDO_UID", "").isdecimal():
        numbers.add(int(env["SUDO_UID"]))
    for number in sorted(numbers):
        try:
            yield pwd.getpwuid(number)
        except KeyError:  # users of containers may have no account
            continue


def _names(found: Iterable[str]) -> tuple[str, ...]:
    return _longest_first(
        name
        for name in (text.strip() for text in found)
        if len(name) >= MIN_NAME_LENGTH
        and name.lower() not in COMMON_NAMES
        and not name.isdecimal()
    )


def _homes(found: Iterable[str]) -> Iterator[str]:
    for text in found:
        home = text.rstrip("/")
        if home.startswith("/") and home not in ("/nonexistent", "/dev/null"):
            yield home
            yield str(Path(home).resolve())  # target of a link


def _serials(root: Root) -> Iterator[str]:
    for path in _SERIALS:
        yield root.read_text(path, 256) or ""
    for folder, files in _DEVICES.items():
        for device in root.listdir(folder):
            for file in files:
                yield root.read_text(f"{folder}/{device}/{file}", 256) or ""
    for line in (root.read_text("/proc/cpuinfo") or "").splitlines():
        if line.startswith("Serial"):
            yield line.partition(":")[2].strip()


def _is_serial(text: str) -> bool:
    return len(text) >= _MIN_SERIAL_CHARACTERS and _NO_SERIAL.fullmatch(text) is None


def _longest_first(found: Iterable[str]) -> tuple[str, ...]:
    """Return unique texts, longest first, so that a text is replaced before its substrings."""
    return tuple(sorted(set(found), key=lambda text: (-len(text), text)))
