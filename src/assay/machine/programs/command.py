"""Program that the words of a command line run in the end.

Wrappers that only prepare a process and then execute another program are unwrapped, as described in
their manual pages. If an option is unknown, the wrapper itself counts.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

import msgspec

_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh"})
_SHELL_SYNTAX = frozenset("|&;<>()$`*?[]{}~!#\n")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
_MAX_LAYERS = 16

# fmt: off
_BUILT_IN = frozenset((
    ".", ":", "alias", "bg", "bind", "break", "builtin", "caller", "case", "cd", "command",
    "compgen", "complete", "compopt", "continue", "coproc", "declare", "dirs", "disown", "enable",
    "eval", "exit", "export", "fc", "fg", "float", "for", "function", "getopts", "hash", "help",
    "history", "if", "integer", "jobs", "let", "local", "logout", "mapfile", "popd", "print",
    "pushd", "pwd", "read", "readarray", "readonly", "return", "select", "set", "shift", "shopt",
    "source", "suspend", "test", "time", "times", "trap", "type", "typeset", "ulimit", "umask",
    "unalias", "unset", "until", "wait", "whence", "while",
))
# fmt: on
"""First words for which a shell starts no program of that name."""
_FUNCTION = "BASH_FUNC_{}%%"
"""Variable in which bash exports a function."""


class _Wrapper(msgspec.Struct, frozen=True):
    """Options of a wrapper.

    Attributes:
        valued: options that take the next word, unless their value is attached.
        plain: options without a value.
        positional: number of words between options and command (a duration, a CPU list).
    """

    valued: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    positional: int = 0


def _wrapper(valued: str = "", plain: str = "", positional: int = 0) -> _Wrapper:
    return _Wrapper(frozenset(valued.split()), frozenset(plain.split()), positional)


_WRAPPERS = {
    "chrt": _wrapper(
        "-T -P -D --sched-runtime --sched-period --sched-deadline",
        "-b -f -i -o -r -d -R -v --batch --fifo --idle --other --rr --deadline --verbose",
        positional=1,
    ),
    "env": _wrapper("-u -C --unset --chdir", "-i -v --ignore-environment --debug -"),
    "ionice": _wrapper("-c -n --class --classdata", "-t --ignore"),
    "nice": _wrapper("-n --adjustment"),
    "nohup": _wrapper(),
    "numactl": _wrapper(
        "-C -N -m -i -p -w -P --physcpubind --cpunodebind --membind --interleave --preferred "
        "--weighted-interleave --preferred-many",
        "-l -a --localalloc --all --balancing",
    ),
    "setarch": _wrapper("", "-R -v --addr-no-randomize --verbose"),
    "setsid": _wrapper("", "-c -f -w --ctty --fork --wait"),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "taskset": _wrapper("", "-a -c --all-tasks --cpu-list", positional=1),
    "time": _wrapper(
        "-f -o --format --output", "-a -p -q -v --append --portability --quiet --verbose"
    ),
    "timeout": _wrapper(
        "-k -s --kill-after --signal", "-f -p -v --foreground --preserve-status --verbose", 1
    ),
}


class Command(msgspec.Struct, frozen=True):
    """Words and environment of a program.

    Attributes:
        argv: its words.
        env: its environment.
        cwd: its working directory.
        through: wrappers that were removed, outermost first.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = msgspec.field(default_factory=dict)
    cwd: str = "/"
    through: tuple[str, ...] = ()


def _any(command: Command) -> bool:
    return True


def unwrap(command: Command, runs: Callable[[Command], bool] = _any) -> Command:
    """Return the program that does the work: ``nice -n 5 env A=b prog`` is ``prog`` with ``A`` set.

    Args:
        command: the command as given.
        runs: returns whether the first word of a command is a program. A shell may have others,
            such as built-in commands, which stay with the shell.
    """
    for _ in range(_MAX_LAYERS):
        inner = _step(command)
        if inner is None or not inner.argv:
            break
        if base_name(command.argv[0]) in _SHELLS and not runs(inner):
            break
        command = inner
    return command


