"""What a published bundle carries besides its rows, raw answers and ledger entries, and whether it all agrees."""

from collections.abc import Mapping

from referee.raw_answers import ANSWERS, check_rows, read_answers, shown_by
from rules.canonical import CanonicalError
from rules.floor.bundle.call_result import evaluate_call
from rules.floor.bundle.fields import BundleError, Fields
from rules.floor.ledger import entry_hash

LEDGER = "ledger"


def evaluate_published(document: Mapping[str, object]) -> dict[str, object]:
    """Recompute a `floor-call` bundle, and hold it to the raw answers and the ledger entries that it carries.

    Raises BundleError when it is malformed or contradicts itself. A bundle without them is evaluated as it is.
    """
    result = evaluate_call(document)
    if ANSWERS in document:
        check_rows(document, shown_by(read_answers(document)))
    if LEDGER in document:
        _check_entries(document, result)
    return result


def _check_entries(document: Mapping[str, object], result: Mapping[str, object]) -> None:
    bundle = Fields(document)
    for entry in bundle.objects(LEDGER):
        body = entry.fields("body")
        try:
            actual = entry_hash(
                entry.count("seq"),
                entry.choice("kind", ("seal", "settle")),
                entry.text("unit"),
                entry.time_ms("at"),
                body.raw,
                entry.text("prev"),
            )
        except CanonicalError as error:
            raise BundleError(f"{body.path}: has no canonical JSON ({error})") from error
        if actual != entry.text("hash"):
            raise BundleError(f"{entry.at('hash')}: the entry hashes to {actual}")
        if entry.text("kind") == "seal":
            # Against what is expected, where it says so: then a changed call shows as the seal that it leads to
            expected = document.get("expected")
            published = expected if isinstance(expected, Mapping) and "seal" in expected else result
            _check_field(body, "seal", published.get("seal"))
            continue
        recorded = bundle.fields("recorded")
        for name in ("status", "score"):
            _check_field(body, name, recorded.get(name))
        hashes = {answer.text("sha256") for answer in bundle.objects(ANSWERS)}
        _check_field(body, "evidence", sorted(hashes))


def _check_field(body: Fields, name: str, value: object) -> None:
    if body.get(name) != value:
        raise BundleError(f"{body.at(name)}: is not what the bundle holds")
