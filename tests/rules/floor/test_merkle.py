"""Merkle proofs, checked by the verification algorithms of RFC 9162, which share no code with the prover."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.floor.merkle import EMPTY_ROOT, Frontier, consistency_proof, inclusion_proof, leaf_hash, root


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def _root_from_inclusion(leaf: bytes, index: int, size: int, proof: list[bytes]) -> bytes | None:
    fn, sn, computed = index, size - 1, hashlib.sha256(b"\x00" + leaf).digest()
    for node in proof:
        if sn == 0:
            return None
        if fn & 1 or fn == sn:
            computed = _node(node, computed)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            computed = _node(computed, node)
        fn, sn = fn >> 1, sn >> 1
    return computed if sn == 0 else None


def _is_consistent(first: int, second: int, first_root: bytes, second_root: bytes, proof: list[bytes]) -> bool:
    if first == second:
        return not proof and first_root == second_root
    path = [first_root, *proof] if first & (first - 1) == 0 else list(proof)
    if not path:
        return False
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    old = new = path[0]
    for node in path[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            old, new = _node(node, old), _node(node, new)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            new = _node(new, node)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and old == first_root and new == second_root


_LEAVES = [f"entry {number}".encode() for number in range(70)]
_HASHES = [leaf_hash(leaf) for leaf in _LEAVES]
_SIZES = st.integers(1, len(_LEAVES))


@given(_SIZES, st.data())
def test_an_inclusion_proof_leads_from_the_leaf_to_the_root(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    proof = inclusion_proof(_HASHES, index, size)
    assert _root_from_inclusion(_LEAVES[index], index, size, proof) == root(_HASHES[:size])
    assert _root_from_inclusion(b"forged", index, size, proof) != root(_HASHES[:size])


@given(_SIZES, st.data())
def test_a_consistency_proof_leads_from_the_old_root_to_the_new(size: int, data: st.DataObject) -> None:
    old_size = data.draw(st.integers(1, size))
    proof = consistency_proof(_HASHES, old_size, size)
    old_root, new_root = root(_HASHES[:old_size]), root(_HASHES[:size])
    assert _is_consistent(old_size, size, old_root, new_root, proof)
    if old_size < size:
        assert not _is_consistent(old_size, size, leaf_hash(b"forged"), new_root, proof)


@given(st.integers(0, len(_LEAVES)))
def test_the_growing_frontier_has_the_root_of_the_whole_tree(size: int) -> None:
    frontier = Frontier()
    for leaf in _LEAVES[:size]:
        frontier = frontier.append(leaf)
    assert frontier.size == size
    assert frontier.root() == root(_HASHES[:size])


def test_the_root_of_nothing_is_the_hash_of_nothing() -> None:
    assert root([]) == EMPTY_ROOT == hashlib.sha256(b"").digest()


@pytest.mark.parametrize(("leaf", "size"), [(3, 3), (-1, 3), (0, 71), (0, 0)])
def test_a_proof_of_a_leaf_outside_the_tree_is_refused(leaf: int, size: int) -> None:
    with pytest.raises(ValueError, match="0 ≤ leaf < size ≤ 70"):
        inclusion_proof(_HASHES, leaf, size)


@pytest.mark.parametrize(("old_size", "new_size"), [(0, 3), (4, 3), (1, 71)])
def test_a_proof_between_trees_that_do_not_follow_is_refused(old_size: int, new_size: int) -> None:
    with pytest.raises(ValueError, match="1 ≤ from ≤ to ≤ 70"):
        consistency_proof(_HASHES, old_size, new_size)
