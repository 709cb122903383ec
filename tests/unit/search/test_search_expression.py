from __future__ import annotations

import pytest

from assay.errors import InvalidInputError
from assay.search.space.expression import Expression


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("threads * arg.n <= 8", {"threads": 4, "arg.n": 2}, True),
        ("threads * arg.n <= 8", {"threads": 4, "arg.n": 3}, False),
        ("malloc == 'jemalloc' and nice > -1", {"malloc": "jemalloc", "nice": 0}, True),
        ("not (a or b)", {"a": False, "b": False}, True),
        ("1 < a <= 3", {"a": 3}, True),
        ("a in [1, 2] or a in (5, 6)", {"a": 6}, True),
        ("a not in ['x']", {"a": "x"}, False),
        ("-a + 7 // 2 % 2 == 0 - a + 1", {"a": 4}, True),
        ("a / 2 - 1 == 0.5", {"a": 3}, True),
    ],
)
def test_values(text: str, values: dict[str, int | str], expected: bool) -> None:
    assert Expression(text).holds(values, unknown=not expected) is expected


@pytest.mark.parametrize("unknown", [True, False])
@pytest.mark.parametrize("text", ["a > 1", "not a", "a > 1 and b == 1", "a > 1 or b == 0", "a + b"])
def test_default_of_unknown_value_gives_unknown(text: str, unknown: bool) -> None:
    assert Expression(text).holds({"b": 1}, unknown=unknown) is unknown


def test_known_operand_can_decide() -> None:
    assert Expression("a > 1 or b == 1").holds({"b": 1}, unknown=False)
    assert not Expression("a > 1 and b == 0").holds({"b": 1}, unknown=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a >",
        "a = 1",
        "f(a)",
        "a ** 2 > 1",
        "a[0]",
        "lambda: a",
        "[x for x in a]",
        "a if b else c",
        "b'x' == a",
        "a is None",
        "'x'.upper() == a",
        "f'{a}' == 'x'",
        "a \0",
        "(" * 5000 + "a" + ")" * 5000,
        "+".join(["a"] * 50_000) + " > 0",
    ],
)
def test_invalid_expression_raises_one_message(text: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Expression(text)
    assert len(caught.value.cause) < 400


@pytest.mark.parametrize(
    "text",
    [
        "a < 'x'",
        "1 / (a - 1) > 0",
        "a % 0 == 1",
        "'x' * 9999999999 == 'y'",
        "'%9999999999d' % a == 1",
    ],
)
def test_incompatible_operands_raise_error(text: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot be evaluated"):
        Expression(text).holds({"a": 1}, unknown=True)


def test_names() -> None:
    assert Expression("threads.omp * arg.n < 3 or env.A == 'x'").names == {
        "threads.omp",
        "arg.n",
        "env.A",
    }
