"""A hold with a stop or a target wants 5-minute candles, however long it is."""

from rules.arena.loading import plan_loads
from rules.arena.lookups import build_book
from rules.arena.pricing import Books, choose_book
from rules.arena.status import Exits, OpenCall
from rules.arena.symbols import spellings
from rules.arena.types import Candle, CoinRows, Commit, Interval, OpenRecord, Status

ENTRY_S = 1_791_504_000
AS_OF_S = ENTRY_S + 90_000
RECORD = OpenRecord(1, "0x11", None, 300, 2_592_000, ENTRY_S)
COMMIT = Commit(0, bytes(32), ENTRY_S - 60, ENTRY_S, 7200, 0)
PLAIN = OpenCall(COMMIT, Status.REVEALED, "BTC", "BTC", 1)
WITH_STOP = OpenCall(COMMIT, Status.REVEALED, "BTC", "BTC", 1, Exits(stop=90.0, target=None))


def test_exits_ask_for_the_fine_window_and_use_its_book() -> None:
    known = spellings(["BTC"])
    assert plan_loads(RECORD, [PLAIN], known, AS_OF_S).fine is None
    window = plan_loads(RECORD, [WITH_STOP], known, AS_OF_S).fine
    assert window is not None
    assert (window.coins, window.from_s, window.to_s) == (("BTC",), ENTRY_S - 3600, ENTRY_S + 7200 + 3600)
    hourly = [Candle(time_s, 100, 100, 100, 100) for time_s in range(ENTRY_S, AS_OF_S, 3600)]
    fine = [Candle(time_s, 100, 100, 100, 100) for time_s in range(ENTRY_S, AS_OF_S, 300)]
    market = {"BTC": CoinRows(hourly, fine)}
    books = Books(
        *(build_book(market, interval, ["BTC"], 0, AS_OF_S, AS_OF_S) for interval in (Interval.HOURLY, Interval.FINE))
    )
    assert choose_book(PLAIN, ["BTC"], books, AS_OF_S) is books.hourly
    assert choose_book(WITH_STOP, ["BTC"], books, AS_OF_S) is books.fine
    assert choose_book(WITH_STOP, ["ETH"], books, AS_OF_S) is books.hourly
