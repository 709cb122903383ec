"""The same launch without assay: a POSIX shell script, and a description of the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from types import MappingProxyType

from assay.host.script import RESTORE_FUNCTION, system_lines
from assay.launch.build_command import FOLDER, build_command, with_build_folder, with_build_path
from assay.launch.command import command_of
from assay.launch.document import instance_variables, unset_variables
from assay.launch.exec_programs import ERRNO, FILTER, PRCTL, UNSHARE, VIEW
from assay.launch.exported_variables import plan_notes
from assay.launch.file_arguments import file_words
from assay.launch.pool_variables import without_unread_pools
from assay.launch.quoting import shell_quoted
from assay.machine.cpulist import format_list, show_numbers
from assay.records import (
    Affinity,
    AffinityCalls,
    EnvSet,
    IoPriority,
    MemPolicy,
    PageCache,
    Plan,
    PlannedSetting,
    Prctl,
    Preload,
    Prospect,
    RequiredBoot,
    RestrictedCpuView,
    Rlimit,
    Sched,
    Unpreload,
    Workload,
)
from assay.records.configuration import show_value
from assay.settings.frameworks import HOOK
from assay.settings.list_variables import LIST_VARIABLES
from assay.settings.smt import PER_CORE
from assay.untrusted import clean

_NUMACTL: dict[str, str] = {
    "bind": "--membind",
    "preferred": "--preferred",
    "interleave": "--interleave",
    "weighted": "--weighted-interleave",
}


def shell_script(
    plan: Plan,
    workload: Workload,
    *,
    inherits_stdin: bool = False,
    note: str = "",
    pools: Set[str] | None = None,
) -> str:
    """Return a script that runs the command under this plan with tools of the distribution.

    It needs ``taskset``, ``chrt``, ``ionice``, ``prlimit``, ``unshare``, ``mount`` and ``setpriv``
    (util-linux), ``nice`` and ``env`` (coreutils), ``numactl`` and ``python3``: each only for a
    setting of the plan. A script with system settings runs as root, and restores them by a trap.

    Args:
        plan: plan without refused settings.
        workload: program to run.
        inherits_stdin: whether a workload without an input inherits the standard input of the
            script, as with ``assay run``; otherwise it reads ``/dev/null``, as in all measured
            launches.
        note: comment of one line at the head of the script.
        pools: thread-pool variables that the measured processes read, if known; other pool
            variables are omitted.

    Raises:
        NotPossibleError: a setting of the plan is refused.
        InvalidInputError: a placeholder is missing from the command.
    """
    if not plan.pending:  # another boot may grant more
        plan.demand_granted()
    reads_nothing = workload.stdin is None and not (inherits_stdin or plan.instances)
    noted = [f"# {clean(note)}"] if note else []
    plan, unread = without_unread_pools(plan, pools)
    noted += [f"# {_UNREAD} {', '.join(unread)}"] if unread else []
    reading = [_READS_NOTHING] if reads_nothing else []
    lines = ["#!/bin/sh", *noted, *_comments(plan), *reading, "set -eu"]
    if workload.cwd:
        lines.append(f"cd -- {shell_quoted(workload.cwd)}")
    lines += _build_lines(plan, workload)
    workload = with_build_folder(workload, _FOLDER) if workload.build else workload
    lines += _unset_lines(plan)
    lines += _preload_lines(plan)
    lines += _cache_lines(plan, workload)
    lines += _hook_lines(plan)
    lines += system_lines(plan)
    if plan.instances:
        return "\n".join([*lines, *_instance_lines(plan, workload), ""])
    environment = _environment(plan, workload)
    pieces = [*_wrappers(plan), *environment, _words(_runnable(plan, workload))]
    source = "/dev/null" if reads_nothing else workload.stdin
    # The shell must outlive the program to restore system settings.
    first = [] if plan.system else ["exec"]
    return "\n".join([*lines, _joined([*first, *pieces], source), ""])


_UNREAD = "Omitted, since the measured processes do not read them:"
_PLACING = frozenset({"cpus", "placement", PER_CORE})
"""Settings that select the CPUs of a program."""
_CONTINUATION = " \\\n  "


def _joined(pieces: list[str], source: str | None) -> str:
    """Return one command over several lines with its input redirection."""
    return _CONTINUATION.join([*pieces, f"< {shell_quoted(source)}"] if source else pieces)


def _instance_lines(plan: Plan, workload: Workload) -> list[str]:
    """Return lines that start each instance, wait for all, and end the rest if one fails.

    Background processes of a shell ignore SIGINT, so that the script ends them by SIGTERM.
    """
    ending = f"; {RESTORE_FUNCTION}" if plan.system else ""
    lines = [
        "pids=",
        f"trap 'kill $pids 2> /dev/null || true{ending}' EXIT",
        "trap 'exit 130' INT",
        "trap 'exit 143' HUP TERM",
    ]
    for number, cpus in plan.instances:
        pieces = [
            *_wrappers(plan, cpus),
            *_environment(plan, workload, instance_variables(plan, number)),
            _words(_runnable(plan, workload, number)),
        ]
        lines += [_joined(pieces, workload.stdin or "/dev/null") + " &", 'pids="$pids $!"']
    return [*lines, 'for pid in $pids; do wait "$pid"; done']


_FOLDER = "\0"
"""Placeholder for the build folder until words are quoted: no word can contain it."""

_READS_NOTHING = "# Measured with standard input from /dev/null: the last line may be changed."


def explain(
    plan: Plan,
    workload: Workload,
    env: Mapping[str, str],
    before: Sequence[str] = (),
    pools: Set[str] | None = None,
) -> str:
    """Return a description of the plan, followed by the equivalent script.

    A plan with refused settings is described without a script.

    Args:
        plan: plan to describe.
        workload: program to run.
        env: environment of the caller.
        before: lines to print first.
        pools: see ``shell_script``.
    """
    build = build_command(plan, workload)
    lines = [*before]
    lines += ["Build:", f"  {clean(_words(build))}", ""] if build else []
    shown = clean(_words(_shown_command(plan, workload)))
    lines += ["Command:", f"  {shown}", "", "Settings:"]
    lines += [f"  {_comment(name, word)}" for name, word in plan.settings.items()]
    if not plan.settings:
        lines.append("  none: the default")
    # Only for variables that the script sets: it omits unread ones.
    notes = [f"  {note}" for note in plan_notes(without_unread_pools(plan, pools)[0], env)]
    lines += ["", "Environment:", *notes] if notes else []
    if plan.refused:
        return "\n".join([*lines, "", "This plan contains refused settings and cannot be run.", ""])
    script = shell_script(plan, workload, inherits_stdin=True, pools=pools)
    shebang, _, rest = script.partition("\n")  # effective only as the first line
    lines_shown = [f"# {line}".rstrip() for line in (*lines, "", "Without assay:", "")]
    return "\n".join([shebang, *lines_shown, rest])


def _shown_command(plan: Plan, workload: Workload) -> tuple[str, ...]:
    """Return the command; that of the first instance, if there are several."""
    return command_of(plan, workload, next((number for number, _ in plan.instances), None))


def _comments(plan: Plan) -> list[str]:
    comments = [f"# {_comment(name, word)}" for name, word in plan.settings.items()]
    comments = comments or ["# The default: no settings."]
    return ["# Written by assay; runs without it.", *comments, *_confined_to(plan), *_boots(plan)]


def _boots(plan: Plan) -> list[str]:
    """Return comments on the boot parameters that the plan requires; a script cannot set them."""
    needs = [action.requirement for action in plan.actions if isinstance(action, RequiredBoot)]
    needs += [f"{name}={show_value(word.value)}" for name, word in plan.pending.items()]
    return [clean(f"# Requires a boot with {need}.") for need in needs]


def _confined_to(plan: Plan) -> list[str]:
    """Return a comment on the CPUs of a slot or share, which no setting names."""
    if plan.instances or not _PLACING.isdisjoint(plan.settings):
        return []
    held = [action.cpus for action in plan.actions if isinstance(action, Affinity)]
    return [
        f"# On {show_numbers('CPU', cpus)}, as launched (--parallel, --reserve)." for cpus in held
    ]


def _comment(name: str, word: PlannedSetting) -> str:
    reason = f": {word.reason}" if word.reason else ""
    held = "" if word.status is Prospect.GRANTABLE else f" [{word.status}]"
    return clean(f"{name}={show_value(word.value)}{held}{reason}")


def _words(argv: tuple[str, ...]) -> str:
    return " ".join(map(_quoted, argv))


def _quoted(word: str) -> str:
    """Return a quoted word; the build folder is replaced by its variable."""
    if _FOLDER not in word:
        return shell_quoted(word)
    return f'"${FOLDER}"'.join(shell_quoted(part) if part else "" for part in word.split(_FOLDER))


def _runnable(plan: Plan, workload: Workload, instance: int | None = None) -> tuple[str, ...]:
    return _behind_env(command_of(plan, workload, instance))


def _behind_env(argv: tuple[str, ...]) -> tuple[str, ...]:
    # env(1) would take a program name with an equals sign for one more variable.
    return ("sh", "-c", 'exec "$@"', "sh", *argv) if "=" in argv[0] else argv


def _wrappers(plan: Plan, own_cpus: tuple[int, ...] = ()) -> list[str]:
    """Return the commands that prefix the program; an instance has its own CPUs."""
    found = [f"taskset -c {format_list(own_cpus)}"] if own_cpus else []
    for action in plan.actions:
        match action:
            case Affinity(cpus=cpus) if not own_cpus:
                found.append(f"taskset -c {format_list(cpus)}")
            case MemPolicy():
                found += _numactl(action)
            case Sched(nice=nice):
                # chrt(1) may reset the nice value, so that nice(1) follows it. nice(1) adds to the
                # current value, while the plan names the final value.
                found += _chrt(action)
                found += [f'nice -n "$(({nice} - $(nice)))"'] if nice is not None else []
            case IoPriority(io_class=io_class, level=level):
                data = [] if level is None else [f"-n {level}"]
                found.append(" ".join(["ionice", f"-c {io_class}", *data]))
            case Rlimit():
                found.append(_prlimit(action))
            case Prctl(option=option, args=args):
                numbers = " ".join(str(number) for number in (option, *args))
                found.append(f"python3 -c {shell_quoted(PRCTL)} {numbers}")
            case RestrictedCpuView():
                found.append(f"{UNSHARE} python3 -c {shell_quoted(VIEW)}")
            case AffinityCalls(answer=answer):
                found.append(f"python3 -c {shell_quoted(FILTER)} {ERRNO[answer]}")
            case _:
                pass
    return found


def _chrt(sched: Sched) -> list[str]:
    if sched.policy is None:
        return []
    if sched.policy != "deadline":
        return [f"chrt --{sched.policy} {sched.priority or 0}"]
    runtime, period = sched.runtime_ns, sched.period_ns
    times = f"--sched-runtime {runtime} --sched-deadline {period} --sched-period {period}"
    return [f"chrt --reset-on-fork --deadline {times} 0"]


def _numactl(policy: MemPolicy) -> list[str]:
    if policy.mode == "default":
        return []
    if policy.mode == "local":
        return ["numactl --localalloc"]
    many = policy.mode == "preferred" and len(policy.nodes) > 1
    option = "--preferred-many" if many else _NUMACTL[policy.mode]
    return [f"numactl {option}={format_list(policy.nodes)}"]


def _prlimit(limit: Rlimit) -> str:
    soft, hard = ("unlimited" if n is None else str(n) for n in (limit.soft, limit.hard))
    return f"prlimit {shell_quoted(f'--{limit.resource}={soft}:{hard}')}"


def _environment(
    plan: Plan, workload: Workload, own: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Return an ``env`` prefix of the program, so that the wrappers do not see the variables.

    An instance has additional variables.
    """
    planned = [a for a in plan.actions if isinstance(a, EnvSet)]
    elsewhere = {*own, *(a.name for a in planned), *unset_variables(plan)}
    found = [
        f"  {name}={shell_quoted(value)}"
        for name, value in workload.environment.items()
        if name not in elsewhere
    ]
    found += [f"  {name}={shell_quoted(value)}" for name, value in own.items()]
    found += [f"  {_assignment(plan, action)}" for action in planned]
    if _preloads_change(plan):
        found = [line for line in found if not line.startswith("  LD_PRELOAD=")]
        found.append('  LD_PRELOAD="$preload"')
    return ["env", *found] if found else []


