"""An optional signature (Ed25519) of ``VERIFY.txt``, and through its hashes of every file of a release."""

from pathlib import Path
from typing import Any

from dpviz.core import RequestError, check
from dpviz.releases.release_sentences import make_refusal
from dpviz.words import foreign

_KEY, _SIGNATURE = "Ed25519 public key: ", "Signature of VERIFY.txt: "


def format_signature(verify: bytes, key: Path) -> str:
    """The text of ``SIGNATURE.txt`` for the bytes of ``VERIFY.txt``, by a PEM file's Ed25519 key without a password."""
    signer = check_signer(key)
    return _format_text(signer.public_key().public_bytes_raw(), signer.sign(verify))


def _format_text(public: bytes, signed: bytes) -> str:
    return f"{_KEY}{public.hex()}\n{_SIGNATURE}{signed.hex()}\n"


def sign(verify: bytes, signature: bytes) -> str:
    """The public key, in hexadecimal digits, by which ``verify`` was signed."""
    lines = signature.decode("utf-8", errors="replace").splitlines()
    said = {start: line.removeprefix(start) for line in lines for start in (_KEY, _SIGNATURE) if line.startswith(start)}
    try:
        public, signed = bytes.fromhex(said[_KEY]), bytes.fromhex(said[_SIGNATURE])
        _load_ed25519().Ed25519PublicKey.from_public_bytes(public).verify(signed, verify)
    except (RequestError, MemoryError):
        raise
    except Exception:  # a key or a signature of another length, or one that does not fit
        raise make_refusal("signature_wrong") from None
    if signature != _format_text(public, signed).encode():
        raise make_refusal("signature_says_more")
    return public.hex()


def check_signer(key: Path) -> Any:
    """What signs by the key in a PEM file; a key that could not is refused, before anything is charged.

    Raises
    ------
    RequestError
        If the file holds no Ed25519 key without a password, or the library is not installed.
    """
    ed25519 = _load_ed25519()
    serialization = check.import_extra("cryptography.hazmat.primitives.serialization")
    no_key = make_refusal("no_key")
    with foreign.refuse_as(no_key, foreign.KEY, called="The Ed25519 key of --sign"):
        signer = serialization.load_pem_private_key(foreign.read_bytes(key, foreign.KEY.most_bytes), password=None)
    if not isinstance(signer, ed25519.Ed25519PrivateKey):
        raise no_key
    return signer


def _load_ed25519() -> Any:
    return check.import_extra("cryptography.hazmat.primitives.asymmetric.ed25519")
