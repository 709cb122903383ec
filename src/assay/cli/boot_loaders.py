"""Boot loaders: commands that change the kernel and its command line. assay only prints them.

Sources: the manuals of grub-mkconfig, grub-reboot(8), grubby(8), loader.conf(5), bootctl(1) and
kernel-install(8), kernelstub. The commands boot a kernel once, if the boot loader can do so: after
a kernel that does not boot, the next start uses the previous kernel.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from assay.machine.boot import HIDDEN, is_digest
from assay.machine.root import Root

Words = Sequence[str]


KERNEL_FILES = ("/boot/vmlinuz-{0}", "/lib/modules/{0}")
"""Paths of an installed kernel, by its release."""


def is_installed(release: str, root: Root | None = None) -> bool:
    """Return whether a kernel is installed at a path that distributions use."""
    root = root or Root()
    return any(root.exists(path.format(release)) for path in KERNEL_FILES)


def loader_lines(
    add: Words, remove: Words, root: Root | None = None, kernel: str | None = None
) -> Iterator[str]:
    """Yield the commands of the boot loaders of this host; of all known ones if none is found.

    Args:
        add, remove: words of the kernel's command line.
        root: root directory of the host.
        kernel: release of the kernel to boot, if another one runs.
    """
    root = root or Root()
    removed = [_visible(word) for word in remove]
    known = [loader for loader in _LOADERS if loader.is_here(root)]
    for loader in known or _LOADERS:
        if add or removed:
            yield from loader.words(add, removed)
        if kernel is not None:
            yield from loader.kernel(kernel)


def _visible(word: str) -> str:
    """Return a word to remove; only its name if its value is hidden."""
    name, _, value = word.partition("=")
    return name if is_digest(value) or value == HIDDEN else word


def _grub(add: Words, remove: Words) -> Iterator[str]:
    yield f"GRUB: in GRUB_CMDLINE_LINUX of /etc/default/grub {_both(add, remove)}, then one of"
    yield "    sudo update-grub"
    yield "    sudo grub2-mkconfig -o /boot/grub2/grub.cfg"


def _grubby(add: Words, remove: Words) -> Iterator[str]:
    yield "grubby:"
    words = f"{_option('remove-args', remove)}{_option('args', add)}"
    yield f"    sudo grubby --update-kernel=ALL{words}"


def _systemd_boot(add: Words, remove: Words) -> Iterator[str]:
    yield f"systemd-boot: in /etc/kernel/cmdline {_both(add, remove)}, then"
    yield '    sudo kernel-install add "$(uname -r)" "/lib/modules/$(uname -r)/vmlinuz"'
    yield "  or change the line options of the entry in loader/entries of the boot partition"


def _kernelstub(add: Words, remove: Words) -> Iterator[str]:
    yield "kernelstub:"
    yield f"    sudo kernelstub{_option('delete-options', remove)}{_option('add-options', add)}"


def _grub_kernel(release: str) -> Iterator[str]:
    yield "GRUB (with GRUB_DEFAULT=saved in /etc/default/grub, for the next boot alone):"
    yield "    sudo grub-reboot 'gnulinux-advanced-UUID>ENTRY'"
    yield "  where grep menuentry_id_option /boot/grub/grub.cfg shows both names;"
    yield f"  ENTRY is gnulinux-{release}-advanced-UUID"


def _grubby_kernel(release: str) -> Iterator[str]:
    yield "grubby:"
    yield f"    sudo grubby --set-default={shlex.quote(f'/boot/vmlinuz-{release}')}"


def _systemd_boot_kernel(release: str) -> Iterator[str]:
    yield "systemd-boot (for the next boot alone; bootctl list shows the entries):"
    yield f"    sudo bootctl set-oneshot ENTRY-{release}.conf"


def _kernelstub_kernel(release: str) -> Iterator[str]:
    kernel, initrd = (shlex.quote(f"/boot/{n}-{release}") for n in ("vmlinuz", "initrd.img"))
    yield "kernelstub:"
    yield f"    sudo kernelstub --kernel-path={kernel} --initrd-path={initrd}"


def _both(add: Words, remove: Words) -> str:
    steps = [f"remove {' '.join(remove)}"] if remove else []
    steps += [f"add {' '.join(add)}"] if add else []
    return " and ".join(steps) or "change nothing"


def _option(name: str, words: Words) -> str:
    return f" --{name}={shlex.quote(' '.join(words))}" if words else ""


def _has_entries(root: Root) -> bool:
    places = ("/boot/loader/entries", "/efi/loader/entries", "/boot/efi/loader/entries")
    return root.exists("/etc/kernel/cmdline") or any(
        re.search(r"\.conf$", name) for place in places for name in root.listdir(place)
    )


def _has_program(name: str) -> Callable[[Root], bool]:
    def is_here(root: Root) -> bool:
        places = ("/usr/bin", "/usr/sbin", "/bin", "/sbin")
        if root.live:
            return shutil.which(name) is not None
        return any(root.exists(f"{place}/{name}") for place in places)

    return is_here


@dataclass(frozen=True)
class _Loader:
    """One boot loader.

    Attributes:
        is_here: returns whether a host has it.
        words: yields the steps that add and remove words of the command line.
        kernel: yields the steps that boot another kernel.
    """

    is_here: Callable[[Root], bool]
    words: Callable[[Words, Words], Iterator[str]]
    kernel: Callable[[str], Iterator[str]]


_LOADERS = (
    _Loader(_has_program("grubby"), _grubby, _grubby_kernel),
    _Loader(lambda root: root.exists("/etc/default/grub"), _grub, _grub_kernel),
    _Loader(_has_entries, _systemd_boot, _systemd_boot_kernel),
    _Loader(_has_program("kernelstub"), _kernelstub, _kernelstub_kernel),
)
