"""TOML files: positions of keys, and errors with positions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.api.files.toml_file import MAX_BYTES, parse_toml, read_toml
from assay.errors import InvalidInputError

KEYS = st.one_of(
    st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True),
    st.text(alphabet="a.b \"'#=[]{},é\\\n", min_size=1, max_size=4),
)
SCALARS = st.one_of(
    st.integers(-99, 99).map(str),
    st.booleans().map(lambda v: str(v).lower()),
    st.sampled_from(["1.5", "inf", "1979-05-27", "1979-05-27 07:32:00Z", "0xff", "1e-3"]),
    st.text(alphabet="ab#\"'\\[]{}=, \n", max_size=6).map(json.dumps),
    st.text(alphabet='ab#"[]{}=, \\', max_size=6).map(lambda t: f"'{t}'"),
    st.sampled_from(
        [
            '"""a\n"" # b\\" ]"""',
            "'''x\n'' = y'''",
            '"""q"""""',
            "'''q'''''",
            '""""a"""',
            "''",
            '""',
        ]
    ),
)


def key_text(key: str) -> str:
    """A key, bare where that can be."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


@st.composite
def values(draw: st.DrawFn, depth: int = 2) -> str:
    """A value in one of the forms that TOML has."""
    form = draw(st.sampled_from(["scalar", "scalar", "array", "inline"] if depth else ["scalar"]))
    if form == "scalar":
        return draw(SCALARS)
    if form == "inline":
        keys = draw(st.lists(KEYS, max_size=3, unique=True))
        pairs = [f"{key_text(k)}{draw(GAP)}={draw(GAP)}{draw(values(depth - 1))}" for k in keys]
        return "{" + draw(GAP) + ", ".join(pairs) + draw(GAP) + "}"
    items = draw(st.lists(values(depth - 1), max_size=3))
    breaks = draw(st.sampled_from(["", " ", "\n  ", " # ], {\n"]))
    end = draw(st.sampled_from(["", ","])) if items else ""
    return "[" + breaks + f",{breaks}".join(items) + end + breaks + "]"


GAP = st.sampled_from(["", " ", "\t "])


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Lines of TOML; not all are valid, since a key may come twice."""
    lines = []
    for _ in range(draw(st.integers(0, 7))):
        keys = draw(st.lists(KEYS, min_size=1, max_size=3))
        dotted = (draw(GAP) + "." + draw(GAP)).join(map(key_text, keys))
        form = draw(st.sampled_from(["pair", "pair", "pair", "table", "array", "comment"]))
        if form == "pair":
            lines.append(f"{draw(GAP)}{dotted}{draw(GAP)}={draw(GAP)}{draw(values())}{draw(GAP)}")
        elif form == "comment":
            lines.append('# [x] "')
        else:
            opening, closing = ("[", "]") if form == "table" else ("[[", "]]")
            lines.append(f"{opening}{draw(GAP)}{dotted}{draw(GAP)}{closing} # end")
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


def paths(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    """Every path that ``tomllib`` read something at."""
    found = {path} if path else set()
    if isinstance(value, dict):
        for key, inner in value.items():
            found |= paths(inner, (*path, key))
    if isinstance(value, list):
        for number, inner in enumerate(value):
            found |= paths(inner, (*path, number))
    return found


@given(documents())
def test_every_value_has_its_place(text: str) -> None:
    try:
        file = parse_toml("f.toml", text)
    except InvalidInputError as error:
        assert error.cause.startswith("f.toml:")
        return
    assert set(file.lines) == paths(file.content)
    lines = text.split("\n")
    for path, (line, column) in file.lines.items():
        rest = lines[line - 1][column - 1 :]
        name = path[-1]
        if isinstance(name, str):
            assert rest.startswith((name, '"', "'")), (path, rest)
        else:
            assert rest


def test_the_generated_documents_are_valid_often_enough() -> None:
    """The property above is about documents that can be read."""
    read = []

    @given(documents())
    def count(text: str) -> None:
        try:
            read.append(len(parse_toml("f", text).lines))
        except InvalidInputError:
            return

    count()
    assert len(read) > 20
    assert max(read) > 5


def test_places_are_lines_and_columns_from_one() -> None:
    file = parse_toml("f.toml", 'a = 1\n  "b.c".d = [\n  1, # x\n  "y"]\n[t]\n')
    assert file.place(("a",)) == "f.toml:1:1"
    assert file.place(("b.c",)) == "f.toml:2:3"
    assert file.place(("b.c", "d")) == "f.toml:2:9"
    assert file.place(("b.c", "d", 1)) == "f.toml:4:3"
    assert file.place(("t", "gone", "deep")) == "f.toml:5:2"
    assert file.place(("nowhere",)) == "f.toml:1:1"


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        ("[w]\ncommand = echo\n", "2:11", "quotation marks"),
        ("[w\n", "1:3", ""),
        ("a = 1\na = 2\n", "2:6", "once"),
        ("[t]\n[u]\n[t]\n", "3:3", "one head"),
        ("a = [1,\n2", "2:2", "Close it"),
        ("a 1\n", "1:3", "KEY = VALUE"),
        ("a = [01, 2]\n", "1:6", 'Write 1, or "01" for a text.'),
        ("a = [1,\n  002]\n", "2:3", 'Write 2, or "002"'),
        ("a = -07\n", "1:5", "Write -7"),
        ("a = [1.,2]\n", "1:6", "Write 1.0."),
        ("a = [.5]\n", "1:6", "Write 0.5."),
        ("a = 30s\n", "1:5", '"30s"'),
        ("a = 1%\n", "1:5", '"1%"'),
        ("a = True\n", "1:5", "Write true"),
        ("a = [1 2]\n", "1:8", "commas"),
        ('a = ["x" "01"]\n', "1:10", "commas"),
    ],
)
def test_syntax_errors_have_a_place(text: str, place: str, remedy: str) -> None:
    with pytest.raises(InvalidInputError, match=r"not TOML") as caught:
        parse_toml("f.toml", text)
    assert caught.value.cause.startswith(f"f.toml:{place}:")
    assert remedy in (caught.value.remedy or "")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"none\.toml cannot be read: No such file"):
        read_toml(str(tmp_path / "none.toml"))
    with pytest.raises(InvalidInputError, match="Is a directory"):
        read_toml(str(tmp_path))
    bad = tmp_path / "bad.toml"
    bad.write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(InvalidInputError, match=r"bad\.toml:2:6: this is not UTF-8"):
        read_toml(str(bad))
    bad.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(InvalidInputError, match="larger than 1 MiB"):
        read_toml(str(bad))
    bad.write_text("a = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(InvalidInputError, match=r"nested too deeply|not TOML"):
        read_toml(str(bad))


def test_line_ends_and_marks_of_other_systems(tmp_path: Path) -> None:
    file = tmp_path / "f.toml"
    file.write_bytes("\ufeffa = 1\r\nb = 2\r\n".encode())
    read = read_toml(str(file))
    assert read.content == {"a": 1, "b": 2}
    assert read.lines[("b",)] == (2, 1)