def _step(command: Command) -> Command | None:
    name = base_name(command.argv[0]) if command.argv else ""
    if name in _SHELLS:
        return _through_shell(command)
    if name == "env":
        return _through_env(command)
    if name == "nice" and len(command.argv) > 1 and re.fullmatch(r"--?\d+", command.argv[1]):
        return _inner(command, command.argv[2:])
    wrapper = _WRAPPERS.get(name)
    rest = _after_options(command.argv[1:], wrapper) if wrapper else None
    if wrapper is None or rest is None:
        return None
    positional = 0 if name == "chrt" and _is_without_priority(rest) else wrapper.positional
    return _inner(command, rest[positional:])


def base_name(word: str) -> str:
    """Return the last part of a path."""
    return word.rpartition("/")[2]


def _is_without_priority(rest: tuple[str, ...]) -> bool:
    # util-linux 2.41 lets `chrt --batch PROGRAM` omit the priority.
    return bool(rest) and not rest[0].isdigit()


def _inner(command: Command, argv: tuple[str, ...]) -> Command:
    return msgspec.structs.replace(command, argv=argv, through=(*command.through, command.argv[0]))


def _after_options(words: tuple[str, ...], wrapper: _Wrapper) -> tuple[str, ...] | None:
    """Return the words after the options; ``None`` if an option is unknown."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        at += 1
        if word == "--":
            break
        name, equals, _ = word.partition("=")
        if word in wrapper.plain or (equals and name in wrapper.valued | wrapper.plain):
            continue
        if word in wrapper.valued:
            at += 1
        elif not _is_bundle(word, wrapper):
            return None
    return words[at:]


def _is_bundle(word: str, wrapper: _Wrapper) -> bool:
    """Return whether a word is ``-oL`` (attached value) or ``-ac`` (several options in one)."""
    if word.startswith("--"):
        return False
    return word[:2] in wrapper.valued or all(f"-{letter}" in wrapper.plain for letter in word[1:])


def _through_env(command: Command) -> Command | None:
    words = command.argv[1:]
    if words and (words[0].startswith(("-S", "--split-string"))):
        words = _split_string(words)
    rest = _after_options(words, _WRAPPERS["env"])
    if rest is None:
        return None
    options = words[: len(words) - len(rest)]
    env = {} if {"-i", "-", "--ignore-environment"} & set(options) else dict(command.env)
    cwd = command.cwd
    for name, value in _option_values(options):
        if name in ("-u", "--unset"):
            env.pop(value, None)
        elif name in ("-C", "--chdir"):
            cwd = value if value.startswith("/") else f"{cwd}/{value}"
    set_here, argv = _assignments(rest)
    return msgspec.structs.replace(_inner(command, argv), env=env | set_here, cwd=cwd)


def _split_string(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of ``env -S 'python3 -u'``, as in shebang lines."""
    if words[0] in ("-S", "--split-string"):
        text, rest = (words[1] if len(words) > 1 else ""), words[2:]
    else:
        text, rest = words[0].removeprefix("--split-string=").removeprefix("-S"), words[1:]
    return (*_words(text), *rest)


def _option_values(options: tuple[str, ...]) -> list[tuple[str, str]]:
    found = []
    for index, word in enumerate(options):
        name, equals, value = word.partition("=")
        if word.startswith("--") and equals:
            found.append((name, value))
        elif word in _WRAPPERS["env"].valued and index + 1 < len(options):
            found.append((word, options[index + 1]))
        elif word[:2] in _WRAPPERS["env"].valued and not word.startswith("--"):
            found.append((word[:2], word[2:]))
    return found


def _assignments(words: tuple[str, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
    found: dict[str, str] = {}
    for index, word in enumerate(words):
        if not _ASSIGNMENT.match(word):
            return found, words[index:]
        name, _, value = word.partition("=")
        found[name] = value
    return found, ()


def _through_shell(command: Command) -> Command | None:
    """Return the simple command of ``sh -c 'A=b exec prog x'``; ``None`` for other commands."""
    words = command.argv[1:]
    while len(words) > 2 and words[0] == "-o":
        words = words[2:]
    if len(words) < 2 or not re.fullmatch(r"-[eulx]*c", words[0]) or set(words[1]) & _SHELL_SYNTAX:
        return None
    set_here, argv = _assignments(_words(words[1]))
    if argv and argv[0] == "exec":
        argv = argv[1:]
    if not argv or argv[0] in _BUILT_IN or _FUNCTION.format(argv[0]) in command.env:
        return None
    return msgspec.structs.replace(_inner(command, argv), env={**command.env, **set_here})


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return ()
