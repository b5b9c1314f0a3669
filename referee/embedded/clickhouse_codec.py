"""Content encodings of ClickHouse's HTTP interface: gzip, lz4 frames and zstd."""

import gzip
import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Final

import lz4.frame  # type: ignore[import-untyped]

from referee.embedded.clickhouse_errors import CANNOT_DECOMPRESS, UNKNOWN_COMPRESSION_METHOD, ClickHouseError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESS_FROM_BYTES: Final = 64 * 1024


def _decode_lz4(body: bytes) -> bytes:
    """Decode every frame: clickhouse-connect sends one a block, and lz4 itself stops after the first."""
    parts = []
    while body:
        decompressor = lz4.frame.LZ4FrameDecompressor()
        parts.append(decompressor.decompress(body))
        if not decompressor.eof:
            raise EOFError("the last frame is incomplete")
        body = decompressor.unused_data or b""
    return b"".join(parts)


_DECODERS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "lz4": _decode_lz4,
    "zstd": zstd.decompress,
    "gzip": gzip.decompress,
}
_ENCODERS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "lz4": lz4.frame.compress,
    "zstd": zstd.compress,
    "gzip": lambda body: gzip.compress(body, compresslevel=1),
}


def decode_body(body: bytes, encoding: str) -> bytes:
    """Undo a request's Content-Encoding; raise ClickHouseError for an unknown or a broken one."""
    if encoding in ("", "identity"):
        return body
    decoder = _DECODERS.get(encoding)
    if decoder is None:
        raise ClickHouseError(
            UNKNOWN_COMPRESSION_METHOD,
            f"Unknown compression method {encoding}, known: {', '.join(_DECODERS)}. (UNKNOWN_COMPRESSION_METHOD)",
        )
    try:
        return decoder(body)
    except (RuntimeError, OSError, EOFError, zlib.error, zstd.ZstdError) as error:
        raise ClickHouseError(
            CANNOT_DECOMPRESS, f"Cannot decompress the {encoding} body: {error}. (CANNOT_DECOMPRESS)"
        ) from None


def encode_body(body: bytes, accepted: str) -> tuple[bytes, str | None]:
    """Compress a response for an Accept-Encoding header, the cheapest method first; return it with its encoding.

    Bodies under COMPRESS_FROM_BYTES stay as they are: on loopback their bytes cost less than the compression.
    """
    if len(body) < COMPRESS_FROM_BYTES:
        return body, None
    offered = {part.partition(";")[0].strip().lower() for part in accepted.split(",")}
    for encoding, encoder in _ENCODERS.items():
        if encoding in offered:
            return encoder(body), encoding
    return body, None
