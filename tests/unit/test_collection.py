"""All tests can be collected in one run, as the stage of slow ones does."""

from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_test_files_outside_packages_have_unique_names() -> None:
    """pytest takes them for one module."""
    files = [
        path for path in TESTS.rglob("test_*.py") if not (path.parent / "__init__.py").exists()
    ]
    assert len(files) > 100
    twice = {name for name, count in Counter(path.name for path in files).items() if count > 1}
    assert not twice
