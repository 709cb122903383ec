"""``assay settings``: settings, their values and their availability on this host."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import asdict

from assay.api.composition import laboratory
from assay.cli.arguments.common import common_options
from assay.cli.arguments.information import setting_name
from assay.cli.documents.settings import (
    SettingDescription,
    SettingsListAnswer,
    SettingsShowAnswer,
    ValueProspect,
)
from assay.cli.parsing.parser import Parsed
from assay.cli.show.json_output import print_json
from assay.cli.startup import context_with
from assay.machine.tunables import LATENCY
from assay.records import Configuration, Scope, Value, to_builtins
from assay.records.configuration import show_value
from assay.settings.base import Setting
from assay.settings.boot import as_reboot_setting
from assay.settings.inherited import format_variables, inherited_settings
from assay.settings.system.file_setting import FileSetting
from assay.settings.system.idle import IdleLatencyLimit
from assay.study.laboratory import Laboratory
from assay.units import show_count
from assay.untrusted import clean

MAX_VALUES = 64
"""Maximum number of values in a description."""


def run(parsed: Parsed) -> int:
    """Run the verb."""
    name, options = setting_name(parsed), common_options(parsed)
    lab = laboratory(context_with(options), launches=False)
    if name is not None:
        return _show(lab, lab.registry.get(name), options.json)
    descriptions = tuple(_description(lab, setting) for setting in lab.registry)
    inherited = inherited_settings(lab.driver.env)
    if options.json:
        print_json(to_builtins(SettingsListAnswer(settings=descriptions, inherited=inherited)))
        return 0
    width = max(len(setting.name) for setting in lab.registry)
    _list(lab, [s for s in lab.registry if s.scope is not Scope.SYSTEM], width)
    print(f"{'env.NAME':{width}}  Environment variable.")
    print(f"{'inherited.NAME':{width}}  Exported variable: kept or unset.")
    print(f"{'limit.NAME':{width}}  Resource limit of the program (setrlimit), as limit.nofile.")
    print(f"{'arg.NAME':{width}}  Value of {{NAME}} in the command.")
    print(f"{'build.NAME':{width}}  Value of {{NAME}} in the command of --build.")
    if inherited:
        print("\nExported here: the default keeps these; inherited.NAME=unset unsets one:\n")
        print(*(f"  {clean(format_variables({n: v}))}" for n, v in inherited.items()), sep="\n")
    system_settings = [s for s in lab.registry if s.scope is Scope.SYSTEM]
    here = [s for s in system_settings if _is_here(s, lab)]
    print("\nSettings of the whole machine (root only; assay restores them afterwards):\n")
    _list(lab, here, width)
    print(f"{'vm.thp.SIZE':{width}}  Transparent huge pages of one size, as vm.thp.64k.")
    print(f"{'vm.hugepages.SIZE':{width}}  Pool of one size, as vm.hugepages.2m, .2m.node0.")
    absent = [s.name for s in system_settings if s not in here]
    if absent:
        print(f"\nNot on this machine: {', '.join(absent)}.")
    print("\nSettings of the boot (a study pauses for the reboot, and then continues):\n")
    print(f"{'boot.ARG':{width}}  Argument of the kernel's command line, as boot.nohz_full.")
    print(f"{'boot.hugepages.SIZE':{width}}  Pool of huge pages created at boot, as .1G.")
    print(f"{'firmware.NAME':{width}}  Setting of the firmware menu, as firmware.nps.")
    return 0


def _list(lab: Laboratory, settings: Iterable[Setting], width: int) -> None:
    for setting in settings:
        print(f"{setting.name:{width}}  {setting.summary}")
        print(f"{'':{width}}  {setting.domain(lab.machine)}   ({setting.evidence})")


def _is_here(setting: Setting, lab: Laboratory) -> bool:
    """Return whether the machine has the files of a system setting."""
    match setting:
        case FileSetting():
            return bool(setting.paths(lab.machine))
        case IdleLatencyLimit():
            return LATENCY in lab.machine.system_files
        case _:
            return setting.default(lab.machine) is not None


def _show(lab: Laboratory, setting: Setting, as_json: bool) -> int:
    description = _description(lab, setting)
    if as_json:
        print_json(to_builtins(SettingsShowAnswer(**asdict(description))))
        return 0
    print(f"{setting.name}: {setting.summary}")
    print(f"  scope     {setting.scope}")
    print(f"  evidence  {setting.evidence}: {_meaning(setting)}")
    print(f"  values    {setting.domain(lab.machine)}")
    if description.now is not None:
        print(f"  now       {setting.name}={show_value(description.now)}")
    for one in description.values or ():
        reason = f"   {one.reason}" if one.reason is not None else ""
        print(f"    {setting.name}={one.value}  {one.status}{reason}")
    left_out = len(setting.domain(lab.machine).values() or ()) - len(description.values or ())
    if left_out:
        print(f"    and {show_count(left_out, 'more value')}")
    return 0


def _meaning(setting: Setting) -> str:
    meanings = {
        "set": "accepted by the kernel, or present in the program's environment",
        "seen": "read back while the program runs, or just before and after it",
        "effective": "its behaviour is observed in the run",
    }
    return meanings[setting.evidence]


def _description(lab: Laboratory, setting: Setting) -> SettingDescription:
    values = setting.domain(lab.machine).values()
    return SettingDescription(
        name=setting.name,
        summary=setting.summary,
        scope=setting.scope,
        evidence=setting.evidence,
        domain=str(setting.domain(lab.machine)),
        now=setting.default(lab.machine) if as_reboot_setting(setting) else None,
        values=None if values is None else tuple(_prospects(lab, setting, values[:MAX_VALUES])),
    )


def _prospects(
    lab: Laboratory, setting: Setting, values: tuple[Value, ...]
) -> Iterable[ValueProspect]:
    """Yield each value with its prospect on this machine."""
    for value in values:
        grant = lab.plan(Configuration({setting.name: value})).settings[setting.name]
        yield ValueProspect(value=value, status=grant.status, reason=grant.reason or None)
