"""Reference page of the Python API: all public names, and the parameters of their signatures."""

from __future__ import annotations

import importlib
import inspect
import re
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay
import assay.api
import assay.optuna

pytest.importorskip("optuna")
PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "python.md"
_BLOCK = re.compile(r"^::: (\S+)\n {4}options:\n {6}members:(.*(?:\n {8}- .*)*)", re.MULTILINE)
_SECTION = re.compile(r"^(Args|Attributes):\n((?: {4}.*\n|\n)*)", re.MULTILINE)
_ENTRY = re.compile(r"^ {4}([*\w][*\w, ]*):(?= |$)", re.MULTILINE)


def documented() -> dict[str, list[str]]:
    """Return the members of the page by module."""
    found = {}
    for module, members in _BLOCK.findall(PAGE.read_text()):
        found[module] = re.findall(r"\w+", members)
    return found


def objects() -> Iterator[tuple[str, object]]:
    """Yield the documented functions, classes and methods by name.

    Methods of Optuna's interface are described there.
    """
    for module, names in documented().items():
        if not module.startswith(("assay.api", "assay.optuna", "assay.writers")):
            continue
        for name in names:
            found = getattr(importlib.import_module(module), name)
            yield name, found
            if inspect.isclass(found) and not typing.is_typeddict(found):
                for part, value in vars(found).items():
                    inherited = any(part in vars(base) for base in found.__mro__[1:])
                    if inspect.isfunction(value) and not part.startswith("_") and not inherited:
                        yield f"{name}.{part}", value


def described(found: object, section: str) -> list[str]:
    """Return the names that a section of a docstring describes."""
    text = f"{inspect.getdoc(found) or ''}\n"
    bodies = [body for title, body in _SECTION.findall(text) if title == section]
    entries = [entry for body in bodies for entry in _ENTRY.findall(body)]
    return [name.strip(" *") for entry in entries for name in entry.split(",")]


def parameters(found: object) -> list[str]:
    """Return the names of the parameters of a function or class in their order."""
    function = inspect.unwrap(found.__init__ if inspect.isclass(found) else found)  # type: ignore[arg-type]
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_page_has_every_public_name() -> None:
    names = {name for members in documented().values() for name in members}
    public = {*assay.api.MODULES, *assay.optuna.MODULES, "progress", "get_include"}
    assert public - names == set()


def test_page_names_existing_objects() -> None:
    for module, names in documented().items():
        for name in names:
            assert hasattr(importlib.import_module(module), name), f"{module}.{name}"


OBJECTS = dict(objects())


@pytest.mark.parametrize("name", OBJECTS)
def test_described_parameters_are_those_of_the_signature(name: str) -> None:
    found = OBJECTS[name]
    if typing.is_typeddict(found):
        own = typing.get_type_hints(found)
        assert set(described(found, "Attributes")) <= set(own)
        return
    if inspect.isclass(found) and not described(found, "Args"):
        return  # its users get objects of it from functions, or it has fields
    assert described(found, "Args") == parameters(found)