def _assignment(plan: Plan, action: EnvSet) -> str:
    name, value = action.name, shell_quoted(action.value)
    if name in LIST_VARIABLES and LIST_VARIABLES[name].folders:
        return _folders(plan, action)
    if name not in LIST_VARIABLES or f"env.{name}" in plan.configuration:
        return f"{name}={value}"
    # The last assignment in a list takes effect, so that these follow the inherited entries.
    mark = LIST_VARIABLES[name].separator
    return f'{name}="${{{name}:+${name}{mark}}}"{value}'


def _folders(plan: Plan, action: EnvSet) -> str:
    """Return the folders of the plan before the inherited ones; the hook's folder by its variable.

    ``env.NAME`` replaces the inherited folders.
    """
    name, mark = action.name, LIST_VARIABLES[action.name].separator
    own = mark.join(
        '"$hook"' if folder == HOOK else shell_quoted(folder) for folder in action.value.split(mark)
    )
    if f"env.{name}" in plan.configuration:
        return f"{name}={own}"
    return f'{name}={own}"${{{name}:+{mark}${name}}}"'


def _hook_lines(plan: Plan) -> list[str]:
    """Return lines that write assay's import hook into a new folder, which remains afterwards."""
    hooked = (a for a in plan.actions if isinstance(a, EnvSet) and a.name == "PYTHONPATH")
    if not any(HOOK in action.value.split(":") for action in hooked):
        return []
    source = (Path(HOOK) / "sitecustomize.py").read_text(encoding="utf-8").rstrip("\n")
    return [
        "hook=$(mktemp -d)",
        "cat > \"$hook/sitecustomize.py\" <<'END OF THE HOOK'",
        *source.split("\n"),
        "END OF THE HOOK",
    ]


