"""Detached signatures of bundles, by OpenSSH: ``ssh-keygen -Y`` (ssh-keygen(1), "-Y verify").

A hash chain shows that a bundle was edited; only a signature shows by whom it was written.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InvalidInputError, NotPossibleError

NAMESPACE = "assay-bundle"
"""What the signature is for: one made for mail or for commits is none for a bundle."""

_KEY = re.compile(r"(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[A-Za-z0-9@.-]+ [A-Za-z0-9+/=]+(?: .*)?")
_ANYONE = "signer"
_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class SignatureCheck:
    """What became of a signature.

    Attributes:
        good: whether the signer made it over these bytes.
        told: by whom, or why not, in a sentence without its full stop.
    """

    good: bool
    told: str


def check_signature(bundle: Path, signature: Path, signer: str) -> SignatureCheck:
    """Hold a bundle against its signature.

    Args:
        bundle: what was signed.
        signature: as ``ssh-keygen -Y sign -n assay-bundle`` writes it.
        signer: a file with a public key, or ``IDENTITY=FILE`` for one of the allowed signers in a
            file as ssh-keygen(1) describes it.

    Raises:
        InvalidInputError: no such files, or not what they should be.
        NotPossibleError: there is no ssh-keygen that can do it.
    """
    program = shutil.which("ssh-keygen")
    if program is None:
        raise NotPossibleError(
            "The signature cannot be checked: there is no ssh-keygen.",
            "Install the client of OpenSSH 8.1 or later (openssh-client, openssh-clients).",
        )
    if not _read(signature, "signature").startswith("-----BEGIN SSH SIGNATURE-----"):
        raise InvalidInputError(
            f"{signature} is no signature of OpenSSH.",
            f"`ssh-keygen -Y sign -f KEY -n {NAMESPACE} {bundle.name}` writes one.",
        )
    with _allowed(signer) as (identity, allowed), bundle.open("rb") as signed:
        words = [program, "-Y", "verify", "-f", str(allowed), "-I", identity]
        words += ["-n", NAMESPACE, "-s", str(signature)]
        try:
            done = subprocess.run(words, stdin=signed, capture_output=True, timeout=_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotPossibleError(
                f"{program} gave no answer: {error}.", "Call it by hand, to see what holds it up."
            ) from error
    said = (done.stdout + b"\n" + done.stderr).decode(errors="replace")
    if "unknown option" in said or "illegal option" in said:
        raise NotPossibleError(
            f"The signature cannot be checked: {program} is too old for it.",
            "Install the client of OpenSSH 8.1 or later.",
        )
    if done.returncode == 0:
        with_key = re.search(r"with (\S+ key \S+)", said)
        by = "the key that was named" if identity == _ANYONE else identity
        return SignatureCheck(True, f"good, by {by}" + (f" ({with_key[1]})" if with_key else ""))
    return SignatureCheck(False, f"does not hold: {_why(said)}")


def _why(said: str) -> str:
    """What ssh-keygen says, in the words of a reader."""
    if "incorrect signature" in said:
        return "the file was changed after it was signed"
    if "namespace" in said:
        return f"it was made for something else (-n {NAMESPACE} is wanted)"
    lines = [line.strip().rstrip(".") for line in said.splitlines() if line.strip()]
    # All that it says where no key of that name is the one that signed.
    if not lines or lines == ["Could not verify signature"]:
        return "it was made by another key than the signer's"
    return lines[0]


@contextmanager
def _allowed(signer: str) -> Iterator[tuple[str, Path]]:
    """The identity to look for, and a file of allowed signers."""
    if Path(signer).is_file():
        key = next((line for line in _read(Path(signer), "key").splitlines() if line.strip()), "")
        if "PRIVATE KEY" in key:
            raise InvalidInputError(
                f"{signer} is a private key, which only the signer should have.",
                f"Name the public one: {signer}.pub",
            )
        if not _KEY.fullmatch(key.strip()):
            raise InvalidInputError(
                f"{signer} holds no public key of OpenSSH.",
                "Name a file like id_ed25519.pub; for a file of allowed signers write "
                f"--signer IDENTITY={signer}",
            )
        with tempfile.NamedTemporaryFile("w", prefix="assay-signers-") as allowed:
            allowed.write(f'{_ANYONE} namespaces="{NAMESPACE}" {key.strip()}\n')
            allowed.flush()
            yield _ANYONE, Path(allowed.name)
        return
    if Path(signer).exists():
        raise InvalidInputError(
            f"--signer {signer}: that is {'a folder' if Path(signer).is_dir() else 'no file'}.",
            "Name the signer's public key, or IDENTITY=FILE for a file of allowed signers.",
        )
    identity, equals, name = signer.rpartition("=")
    if not equals or not identity or identity.startswith("-"):
        raise InvalidInputError(
            f"--signer {signer}: there is no such file.",
            "Name the signer's public key, or IDENTITY=FILE for a file of allowed signers.",
        )
    _read(Path(name), "file of allowed signers")
    yield identity, Path(name)


def _read(path: Path, what: str) -> str:
    try:
        with path.open(errors="replace") as file:
            return file.read(1 << 20)
    except FileNotFoundError as error:
        raise InvalidInputError(f"There is no {what} {path}.", "Look at its name.") from error
    except OSError as error:
        raise InvalidInputError(
            f"The {what} {path} cannot be read: {error.strerror}.", "`ls -l` tells who may."
        ) from error
