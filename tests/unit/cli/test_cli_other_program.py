"""A command that is run as a study of another program recommends."""

from __future__ import annotations

import pytest

from assay.api.launches.other_program import different_names


@pytest.mark.parametrize(
    ("studied", "asked", "expected"),
    [
        (("./app", "-n", "3"), ("/opt/bin/app", "-n", "9"), None),
        (("./app",), ("ls", "-d", "."), ("app", "ls")),
        (("python3", "a.py"), ("/usr/bin/python3", "b.py"), ("python3 a.py", "python3 b.py")),
        (("python3", "x/a.py", "1"), ("python3", "y/a.py", "2"), None),
        (("sh", "-c", "./a"), ("sh", "-c", "./b"), None),
        (("{build}/app",), ("{build}/app", "1"), None),
        (("bash",), ("bash",), None),
    ],
)
def test_names_of_programs_are_held_against_each_other(
    studied: tuple[str, ...], asked: tuple[str, ...], expected: tuple[str, str] | None
) -> None:
    assert different_names(studied, asked) == expected
