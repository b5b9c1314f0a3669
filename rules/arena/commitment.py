"""The hashes that seal the predictions of an open record, as the contract builds them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

Keccak = Callable[[bytes], bytes]

_LOCKED_NAME: Final = b"callbook.locked"
_SYMBOL_NAME: Final = b"callbook.locked.symbol"
_WORD_BYTES: Final = 32
_WORD_VALUES: Final = 1 << 256


@dataclass(frozen=True, slots=True)
class Deployment:
    """The contract that a record lives in; the address in any case, with 0x."""

    chain_id: int
    callbook: str


def tags(keccak: Keccak) -> tuple[bytes, bytes]:
    """Return the domain tags of coin-list and of any-coin predictions (Rule A14)."""
    return keccak(_LOCKED_NAME), keccak(_SYMBOL_NAME)


def locked_preimage(
    tag: bytes,
    deployment: Deployment,
    record_id: int,
    call_id: int,
    coin_index: int,
    side: int,
    horizon_s: int,
    salt: bytes,
) -> bytes:
    """Return the 9 ABI words that seal a prediction of a coin-list record (Rule A14, coin-list)."""
    return b"".join(
        (
            _bytes32("tag", tag),
            _address(deployment.callbook),
            _word(deployment.chain_id),
            _word(record_id),
            _word(call_id),
            _word(coin_index),
            _word(side),
            _word(horizon_s),
            _bytes32("salt", salt),
        )
    )


def symbol_preimage(
    tag: bytes,
    deployment: Deployment,
    account: str,
    nonce: int,
    coin_hash: bytes,
    side: int,
    horizon_s: int,
    salt: bytes,
) -> bytes:
    """Return the 9 ABI words that seal a prediction of an any-coin record (Rule A14, any-coin)."""
    return b"".join(
        (
            _bytes32("tag", tag),
            _address(deployment.callbook),
            _word(deployment.chain_id),
            _address(account),
            _word(nonce),
            _bytes32("coin hash", coin_hash),
            _word(side),
            _word(horizon_s),
            _bytes32("salt", salt),
        )
    )


def locked_hash(
    keccak: Keccak,
    deployment: Deployment,
    record_id: int,
    call_id: int,
    coin_index: int,
    side: int,
    horizon_s: int,
    salt: bytes,
) -> bytes:
    """Return the hash that seals a prediction of a coin-list record (Rule A14, coin-list)."""
    tag = keccak(_LOCKED_NAME)
    return keccak(locked_preimage(tag, deployment, record_id, call_id, coin_index, side, horizon_s, salt))


def symbol_hash(
    keccak: Keccak,
    deployment: Deployment,
    account: str,
    nonce: int,
    coin: str,
    side: int,
    horizon_s: int,
    salt: bytes,
) -> bytes:
    """Return the hash that seals a prediction of an any-coin record; the coin's case counts (Rule A14, any-coin)."""
    tag, coin_hash = keccak(_SYMBOL_NAME), keccak(coin.encode())
    return keccak(symbol_preimage(tag, deployment, account, nonce, coin_hash, side, horizon_s, salt))


def _word(value: int) -> bytes:
    # a negative side is sign-extended to the whole word
    return (value % _WORD_VALUES).to_bytes(_WORD_BYTES, "big")


def _address(text: str) -> bytes:
    raw = bytes.fromhex(text.removeprefix("0x"))
    if len(raw) != 20:
        raise ValueError(f"address {text}: {len(raw)} bytes, an address has 20")
    return raw.rjust(_WORD_BYTES, b"\0")


def _bytes32(name: str, value: bytes) -> bytes:
    if len(value) != _WORD_BYTES:
        raise ValueError(f"{name}: {len(value)} bytes, a word has {_WORD_BYTES}")
    return value
