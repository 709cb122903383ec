"""Table of all settings, generated from the registry."""

from __future__ import annotations

import re
from pathlib import Path

from tools.docs.commands import prose

from assay.records import Scope
from assay.settings.registry import builtin

HEADINGS = {
    Scope.PROGRAM: "Settings of the program itself",
    Scope.PROCESS: "Settings of a process tree",
    Scope.SYSTEM: "Settings of the whole machine",
}
INTRODUCTION = """\
# All settings

This table is generated from the registry of settings. `assay settings show NAME` lists the values
that are possible on the machine at hand, and the reasons why others are not. The columns:

| column | meaning |
|---|---|
| evidence | *set*: accepted by the kernel or present in the environment. *seen*: read back during \
the run. *effective*: its behaviour was observed. See [Settings](settings.md). |
| cost of a change | time that a change between two launches takes, beyond the launch itself |
"""
ON_DEMAND = """\
## Families

A name that ends in a word of your own belongs to a family. The setting exists as soon as it is
named.

| family | description |
|---|---|
| `env.NAME` | environment variable of the program |
| `inherited.NAME` | exported variable that is kept or unset |
| `limit.NAME` | resource limit of the program (`setrlimit`) |
| `arg.NAME` | text in place of `{NAME}` in the command |
| `build.NAME` | text in place of `{NAME}` in the command of `--build` |
| `vm.thp.SIZE` | transparent huge pages of one size |
| `vm.hugepages.SIZE` | pool of huge pages of one size |
| `boot.ARG` | argument of the kernel's command line ([boot](boot-settings.md)) |
| `boot.hugepages.SIZE` | pool of huge pages that is reserved at boot |
| `firmware.NAME` | item of the firmware's menu |
"""


def page(docs: Path) -> str:
    """Return the page of all settings in Markdown.

    Args:
        docs: folder of the documentation; headings of ``settings.md`` become links.
    """
    anchors = _anchors((docs / "reference" / "settings.md").read_text())
    parts = [INTRODUCTION]
    for scope in Scope:
        rows = [
            f"| {_name(setting.name, anchors)} | {prose(setting.summary)} | {setting.evidence} "
            f"| {_cost(setting.switch_cost_s)} |"
            for setting in builtin()
            if setting.scope is scope
        ]
        if rows:
            head = "| setting | description | evidence | cost of a change |\n|---|---|---|---|\n"
            title = HEADINGS.get(scope, f"Settings of scope *{scope}*")
            parts.append(f"## {title}\n\n{head}" + "\n".join(rows) + "\n")
    return "\n".join([*parts, ON_DEMAND])


def _anchors(text: str) -> dict[str, str]:
    """Return the anchor of each setting that a heading names."""
    found = {}
    for heading in re.findall(r"^## (.+)$", text, re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for name in re.findall(r"`([a-z_.]+)`", heading):
            found[name] = anchor
    return found


def _name(name: str, anchors: dict[str, str]) -> str:
    anchor = anchors.get(name) or anchors.get(name.split(".")[0])
    return f"[`{name}`](settings.md#{anchor})" if anchor else f"`{name}`"


def _cost(seconds: float) -> str:
    return f"{seconds:g} s" if seconds else "none"
