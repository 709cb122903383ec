"""Lines of an output that arrives piece by piece.

Programs with progress bars overwrite a line: a carriage return, backspaces or a cursor movement
begins the next frame. Each frame counts as a line. Control sequences of terminals are removed.
"""

from __future__ import annotations

import codecs
import re

from assay.executors.metrics.matching import ESCAPES, MOVES

MAX_LINE_CHARACTERS = 1 << 16
"""Length of the kept begin of a line; the rest is dropped."""
_CONTROLS = re.compile("[\r\b\x1b]")
_UNFINISHED = re.compile("\x1b(?:\\[[0-?]*[ -/]*|\\][^\x07\x1b]*\x1b?)?\\Z|\b+\\Z")
"""Begin of a control sequence at the end of a text, or backspaces that a return may follow."""
_MAX_UNFINISHED = 256
"""Length beyond which such a begin is ordinary text."""
_BACKSPACES = re.compile("(\b+)")
_RETURNING = re.compile("\b*\r+")


class LineSplitter:
    """Splits bytes into complete lines and frames, without empty ones.

    Invalid UTF-8 becomes lone surrogates (PEP 383), as in the rest of the output's text.

    Args:
        max_characters: length of the kept begin of a line.

    Attributes:
        cut_lines: number of lines that were longer.
    """

    def __init__(self, max_characters: int = MAX_LINE_CHARACTERS) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._max = max_characters
        self._pending = ""
        self._is_frame = False
        self._is_cut = False
        self._held = ""
        self.cut_lines = 0

    @property
    def frame(self) -> str | None:
        """Text after the last carriage return, if no line end followed it.

        The next frame would complete it, one step later.
        """
        return self._pending if self._is_frame and self._pending else None

    @property
    def pending(self) -> str:
        """Text after the last line end."""
        return self._pending

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that some bytes complete.

        Args:
            data: next bytes of the output.
        """
        text = self._held + self._decoder.decode(data)
        self._held = ""
        if _CONTROLS.search(text) is not None:
            text = self._plain(text)
        breaks = text.count("\n") + text.count("\r")
        if not breaks:
            self._append(text)
            return []
        self._is_frame = text.rfind("\r") > text.rfind("\n")
        first, *lines = text.replace("\r", "\n").split("\n")
        self._append(first)
        lines.insert(0, self._pending)
        self._pending, self._is_cut = "", False
        self._append(lines.pop())
        if len(data) > self._max:
            lines = [self._bounded(line) for line in lines]
        return [line for line in lines if line]

    def finish(self) -> list[str]:
        """Return the last line, which has no line end."""
        rest = self._pending + self._held + self._decoder.decode(b"", final=True)
        self._pending, self._held = "", ""
        return [rest] if rest else []

    def _append(self, text: str) -> None:
        room = self._max - len(self._pending)
        if len(text) > room and not self._is_cut:
            self._is_cut = True
            self.cut_lines += 1
        self._pending += text[:room]

    def _bounded(self, line: str) -> str:
        if len(line) <= self._max:
            return line
        self.cut_lines += 1
        return line[: self._max]

    def _plain(self, text: str) -> str:
        """Return a text without control sequences and backspaces; movements become breaks."""
        unfinished = _UNFINISHED.search(text, max(0, len(text) - _MAX_UNFINISHED))
        if unfinished is not None:
            self._held = unfinished[0]
            text = text[: unfinished.start()]
        if "\x1b" in text:
            text = ESCAPES.sub("", MOVES.sub("\r", text))
        text = _RETURNING.sub("\r", text).replace("\r\n", "\n")
        return self._erased(text) if "\b" in text else text

    def _erased(self, text: str) -> str:
        """Apply backspaces: the text before them is a frame, and its begin remains."""
        whole = self._pending
        for part in _BACKSPACES.split(text):
            if not part.startswith("\b"):
                whole += part
                continue
            begin = max(whole.rfind("\n"), whole.rfind("\r")) + 1
            whole += "\r" + whole[begin : max(begin, len(whole) - len(part))]
        self._pending = ""
        return whole
