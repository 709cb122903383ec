"""Detached signatures of bundles by OpenSSH: ``ssh-keygen -Y`` (ssh-keygen(1), "-Y verify").

A hash chain detects modifications; only a signature identifies the author.
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
"""Namespace of the signature: signatures of mail or commits are invalid for a bundle."""

_KEY = re.compile(r"(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[A-Za-z0-9@.-]+ [A-Za-z0-9+/=]+(?: .*)?")
_KEY_OWNER = "signer"
_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class SignatureCheck:
    """Result of the verification of a signature.

    Attributes:
        good: the signer signed these bytes.
        description: the signer, or the reason of failure, as a sentence without full stop.
    """

    good: bool
    description: str


def check_signature(bundle: Path, signature: Path, signer: str) -> SignatureCheck:
    """Verify the signature of a bundle.

    Args:
        bundle: signed file.
        signature: signature written by ``ssh-keygen -Y sign -n assay-bundle``.
        signer: file with a public key, or ``IDENTITY=FILE`` for a signer in a file of allowed
            signers (ssh-keygen(1)).

    Raises:
        InvalidInputError: missing or invalid files.
        NotPossibleError: no suitable ssh-keygen.
    """
    program = shutil.which("ssh-keygen")
    if program is None:
        raise NotPossibleError(
            "The signature cannot be verified: ssh-keygen is missing.",
            "Install the client of OpenSSH 8.1 or later (openssh-client, openssh-clients).",
        )
    if not _read(signature, "signature").startswith("-----BEGIN SSH SIGNATURE-----"):
        raise InvalidInputError(
            f"{signature} is not a signature of OpenSSH.",
            f"`ssh-keygen -Y sign -f KEY -n {NAMESPACE} {bundle.name}` writes one.",
        )
    with _allowed(signer) as (identity, allowed), bundle.open("rb") as signed:
        words = [program, "-Y", "verify", "-f", str(allowed), "-I", identity]
        words += ["-n", NAMESPACE, "-s", str(signature)]
        try:
            done = subprocess.run(words, stdin=signed, capture_output=True, timeout=_TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotPossibleError(
                f"{program} did not respond: {error}.", "Run it manually to find the cause."
            ) from error
    output = (done.stdout + b"\n" + done.stderr).decode(errors="replace")
    if "unknown option" in output or "illegal option" in output:
        raise NotPossibleError(
            f"The signature cannot be verified: {program} is too old.",
            "Install the client of OpenSSH 8.1 or later.",
        )
    if done.returncode == 0:
        with_key = re.search(r"with (\S+ key \S+)", output)
        by = "the specified key" if identity == _KEY_OWNER else identity
        return SignatureCheck(True, f"good, by {by}" + (f" ({with_key[1]})" if with_key else ""))
    return SignatureCheck(False, f"invalid: {_failure_reason(output)}")


def _failure_reason(output: str) -> str:
    """Return the reason of failure from the output of ssh-keygen."""
    if "incorrect signature" in output:
        return "the file was changed after it was signed"
    if "namespace" in output:
        return f"it has another namespace than {NAMESPACE} (option -n)"
    lines = [line.strip().rstrip(".") for line in output.splitlines() if line.strip()]
    # The only output for a signature by another key.
    if not lines or lines == ["Could not verify signature"]:
        return "it was made by another key than the signer's"
    return lines[0]


@contextmanager
def _allowed(signer: str) -> Iterator[tuple[str, Path]]:
    """Yield the identity and a file of allowed signers."""
    if Path(signer).is_file():
        key = next((line for line in _read(Path(signer), "key").splitlines() if line.strip()), "")
        if "PRIVATE KEY" in key:
            raise InvalidInputError(
                f"{signer} is a private key, which only the signer should have.",
                f"Specify the public key: {signer}.pub",
            )
        if not _KEY.fullmatch(key.strip()):
            raise InvalidInputError(
                f"{signer} contains no public key of OpenSSH.",
                "Specify a file such as id_ed25519.pub; for a file of allowed signers use "
                f"--signer IDENTITY={signer}",
            )
        with tempfile.NamedTemporaryFile("w", prefix="assay-signers-") as allowed:
            allowed.write(f'{_KEY_OWNER} namespaces="{NAMESPACE}" {key.strip()}\n')
            allowed.flush()
            yield _KEY_OWNER, Path(allowed.name)
        return
    if Path(signer).exists():
        raise InvalidInputError(
            f"--signer {signer} is {'a directory' if Path(signer).is_dir() else 'not a file'}.",
            "Specify the signer's public key, or IDENTITY=FILE for a file of allowed signers.",
        )
    identity, equals, name = signer.rpartition("=")
    if not equals or not identity or identity.startswith("-"):
        raise InvalidInputError(
            f"--signer {signer}: the file does not exist.",
            "Specify the signer's public key, or IDENTITY=FILE for a file of allowed signers.",
        )
    _read(Path(name), "file of allowed signers")
    yield identity, Path(name)


def _read(path: Path, what: str) -> str:
    try:
        with path.open(errors="replace") as file:
            return file.read(1 << 20)
    except FileNotFoundError as error:
        raise InvalidInputError(f"The {what} {path} does not exist.", "Check its name.") from error
    except OSError as error:
        raise InvalidInputError(
            f"The {what} {path} cannot be read: {error.strerror}.",
            "Check its permissions with `ls -l`.",
        ) from error
