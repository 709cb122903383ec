"""Short Python programs for scripts: each changes its process, then executes another program.

They cover process attributes for which the distributions have no tool.
"""

from __future__ import annotations

PRCTL = """\
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(*map(ctypes.c_ulong, map(int, sys.argv[1:6]))):
    sys.exit("prctl: " + os.strerror(ctypes.get_errno()))
try:
    os.execvp(sys.argv[6], sys.argv[6:])
except OSError as error:
    sys.exit(f"{sys.argv[6]}: {error.strerror}")"""
"""Program that sets a process attribute, then executes a command. ``CDLL(None)`` is the C library;
the arguments of prctl(2) are unsigned long."""

FILTER = """\
import ctypes, os, platform, struct, sys
def op(code, k, passed=0):
    return struct.pack("HBBI", code, 0, passed, k)
code = op(0x20, 4)
for arch, number, mask in (
    (0xC000003E, 203, 0xBFFFFFFF), (0x40000003, 241, 0xFFFFFFFF),
    (0xC00000B7, 122, 0xFFFFFFFF), (0x40000028, 241, 0xFFFFFFFF),
):
    code += op(0x15, arch, 5) + op(0x20, 0) + op(0x54, mask) + op(0x15, number, 1)
    code += op(0x06, 0x50000 + int(sys.argv[1])) + op(0x06, 0x7FFF0000)
code += op(0x06, 0x7FFF0000)
held = ctypes.create_string_buffer(code, len(code))
program = struct.pack("HP", len(code) // 8, ctypes.addressof(held))
libc = ctypes.CDLL(None, use_errno=True)
seccomp = {"x86_64": 317, "aarch64": 277}[platform.machine()]
def take(flags):
    return libc.syscall(seccomp, 1, flags, program) == 0
if not take(4) and not take(0):
    libc.prctl(*map(ctypes.c_ulong, (38, 1, 0, 0, 0)))
    if not take(4) and not take(0):
        sys.exit("seccomp: " + os.strerror(ctypes.get_errno()))
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    sys.exit(f"{sys.argv[2]}: {error.strerror}")"""
"""Program that makes sched_setaffinity(2) return an error number, then executes a command: a
seccomp(2) filter for x86-64 with x32, i386, arm64 and arm, with PR_SET_NO_NEW_PRIVS (38) where
required. SECCOMP_FILTER_FLAG_SPEC_ALLOW (4) keeps speculation enabled."""

UNSHARE = 'unshare --mount $(test "$(id -u)" = 0 || echo --map-current-user --keep-caps)'
VIEW = """\
import os, subprocess, sys
own = os.sched_getaffinity(0)
system = "/sys/devices/system"
def read(path):
    with open(path) as file:
        return file.read()
def numbers(text):
    ends = [part.split("-") for part in text.strip().split(",") if part]
    return {n for end in ends for n in range(int(end[0]), int(end[-1]) + 1)}
def ours(node):
    cpus = numbers(read(f"{system}/node/node{node}/cpulist"))
    return not cpus or cpus & own
def kept(block):
    name, _, number = block.partition("\\n")[0].partition(":")
    return name.strip() != "processor" or int(number) in own
texts = {"/proc/cpuinfo": "\\n\\n".join(filter(kept, read("/proc/cpuinfo").split("\\n\\n")))}
for name in ("online", "present", "possible"):
    texts[f"{system}/cpu/{name}"] = ",".join(map(str, sorted(own))) + "\\n"
texts[f"{system}/cpu/offline"] = "\\n"
if os.path.exists(f"{system}/node/online"):
    nodes = filter(ours, sorted(numbers(read(f"{system}/node/online"))))
    texts[f"{system}/node/online"] = ",".join(map(str, nodes)) + "\\n"
place = "/sys/kernel"
subprocess.run(["mount", "-t", "tmpfs", "assay", place], check=True)
for number, (path, text) in enumerate(texts.items()):
    with open(f"{place}/{number}", "w") as file:
        file.write(text)
    subprocess.run(["mount", "--bind", file.name, path], check=True)
subprocess.run(["umount", "--lazy", place], check=True)
drop = ["setpriv", "--ambient-caps=-all", "--inh-caps=-all"] if os.getuid() else []
argv = [*drop, *sys.argv[1:]]
try:
    os.execvp(argv[0], argv)
except OSError as error:
    sys.exit(f"{argv[0]}: {error.strerror}")"""
"""Program for a mount namespace: it bind-mounts files that list only its own CPUs over those that
list all CPUs, then executes a command. It drops the capabilities for mounting before that."""

ERRNO: dict[str, int] = {"ignored": 0, "refused": 1}
"""Argument of FILTER: no error, or EPERM."""