def _build_lines(plan: Plan, workload: Workload) -> list[str]:
    """Return lines that build the program into ``$build``, in the folder of the recipe."""
    recipe, argv = workload.build, build_command(plan, workload)
    if recipe is None:
        return []
    words = _words(_behind_env(with_build_path(argv, _FOLDER)))
    elsewhere = recipe.cwd is not None and recipe.cwd != workload.cwd
    return [
        "# Builds at each run, into a new folder or into the folder that ASSAY_BUILD_DIR names.",
        f"{FOLDER}=${{ASSAY_BUILD_DIR:-$(mktemp -d)}}",
        f'mkdir -p -- "${FOLDER}"',
        f'{FOLDER}=$(cd -- "${FOLDER}" && pwd)',
        "(",
        *([f"  cd -- {shell_quoted(recipe.cwd)}"] if elsewhere and recipe.cwd else []),
        f'  exec env ASSAY_BUILD_DIR="${FOLDER}" {words} < /dev/null >&2',
        ")",
    ]


_CACHE: dict[str, str] = {
    # "Advise to drop cache for whole file" (coreutils manual, dd), after the write-back.
    "cold": 'sync -- "$file" || true; dd if="$file" iflag=nocache count=0 status=none || true',
    "warm": 'cat -- "$file" > /dev/null || true',
}


