"""docs/reference/settings.md names all settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InvalidInputError
from assay.records import Scope
from assay.settings.instruction_set import _ARM, _X86
from assay.settings.pools import POOLS
from assay.settings.registry import builtin

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "settings.md"


@pytest.mark.parametrize("name", [*builtin().names, *POOLS, *_X86, *_ARM])
def test_reference_page_names_each_setting(name: str) -> None:
    assert f"`{name}" in PAGE.read_text()


@pytest.mark.parametrize("setting", list(builtin()), ids=lambda s: s.name)
def test_settings_have_one_line_summary_and_cost(setting: object) -> None:
    assert len(setting.summary) < 80 and "\n" not in setting.summary  # type: ignore[attr-defined]
    of_system = setting.scope is Scope.SYSTEM  # type: ignore[attr-defined]
    assert (setting.switch_cost_s > 0.0) == of_system  # type: ignore[attr-defined]


def test_registry_finds_settings_in_order_of_names() -> None:
    registry = builtin()
    assert [s.name for s in registry] == list(registry.names)
    assert len(registry) == len(registry.names) == len(set(registry.names))
    assert registry.get("env.FOO").name == "env.FOO"
    assert registry.get("arg.n").name == "arg.n"
    assert all(registry.get(name).name == name for name in registry.names)


@pytest.mark.parametrize("name", ["build.", "arg.", "env."])
def test_empty_member_name_is_not_suggested(name: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        builtin().get(name)
    assert error.value.remedy is None or f"{name}?" not in error.value.remedy
