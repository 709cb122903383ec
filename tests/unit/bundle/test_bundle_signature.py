"""Detached signatures, with real keys and the real ssh-keygen."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from assay.bundle.signature import NAMESPACE, check_signature
from assay.errors import InvalidInputError, NotPossibleError

WHO = "lab@example.org"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Create a file; its contents are irrelevant for a signature."""
    assert shutil.which("ssh-keygen"), "tools/system-packages test installs openssh-client"
    path = tmp_path / "study.zip"
    path.write_bytes(os.urandom(5000))
    return path


def a_key(folder: Path, name: str = "key") -> Path:
    path = folder / name
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", WHO, "-f", path]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)
    return path


def signed(bundle: Path, key: Path, namespace: str = NAMESPACE) -> Path:
    words = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", namespace, bundle]
    signature = bundle.with_name(f"{bundle.name}.sig")
    signature.unlink(missing_ok=True)
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    return signature


def public(key: Path) -> str:
    return str(key.with_name(f"{key.name}.pub"))


def test_signature_by_key_is_good(bundle: Path, tmp_path: Path) -> None:
    key = a_key(tmp_path)
    found = check_signature(bundle, signed(bundle, key), public(key))
    assert found.good
    assert "ED25519 key SHA256:" in found.description


def test_signature_by_allowed_signer_is_good(bundle: Path, tmp_path: Path) -> None:
    key = a_key(tmp_path)
    other = Path(public(a_key(tmp_path, "other"))).read_text()
    plain = tmp_path / "allowed"
    plain.write_text(f"other@example.org {other}{WHO} {Path(public(key)).read_text()}")
    signature = signed(bundle, key)
    found = check_signature(bundle, signature, f"{WHO}={plain}")
    assert found.good
    assert WHO in found.description
    assert not check_signature(bundle, signature, f"other@example.org={plain}").good
    assert not check_signature(bundle, signature, f"nobody@example.org={plain}").good


def test_signature_by_other_key_is_bad(bundle: Path, tmp_path: Path) -> None:
    signature = signed(bundle, a_key(tmp_path))
    found = check_signature(bundle, signature, public(a_key(tmp_path, "other")))
    assert (found.good, found.description) == (
        False,
        "invalid: it was made by another key than the signer's",
    )


def test_signature_of_changed_file_is_bad(bundle: Path, tmp_path: Path) -> None:
    key = a_key(tmp_path)
    signature = signed(bundle, key)
    bundle.write_bytes(bundle.read_bytes() + b"x")
    found = check_signature(bundle, signature, public(key))
    assert (found.good, found.description) == (
        False,
        "invalid: the file was changed after it was signed",
    )


def test_signature_with_other_namespace_is_bad(bundle: Path, tmp_path: Path) -> None:
    """A signature of a mail or a commit is invalid for a bundle."""
    key = a_key(tmp_path)
    found = check_signature(bundle, signed(bundle, key, "git"), public(key))
    assert not found.good
    assert f"namespace than {NAMESPACE}" in found.description


def test_invalid_signature_is_rejected(bundle: Path, tmp_path: Path) -> None:
    key = a_key(tmp_path)
    other = tmp_path / "other.sig"
    other.write_bytes(b"\xff\0")
    with pytest.raises(InvalidInputError, match="not a signature"):
        check_signature(bundle, other, public(key))
    with pytest.raises(InvalidInputError, match="does not exist"):
        check_signature(bundle, tmp_path / "none.sig", public(key))
    broken = tmp_path / "broken.sig"
    broken.write_text("-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n")
    assert not check_signature(bundle, broken, public(key)).good


def test_invalid_signer_is_rejected(bundle: Path, tmp_path: Path) -> None:
    key = a_key(tmp_path)
    signature = signed(bundle, key)
    with pytest.raises(InvalidInputError, match="private key") as caught:
        check_signature(bundle, signature, str(key))
    assert caught.value.remedy == f"Specify the public key: {key}.pub"
    with pytest.raises(InvalidInputError, match="no public key"):
        check_signature(bundle, signature, str(signature))
    with pytest.raises(InvalidInputError, match="does not exist"):
        check_signature(bundle, signature, str(tmp_path / "none.pub"))
    with pytest.raises(InvalidInputError, match="is not a file"):
        check_signature(bundle, signature, "/dev/null")
    with pytest.raises(InvalidInputError, match="is a directory"):
        check_signature(bundle, signature, str(tmp_path))
    with pytest.raises(InvalidInputError, match="does not exist"):
        check_signature(bundle, signature, f"-oProxyCommand=x={key}")
    with pytest.raises(InvalidInputError, match="allowed signers"):
        check_signature(bundle, signature, f"{WHO}={tmp_path / 'none'}")


def test_missing_ssh_keygen_is_reported(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = a_key(tmp_path)
    signature = signed(bundle, key)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotPossibleError, match="ssh-keygen is missing") as caught:
        check_signature(bundle, signature, public(key))
    assert "openssh-client" in str(caught.value.remedy)


def test_old_ssh_keygen_is_reported(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenSSH 7.9 and earlier do not support -Y."""
    key = a_key(tmp_path)
    signature = signed(bundle, key)
    old = tmp_path / "ssh-keygen"
    old.write_text("#!/bin/sh\necho 'ssh-keygen: illegal option -- Y' >&2\nexit 1\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(NotPossibleError, match="too old"):
        check_signature(bundle, signature, public(key))
