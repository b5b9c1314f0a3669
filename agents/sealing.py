"""Sealing: checks an agent's caps and seals its calls in the order in which they were posted (Rules F1, F7).

Caps and the provisional mark depend on settlements, which depend on sealed calls. The circle has slack: a call settles
an hour and two minutes after its post at the earliest, so `settlement` can promise that far ahead of what was sealed.
A quote that is delivered again after its answer must not be held against the caps that it filled itself: an agent's
posts lie in one partition and are answered in their order, so that the last answered position tells a repeat.
"""

from aiokafka.structs import ConsumerRecord

from agents.caps import AgentCounts, open_calls_by_agent
from rules.canonical import CanonicalError, canonical_sha256
from rules.floor.call import check_caps
from rules.floor.labels import PostedCall, labels
from rules.floor.refusal import Refusal
from rules.floor.seal import SealedBaseline, SealedFields, seal_document
from rules.floor.sources import parse_source
from rules.floor.terms import TermsInvalidError, Touch, parse_terms
from streams.delivery.outbox import Outbox
from streams.delivery.pending import Pending
from streams.delivery.reducer import AgentSpec, PoisonError, Reducer
from streams.delivery.state import PartitionState
from streams.delivery.watermarks import WatermarkTracker
from topics.floor import Call, Labels, OpenLevel, Quote, Settlement
from topics.ingress import Receipt
from topics.keys import coin_key
from topics.operations import Entry
from topics.registry import CALLS, ENTRIES, LEVELS, QUOTES, RECEIPTS, RESULTS


class SealingReducer(Reducer):
    """The quotes that wait for their turn and the counts of the agents of one partition."""

    def __init__(self, state: PartitionState) -> None:
        super().__init__(state)
        self._quotes = Pending(
            state,
            "quotes/",
            Quote,
            lambda quote: (quote.post.posted_at, quote.post.position.partition, quote.post.position.offset),
        )
        self._results = Pending(state, "results/", Settlement, lambda result: (result.settled_at, result.id))
        self._counts = {agent: AgentCounts(state, agent, calls) for agent, calls in open_calls_by_agent(state).items()}

    def apply(self, record: ConsumerRecord, out: Outbox) -> None:
        """Take in a quote or a settlement."""
        if record.topic.endswith(QUOTES.name):
            quote = Quote.decode(record.value)
            if quote.refusal is None:
                sealed(quote, ranked=False)  # raises now what would raise at its turn
            if not self._of(quote.post.agent).is_answered(quote.post.position):
                self._quotes.add(quote)
        else:
            self._results.add(Settlement.decode(record.value))

    async def advance(self, watermarks: WatermarkTracker, out: Outbox) -> int | None:
        """Answer, in order, the quotes behind which no earlier quote and no earlier settlement can come.

        The promise needs the quotes alone: whatever still waits is not sealed earlier than the first of it.
        """
        quotes_ms = watermarks.current(QUOTES.name)
        results_ms = watermarks.current(RESULTS.name)
        if quotes_ms is None:
            return None
        if results_ms is not None:
            for quote in self._quotes.pop_before(min(quotes_ms, results_ms)):
                self._settle_until(quote.post.posted_at)
                self._answer(quote, out)
            if not len(self._quotes):
                self._settle_until(min(quotes_ms, results_ms) - 1)
        first = self._quotes.first_time()
        return quotes_ms if first is None else min(quotes_ms, first)

    def _settle_until(self, time_ms: int) -> None:
        for result in self._results.pop_before(time_ms + 1):
            self._of(result.agent).settle(result.call, void=result.status == "void")

    def _answer(self, quote: Quote, out: Outbox) -> None:
        post = quote.post
        counts = self._of(post.agent)
        refusal = None if quote.refusal is None else Refusal(quote.refusal.code, quote.refusal.detail)  # type: ignore[arg-type]
        if refusal is None or refusal.code == "no_baseline":
            capped = check_caps(counts.sealed_on(post.posted_at), len(counts.open), counts.provisional)
            refusal = capped or refusal
        if refusal is None:
            call, document = sealed(quote, ranked=not counts.provisional)
            if call.id not in counts.open:
                counts.seal(call.id, post.posted_at)
                _emit_call(call, document, out)
        counts.answer(post.position)
        receipt = Receipt(
            id=post.id,
            kind="floor.call",
            agent=post.agent,
            status="accepted" if refusal is None else "rejected",
            code=None if refusal is None else refusal.code,
            detail=f"sealed at baseline {quote.b}" if refusal is None else refusal.detail,
            ref=None if refusal is not None else call.id,
            at=post.posted_at,
        )
        out.emit(RECEIPTS, post.agent, receipt, post.posted_at)

    def _of(self, agent: str) -> AgentCounts:
        if agent not in self._counts:
            self._counts[agent] = AgentCounts(self.state, agent, set())
        return self._counts[agent]


