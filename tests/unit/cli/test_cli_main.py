"""What becomes of errors that nobody foresaw."""

from __future__ import annotations

import pytest

from assay.cli.main import FAULT, OWN_ERROR, main
from assay.cli.verbs import run as run_verb
from assay.cli.verbs import settings as settings_verb


def broken(parsed: object) -> int:
    raise RuntimeError("a hole\x1b[31m")


@pytest.mark.parametrize(
    ("module", "words", "status"),
    [(settings_verb, ["settings"], FAULT), (run_verb, ["run", "--", "true"], OWN_ERROR)],
)
def test_a_fault_is_one_message(
    module: object,
    words: list[str],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(module, "run", broken)
    assert main(words) == status
    told = capsys.readouterr().err
    assert "RuntimeError: a hole\\x1b[31m" in told
    assert "Traceback" not in told
    assert "\x1b" not in told


def test_verbose_shows_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_verb, "run", broken)
    with pytest.raises(RuntimeError):
        main(["settings", "-v"])
