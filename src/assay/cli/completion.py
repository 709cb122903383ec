"""Completion scripts for shells, generated from the parser by shtab."""

from __future__ import annotations

import argparse

import shtab

from assay.cli.parsing.grammar import build
from assay.cli.parsing.parser import verb_parsers
from assay.settings.registry import builtin

SHELLS = ("bash", "zsh", "fish")
DIRECTORIES = ("DIR", "DIR[,DIR...]")
SETTINGS = ("SETTING=DOMAIN", "SETTING=VALUE", "'S=V ...'")
"""Placeholders of values that begin with the name of a setting."""

BASH = """\
_assay_settings() {{
  compgen -W "{names}" -- "$1"
  compopt -o nospace
}}
"""
BASH_COMMAND = """\

# A command after `--` has its own completion.
_assay() {
  local at
  for ((at = 1; at < COMP_CWORD; at++)); do
    [[ ${COMP_WORDS[at]} == -- ]] || continue
    if declare -F _command_offset >/dev/null; then
      _command_offset $((at + 1))
    else
      local word=${COMP_WORDS[COMP_CWORD]}
      if ((COMP_CWORD == at + 1)); then
        mapfile -t COMPREPLY < <(compgen -c -- "$word")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
      fi
    fi
    return
  done
  _shtab_assay
}
complete -o bashdefault -o filenames -F _assay assay
"""
FISH_COMMAND = """\

# A command after `--` has its own completion.
complete -c assay -n 'contains -- -- (commandline -opc)' -F
"""
ZSH_COMMAND = """\

# A command after `--` has its own completion.
_assay() {
  local at=${words[(i)--]}
  if ((at < CURRENT)); then
    shift $at words
    ((CURRENT -= at))
    _normal
  else
    _shtab_assay "$@"
  fi
}
compdef _assay assay
"""


def completion(shell: str) -> str:
    """Return the completion script for one of ``SHELLS``."""
    parser = build()
    for verb in verb_parsers(parser).values():
        for action in verb._actions:
            _complete_value(action)
    script = shtab.complete(parser, shell=shell)
    return script + {"bash": BASH_COMMAND, "zsh": ZSH_COMMAND, "fish": FISH_COMMAND}[shell]


def _complete_value(action: argparse.Action) -> None:
    """Have a value that is a file, a directory or a setting completed as such."""
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if metavar in SETTINGS:
        action.complete = _settings()  # type: ignore[attr-defined]
    elif metavar in DIRECTORIES:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    elif "FILE" in metavar:
        action.complete = shtab.FILE  # type: ignore[attr-defined]


def _settings() -> dict[str, object]:
    names = " ".join(f"{name}=" for name in builtin().names)
    return {
        "bash": "_assay_settings",
        "zsh": f"({names})",
        "fish": f"(string split ' ' '{names}')",
        "preamble": {"bash": BASH.format(names=names)},
    }
