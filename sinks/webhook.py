"""Posts alerts to a webhook: signed, retried within bounds, each known by its id."""

import asyncio
import hashlib
import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httpx

from sinks.errors import PermanentSinkError, RetriableSinkError
from topics.operations import Alert

SIGNATURE_HEADER = "X-Referee-Signature"
ID_HEADER = "Idempotency-Key"
RETRIED_STATUSES = frozenset({408, 425, 429})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently a webhook is tried."""

    attempts: int = 3
    """How often an alert is posted at most."""

    first_wait_s: float = 0.5
    """The wait after the first failure; it doubles after each further one."""

    timeout_s: float = 2.5
    """How long one attempt may take to connect, and then between two reads or writes."""

    connections: int = 8
    """How many posts run at once; the others queue, so that a burst of voids does not flood the receiver."""

    def wait_s(self, failures: int) -> float:
        """Return the wait in s after so many failures, at least 1."""
        return float(self.first_wait_s * 2 ** (failures - 1))


def signature(secret: bytes, body: bytes) -> str:
    """Return the signature header's value: `sha256=` and the HMAC-SHA256 of the body under the secret, in hex."""
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


class Webhook:
    """One receiver of alerts.

    A 2xx answer is success. A lost connection, a timeout, 408, 425, 429 and 5xx are tried again as the policy says; any
    other answer, redirects too, is final. The receiver may get an alert more than once, when its answer was lost or
    after a crash here: the `Idempotency-Key` is the alert's id and tells. The URL may hold a token, so that errors name
    its host only.
    """

    def __init__(
        self,
        url: str,
        secret: bytes | None = None,
        *,
        policy: RetryPolicy | None = None,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Prepare posts to `url`; raises ValueError unless it is an absolute http(s) URL.

        With a `secret` each body is signed in `X-Referee-Signature`; `wait` waits that many s between attempts.
        """
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise ValueError(f"url of the webhook cannot be read: {error}") from error
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ValueError("url of the webhook must be absolute, http or https")
        self._url = parsed
        self._secret = secret
        self._policy = policy or RetryPolicy()
        self._wait = wait
        self._slots = asyncio.Semaphore(self._policy.connections)
        loopback = parsed.host in ("localhost", "127.0.0.1", "::1")
        self._client = httpx.AsyncClient(timeout=self._policy.timeout_s, trust_env=not loopback)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def send(self, alert_json: bytes) -> None:
        """Post an alert's JSON and return when it was accepted.

        Raises RetriableSinkError when every attempt failed, PermanentSinkError when the receiver refused, and
        `pydantic.ValidationError` for bytes that are no alert.
        """
        alert = Alert.decode(alert_json)
        headers = {"Content-Type": "application/json", ID_HEADER: alert.id}
        if self._secret is not None:
            headers[SIGNATURE_HEADER] = signature(self._secret, alert_json)
        failure = ""
        for attempt in range(self._policy.attempts):
            if attempt:
                await self._wait(self._policy.wait_s(attempt))
            async with self._slots:
                failure = await self._attempt(alert_json, headers)
            if not failure:
                return
        raise RetriableSinkError(f"webhook at {self._url.host}: {failure}, {self._policy.attempts} attempts")

    async def _attempt(self, body: bytes, headers: dict[str, str]) -> str:
        """Post once; return why to try again, or nothing on success."""
        try:
            response = await self._client.post(self._url, content=body, headers=headers)
        except httpx.TransportError as error:
            return f"no answer ({type(error).__name__})"
        if response.is_success:
            return ""
        if response.is_server_error or response.status_code in RETRIED_STATUSES:
            return f"status {response.status_code}"
        raise PermanentSinkError(f"webhook at {self._url.host}: status {response.status_code}, not tried again")
