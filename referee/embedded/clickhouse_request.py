"""One HTTP request to ClickHouse as a statement: URL parameters, headers, form fields and body put together."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qsl

from referee.embedded.clickhouse_engine import DEFAULT_DATABASE, Statement
from referee.embedded.clickhouse_errors import NOT_IMPLEMENTED, ClickHouseError

PARAMETER_PREFIX: Final = "param_"
WITHOUT_EFFECT: Final = frozenset(
    {
        "session_id",
        "session_timeout",
        "session_check",
        "close_session",
        "quota_key",
        "user",
        "password",
        "role",
        "client_protocol_version",
        "buffer_size",
        "wait_end_of_query",
        "stacktrace",
        "send_progress_in_http_headers",
        "http_headers_progress_interval_ms",
        "http_zlib_compression_level",
        "cancel_http_readonly_queries_on_client_close",
        "add_http_cors_header",
        # Inserts are always done, and waited for, at once: that is the stronger promise.
        "async_insert",
        "wait_for_async_insert",
    }
)
"""URL parameters that ClickHouse knows and that change nothing here: every statement is a session of its own."""


@dataclass(frozen=True)
class QueryRequest:
    """A statement to run, and what the response must repeat."""

    statement: Statement
    query_id: str | None
    may_compress: bool


def read_request(
    method: str, query_string: bytes, headers: Mapping[str, str], form: Mapping[str, str], body: bytes
) -> QueryRequest:
    """Put a request together; ``headers`` have lower-case names, ``body`` is decoded, ``form`` is a multipart's fields.

    GET reads only, as with ClickHouse. Raise ClickHouseError for what is not supported.
    """
    values = dict(parse_qsl(query_string.decode("latin-1"), keep_blank_values=True)) | dict(form)
    if _is_set(values.pop("compress", "")) or _is_set(values.pop("decompress", "")):
        raise ClickHouseError(
            NOT_IMPLEMENTED,
            "compress=1 and decompress=1 (ClickHouse's own block compression) are not supported, "
            "use Content-Encoding and Accept-Encoding. (NOT_IMPLEMENTED)",
        )
    text = values.pop("query", "").encode()
    if body:
        text = text + b"\n" + body if text else body
    database = values.pop("database", "") or headers.get("x-clickhouse-database", "") or DEFAULT_DATABASE
    default_format = values.pop("default_format", "") or headers.get("x-clickhouse-format", "") or "TabSeparated"
    query_id = values.pop("query_id", "") or None
    may_compress = _is_set(values.pop("enable_http_compression", ""))
    read_only = method in ("GET", "HEAD") or _is_set(values.pop("readonly", ""))
    values.pop("readonly", None)
    parameters = {k.removeprefix(PARAMETER_PREFIX): v for k, v in values.items() if k.startswith(PARAMETER_PREFIX)}
    settings = {k: v for k, v in values.items() if not k.startswith(PARAMETER_PREFIX) and k not in WITHOUT_EFFECT}
    statement = Statement(text, read_only, database, default_format, parameters, settings)
    return QueryRequest(statement, query_id, may_compress)


def _is_set(flag: str) -> bool:
    return flag not in ("", "0", "false")
