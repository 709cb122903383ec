"""Description of a machine as lines of text, with a section for each part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.machine.cpulist import show_list
from assay.machine.document import Machine
from assay.machine.inventory.document import Cache, Device, Inventory, Link, Model, Pci, Pool
from assay.units import show_bytes, show_count

TITLE = 13
"""Width of the section titles, in columns."""
MAX_ROWS = 16
"""Maximum number of rows of a table without ``--verbose``."""
_SMT = {
    "forceoff": "off until the next boot",
    "notsupported": "not supported",
    "notimplemented": "not implemented",
}
"""Words for the states of SMT that the kernel abbreviates."""
_INSTRUCTIONS = (
    *("sse4_2", "avx", "f16c", "fma", "avx2", "avx512f", "avx512dq", "avx512bw", "avx512vl"),
    *("avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile", "amx_int8", "amx_bf16"),
    *("amx_fp16", "asimd", "asimdhp", "asimddp", "atomics", "i8mm", "bf16", "sve", "sve2", "sme"),
    *("sme2", "altivec", "vsx", "mma", "vx", "vxe", "vxe2", "nnpa"),
)
"""Instruction sets that a program may be built for, by the names of the kernel."""
_SLACK = 0.02
"""Relative difference of memory sizes that needs no remark."""
_CACHE_NAMES = {"unified": "", "data": "d", "instruction": "i"}


def machine_lines(machine: Machine, inventory: Inventory, verbose: bool = False) -> Iterator[str]:
    """Yield the description of a machine; sections without data are left out.

    Args:
        machine, inventory: of one host.
        verbose: all PCI devices, all limits, all options of the kernel.
    """
    sections = (
        ("system", _system(machine, inventory)),
        ("processor", _processor(machine, inventory)),
        ("caches", _caches(inventory.caches)),
        ("clock", _clock(inventory)),
        ("memory", _memory(machine, inventory)),
        ("modules", _modules(inventory, verbose)),
        ("huge pages", _huge_pages(machine, inventory)),
        ("devices", _devices(machine, inventory.devices, verbose)),
        ("PCI", _pci(inventory.pci, verbose)),
        ("kernel", _kernel(inventory, verbose)),
        ("control", _control(inventory)),
        ("this process", _limits(machine, inventory, verbose)),
        ("libraries", _libraries(inventory)),
        ("not known", _unavailable_lines(inventory)),
    )
    for title, lines in sections:
        for number, line in enumerate(lines):
            yield f"{title if number == 0 else '':{TITLE}}{line}".rstrip()


def _system(machine: Machine, inventory: Inventory) -> Iterator[str]:
    firmware = inventory.firmware
    name = " ".join(filter(None, (firmware.vendor, firmware.product)))
    if name:
        yield name
    if firmware.board:
        yield f"board {firmware.board}"
    if firmware.version:
        yield f"firmware {firmware.version}{f' of {firmware.date}' if firmware.date else ''}"
    guest = f"a guest of {machine.hypervisor}" if machine.hypervisor else None
    if machine.arch or guest:
        yield ", ".join(filter(None, (machine.arch, guest)))


def _processor(machine: Machine, inventory: Inventory) -> Iterator[str]:
    yield machine.model
    yield from _numbers(machine, inventory.model)
    packages = {cpu.package for cpu in machine.cpus}
    dies = {(cpu.package, cpu.die) for cpu in machine.cpus}
    cores = {cpu.core for cpu in machine.cpus}
    counts = [show_count(len(packages), "package")]
    if len(dies) > len(packages):
        counts.append(show_count(len(dies), "die"))
    counts += [show_count(len(cores), "core"), show_count(len(machine.cpus), "CPU")]
    yield ", ".join(counts)
    smt = inventory.smt
    if smt is not None:
        control = _SMT.get(smt.control or "", smt.control)
        threads = show_count(smt.threads_per_core, "CPU")
        yield f"SMT: {threads} per core{f', {control}' if control else ''}"
    yield from _kinds(machine)
    groups: dict[int, list[int]] = {}
    for cpu in machine.cpus:
        if cpu.l3 is not None:
            groups.setdefault(cpu.l3, []).append(cpu.id)
    if len(groups) > 1:
        yield f"CPUs that share a last cache: {_lists(groups.values())}"
    if machine.allowed_cpus != tuple(cpu.id for cpu in machine.cpus):
        yield f"usable: CPUs {show_list(machine.allowed_cpus)}"
    if inventory.microcode:
        yield f"microcode {inventory.microcode}"
    yield f"topology from {inventory.topology_source}"


def _numbers(machine: Machine, model: Model) -> Iterator[str]:
    names = (("family", model.family), ("model", model.number), ("stepping", model.stepping))
    numbers = [f"{name} {number}" for name, number in names if number]
    if numbers:
        yield " ".join(filter(None, (model.vendor, ", ".join(numbers))))
    instructions = [name for name in _INSTRUCTIONS if name in machine.flags]
    if instructions:
        yield f"instructions: {' '.join(instructions)}"


def _kinds(machine: Machine) -> Iterator[str]:
    kinds: dict[str, list[int]] = {}
    for cpu in machine.cpus:
        if cpu.kind:
            kinds.setdefault(cpu.kind, []).append(cpu.id)
    for kind, cpus in sorted(kinds.items(), reverse=True):
        yield f"{kind}: CPUs {show_list(cpus)}"


def _lists(groups: Iterable[Sequence[int]]) -> str:
    """Return CPU lists in one line; of many only the first ones."""
    texts = [show_list(group) for group in groups]
    more = f" and {len(texts) - MAX_ROWS} more" if len(texts) > MAX_ROWS else ""
    return " | ".join(texts[:MAX_ROWS]) + more


def _caches(caches: Iterable[Cache]) -> Iterator[str]:
    for cache in caches:
        name = f"L{cache.level}{_CACHE_NAMES[cache.kind]}"
        size = show_bytes(cache.size_bytes) if cache.size_bytes else "unknown size"
        sharing = sorted({len(cpus) for cpus in cache.shared_by})
        each = " or ".join(map(str, sharing))
        shared = "a CPU" if sharing == [1] else f"{each} CPUs"
        details = [f"{cache.associativity} ways" if cache.associativity else "", _line(cache)]
        rest = ", ".join(filter(None, details))
        of_each = f"{len(cache.shared_by)} x {size}, one for {shared}"
        yield f"{name:4}{of_each}{f' ({rest})' if rest else ''}"


def _line(cache: Cache) -> str:
    return f"lines of {cache.line_bytes} B" if cache.line_bytes else ""


def _clock(inventory: Inventory) -> Iterator[str]:
    model = inventory.model
    if model.mhz and not inventory.frequencies:
        yield f"{_ghz(round(model.mhz * 1e3))} GHz according to /proc/cpuinfo"
    for one in inventory.frequencies:
        words = [f"CPUs {show_list(one.cpus)}:"]
        if one.min_khz and one.max_khz:
            words.append(f"{_ghz(one.min_khz)} to {_ghz(one.max_khz)} GHz")
        if one.base_khz:
            words.append(f"(base {_ghz(one.base_khz)})")
        limits = (one.limit_low_khz, one.limit_high_khz)
        if all(limits) and limits != (one.min_khz, one.max_khz):
            words.append(f"limited to {_ghz(limits[0] or 0)} to {_ghz(limits[1] or 0)}")
        words += [word for word in (one.driver, one.governor, one.preference) if word]
        yield " ".join(words)
    if inventory.idle_states:
        states = ", ".join(
            f"{state.name}{f' {state.exit_latency_us} us' if state.exit_latency_us else ''}"
            f"{' off' if state.disabled else ''}"
            for state in inventory.idle_states
        )
        yield f"idle: {states}{f' ({inventory.idle_driver})' if inventory.idle_driver else ''}"
    if model.clock_source:
        others = ", ".join(name for name in model.clock_sources if name != model.clock_source)
        yield f"clock source {model.clock_source}{f' (others: {others})' if others else ''}"


def _ghz(khz: int) -> str:
    return f"{khz / 1e6:.2f}"


def _memory(machine: Machine, inventory: Inventory) -> Iterator[str]:
    yield show_bytes(machine.memory_bytes)
    speeds = {speed.node: speed for speed in inventory.speeds}
    for node in machine.nodes:
        words = [f"node {node.id}: {show_bytes(node.memory_bytes)}"]
        words.append(node.kind or "" if node.memory_bytes else "")
        words.append(f"CPUs {show_list(node.cpus)}" if node.cpus else "no CPUs")
        speed = speeds.get(node.id)
        if speed and speed.read_mb_s:
            words.append(f"{speed.read_mb_s / 1000:g} GB/s")
        if speed and speed.read_latency_ns:
            words.append(f"{speed.read_latency_ns} ns")
        if speed and speed.side_cache_bytes:
            words.append(f"behind a cache of {show_bytes(speed.side_cache_bytes)}")
        yield ", ".join(filter(None, words))
    in_nodes = sum(node.memory_bytes for node in machine.nodes)
    if in_nodes and abs(in_nodes - machine.memory_bytes) > _SLACK * machine.memory_bytes:
        total = show_bytes(in_nodes)
        yield f"{total} in all nodes: MemTotal of the host and of the nodes differ"
    if len(machine.nodes) > 1 and all(node.distances for node in machine.nodes):
        yield from _distances(machine)


def _distances(machine: Machine) -> Iterator[str]:
    nodes = machine.nodes
    if len(nodes) > MAX_ROWS:
        values = sorted({d for node in nodes for d in node.distances})
        yield f"distances: {', '.join(map(str, values))}"
        return
    yield "distances" + "".join(f"{node.id:5}" for node in nodes)
    for node in nodes:
        yield f"  {node.id:>5}  " + "".join(f"{distance:5}" for distance in node.distances)


def _modules(inventory: Inventory, verbose: bool) -> Iterator[str]:
    full = [dimm for dimm in inventory.dimms if dimm.size_bytes]
    if not inventory.dimms:
        return
    yield f"{len(full)} of {show_count(len(inventory.dimms), 'slot')} full"
    rows: dict[str, list[str]] = {}
    for dimm in full:
        speed = f"{dimm.speed_mt_s} MT/s" if dimm.speed_mt_s else ""
        slower = dimm.rated_mt_s and dimm.speed_mt_s and dimm.speed_mt_s < dimm.rated_mt_s
        rated = f"(can {dimm.rated_mt_s})" if slower else ""
        maker = " ".join(filter(None, (dimm.manufacturer, dimm.part_number)))
        ranks = show_count(dimm.ranks, "rank") if dimm.ranks else ""
        words = (show_bytes(dimm.size_bytes), dimm.type or "", speed, rated, ranks, maker)
        rows.setdefault(" ".join(filter(None, words)), []).append(dimm.slot)
    for sort, slots in rows.items():
        where = ", ".join(slots if verbose or len(slots) < 4 else [slots[0], "...", slots[-1]])
        yield f"{len(slots)} x {sort}: {where}"


def _huge_pages(machine: Machine, inventory: Inventory) -> Iterator[str]:
    found = machine.huge_pages
    if found.enabled:
        defrag = f", defrag {found.defrag}" if found.defrag else ""
        # Where there are several sizes each has a mode of its own, which may be this one.
        one_size = found.size_bytes if not inventory.mthp else None
        size = f", {show_bytes(one_size)} each" if one_size else ""
        yield f"transparent: {found.enabled}{defrag}{size}"
    on = [(size, word) for size, word in inventory.mthp.items() if word != "never"]
    for size, word in on:
        yield f"transparent of {show_bytes(int(size))}: {word}"
    if inventory.mthp and not on:
        yield f"{show_count(len(inventory.mthp), 'transparent size')}, all disabled"
    for pool in inventory.pools:
        if pool.node is None:
            yield f"pool of {show_bytes(pool.size_bytes)}: {_pool(pool)}" + _by_node(
                inventory.pools, pool
            )


def _pool(pool: Pool) -> str:
    more = f", {pool.overcommit} more on demand" if pool.overcommit else ""
    return f"{pool.pages} pages, {pool.free} free{more}" if pool.pages or more else "empty"


def _by_node(pools: Iterable[Pool], whole: Pool) -> str:
    parts = [
        f"node {pool.node} {pool.pages}"
        for pool in pools
        if pool.node is not None and pool.size_bytes == whole.size_bytes and pool.pages
    ]
    return f" ({', '.join(parts)})" if parts else ""


def _devices(machine: Machine, devices: Sequence[Device], verbose: bool) -> Iterator[str]:
    own = {node.id: set(node.cpus) for node in machine.nodes}
    width = max((len(device.name) for device in devices), default=0)
    for device in devices if verbose else devices[:MAX_ROWS]:
        near = f"node {device.node}" if device.node is not None else ""
        cpus = f"CPUs {show_list(device.cpus)}" if device.cpus else ""
        if device.node in own and not own[device.node] >= set(device.cpus):
            cpus += " (not those of that node: the kernel's files disagree)"
        words = [device.model or "", _measure(device), device.address or "", near, cpus]
        yield f"{device.kind:8} {device.name:{width}}  " + ", ".join(filter(None, words))
    if not verbose and len(devices) > MAX_ROWS:
        yield f"and {len(devices) - MAX_ROWS} more: -v shows them"


def _measure(device: Device) -> str:
    if device.size_bytes:
        rotational = ", rotational" if device.rotational else ""
        by = f", {device.scheduler}" if device.scheduler not in (None, "none") else ""
        return show_bytes(device.size_bytes) + rotational + by
    return f"{device.speed_mbit_s / 1000:g} Gbit/s" if device.speed_mbit_s else ""


_PLAIN_KINDS = (
    *("bridge", "host bridge", "ISA bridge", "PCI bridge", "system", "other"),
    *("communication", "serial bus", "signal processing", "USB controller"),
)
"""Kinds of devices that seldom affect speed."""


def _pci(devices: Sequence[Pci], verbose: bool) -> Iterator[str]:
    """Yield the tree of devices; without ``verbose`` only devices below bridges, and slow links.

    Bridges that lead to nothing of interest are left out.
    """
    above = {device.address: device.parent for device in devices}
    shown = {
        device.address
        for device in devices
        if verbose or device.kind not in _PLAIN_KINDS or _is_below(device)
    }
    for address in list(shown):
        parent = above[address]
        while parent is not None and parent in above:
            shown.add(parent)
            parent = above[parent]
    lines = (
        "  " * depth + _one(device)
        for depth, device in _in_order(devices)
        if device.address in shown
    )
    for line, count in _folded(lines):
        yield f"{line}{f'  (and {count - 1} of the same kind)' if count > 1 else ''}"
    left_out = len(devices) - len(shown)
    if left_out and not verbose:
        yield f"and {left_out} bridges and similar devices: -v shows them"


def _in_order(devices: Sequence[Pci]) -> Iterator[tuple[int, Pci]]:
    """Yield every device before those below it, with the number of bridges above it."""
    below: dict[str | None, list[Pci]] = {}
    known = {device.address for device in devices}
    for device in devices:
        parent = device.parent if device.parent in known else None
        below.setdefault(parent, []).append(device)
    pending = [(0, device) for device in reversed(below.get(None, []))]
    while pending:
        depth, device = pending.pop()
        yield depth, device
        pending.extend((depth + 1, other) for other in reversed(below.get(device.address, [])))


def _folded(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield neighbouring lines that differ only in their address as one, with their number."""
    kept: tuple[str, str, int] | None = None
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        rest = indent + line.strip().partition(" ")[2]
        if kept is not None and kept[1] == rest:
            kept = (kept[0], rest, kept[2] + 1)
            continue
        if kept is not None:
            yield kept[0], kept[2]
        kept = (line, rest, 1)
    if kept is not None:
        yield kept[0], kept[2]


