"""Whether a salt carries a stop or a target."""

from typing import Final

_MARKER: Final = b"XIT1"
_NO_LEVEL: Final = bytes(5)


def carries_exits(salt: bytes) -> bool:
    """Say whether a salt has the exits' marker and at least one level (Rule A13).

    A level is 6 bytes, an exponent and a mantissa; a mantissa of 0 is no level whatever the exponent.
    """
    return len(salt) == 32 and salt[16:20] == _MARKER and (salt[21:26] != _NO_LEVEL or salt[27:32] != _NO_LEVEL)
