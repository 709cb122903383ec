from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InvalidInputError, NotPossibleError
from assay.store import default_url
from assay.store.location import database_path, mask_url


def test_option_precedes_variable_and_state_directory() -> None:
    env = {"ASSAY_DB": "/b.db", "XDG_STATE_HOME": "/x", "HOME": "/h"}
    assert default_url(env, "/a.db") == "/a.db"
    assert default_url(env) == "/b.db"
    del env["ASSAY_DB"]
    assert default_url(env) == "/x/assay/assay.db"


@pytest.mark.parametrize("state", [None, "", "relative/state"])
def test_relative_state_directory_falls_back_to_home(state: str | None) -> None:
    env = {"HOME": "/h"} | ({} if state is None else {"XDG_STATE_HOME": state})
    assert default_url(env) == "/h/.local/state/assay/assay.db"


def test_paths_and_urls_resolve_to_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    here = tmp_path.resolve()
    assert database_path("a b.db") == here / "a b.db"
    assert database_path(Path("/x/../y.db")) == Path("/y.db")
    assert database_path("sqlite:///a.db") == here / "a.db"
    assert database_path("sqlite:////v/a.db") == Path("/v/a.db")
    assert database_path("~/a.db") == here / "home" / "a.db"
    assert database_path("50%#.db") == here / "50%#.db"


def test_symbolic_link_resolves_to_target(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "real.db")
    assert database_path(tmp_path / "link.db") == database_path(tmp_path / "real.db")


@pytest.mark.parametrize(
    "url",
    ["", "sqlite://", "sqlite:///", "sqlite://host/a.db", "sqlite:///a.db?mode=ro", "oracle://x"],
)
def test_invalid_url_is_rejected(url: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        database_path(url)
    assert caught.value.remedy is not None


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_postgresql_is_rejected_without_showing_password(scheme: str) -> None:
    with pytest.raises(NotPossibleError, match="PostgreSQL") as caught:
        database_path(f"{scheme}://me:se:c/r@t@db.example/assay")
    assert "me:***@db.example" in str(caught.value)
    assert "c/r" not in str(caught.value)


def test_passwords_in_urls_are_masked() -> None:
    assert mask_url("x://u:p@h/d") == "x://u:***@h/d"
    assert mask_url("x://h/d?user=u&password=p&a=b") == "x://h/d?user=u&password=***&a=b"
    assert mask_url("x://u@h/d") == "x://u@h/d"
    assert mask_url("/home/me@work/a.db") == "/home/me@work/a.db"
