"""``mem.policy``: NUMA nodes of the program's memory.

Interface: ``set_mempolicy(2)``, inherited by threads, children and exec
(``Documentation/admin-guide/mm/numa_memory_policy.rst``). ``preferred`` with several nodes is
``MPOL_PREFERRED_MANY`` (Linux 5.15), ``weighted`` is ``MPOL_WEIGHTED_INTERLEAVE`` (Linux 6.9) with
the weights of ``/sys/kernel/mm/mempolicy/weighted_interleave``. Evidence: *seen* in
``/proc/PID/numa_maps`` (proc_pid_numa_maps(5)).
"""

from __future__ import annotations

from assay.errors import InvalidInputError
from assay.machine.cpulist import format_list, parse_list
from assay.machine.document import Machine, Node, Program
from assay.records import (
    AnyText,
    Choices,
    Configuration,
    Domain,
    Grant,
    Level,
    MemPolicy,
    Plan,
    RunFacts,
)
from assay.settings.base import BaseSetting, Refused, Resolved, Suggestion
from assay.settings.evidence import (
    granted,
    readback_of,
    refused,
    step_accepted,
    unread_reason,
    unverified,
)
from assay.settings.refusals import out_of_domain

_MODES = ("bind", "preferred", "interleave", "weighted")
_KINDS = ("dram", "hbm", "cxl", "pmem")
_DOMAIN = AnyText(
    f"local, or {', '.join(_MODES)} with :NODES, which are 0-1,3, all, {', '.join(_KINDS)}"
)
_WEIGHTED_SINCE = (6, 9)
_MANY_SINCE = (5, 15)
_MODE_OF_POLICY = {
    "local": "local",
    "prefer": "preferred",
    "prefer (many)": "preferred",
    "bind": "bind",
    "interleave": "interleave",
    "weighted interleave": "weighted",
}
"""Names as written by ``mpol_to_str`` in mm/mempolicy.c."""


class NumaPolicy(BaseSetting, frozen=True):
    """``mem.policy``: NUMA policy for new pages."""

    name: str = "mem.policy"
    summary: str = "NUMA policy of memory: local, bind, preferred, interleave, weighted"

    def domain(self, machine: Machine) -> Domain:
        """Return a mode with nodes by number or by kind; ``resolve`` reports invalid ones."""
        return _DOMAIN

    def suggest(self, program: Program, machine: Machine) -> Suggestion | str:
        """Suggest policies if several nodes have memory."""
        nodes = _with_memory(machine)
        if len(nodes) < 2:
            return "all memory is on one node"
        options = ["interleave:all"]
        kinds = {node.kind for node in nodes}
        if len(kinds) > 1 and machine.kernel_version >= _WEIGHTED_SINCE:
            options.append("weighted:all")
        if "hbm" in kinds:
            options.append("preferred:hbm")
        return Suggestion(
            Choices(tuple(options)),
            f"memory is on {len(nodes)} nodes; interleaving lets every thread use all of them",
        )

    def resolve(self, config: Configuration, machine: Machine) -> Resolved | Refused:
        """Return a policy over nodes with memory."""
        value = config[self.name]
        mode, colon, rest = str(value).partition(":")
        if mode == "local" and not colon:
            return Resolved((MemPolicy(mode="local"),))
        nodes = _nodes(rest, machine)
        if isinstance(nodes, Refused):
            return nodes
        if mode == "weighted" and machine.kernel_version < _WEIGHTED_SINCE:
            return Refused(
                f"Linux {machine.kernel} does not support weighted interleaving",
                f"It needs Linux 6.9; mem.policy=interleave:{rest} distributes pages evenly.",
            )
        if mode == "preferred" and len(nodes) > 1 and machine.kernel_version < _MANY_SINCE:
            return Refused(
                f"Linux {machine.kernel} supports only one preferred node",
                "Name one node; several need Linux 5.15.",
            )
        match mode:
            case "bind" | "preferred" | "interleave" | "weighted":
                one = len(nodes) == len(_with_memory(machine)) == 1
                return Resolved(
                    (MemPolicy(mode=mode, nodes=nodes),),
                    note="all memory is on one node" if one else None,
                )
            case _:
                return out_of_domain(self.name, value, _DOMAIN)

    def judge(self, config: Configuration, facts: RunFacts, plan: Plan) -> Grant:
        """Judge by the policy of most anonymous memory, and its nodes."""
        value = config[self.name]
        if step_accepted(facts, "mempolicy") is False:
            return refused(value, Level.SET, "the kernel rejected the policy")
        policy = readback_of(facts).mempolicy
        if policy is None:
            return unverified(value, unread_reason(facts, "mempolicy"))
        asked = next((a for a in plan.actions if isinstance(a, MemPolicy)), None)
        if asked is None:
            return unverified(value, "the plan has no policy", policy)
        observed = policy + _pages(facts)
        mode, nodes = _read(policy)
        if mode != asked.mode or nodes != asked.nodes:
            return refused(value, Level.SEEN, f"the policy was {policy} when read", observed)
        return granted(value, Level.SEEN, observed)


def _with_memory(machine: Machine) -> tuple[Node, ...]:
    return tuple(node for node in machine.nodes if node.memory_bytes)


def _nodes(text: str, machine: Machine) -> tuple[int, ...] | Refused:
    """Return the numbers of the nodes in a text."""
    available = _with_memory(machine)
    numbers = tuple(node.id for node in available)
    if text == "all":
        return numbers
    if text in _KINDS:
        chosen = tuple(node.id for node in available if node.kind == text)
        return chosen or _no_kind(text, available)
    try:
        wanted = parse_list(text)
    except InvalidInputError:
        wanted = ()
    if not wanted:
        return Refused(f"invalid nodes in mem.policy: {text!r}", f"Use {_DOMAIN}.")
    foreign = sorted(set(wanted) - set(numbers))
    if foreign:
        return Refused(
            f"node {foreign[0]} does not exist, or has no memory",
            f"Nodes with memory: {format_list(numbers)}; see `numactl --hardware`.",
        )
    return wanted


def _no_kind(kind: str, nodes: tuple[Node, ...]) -> Refused:
    unknown = [node.id for node in nodes if node.kind is None]
    if unknown:
        return Refused(
            f"no node is known to have {kind}, and the kernel does not report the kind of"
            f" {format_list(unknown)}",
            "Name nodes by number.",
        )
    kinds = ", ".join(f"{node.id}: {node.kind}" for node in nodes)
    return Refused(f"no node has {kind}", f"Kinds of nodes: {kinds}.")


def _read(text: str) -> tuple[str | None, tuple[int, ...]]:
    """Return mode and nodes of a text such as ``bind=static:0-1``; flags are between them."""
    head, _, nodes = text.partition(":")
    try:
        return _MODE_OF_POLICY.get(head.partition("=")[0]), parse_list(nodes)
    except InvalidInputError:
        return None, ()


def _pages(facts: RunFacts) -> str:
    pages = readback_of(facts).numa_pages
    if not pages:
        return ""
    return "; pages: " + ", ".join(f"node {node}: {count}" for node, count in pages.items())
