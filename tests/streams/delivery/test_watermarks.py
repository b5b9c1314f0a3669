"""Tests of the watermarks that travel in the topics."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.delivery.watermarks import HEADER, WatermarkTracker, header, is_watermark, parse

MARKS = st.lists(st.tuples(st.sampled_from(["a/0", "a/1", "b", "stranger"]), st.integers(-(2**40), 2**40)), max_size=40)


def tracker() -> WatermarkTracker:
    """Return a tracker over one topic of two origins and one of one."""
    return WatermarkTracker({"posts": ["a/0", "a/1"], "clock": ["b"]})


def test_it_is_unknown_until_every_origin_has_spoken() -> None:
    marks = tracker()
    assert marks.current() is None
    marks.update("posts", "a/0", 10)
    marks.update("clock", "b", 30)
    assert marks.current() is None
    assert marks.current("clock") == 30
    assert marks.current("posts") is None
    marks.update("posts", "a/1", 20)
    assert marks.current() == 10
    assert marks.current("posts", "clock") == 10


def test_steps_back_and_unknown_origins_are_ignored() -> None:
    marks = WatermarkTracker({"clock": ["b"]})
    for origin, time_ms in (("b", 30), ("b", 20), ("b", 30), ("stranger", 1), ("b/0", 1)):
        assert marks.update("clock", origin, time_ms) is (origin == "b" and time_ms == 30)
    assert not marks.update("posts", "b", 1)
    assert marks.current() == 30
    assert marks.current("posts") is None


def test_a_topic_without_writers_holds_nothing_back() -> None:
    marks = WatermarkTracker({"receipts": [], "clock": ["b"]})
    marks.update("clock", "b", 5)
    assert marks.current() == 5
    assert WatermarkTracker({}).current() is None


@given(MARKS)
def test_it_never_goes_back_and_is_the_least_of_the_greatest(heard: list[tuple[str, int]]) -> None:
    marks = tracker()
    greatest: dict[str, int] = {}
    before: int | None = None
    for origin, time_ms in heard:
        marks.update("clock" if origin == "b" else "posts", origin, time_ms)
        if origin != "stranger":
            greatest[origin] = max(time_ms, greatest.get(origin, time_ms))
        now = marks.current()
        assert now == (min(greatest.values()) if len(greatest) == 3 else None)
        assert before is None or (now is not None and now >= before)
        before = now


@pytest.mark.parametrize("origin", ["feed", "ingress/11", "a@b", "@", ""])
@pytest.mark.parametrize("time_ms", [0, -5, 1_750_000_000_000])
def test_what_is_sent_is_read_back(origin: str, time_ms: int) -> None:
    headers = header(origin, time_ms)
    assert is_watermark(headers)
    assert parse(headers) == (origin, time_ms)


@pytest.mark.parametrize("raw", [b"", b"@feed", b"soon@feed", b"1.5@feed", b"feed@1", b"\xff@feed"])
def test_a_broken_watermark_is_an_error_and_no_time(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse([(HEADER, raw)])


@pytest.mark.parametrize("headers", [[], [("other", b"1@feed")], [("other", b""), (HEADER, b"1@feed")]])
def test_only_the_first_header_makes_a_watermark(headers: list[tuple[str, bytes]]) -> None:
    assert not is_watermark(headers)
