"""ClickHouse's HTTP interface as an ASGI application over the chDB engine."""

import asyncio
import json
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from referee.embedded.clickhouse_codec import decode_body, encode_body
from referee.embedded.clickhouse_engine import Engine, Outcome
from referee.embedded.clickhouse_errors import NOT_IMPLEMENTED, ClickHouseError
from referee.embedded.clickhouse_request import QueryRequest, read_request

READ_THREADS: Final = 8
WRITE_THREADS: Final = 4
LOOPBACK_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})
TEXT: Final = "text/plain; charset=UTF-8"
CONTENT_TYPES: Final[Mapping[str, str]] = {
    "TabSeparated": "text/tab-separated-values; charset=UTF-8",
    "TSV": "text/tab-separated-values; charset=UTF-8",
    "TabSeparatedWithNames": "text/tab-separated-values; charset=UTF-8",
    "CSV": "text/csv; charset=UTF-8; header=absent",
    "CSVWithNames": "text/csv; charset=UTF-8; header=present",
    "JSON": "application/json; charset=UTF-8",
    "JSONCompact": "application/json; charset=UTF-8",
    "JSONEachRow": "application/x-ndjson; charset=UTF-8",
    "JSONCompactEachRow": "application/x-ndjson; charset=UTF-8",
}


class ClickHouseApplication:
    """Answer queries, pings and errors as ClickHouse does.

    Reads and writes have threads of their own, so that a long read never keeps an insert waiting.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._readers = ThreadPoolExecutor(READ_THREADS, thread_name_prefix="read")
        self._writers = ThreadPoolExecutor(WRITE_THREADS, thread_name_prefix="write")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        headers = Headers(scope=scope)
        if not _is_local(headers):
            await _send(send, 403, b"Only local clients are served.\n", {"Content-Type": TEXT})
        elif scope["path"] in ("/ping", "/replicas_status"):
            await _send(send, 200, b"Ok.\n", {"Content-Type": TEXT})
        elif scope["path"] != "/":
            text = f"There is no handle {scope['path']}\n\nUse / or /ping for health checks.\n"
            await _send(send, 404, text.encode(), {"Content-Type": TEXT})
        elif scope["method"] in ("GET", "HEAD") and not scope["query_string"]:
            await _send(send, 200, b"Ok.\n", {"Content-Type": TEXT})
        else:
            await self._answer(Request(scope, receive), headers, send)

    async def _answer(self, http: Request, headers: Headers, send: Send) -> None:
        common = {
            "X-ClickHouse-Query-Id": str(uuid.uuid4()),
            "X-ClickHouse-Timezone": self._engine.timezone,
            "X-ClickHouse-Server-Display-Name": self._engine.host_name,
        }
        try:
            request = await _read(http, headers)
            if request.query_id is not None:
                common["X-ClickHouse-Query-Id"] = request.query_id
            outcome = await self._run(request)
        except ClickHouseError as error:
            common |= {"X-ClickHouse-Exception-Code": str(error.code), "Content-Type": TEXT}
            await _send(send, error.http_status, error.body(self._engine.version).encode(), common)
            return
        body = outcome.body
        common |= {"X-ClickHouse-Summary": _summary(outcome), "Content-Type": TEXT}
        if outcome.result_format is not None:
            common["X-ClickHouse-Format"] = outcome.result_format
            common["Content-Type"] = CONTENT_TYPES.get(outcome.result_format, "application/octet-stream")
        if request.may_compress:
            body, encoding = encode_body(body, headers.get("accept-encoding", ""))
            if encoding is not None:
                common["Content-Encoding"] = encoding
        await _send(send, 200, body, common)

    async def _run(self, request: QueryRequest) -> Outcome:
        threads = self._readers if request.statement.read_only else self._writers
        return await asyncio.get_running_loop().run_in_executor(threads, self._engine.run, request.statement)


async def _read(http: Request, headers: Headers) -> QueryRequest:
    form: dict[str, str] = {}
    body = b""
    if headers.get("content-type", "").startswith("multipart/form-data"):
        async with http.form(max_part_size=64 * 1024 * 1024) as fields:
            for name, value in fields.multi_items():
                if not isinstance(value, str):
                    raise ClickHouseError(
                        NOT_IMPLEMENTED, f"External data ({name}) is not supported. (NOT_IMPLEMENTED)"
                    )
                form[name] = value
    else:
        body = decode_body(await http.body(), headers.get("content-encoding", ""))
    return read_request(http.method, http.scope["query_string"], headers, form, body)


def _is_local(headers: Headers) -> bool:
    """Keep web pages of strangers out: a browser names the site that it believes to be talking to, or comes from."""
    names = [urlsplit(f"//{headers.get('host', '')}").hostname]
    if "origin" in headers:
        names.append(urlsplit(headers["origin"]).hostname)
    return all(name in LOOPBACK_NAMES for name in names)


def _summary(outcome: Outcome) -> str:
    return json.dumps(
        {
            "read_rows": str(outcome.read_rows),
            "read_bytes": str(outcome.read_bytes),
            "written_rows": str(outcome.written_rows),
            "written_bytes": str(outcome.written_bytes),
            "total_rows_to_read": "0",
            "result_rows": str(outcome.result_rows or outcome.written_rows),
            "result_bytes": str(outcome.written_bytes or len(outcome.body)),
            "elapsed_ns": str(outcome.elapsed_ns),
        },
        separators=(",", ":"),
    )


async def _send(send: Send, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    raw = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()]
    raw.append((b"Content-Length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
