"""How records are keyed, where the key is not simply an id."""

import hashlib


def coin_key(coin: str) -> str:
    """Return the key of a coin: its lower case, since sources match symbols without regard to case (Rule F2)."""
    return coin.lower()


def record_key(account: str, number: int) -> str:
    """Return the id of an account's Arena record: number 0 is its any-coin record, opened ones count from 1."""
    return f"{account.lower()}/{number}"


def book_id(record: str) -> int:
    """Return the 48-bit number of a record, which its commits' hashes bind (Rule A14)."""
    return int.from_bytes(hashlib.sha256(record.encode()).digest()[:6], "big")
