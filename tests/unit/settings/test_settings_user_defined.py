"""Settings that the user defines by name."""

from __future__ import annotations

import pytest

from assay.errors import InvalidInputError
from assay.records import AnyText, Arg, Configuration, EnvSet, Scope
from assay.settings.base import Refused, Resolved
from assay.settings.user_defined import Argument, EnvVariable

from .hosts import machine

HOST = machine()

BOTH = [
    pytest.param(EnvVariable, "env", "an environment variable", "environment", id="env"),
    pytest.param(Argument, "arg", "a placeholder", "command line", id="arg"),
]


@pytest.mark.parametrize(("kind", "family", "what", "holder"), BOTH)
def test_common_properties(kind: type, family: str, what: str, holder: str) -> None:
    setting = kind("size")
    assert setting.name == f"{family}.size"
    assert setting == kind("size") != kind("other")
    assert "size" in setting.summary
    assert isinstance(setting.domain(HOST), AnyText)
    assert setting.default(HOST) is None
    refused = setting.resolve(Configuration({f"{family}.size": "a\0b"}), HOST)
    assert isinstance(refused, Refused)
    assert refused.reason == f"{family}.size contains a NUL byte, which is invalid in the {holder}"
    for wrong in ("", "1st", "a-b", "a b", "é"):
        with pytest.raises(InvalidInputError, match=f"Invalid name of {what}"):
            kind(wrong)


def test_distinct_properties() -> None:
    variable, argument = EnvVariable("N"), Argument("N")
    assert variable != argument
    assert (variable.scope, argument.scope) == (Scope.PROCESS, Scope.PROGRAM)
    in_environment = variable.resolve(Configuration({"env.N": 8}), HOST)
    in_command = argument.resolve(Configuration({"arg.N": 8}), HOST)
    assert in_environment == Resolved((EnvSet(name="N", value="8"),))
    assert in_command == Resolved((Arg(name="N", value="8"),))
