"""Names: what to look for in a text, and the token that takes its place."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

from assay.bundle.identity import Identity
from assay.records import encode

HOME, HOST, USER = "~", "HOSTNAME", "USERNAME"
SERIAL, ADDRESS, SECRET = "SERIAL", "ADDRESS", "SECRET"
"""What stands in place of a home folder, of the names of a host and of a user, of what only this
machine or installation has, of a network or hardware address, and of a secret. A second one of a
kind is numbered: ``ADDRESS2``. They are words that a constraint, a variable's name and a shell can
hold."""

_FOREIGN_HOME = re.compile(r"/(?:home|Users)/([^/\s\"'`:;,|<>()$\\]+)")
_UUID = re.compile(
    r"(?<![0-9A-Za-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9A-Za-z])", re.I
)
_MAC = re.compile(
    r"(?<![0-9A-Za-z:-])[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}(?![0-9A-Za-z:-])", re.I
)
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?![\w:])", re.I)

# Parts of these that are quickly looked for: each begins with a letter that is in few texts.
_PART_OF_UUID = re.compile(r"-[0-9a-f]{4}-")
_PART_OF_MAC = re.compile(r"[:-][0-9a-f]{2}[:-]")
_PART_OF_IPV4 = re.compile(r"\.\d{1,3}\.")
_PART_OF_IPV6 = re.compile(r":[0-9a-f]{0,4}:")

_NO_LETTER_BEFORE, _NO_LETTER_BEHIND = r"(?<![^\W\d_])", r"(?![^\W\d_])"
"""Letters beside it make a name another word; digits and signs do not."""
_END_OF_PATH = r"(?![\w-]|\.\w)"


@dataclass(frozen=True)
class NamePattern:
    """Names of one kind.

    Attributes:
        token: what takes their place.
        pattern: finds them.
        literals: one of these, in lower case, is in every text that holds one, or
        part: this is, in lower case.
        numbered: each has a token of its own.
    """

    token: str
    pattern: re.Pattern[str]
    literals: tuple[str, ...] = ()
    part: re.Pattern[str] | None = None
    numbered: bool = False

    def may_be_in(self, lower: str) -> bool:
        """Whether it is worth looking: a few times quicker than the pattern, and never wrong."""
        if self.part is not None:
            return self.part.search(lower) is not None
        return any(literal in lower for literal in self.literals)


def name_patterns(identity: Identity, own: frozenset[str]) -> tuple[NamePattern, ...]:
    """What names a host and its users, in the order in which it is taken out.

    Args:
        identity: of the host.
        own: words by which documents are read, in lower case; names that are among them stay.
    """
    users = [name for name in identity.users if name.lower() not in own]
    hosts = [name for name in identity.hosts if name.lower() not in own]
    found = (
        _literal(SECRET, identity.secrets),
        _literal(HOME, identity.homes, behind=_END_OF_PATH),
        NamePattern(USER, _FOREIGN_HOME, ("/home/", "/users/"), numbered=True),
        _literal(SERIAL, identity.serials, numbered=True),
        NamePattern(SERIAL, _UUID, part=_PART_OF_UUID, numbered=True),
        NamePattern(ADDRESS, _MAC, part=_PART_OF_MAC, numbered=True),
        NamePattern(ADDRESS, _IPV6, part=_PART_OF_IPV6, numbered=True),
        NamePattern(ADDRESS, _IPV4, part=_PART_OF_IPV4, numbered=True),
        _literal(HOST, hosts, before=_NO_LETTER_BEFORE, behind=_NO_LETTER_BEHIND),
        _literal(USER, users, before=_NO_LETTER_BEFORE, behind=_NO_LETTER_BEHIND),
    )
    return tuple(names for names in found if names is not None)


def _literal(
    token: str, texts: Iterable[str], *, before: str = "", behind: str = "", numbered: bool = False
) -> NamePattern | None:
    """These texts, in upper and lower case."""
    found = list(texts)
    if not found:
        return None
    one = "|".join(map(re.escape, found))
    # As they stand in an output, and within a JSON document.
    literals = {form.lower() for text in found for form in (text, _inside_json(text))}
    pattern = re.compile(f"{before}(?:{one}){behind}", re.IGNORECASE)
    return NamePattern(token, pattern, tuple(sorted(literals)), numbered=numbered)


def _inside_json(text: str) -> str:
    return encode(text).decode()[1:-1]


def is_identifying(address: str) -> bool:
    """Whether a text is an address, and neither the loopback nor a placeholder."""
    if _MAC.fullmatch(address):
        return set(address.lower()) - set(":-") not in ({"0"}, {"f"})
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    # "::" stands in programs for other things: abc::def is one of theirs, not an address.
    plain = found.version == 4 or any(letter.isdigit() for letter in address)
    return plain and not found.is_loopback and not found.is_unspecified
