"""Words in scripts keep their bytes."""

from __future__ import annotations

import subprocess

import pytest

from assay.launch.quoting import shell_quoted


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize(
    "word", [b"a\xe9b'\"$x\n", b"\xff", b"\xfe\n\xfe", "é x".encode(), b"", b"a\n"]
)
def test_quoted_word_keeps_its_bytes(shell: str, word: bytes) -> None:
    script = f"printf %s {shell_quoted(word.decode(errors='surrogateescape'))}"
    done = subprocess.run([shell, "-c", script.encode()], capture_output=True)
    assert (done.stdout, done.stderr) == (word, b"")
