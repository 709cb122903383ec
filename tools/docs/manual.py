"""Manual pages of assay and its verbs, generated from the argparse parser.

python -m tools.docs.manual FOLDER
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.docs import exit_status
from tools.docs.commands import Command, Option, commands, sentence

from assay import __version__
from assay.cli.parsing.grammar import DESCRIPTION, EPILOG

ENVIRONMENT = {
    "ASSAY_DB": "Location of the store, unless --db names one.",
    "ASSAY_DISTURBED_ABOVE": "Share of the CPUs above which other processes disturb a block.",
    "NO_COLOR": "Disables colours and the progress line.",
}


def pages() -> dict[str, str]:
    """Return every manual page by its file name."""
    found = {f"assay-{command.name}.1": _verb_page(command) for command in commands()}
    return {"assay.1": _main_page(), **found}


def _main_page() -> str:
    verbs = (
        f".TP\n.BR {_text(f'assay-{command.name}')} (1)\n{_text(sentence(command.summary))}\n"
        for command in commands()
    )
    return "".join(
        [
            _head("assay", DESCRIPTION),
            ".SH SYNOPSIS\n.B assay\n.I VERB\n[options] [\\-\\- COMMAND [ARG ...]]\n",
            f".SH DESCRIPTION\n{_text(DESCRIPTION)}\n",
            ".SH VERBS\n",
            *verbs,
            ".SH EXAMPLES\n",
            _literal("\n".join(EPILOG.splitlines()[1:])),
            _environment(),
        ]
    )


def _verb_page(command: Command) -> str:
    return "".join(
        [
            _head(f"assay-{command.name}", command.summary),
            f".SH SYNOPSIS\n{_literal(_usage(command.usage))}",
            f".SH DESCRIPTION\n{_text(sentence(command.summary))}\n",
            *_options(command),
            *(f".SH {title.upper()}\n{_literal(text)}" for title, text in command.sections.items()),
            ".SH EXIT STATUS\n",
            *(
                f".TP\n.B {_text(status.replace('`', ''))}\n{_text(meaning.replace('`', ''))}\n"
                for status, meaning in exit_status.statuses(command.name)
            ),
            _environment(),
            ".SH SEE ALSO\n.BR assay (1)\n",
        ]
    )


def _usage(usage: str) -> str:
    """Return the alternatives of a usage line without the indentation of ``--help``."""
    return "\n".join(map(str.strip, usage.splitlines()))


def _head(name: str, summary: str) -> str:
    line = summary.rstrip(".")
    return (
        f'.TH {_text(name).upper()} 1 "" "assay {__version__}" "User Commands"\n'
        f".SH NAME\n{_text(name)} \\- {_text(line[:1].lower() + line[1:])}\n"
    )


def _options(command: Command) -> Iterator[str]:
    yield ".SH OPTIONS\n"
    for group in command.groups:
        yield f".SS {_text(sentence(group.title).rstrip('.'))}\n"
        if group.description:
            yield f"{_text(sentence(group.description))}\n"
        for option in group.options:
            yield f".TP\n{_synopsis(option)}\n{_text(sentence(option.help) or option.metavar)}\n"


def _synopsis(option: Option) -> str:
    if not option.names:
        return f".I {_text(option.metavar)}"
    value = f" \\fI{_text(option.metavar)}\\fR" if option.metavar else ""
    return ", ".join(f"\\fB{_text(name)}\\fR{value}" for name in option.names)


def _environment() -> str:
    entries = (f".TP\n.B {_text(name)}\n{_text(text)}\n" for name, text in ENVIRONMENT.items())
    return ".SH ENVIRONMENT\n" + "".join(entries)


def _literal(text: str) -> str:
    """Return lines that keep their breaks and spaces."""
    lines = "\n".join(_text(line) for line in text.strip("\n").splitlines())
    return f".nf\n{lines}\n.fi\n"


def _text(text: str) -> str:
    """Escape text for troff; a dot or quote at the start of a line would be a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"^([.])", r"\\&\1", escaped, flags=re.MULTILINE)


def main(folder: Path) -> None:
    """Write every page."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
