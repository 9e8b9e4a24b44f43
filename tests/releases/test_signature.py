"""A signature fits one ``VERIFY.txt`` only, and a key that could not sign is refused before a charge."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from dpviz.core.check import RequestError
from dpviz.releases.signature import check_signer, format_signature, sign


def pem(key) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


@pytest.fixture
def key(tmp_path):
    made = ed25519.Ed25519PrivateKey.generate()
    path = tmp_path / "key.pem"
    path.write_bytes(pem(made))
    return path, made.public_key().public_bytes_raw().hex()


def test_a_signature_names_its_key_and_fits_one_text_only(key):
    path, public = key
    text = format_signature(b"hashes", path).encode()
    assert sign(b"hashes", text) == public
    other = format_signature(b"other", path).encode()
    for wrong in (other, b"", b"\xff", text[:-4] + b"00\n", text.replace(public.encode(), b"00" * 32)):
        with pytest.raises(RequestError, match="signature"):
            sign(b"hashes", wrong)


def test_what_is_no_key_is_refused(tmp_path):
    other = tmp_path / "other.pem"
    other.write_bytes(pem(ec.generate_private_key(ec.SECP256R1())))
    text = tmp_path / "text.pem"
    text.write_text("no key")
    for path in (other, text, tmp_path / "nothing.pem", tmp_path):
        with pytest.raises(RequestError, match="Ed25519"):
            check_signer(path)
