"""Tests of the webhook against an HTTP server on loopback."""

import hashlib
import hmac
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pydantic import ValidationError

from sinks.errors import PermanentSinkError, RetriableSinkError
from sinks.webhook import RetryPolicy, Webhook
from topics.operations import Alert

ALERT = Alert(
    id="a" * 64,
    kind="void",
    severity="warning",
    subject="call-1",
    coin="BTC",
    agent="agent-1",
    reason="venue_halt",
    text="A touch call is void: naïve.",
    at=1_749_340_920_000,
)
LOST = 0


@dataclass
class Receiver:
    """A server that answers with the statuses it is told, the last one for good; `LOST` hangs up instead."""

    statuses: list[int] = field(default_factory=lambda: [204])
    got: list[tuple[Mapping[str, str], bytes]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Run a receiver of webhooks."""
    state = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.got.append((dict(self.headers.items()), body))
            status = state.statuses.pop(0) if len(state.statuses) > 1 else state.statuses[0]
            self.close_connection = True
            if status == LOST:
                return
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.send_header("Location", state.url)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Keep the test's output quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/hook/secret-token"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


class Waits:
    """Notes the waits that are asked for, and does not wait."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)


async def test_an_alert_is_posted_as_it_is_with_its_id(receiver: Receiver) -> None:
    async with Webhook(receiver.url) as webhook:
        await webhook.send(ALERT.encode())
    ((headers, body),) = receiver.got
    assert body == ALERT.encode()
    assert (headers["Idempotency-Key"], headers["Content-Type"]) == (ALERT.id, "application/json")
    assert "X-Referee-Signature" not in headers


async def test_a_secret_signs_the_bytes_of_the_body(receiver: Receiver) -> None:
    async with Webhook(receiver.url, b"pass word") as webhook:
        await webhook.send(ALERT.encode())
    ((headers, body),) = receiver.got
    expected = hmac.new(b"pass word", body, hashlib.sha256).hexdigest()
    assert headers["X-Referee-Signature"] == f"sha256={expected}"


@pytest.mark.parametrize("status", [LOST, 408, 425, 429, 500, 503])
async def test_what_may_pass_is_tried_again_with_the_same_bytes_after_growing_waits(
    receiver: Receiver, status: int
) -> None:
    receiver.statuses = [status, status, 200]
    waits = Waits()
    async with Webhook(receiver.url, wait=waits) as webhook:
        await webhook.send(ALERT.encode())
    assert waits.asked == [0.5, 1.0]
    assert {body for _, body in receiver.got} == {ALERT.encode()}
    assert [headers["Idempotency-Key"] for headers, _ in receiver.got] == [ALERT.id] * 3


async def test_attempts_are_bounded_and_the_error_hides_the_path(receiver: Receiver) -> None:
    receiver.statuses = [503]
    waits = Waits()
    async with Webhook(receiver.url, policy=RetryPolicy(attempts=4, first_wait_s=2.0), wait=waits) as webhook:
        with pytest.raises(RetriableSinkError, match=r"^webhook at 127.0.0.1: status 503, 4 attempts$"):
            await webhook.send(ALERT.encode())
    assert (len(receiver.got), waits.asked) == (4, [2.0, 4.0, 8.0])


@pytest.mark.parametrize("status", [302, 400, 401, 404, 410])
async def test_a_refusal_or_a_redirect_is_final(receiver: Receiver, status: int) -> None:
    receiver.statuses = [status]
    async with Webhook(receiver.url) as webhook:
        with pytest.raises(PermanentSinkError, match=f"status {status}"):
            await webhook.send(ALERT.encode())
    assert len(receiver.got) == 1


async def test_a_server_that_is_not_there_is_an_error_that_may_pass(receiver: Receiver) -> None:
    waits = Waits()
    async with Webhook("http://127.0.0.1:1/", wait=waits) as webhook:
        with pytest.raises(RetriableSinkError, match="no answer \\(ConnectError\\), 3 attempts"):
            await webhook.send(ALERT.encode())
    assert waits.asked == [0.5, 1.0]


async def test_bytes_that_are_no_alert_are_not_posted(receiver: Receiver) -> None:
    async with Webhook(receiver.url) as webhook:
        with pytest.raises(ValidationError):
            await webhook.send(b"{}")
    assert receiver.got == []


@pytest.mark.parametrize("url", ["", "localhost/hook", "ftp://host/", "http:///hook", "http://host:port/"])
def test_a_url_that_cannot_be_posted_to_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="url"):
        Webhook(url)
