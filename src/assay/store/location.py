"""Location of the store: option, environment variable, or the user's state directory."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from assay.errors import InvalidInputError, NotPossibleError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_PASSWORD = re.compile(r"(://[^:/@]*:).*@")
_PASSWORD_KEY = re.compile(r"([?&][^=&]*(?:pass|pwd|secret|token)[^=&]*=)[^&#]*", re.IGNORECASE)
_FORMS = "Specify a file: --db PATH or sqlite:///PATH."


def default_url(env: Mapping[str, str], flag: str | None = None) -> str:
    """Return the store: ``--db``, else ``ASSAY_DB``, else the file in the user's state directory.

    Raises:
        NotPossibleError: none is specified and the user has no home directory.
    """
    return flag or env.get("ASSAY_DB") or str(state_path(env))


def state_path(env: Mapping[str, str]) -> Path:
    """Return ``assay/assay.db`` below ``XDG_STATE_HOME``, or below ``~/.local/state``.

    A relative ``XDG_STATE_HOME`` is ignored, as required by the XDG Base Directory Specification.

    Raises:
        NotPossibleError: the user has no home directory.
    """
    state = Path(env.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():
        state = _home(env) / ".local" / "state"
    return state / "assay" / "assay.db"


def database_path(requested: str | os.PathLike[str]) -> Path:
    """Return the absolute path of the database file of a path or URL, with symbolic links resolved.

    Raises:
        InvalidInputError: neither a path nor the URL of a file.
        NotPossibleError: a database server.
    """
    text = os.fspath(requested)
    scheme = _SCHEME.match(text)
    if scheme is not None:
        text = _file_of_url(scheme[1].lower(), text)
    if not text or "\0" in text:
        raise InvalidInputError(
            f"Invalid file name of a store: {mask_url(os.fspath(requested))!r}.", _FORMS
        )
    # Two names of a file must result in the same lock file and the same journal.
    return Path(os.path.realpath(_expanded(text)))


def mask_url(url: str) -> str:
    """Return a URL for messages, without its password."""
    return _PASSWORD_KEY.sub(r"\1***", _PASSWORD.sub(r"\1***@", url))


def _file_of_url(scheme: str, url: str) -> str:
    if scheme.partition("+")[0] in ("postgresql", "postgres"):
        raise NotPossibleError(
            f"PostgreSQL is not supported yet: {mask_url(url)}.",
            _FORMS,
        )
    if scheme != "sqlite":
        raise InvalidInputError(f"Unknown kind of store: {mask_url(url)}.", _FORMS)
    rest = url[len("sqlite://") :]
    if "?" in rest or (rest and not rest.startswith("/")):
        raise InvalidInputError(
            f"Invalid URL of a store: {mask_url(url)}.",
            "Use sqlite:///relative/path or sqlite:////absolute/path, without options.",
        )
    return rest[1:]


def _expanded(text: str) -> str:
    try:
        return str(Path(text).expanduser())
    except RuntimeError as error:
        raise InvalidInputError(f"Unknown home directory in {text!r}.", _FORMS) from error


def _home(env: Mapping[str, str]) -> Path:
    home = env.get("HOME")
    if home:
        return Path(home)
    try:
        return Path.home()
    except RuntimeError as error:
        raise NotPossibleError(
            "The user has no home directory to keep the store in.",
            "Specify a file with --db PATH or ASSAY_DB.",
        ) from error
