"""Variables that the program rejects on standard error.

A runtime that cannot use the value of a variable reports it, ignores the variable and exits
successfully: libgomp (``Invalid value for environment variable``, libgomp/env.c), LLVM's OpenMP
(``is an invalid value; ignored``, kmp_settings.cpp), mimalloc (``has an invalid value``,
options.c). In that case, the variable in the environment is not evidence.
"""

from __future__ import annotations

import re

import msgspec

from assay.records import Configuration, EnvSet, Grant, GrantStatus, Level, Plan, RunFacts
from assay.settings.base import Setting
from assay.settings.evidence import readback_of
from assay.settings.list_variables import LIST_VARIABLES

_REJECTS = re.compile(
    r"\b(?:invalid|illegal|malformed|unknown|unrecogni[sz]ed|unsupported|not supported"
    r"|not recogni[sz]ed|ignor(?:ed|ing)|cannot parse|could not parse)\b",
    re.IGNORECASE,
)
_IN_EFFECT = (GrantStatus.GRANTED, GrantStatus.DEGRADED)
_MAX_CHARACTERS = 200


def judge_complaints(
    setting: Setting, config: Configuration, facts: RunFacts, plan: Plan, grant: Grant
) -> Grant:
    """Combine a judgement with the program's messages about the variables of a setting.

    Args:
        setting: a setting of ``config``.
        config, facts, plan: as for ``Setting.judge``.
        grant: the judgement so far.

    Returns:
        *Refused* if the only variable of a setting is rejected, *degraded* if one of several is;
        the reason quotes the line.
    """
    if grant.status is GrantStatus.REFUSED:
        return grant
    for variable, line in _rejected(plan, facts).items():
        if not _rests_on(setting, config, facts, plan, variable):
            continue
        word = GrantStatus.REFUSED if setting.name == f"env.{variable}" else GrantStatus.DEGRADED
        return msgspec.structs.replace(
            grant, status=word, level=Level.SEEN, reason=f"the program reports: {line}"
        )
    return grant


def _rejected(plan: Plan, facts: RunFacts) -> dict[str, str]:
    """Return the variables of a plan that standard error rejects, each with its line."""
    lines = [line for line in (facts.stderr_head or "").splitlines() if _REJECTS.search(line)]
    found: dict[str, str] = {}
    for action in plan.actions if lines else ():
        if isinstance(action, EnvSet) and action.name not in LIST_VARIABLES:
            named = re.compile(rf"(?<!\w){re.escape(action.name)}(?!\w)", re.IGNORECASE)
            line = next((line for line in lines if named.search(line)), None)
            if line is not None:
                found[action.name] = line.strip()[:_MAX_CHARACTERS]
    return found


def _rests_on(
    setting: Setting, config: Configuration, facts: RunFacts, plan: Plan, variable: str
) -> bool:
    """Return whether the judgement on a setting depends on a variable."""
    environ = dict(readback_of(facts).environ or {})
    if setting.name == f"env.{variable}":
        return True
    if environ.pop(variable, None) is None:
        return False
    seen = msgspec.structs.replace(readback_of(facts), environ=environ)
    without = setting.judge(config, msgspec.structs.replace(facts, readback=seen), plan)
    return without.status not in _IN_EFFECT
