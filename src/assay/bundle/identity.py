"""Identity: what names this host and whoever uses it, so that it can be taken out of a bundle.

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
"""Names that half the hosts have: they name nobody, and taking them out would garble the rest."""

MIN_NAME_LENGTH = 2
"""A shorter name is left: as a word of its own it is in every text."""

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
_LEAST_SERIAL = 6
"""Characters of a serial number; firmware fills in less than that where it has none."""
_NO_SERIAL = re.compile(
    r"[0.:\-xX]*|none|unknown|default string|not (specified|applicable|available|present|settable)"
    r"|to be filled.*|system serial.*|chassis serial.*|no asset.*|asset.*tag|(ff[:-]?)+",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASS(WD|WORD|PHRASE)?$|PASSWORD|CREDENTIAL|COOKIE|_KEY$|APIKEY|AUTH", re.I
)
_LEAST_SECRET = 6
"""Characters of a value that is looked for everywhere; a shorter one would be found by chance."""


@dataclass(frozen=True)
class Identity:
    """What names a host and its users.

    Attributes:
        hosts: names of the host.
        users: login names, and full names where the host knows them.
        homes: home folders.
        serials: serial numbers, hardware addresses and ids of this installation.
        secrets: values of variables whose names say that they are secret.
    """

    hosts: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    serials: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


def read_identity(root: Root | None = None, env: Mapping[str, str] = os.environ) -> Identity:
    """What names this host and the user who asks.

    Args:
        root: where the host is read; the running one by default.
        env: of this process.
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
            if _SECRET_NAME.search(name) and len(value) >= _LEAST_SECRET
        ),
    )


def _accounts(env: Mapping[str, str]) -> Iterator[pwd.struct_passwd]:
    numbers = {os.getuid(), os.geteuid()}
    if env.get("SUDO_UID", "").isdecimal():
        numbers.add(int(env["SUDO_UID"]))
    for number in sorted(numbers):
        try:
            yield pwd.getpwuid(number)
        except KeyError:  # a container's user need not have an account
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
            yield str(Path(home).resolve())  # where it is a link


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
    return len(text) >= _LEAST_SERIAL and _NO_SERIAL.fullmatch(text) is None


def _longest_first(found: Iterable[str]) -> tuple[str, ...]:
    """Without repeats; what holds another is taken out before it."""
    return tuple(sorted(set(found), key=lambda text: (-len(text), text)))
