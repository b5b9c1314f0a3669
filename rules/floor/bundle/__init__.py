"""Evidence bundles of the Floor: read, recomputed and given back as the result that they must show."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rules.floor.bundle.call_result import evaluate_call
from rules.floor.bundle.ledger_bundle import evaluate_ledger
from rules.floor.bundle.table_bundle import evaluate_table

EVALUATORS: Mapping[str, Callable[[Mapping[str, object]], dict[str, object]]] = {
    "floor-call": evaluate_call,
    "floor-table": evaluate_table,
    "floor-ledger": evaluate_ledger,
}
