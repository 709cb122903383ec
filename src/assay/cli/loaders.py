"""Boot loaders: how a word of the kernel's command line is changed, told and never done.

Sources: the manuals of grub-mkconfig, grubby(8), loader.conf(5) and kernel-install(8), kernelstub.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence

from assay.machine.boot import HIDDEN, is_digest
from assay.machine.root import Root

Words = Sequence[str]


def loader_lines(add: Words, remove: Words, root: Root | None = None) -> Iterator[str]:
    """How the boot loaders of this host take words and let them go; of all where none is known.

    Args:
        add, remove: words of the command line.
        root: of the host.
    """
    root = root or Root()
    gone = [_told(word) for word in remove]
    known = [tell for is_here, tell in _LOADERS if is_here(root)]
    for tell in known or [tell for _, tell in _LOADERS]:
        yield from tell(add, gone)


def _told(word: str) -> str:
    """A word that is to go; one whose value nobody may see goes by its name."""
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


def _both(add: Words, remove: Words) -> str:
    told = [f"take out {' '.join(remove)}"] if remove else []
    told += [f"put in {' '.join(add)}"] if add else []
    return " and ".join(told) or "leave all as it is"


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


_LOADERS: tuple[tuple[Callable[[Root], bool], Callable[[Words, Words], Iterator[str]]], ...] = (
    (_has_program("grubby"), _grubby),
    (lambda root: root.exists("/etc/default/grub"), _grub),
    (_has_entries, _systemd_boot),
    (_has_program("kernelstub"), _kernelstub),
)
