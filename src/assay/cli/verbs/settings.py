"""``assay settings``: every setting, what it does here, and why not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assay.cli.documents import print_json
from assay.cli.parser import Parsed
from assay.cli.wire import laboratory
from assay.errors import BadInput
from assay.records import Configuration, Value
from assay.settings.base import Setting
from assay.study.laboratory import Laboratory


def run(parsed: Parsed) -> int:
    """Run the verb."""
    arguments = parsed.arguments
    if arguments.action == "list" and arguments.name:
        raise BadInput(
            "`assay settings list` takes no name.", f"Write: assay settings show {arguments.name}"
        )
    lab = laboratory()
    if arguments.action == "show":
        if not arguments.name:
            raise BadInput("`assay settings show` needs a name.", "`assay settings list` has them.")
        return _show(lab, lab.registry.get(arguments.name), arguments.json)
    documents = [_document(lab, setting) for setting in lab.registry]
    if arguments.json:
        print_json({"settings": documents})
        return 0
    width = max(len(setting.name) for setting in lab.registry)
    for setting in lab.registry:
        print(f"{setting.name:{width}}  {setting.summary}")
        print(f"{'':{width}}  {setting.domain(lab.machine)}   ({setting.evidence})")
    print(f"{'env.NAME':{width}}  An environment variable.")
    print(f"{'limit.NAME':{width}}  A resource limit of the program (setrlimit), as limit.nofile.")
    print(f"{'arg.NAME':{width}}  What stands for {{NAME}} in the command.")
    print(f"{'build.NAME':{width}}  What stands for {{NAME}} in the command of --build.")
    return 0


def _show(lab: Laboratory, setting: Setting, as_json: bool) -> int:
    document = _document(lab, setting)
    if as_json:
        print_json(document)
        return 0
    print(f"{setting.name}: {setting.summary}")
    print(f"  scope     {setting.scope}")
    print(f"  evidence  {setting.evidence}: {_meaning(setting)}")
    print(f"  values    {setting.domain(lab.machine)}")
    for value in document.get("values", []):
        reason = f"   {value['reason']}" if "reason" in value else ""
        print(f"    {setting.name}={value['value']}  {value['prospect']}{reason}")
    return 0


def _meaning(setting: Setting) -> str:
    meanings = {
        "set": "accepted by the kernel, or present in the program's environment",
        "seen": "read back while the program runs",
        "effective": "its behaviour is observed in the run",
    }
    return meanings[setting.evidence]


def _document(lab: Laboratory, setting: Setting) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": setting.name,
        "summary": setting.summary,
        "scope": str(setting.scope),
        "evidence": str(setting.evidence),
        "domain": str(setting.domain(lab.machine)),
    }
    values = setting.domain(lab.machine).values()
    if values is not None:
        document["values"] = list(_words(lab, setting, values[:64]))
    return document


def _words(
    lab: Laboratory, setting: Setting, values: tuple[Value, ...]
) -> Iterable[dict[str, Any]]:
    """What would become of each value here."""
    for value in values:
        word = lab.plan(Configuration({setting.name: value})).words[setting.name]
        reason = {"reason": word.reason} if word.reason else {}
        yield {"value": value, "prospect": str(word.prospect), **reason}
