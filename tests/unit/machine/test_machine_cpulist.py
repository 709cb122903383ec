import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InvalidInputError
from assay.machine.cpulist import format_list, parse_list, parse_mask

CPUS = st.sets(st.integers(0, 1023)).map(lambda cpus: tuple(sorted(cpus)))


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", ()),
        ("\n", ()),
        ("0", (0,)),
        ("0-3,8\n", (0, 1, 2, 3, 8)),
        ("0-7:2/4", (0, 1, 4, 5)),
        ("1-5:1/2", (1, 3, 5)),
        ("3,1,2,1-2", (1, 2, 3)),
        ("0-1, 4", (0, 1, 4)),
    ],
)
def test_parse_list(text, cpus):
    assert parse_list(text) == cpus


@pytest.mark.parametrize(
    "text", ["a", "3-1", "-1", "1-", "0-7:2", "0-7:0/4", "0-7:5/4", "0-99999999999", "0-7:2/0", "٣"]
)
def test_parse_list_refuses(text):
    with pytest.raises(InvalidInputError):
        parse_list(text)


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0", ()),
        ("f", (0, 1, 2, 3)),
        ("00000000,0000000f", (0, 1, 2, 3)),
        ("1,00000000", (32,)),
        ("1,0", (32,)),
        ("0x5", (0, 2)),
    ],
)
def test_parse_mask(text, cpus):
    assert parse_mask(text) == cpus


@pytest.mark.parametrize("text", ["", "g", "0-3", "f" * 20000])
def test_parse_mask_refuses(text):
    with pytest.raises(InvalidInputError):
        parse_mask(text)


def test_format_list_matches_kernel_format():
    assert format_list([8, 0, 1, 2, 3, 10, 11]) == "0-3,8,10-11"
    assert format_list([]) == ""
    assert format_list([5]) == "5"


@given(CPUS)
def test_list_and_mask_round_trip(cpus):
    assert parse_list(format_list(cpus)) == cpus
    digits = f"{sum(1 << cpu for cpu in cpus):x}"
    words = [digits[max(0, end - 8) : end] for end in range(len(digits), 0, -8)]
    assert parse_mask(",".join(reversed(words))) == cpus


@given(CPUS)
def test_format_list_is_minimal(cpus):
    parts = format_list(cpus).split(",") if cpus else []
    starts = sum(1 for cpu in cpus if cpu - 1 not in cpus)
    assert len(parts) == starts


@given(st.integers(0, 500), st.integers(0, 60), st.integers(1, 9), st.integers(0, 8))
def test_strides_are_the_first_of_every_group(low, length, used, more):
    group = used + more
    expected = tuple(c for c in range(low, low + length + 1) if (c - low) % group < used)
    assert parse_list(f"{low}-{low + length}:{used}/{group}") == expected


@given(st.text(alphabet="0123456789-,:/ \nxa", max_size=30))
def test_arbitrary_text_is_parsed_or_rejected(text):
    for parse in (parse_list, parse_mask):
        with contextlib.suppress(InvalidInputError):
            cpus = parse(text)
            assert list(cpus) == sorted(set(cpus))