def _is_below(device: Pci) -> bool:
    return device.link is not None and device.link.below_maximum


def _one(device: Pci) -> str:
    name = " ".join(filter(None, (device.vendor, device.product))) or device.ids
    words = [f"{device.address} {device.kind}: {name}"]
    if device.driver:
        words.append(device.driver)
    if device.node is not None:
        words.append(f"node {device.node}")
    if device.link is not None:
        words.append(_link_words(device.link))
    return ", ".join(words)


def _link_words(link: Link) -> str:
    """Return a text such as ``8 GT/s x8``; of a slower link also the capability of both ends."""
    text = f"{link.speed_gt_s:g} GT/s x{link.width}"
    if not link.below_maximum:
        return text
    card = f"card {link.card_speed_gt_s:g} x{link.card_width}" if link.card_width else ""
    slot = f"slot {link.slot_speed_gt_s:g} x{link.slot_width}" if link.slot_width else ""
    return f"{text} (slower than possible: {', '.join(filter(None, (card, slot)))})"


def _kernel(inventory: Inventory, verbose: bool) -> Iterator[str]:
    kernel = inventory.kernel
    if kernel.release:
        yield f"Linux {kernel.release}{f' {kernel.build}' if kernel.build else ''}"
    if kernel.command_line:
        yield f"booted with: {' '.join(kernel.command_line)}"
    if kernel.preemption:
        yield f"preemption: {kernel.preemption}"
    if kernel.config:
        on = [
            name if value in ("y", "m") else f"{name}={value}"
            for name, value in kernel.config.items()
            if value != "n"
        ]
        yield f"built with: {' '.join(on)}"
        off = [name for name, value in kernel.config.items() if value == "n"]
        if verbose and off:
            yield f"without: {' '.join(off)}"
    if verbose:
        yield from (f"{name}: {text}" for name, text in kernel.mitigations.items())


