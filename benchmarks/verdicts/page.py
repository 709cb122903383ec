"""Page: the part of docs/explanation/error-rates.md that the benchmark writes."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "error-rates.md"
BEGIN = "<!-- written by `make bench-statistics` -->"
END = "<!-- end -->"


def rewritten(page: str, tables: str) -> str:
    """The page with other tables between the two marks.

    Raises:
        ValueError: the marks are not there, once each and in order.
    """
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError(f"the page needs {BEGIN} and {END}, once each and in this order")
    head, rest = page.split(BEGIN)
    return f"{head}{BEGIN}\n\n{tables}\n\n{END}{rest.split(END)[1]}"