def sealed(quote: Quote, *, ranked: bool) -> tuple[Call, dict[str, object]]:
    """Return the sealed call of a quote that nothing refuses, and the document that its seal hashes (Rule F7).

    Raises `PoisonError` for a quote without a baseline, or with fields that cannot be sealed.
    """
    post = quote.post
    fields = post.fields
    source = parse_source(fields.source)
    if source is None or quote.b is None:
        raise PoisonError("incomplete_quote", f"quote of post {post.id} has source {fields.source!r} and b {quote.b}")
    seal_baseline = SealedBaseline(quote.b, quote.baseline_version)
    try:
        terms = parse_terms(fields.terms)
        sealed_fields = SealedFields(fields.claim, fields.deadline, fields.invalidation, fields.p, source, terms)
        document = seal_document(post.agent, sealed_fields, seal_baseline, post.posted_at)
        call_id = canonical_sha256(document)
    except (TermsInvalidError, CanonicalError) as error:
        raise PoisonError("incomplete_quote", f"quote of post {post.id} cannot be sealed: {error}") from error
    own = PostedCall(call_id, post.agent, post.operator, ranked, fields.source, terms, quote.side, post.posted_at)
    fixed = labels(own, fields.p, quote.b, ())
    call = Call(
        id=call_id,
        post=post.id,
        agent=post.agent,
        operator=post.operator,
        coin=post.coin,
        kind=terms.kind,
        fields=fields,
        posted_at=post.posted_at,
        s=quote.s,
        sigma=quote.sigma,
        b=quote.b,
        baseline_version=quote.baseline_version,
        side=quote.side,
        labels=Labels(
            baseline_hugging=fixed.baseline_hugging,
            copy_of=fixed.copy_of,
            correlated_with=fixed.correlated_with,
        ),
    )
    return call, document


def _emit_call(call: Call, document: dict[str, object], out: Outbox) -> None:
    at_ms = call.posted_at
    out.emit(CALLS, call.id, call, at_ms)
    terms = parse_terms(call.fields.terms)
    if isinstance(terms, Touch) and call.side in ("up", "down"):
        level = OpenLevel(
            call=call.id,
            coin=call.coin,
            level=terms.level,
            side=call.side,
            posted_at=call.posted_at,
            deadline=call.fields.deadline,
        )
        out.emit(LEVELS, coin_key(call.coin), level, at_ms)
    body = {"type": "seal", "call": call.id, "seal": call.id, "document": document}
    out.emit(ENTRIES, call.id, Entry(id=call.id, kind="seal", unit="standing", at=at_ms, body=body), at_ms)


def spec() -> AgentSpec:
    """Return the agent: quotes and settlements by agent in, sealed calls and receipts out."""
    return AgentSpec("sealing", (QUOTES, RESULTS), (CALLS, LEVELS, RECEIPTS, ENTRIES), SealingReducer)