def _cache_lines(plan: Plan, workload: Workload) -> list[str]:
    """Return lines that evict the files of the command from the page cache, or read them."""
    states = [action.state for action in plan.actions if isinstance(action, PageCache)]
    if not states:
        return []
    numbers: list[int | None] = [number for number, _ in plan.instances]
    commands = [command_of(plan, workload, number) for number in numbers or [None]]
    argv = commands[0]
    program = f'"$(command -v {_quoted(argv[0])} || true)"'
    named = dict.fromkeys(w for command in commands for w in file_words(command, workload.stdin))
    words = _words(tuple(named))
    return [
        f"for file in {program} {words}; do",
        f'  if [ -f "$file" ]; then {_CACHE[states[0]]}; fi',
        "done",
    ]


def _unset_lines(plan: Plan) -> list[str]:
    """Return a line that unsets variables, after the build and before lists are extended."""
    unset = unset_variables(plan)
    return [f"unset {' '.join(unset)}"] if unset else []


def _preloads_change(plan: Plan) -> bool:
    return any(isinstance(a, (Preload, Unpreload)) for a in plan.actions)


def _preload_lines(plan: Plan) -> list[str]:
    """Return lines that assemble ``$preload``: the plan's objects, then the inherited ones."""
    if not _preloads_change(plan):
        return []
    explicit = [a.value for a in plan.actions if isinstance(a, EnvSet) and a.name == "LD_PRELOAD"]
    inherited = shell_quoted(explicit[0]) if explicit else '"${LD_PRELOAD-}"'
    own = [shell_quoted(a.path) for a in plan.actions if isinstance(a, Preload)]
    prefixes = [p for a in plan.actions if isinstance(a, Unpreload) for p in a.prefixes]
    drop = [f"    {'|'.join(f'{shell_quoted(p)}*' for p in prefixes)}) ;;"] if prefixes else []
    return [
        "set -f",
        f"preload={':'.join(own)}",
        f"for object in $(printf %s {inherited} | tr : ' '); do",
        '  case "${object##*/}" in',
        *drop,
        '    *) preload="${preload:+$preload:}$object" ;;',
        "  esac",
        "done",
    ]
