"""Where the store is: the flag, the variable, or the user's state folder."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from assay.errors import InvalidInputError, NotPossibleError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_PASSWORD = re.compile(r"(://[^:/@]*:).*@")
_PASSWORD_KEY = re.compile(r"([?&][^=&]*(?:pass|pwd|secret|token)[^=&]*=)[^&#]*", re.IGNORECASE)
_FORMS = "Give a file: --db PATH or sqlite:///PATH."


def default_url(env: Mapping[str, str], flag: str | None = None) -> str:
    """The store to use: ``--db``, else ``ASSAY_DB``, else the file in the user's state folder.

    Raises:
        NotPossibleError: none is given and the user has no home.
    """
    return flag or env.get("ASSAY_DB") or str(state_path(env))


def state_path(env: Mapping[str, str]) -> Path:
    """``assay/assay.db`` below ``XDG_STATE_HOME``, or below ``~/.local/state``.

    A relative ``XDG_STATE_HOME`` is ignored, as the XDG Base Directory Specification asks.

    Raises:
        NotPossibleError: the user has no home.
    """
    state = Path(env.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():
        state = _home(env) / ".local" / "state"
    return state / "assay" / "assay.db"


def database_path(where: str | os.PathLike[str]) -> Path:
    """The database file that a path or URL names: absolute, symbolic links resolved.

    Raises:
        InvalidInputError: not a path, nor a URL that names a file.
        NotPossibleError: a database server.
    """
    text = os.fspath(where)
    scheme = _SCHEME.match(text)
    if scheme is not None:
        text = _file_of_url(scheme[1].lower(), text)
    if not text or "\0" in text:
        raise InvalidInputError(
            f"{mask_url(os.fspath(where))!r} names no file for the store.", _FORMS
        )
    # Two names of one file must give one lock file and one journal.
    return Path(os.path.realpath(_expanded(text)))


def mask_url(url: str) -> str:
    """A URL as messages may show it: without its password."""
    return _PASSWORD_KEY.sub(r"\1***", _PASSWORD.sub(r"\1***@", url))


def _file_of_url(scheme: str, url: str) -> str:
    if scheme.partition("+")[0] in ("postgresql", "postgres"):
        raise NotPossibleError(
            f"The store {mask_url(url)} is on PostgreSQL, which this version cannot use yet.",
            _FORMS,
        )
    if scheme != "sqlite":
        raise InvalidInputError(f"The store {mask_url(url)} is of an unknown kind.", _FORMS)
    rest = url[len("sqlite://") :]
    if "?" in rest or (rest and not rest.startswith("/")):
        raise InvalidInputError(
            f"The store {mask_url(url)} is not written as sqlite:///PATH.",
            "Write sqlite:///relative/path or sqlite:////absolute/path, without options.",
        )
    return rest[1:]


def _expanded(text: str) -> str:
    try:
        return str(Path(text).expanduser())
    except RuntimeError as error:
        raise InvalidInputError(f"No home is known for {text!r}.", _FORMS) from error


def _home(env: Mapping[str, str]) -> Path:
    home = env.get("HOME")
    if home:
        return Path(home)
    try:
        return Path.home()
    except RuntimeError as error:
        raise NotPossibleError(
            "There is no home folder to keep the store in.",
            "Name a file with --db PATH, or set ASSAY_DB.",
        ) from error
