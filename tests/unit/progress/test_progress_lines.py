import string

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.executors.progress.lines import MAX_LINE_CHARACTERS, LineSplitter


def lines_of(*pieces: bytes) -> list[str]:
    splitter = LineSplitter()
    found = [line for piece in pieces for line in splitter.feed(piece)]
    return found + splitter.finish()


def test_lines_without_controls_are_complete_lines():
    splitter = LineSplitter()
    assert splitter.feed(b"a\nb\nc") == ["a", "b"]
    assert splitter.pending == "c"
    assert splitter.feed(b"d\n") == ["cd"]
    assert splitter.finish() == []


def test_frames_after_carriage_returns_are_lines():
    assert lines_of(b"\r  0%| 0/2\r 50%| 1/2", b"\r100%| 2/2\n") == [
        "  0%| 0/2",
        " 50%| 1/2",
        "100%| 2/2",
    ]


def test_windows_line_end_split_between_pieces_gives_no_empty_line():
    assert lines_of(b"a\r", b"\nb\r\n") == ["a", "b"]


def test_frame_without_end_is_visible_before_the_next_one():
    splitter = LineSplitter()
    splitter.feed(b"\r 50%| 1/2")
    assert splitter.frame == " 50%| 1/2"
    splitter.feed(b"\nplain")
    assert splitter.frame is None
    assert splitter.pending == "plain"


def test_backspaces_over_a_whole_line_begin_a_frame():
    assert lines_of(b"12/30 41ms" + b"\b" * 20 + b"13/30 42ms\n") == ["12/30 41ms", "13/30 42ms"]


def test_backspaces_over_the_end_keep_the_begin():
    assert lines_of(b"done 10%", b"\b\b\b", b"20%\b\b\b30%\n") == [
        "done 10%",
        "done 20%",
        "done 30%",
    ]


def test_backspaces_before_a_carriage_return_erase_nothing():
    assert lines_of(b"12/30 loss: 0.5", b"\b\b\b", b"\b\r13/30\n") == ["12/30 loss: 0.5", "13/30"]


def test_colours_are_removed_also_if_split():
    assert lines_of(b"a\x1b[1;3", b"2mgreen\x1b[0m b\x1b]0;title", b"\x07c\n") == ["agreen bc"]


def test_cursor_movement_ends_a_frame():
    assert lines_of(b"\n\rinner 1/3\x1b[A\router 0/2\n") == ["inner 1/3", "outer 0/2"]


def test_invalid_utf8_becomes_surrogates_and_split_characters_stay_whole():
    assert lines_of(b"a\xff", b"\xe2\x94", b"\x81b\n") == ["a\udcff\u2501b"]


def test_line_of_megabytes_is_cut():
    splitter = LineSplitter()
    for _ in range(100):
        assert splitter.feed(b"x" * 65536) == []
    assert splitter.feed(b"y\nnext\n") == ["x" * MAX_LINE_CHARACTERS, "next"]
    assert splitter.feed(b"z" * (3 * MAX_LINE_CHARACTERS) + b"\n") == ["z" * MAX_LINE_CHARACTERS]
    assert splitter.cut_lines == 2


def test_unfinished_escape_at_the_end_does_not_hide_text():
    assert lines_of(b"a\x1b") == ["a\x1b"]


@given(st.text(alphabet=string.ascii_letters + "\n\u00e9\u2501 "), st.data())
@settings(max_examples=200, deadline=None)
def test_any_division_of_plain_text_gives_the_same_lines(text: str, data: st.DataObject):
    raw = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert lines_of(*pieces) == [line for line in text.split("\n") if line]


@given(
    st.lists(st.sampled_from(["\r", "\n", "\x1b[32m", "\x1b[0m", "\x1b[A", "ab", "7", "\r\n"])),
    st.data(),
)
@settings(max_examples=200, deadline=None)
def test_any_division_of_frames_gives_the_same_lines(tokens: list[str], data: st.DataObject):
    raw = "".join(tokens).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert lines_of(*pieces) == lines_of(raw)


@given(st.binary(max_size=300), st.data())
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_split_without_error(raw: bytes, data: st.DataObject):
    cut = data.draw(st.integers(0, len(raw)))
    for line in lines_of(raw[:cut], raw[cut:]):
        assert "\n" not in line
        assert "\r" not in line
