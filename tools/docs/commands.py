"""Describe every verb by its argparse parser, so that pages and manuals agree with ``--help``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from assay.cli.parsing.grammar import VERBS, build
from assay.cli.parsing.parser import verb_parsers
from assay.cli.parsing.usage import Parser


@dataclass(frozen=True)
class Option:
    """One option or positional argument of a verb.

    Attributes:
        names: spellings of an option, the long one last; empty for a positional argument.
        metavar: placeholder of the value; empty for a flag.
        help: description, in plain text.
        choices: permitted values, if the parser limits them.
    """

    names: tuple[str, ...]
    metavar: str
    help: str
    choices: tuple[str, ...] = ()

    @property
    def synopsis(self) -> str:
        """All spellings with the placeholder, as ``-o FILE, --output FILE``."""
        value = f" {self.metavar}" if self.metavar else ""
        return ", ".join(f"{name}{value}" for name in self.names) or self.metavar


@dataclass(frozen=True)
class Group:
    """Options under one title of the help screen."""

    title: str
    description: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Command:
    """One verb: summary, usage line, options by group, and the texts after them by title."""

    name: str
    summary: str
    usage: str
    groups: tuple[Group, ...]
    sections: Mapping[str, str]


def commands() -> tuple[Command, ...]:
    """Return all verbs in the order of ``assay --help``."""
    parsers = verb_parsers(build())
    return tuple(_command(name, parsers[name]) for name in VERBS)


def command(name: str) -> Command:
    """Return one verb."""
    return _command(name, verb_parsers(build(name))[name])


def _command(name: str, parser: argparse.ArgumentParser) -> Command:
    return Command(
        name=name,
        summary=parser.description or "",
        usage=parser.usage or parser.format_usage(),
        groups=tuple(_groups(parser)),
        sections=parser.sections if isinstance(parser, Parser) else {},
    )


def _groups(parser: argparse.ArgumentParser) -> Iterator[Group]:
    # argparse offers no public access to groups and their actions.
    for group in parser._action_groups:
        shown = [a for a in group._group_actions if a.help != argparse.SUPPRESS]
        if shown:
            yield Group(
                title=group.title or "",
                description=group.description or "",
                options=tuple(_option(parser, action) for action in shown),
            )


def _option(parser: argparse.ArgumentParser, action: argparse.Action) -> Option:
    choices = tuple(map(str, action.choices)) if action.choices is not None else ()
    expanded = parser._get_formatter()._expand_help(action) if action.help else ""
    flag = bool(action.option_strings) and action.nargs == 0
    metavar = "" if flag else _metavar(action, choices)
    return Option(
        names=tuple(action.option_strings),
        metavar=metavar,
        help=" ".join(expanded.split()),
        choices=choices,
    )


def _metavar(action: argparse.Action, choices: tuple[str, ...]) -> str:
    if isinstance(action.metavar, str):
        optional = action.option_strings and action.nargs == "?"
        return f"[{action.metavar}]" if optional else action.metavar
    return "|".join(choices) or action.dest.upper()


# --- Markdown ---------------------------------------------------------------------------------


DEFAULT = re.compile(r"\s*\(default: ((?:[^()]|\([^()]*\))*)\)")
"""Default value within the help of an option."""
NAME = re.compile(r"(?<![\w/.-])(?:-o|--[a-z][a-z-]*|[A-Za-z]+(?:_[A-Za-z]+)+)(?![\w/-])")
"""Option, metric or variable within a text."""
ACTIONS_BELOW = "one of the actions below"
"""Help of an argument that selects an action; pages list the actions before the options."""
ACTION = re.compile(r"^  (\S+) {2,}(.+)$", re.MULTILINE)
"""Line that describes an action; lines below it with a deeper indentation are examples."""


def usage(command: Command) -> str:
    """Return the usage as a fenced block, with each alternative on a separate line."""
    lines = (line.strip() for line in command.usage.splitlines())
    text = "\n".join("\n    | ".join(line.split(" | ")) for line in lines)
    return f"```text\n{text}\n```"


def actions(command: Command) -> str:
    """Return the actions of a verb as a table."""
    rows = ACTION.findall(command.sections["actions"])
    table = (f"| {code(name)} | {prose(sentence(text))} |" for name, text in rows)
    return "\n".join(["| action | description |", "|---|---|", *table])


def options(command: Command) -> str:
    """Return the options of a verb: a heading and a table for each group of ``--help all``."""
    names = {name for name, _ in ACTION.findall(command.sections.get("actions", ""))}
    return "\n\n".join(_group(group, names) for group in command.groups)


def _group(group: Group, actions: Collection[str]) -> str:
    """Return the table of a group; a title that lists actions becomes a phrase."""
    of_actions = all(word in actions for word in group.title.split(", "))
    actions_of = " and ".join(group.title.rsplit(", ", 1))
    title = f"Options of {actions_of}" if of_actions else sentence(group.title).rstrip(".")
    rows = [
        f"| {code(option.synopsis)} | {_description(option)} | {_default(option)} |"
        for option in group.options
    ]
    table = "\n".join(["| option | description | default |", "|---|---|---|", *rows])
    about = f"{sentence(prose(group.description))}\n\n" if group.description else ""
    return f"### {title}\n\n{about}{table}"


def _description(option: Option) -> str:
    if DEFAULT.sub("", option.help) == ACTIONS_BELOW:
        return "One of the actions above."
    text = sentence(prose(DEFAULT.sub("", option.help)))
    if option.choices and not all(choice in option.synopsis for choice in option.choices):
        text += f" One of {', '.join(code(choice) for choice in option.choices)}."
    return text


def _default(option: Option) -> str:
    found = DEFAULT.search(option.help)
    return prose(found[1]) if found else ""


def sentence(text: str) -> str:
    """Return a phrase as a sentence; code at its beginning gets no capital letter."""
    text = text.strip().rstrip(".")
    if re.match(r"[a-z]+(?:-[a-z]+)*(?: |$)", text):
        text = text[0].upper() + text[1:]
    return f"{text}." if text else ""


def code(text: str) -> str:
    """Return an inline code span that may stand in a table cell."""
    return f"`{text}`".replace("|", "\\|")


def prose(text: str) -> str:
    """Escape plain text for a table cell; quoted words, options and names become code spans."""
    text = re.sub(r"[\\*<>|\[\]]", r"\\\g<0>", text)
    text = re.sub(r"'([^']+)'", lambda m: f"`{_plain(m[1])}`", text)
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part[:1] == "`" else NAME.sub(r"`\g<0>`", part) for part in parts)


def _plain(text: str) -> str:
    """Undo the escapes of ``prose`` within a code span, except those of table cells."""
    return re.sub(r"\\([\\*<>\[\]])", r"\1", text)