def _control(inventory: Inventory) -> Iterator[str]:
    control = inventory.control_groups
    yield {"none": "no control groups"}.get(control.mode, f"control groups: {control.mode}")
    alike: dict[tuple[int, str | None, tuple[str, ...], bool | None], list[str]] = {}
    for one in control.hierarchies:
        key = (one.version, one.group, one.delegated_controllers, one.writable)
        alike.setdefault(key, []).extend(one.controllers)
    for (version, group, delegated, writable), names in alike.items():
        words = [f"v{version} {group}: {', '.join(names) or 'no controllers'}"]
        if delegated:
            words.append(f"delegated: {', '.join(delegated)}")
        if writable is not None:
            words.append(
                "this user can create groups" if writable else "this user cannot create groups"
            )
        yield "; ".join(words)


def _limits(machine: Machine, inventory: Inventory, verbose: bool) -> Iterator[str]:
    limits = inventory.limits
    if limits.affinity:
        yield f"CPUs {show_list(limits.affinity)}"
    if limits.nodes:
        yield f"memory of nodes {show_list(limits.nodes)}"
    if limits.cpuset is not None:
        yield f"cpuset: CPUs {show_list(limits.cpuset)}"
    if limits.memory_bytes is not None and limits.memory_bytes < machine.memory_bytes:
        yield f"memory: at most {show_bytes(limits.memory_bytes)}"
    if limits.cpus is not None:
        yield f"CPU time of at most {limits.cpus:g} CPUs"
    if limits.thp_disabled:
        yield "no transparent huge pages"
    if limits.no_new_privileges:
        yield "no new privileges"
    if limits.seccomp:
        yield "system calls are filtered (seccomp)"
    for limit in limits.resources:
        if verbose or limit.soft is not None:
            soft, hard = (_amount(value, limit.unit) for value in (limit.soft, limit.hard))
            yield f"{limit.name}: {soft}{'' if soft == hard else f' (at most {hard})'}"


def _amount(value: int | None, unit: str | None) -> str:
    if value is None:
        return "unlimited"
    return show_bytes(value) if unit == "bytes" else f"{value:,} {unit or ''}".rstrip()


def _libraries(inventory: Inventory) -> Iterator[str]:
    width = max((len(library.name) for library in inventory.libraries), default=0)
    for library in inventory.libraries:
        yield f"{library.name:{width}}  {library.version or '':8} {library.path}".rstrip()


def _unavailable_lines(inventory: Inventory) -> Iterator[str]:
    for gap in inventory.unavailable:
        yield f"{gap.reading}: {gap.reason}.{f' {gap.remedy}' if gap.remedy else ''}"
