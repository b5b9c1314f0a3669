"""RFC 6962 Merkle trees over the ledger: roots, inclusion and consistency proofs (Rule F12)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

EMPTY_ROOT = hashlib.sha256(b"").digest()


def leaf_hash(leaf: bytes) -> bytes:
    """Return the hash of a leaf's bytes. RFC 6962 §2.1, Rule F12."""
    return hashlib.sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash of an inner node. RFC 6962 §2.1, Rule F12."""
    return hashlib.sha256(b"\x01" + left + right).digest()


@dataclass(frozen=True, slots=True)
class Frontier:
    """The full subtrees of a growing tree, largest first: all that the next root needs."""

    size: int = 0
    subtrees: tuple[bytes, ...] = ()

    def append(self, leaf: bytes) -> Frontier:
        """Take in the next leaf's bytes. Rule F12."""
        node = leaf_hash(leaf)
        subtrees = list(self.subtrees)
        size = self.size
        while size & 1:
            node = node_hash(subtrees.pop(), node)
            size >>= 1
        return Frontier(self.size + 1, (*subtrees, node))

    def root(self) -> bytes:
        """Return the tree hash of all leaves so far. Rule F12."""
        if not self.subtrees:
            return EMPTY_ROOT
        node = self.subtrees[-1]
        for subtree in reversed(self.subtrees[:-1]):
            node = node_hash(subtree, node)
        return node


def root(leaf_hashes: Sequence[bytes]) -> bytes:
    """Return the tree hash MTH over hashed leaves. RFC 6962 §2.1, Rule F12."""
    if not leaf_hashes:
        return EMPTY_ROOT
    if len(leaf_hashes) == 1:
        return leaf_hashes[0]
    split = _split(len(leaf_hashes))
    return node_hash(root(leaf_hashes[:split]), root(leaf_hashes[split:]))


def inclusion_proof(leaf_hashes: Sequence[bytes], leaf: int, size: int) -> list[bytes]:
    """Prove that leaf number `leaf` is in the tree of the first `size` leaves, lowest node first.

    Raises ValueError unless 0 ≤ leaf < size ≤ number of leaves. RFC 6962 §2.1.1, Rule F12.
    """
    if not 0 <= leaf < size <= len(leaf_hashes):
        raise ValueError(f"leaf is {leaf} and size {size}; need 0 ≤ leaf < size ≤ {len(leaf_hashes)}")
    return _path(leaf_hashes[:size], leaf)


def consistency_proof(leaf_hashes: Sequence[bytes], old_size: int, new_size: int) -> list[bytes]:
    """Prove that the tree of `old_size` leaves is a prefix of that of `new_size`.

    Raises ValueError unless 1 ≤ old_size ≤ new_size ≤ number of leaves. RFC 6962 §2.1.2, Rule F12.
    """
    if not 1 <= old_size <= new_size <= len(leaf_hashes):
        raise ValueError(f"from is {old_size} and to {new_size}; need 1 ≤ from ≤ to ≤ {len(leaf_hashes)}")
    return _subproof(leaf_hashes[:new_size], old_size, whole=True)


def _split(size: int) -> int:
    return 1 << ((size - 1).bit_length() - 1)


def _path(leaf_hashes: Sequence[bytes], leaf: int) -> list[bytes]:
    if len(leaf_hashes) == 1:
        return []
    split = _split(len(leaf_hashes))
    if leaf < split:
        return [*_path(leaf_hashes[:split], leaf), root(leaf_hashes[split:])]
    return [*_path(leaf_hashes[split:], leaf - split), root(leaf_hashes[:split])]


def _subproof(leaf_hashes: Sequence[bytes], old_size: int, whole: bool) -> list[bytes]:
    size = len(leaf_hashes)
    if old_size == size:
        return [] if whole else [root(leaf_hashes)]
    split = _split(size)
    if old_size <= split:
        return [*_subproof(leaf_hashes[:split], old_size, whole), root(leaf_hashes[split:])]
    return [*_subproof(leaf_hashes[split:], old_size - split, whole=False), root(leaf_hashes[:split])]
