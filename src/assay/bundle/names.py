"""Name patterns: identifying names and the tokens that replace them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from assay.bundle.identity import Identity
from assay.records import encode

HOME, HOST, USER = "~", "HOSTNAME", "USERNAME"
SERIAL, ADDRESS, SECRET = "SERIAL", "ADDRESS", "SECRET"
"""Tokens for home directories, names of hosts and users, properties of a single machine or
installation, network and hardware addresses, and secrets. Further ones of a kind are numbered
(``ADDRESS2``). Constraints, names of variables and shells accept these words."""

_FOREIGN_HOME = re.compile(r"/(?:home|Users)/([^/\s\"'`:;,|<>()$\\]+)")
_UUID = re.compile(
    r"(?<![0-9A-Za-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9A-Za-z])", re.I
)
_MAC = re.compile(
    r"(?<![0-9A-Za-z:-])[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?![0-9A-Za-z:-])", re.I
)
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])", re.I)

# Fast prefilters of these patterns: each begins with a rare character.
_PART_OF_UUID = re.compile(r"-[0-9a-f]{4}-")
_PART_OF_MAC = re.compile(r"[:-][0-9a-f]{2}[:-]")
_PART_OF_IPV4 = re.compile(r"\.\d{1,3}\.")
_PART_OF_IPV6 = re.compile(r":[0-9a-f]{0,4}:")

_NO_LETTER_BEFORE, _NO_LETTER_AFTER = r"(?<![A-Za-z])", r"(?![A-Za-z])"
"""Adjacent ASCII letters make a name another word; other characters do not."""
_END_OF_PATH = r"(?![\w-]|\.\w)"


@dataclass(frozen=True)
class NamePattern:
    """Pattern of one kind of names.

    Attributes:
        token: replacement.
        pattern: matches the names.
        literals: lower-case texts, one of which occurs in every text with a match; alternative to
        part: lower-case pattern that occurs in every text with a match.
        numbered: each name gets its own token.
    """

    token: str
    pattern: re.Pattern[str]
    literals: tuple[str, ...] = ()
    part: re.Pattern[str] | None = None
    numbered: bool = False

    def may_be_in(self, lower: str) -> bool:
        """Return whether a lower-case text may contain a match: fast, without false negatives."""
        if self.part is not None:
            return self.part.search(lower) is not None
        return any(literal in lower for literal in self.literals)


def name_patterns(identity: Identity, own: frozenset[str]) -> tuple[NamePattern, ...]:
    """Return the patterns of a host and its users in the order of replacement.

    Args:
        identity: identity of the host.
        own: lower-case reserved words of the documents, which are not replaced.
    """
    users = [name for name in identity.users if name.lower() not in own]
    hosts = [name for name in identity.hosts if name.lower() not in own]
    found = (
        _literal(SECRET, identity.secrets),
        _literal(HOME, identity.homes, after=_END_OF_PATH),
        NamePattern(USER, _FOREIGN_HOME, ("/home/", "/users/"), numbered=True),
        _literal(SERIAL, identity.serials, numbered=True),
        NamePattern(SERIAL, _UUID, part=_PART_OF_UUID, numbered=True),
        NamePattern(ADDRESS, _MAC, part=_PART_OF_MAC, numbered=True),
        NamePattern(ADDRESS, _IPV6, part=_PART_OF_IPV6, numbered=True),
        NamePattern(ADDRESS, _IPV4, part=_PART_OF_IPV4, numbered=True),
        _literal(HOST, hosts, before=_NO_LETTER_BEFORE, after=_NO_LETTER_AFTER),
        _literal(USER, users, before=_NO_LETTER_BEFORE, after=_NO_LETTER_AFTER),
    )
    return tuple(names for names in found if names is not None)


def _literal(
    token: str, texts: Iterable[str], *, before: str = "", after: str = "", numbered: bool = False
) -> NamePattern | None:
    """Return a case-insensitive pattern of texts, if there are any."""
    found = list(texts)
    if not found:
        return None
    one = "|".join(map(re.escape, found))
    # In the form of outputs and of JSON documents.
    literals = {form.lower() for text in found for form in (text, _inside_json(text))}
    pattern = re.compile(f"{before}(?:{one}){after}", re.IGNORECASE)
    return NamePattern(token, pattern, tuple(sorted(literals)), numbered=numbered)


def _inside_json(text: str) -> str:
    return encode(text).decode()[1:-1]


def is_identifying(address: str) -> bool:
    """Return whether a text is an address other than the loopback or a placeholder."""
    if _MAC.fullmatch(address):
        return set(address.lower()) - set(":-") not in ({"0"}, {"f"})
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    # Programs use "::" for other purposes: abc::def is not an address.
    plain = found.version == 4 or any(letter.isdigit() for letter in address)
    return plain and not found.is_loopback and not found.is_unspecified
