"""Options of the ECharts pictures. Tooltips are ECharts' own, which escape; no agent text is put into a chart."""

from datetime import datetime
from math import isfinite
from typing import Any

INK, GRID, LINE = "#84888f", "rgba(128,132,140,0.18)", "#4f7cba"
FRAME = {"left": 34, "right": 64, "outerBoundsMode": "none"}
UP, DOWN, LEVEL = "#3f9c6d", "#c2564b", "#a9812f"

Row = dict[str, Any]


def label(moment: datetime) -> str:
    """Return the time under a candle, UTC with its date."""
    return moment.strftime("%m-%d %H:%M")


def _axis(**more: Any) -> Row:
    base: Row = {
        "axisLine": {"lineStyle": {"color": GRID}},
        "axisTick": {"show": False},
        "axisLabel": {"color": INK, "hideOverlap": True},
        "splitLine": {"lineStyle": {"color": GRID}},
    }
    return base | more


MOST_LABELS = 8
"""Level lines with words on them: more of them would cover each other."""


def _label_before(moment: datetime, candles: list[Row]) -> str | None:
    """Return the place on the axis of the candle that a moment falls into, or of the last one before it."""
    before = [row["open_time"] for row in candles if row["open_time"] <= moment]
    return label(before[-1]) if before else None


def _vertical(moments: dict[str, datetime], candles: list[Row]) -> list[Row]:
    places = {name: _label_before(moment, candles) for name, moment in moments.items()}
    style = {"color": INK, "type": "solid", "width": 1, "opacity": 0.6}
    text = {"formatter": "{b}", "color": INK, "position": "insideEndTop", "rotate": 0}
    return [
        {"name": name, "xAxis": place, "lineStyle": style, "label": text}
        for name, place in places.items()
        if place is not None
    ]


def _bounds(candles: list[Row], levels: list[float]) -> Row:
    """Return axis limits that hold the candles and every level, with a little air."""
    low = min([*(row["low"] for row in candles), *levels])
    high = max([*(row["high"] for row in candles), *levels])
    air = (high - low) * 0.06 or abs(high) * 0.01
    # The limits are no round numbers, so they get no words.
    text = {"color": INK, "showMinLabel": False, "showMaxLabel": False}
    return {"min": low - air, "max": high + air, "axisLabel": text}


def candlesticks(
    candles: list[Row], levels: list[Row], volatility: list[Row], moments: dict[str, datetime] | None = None
) -> Row:
    """Return candles with horizontal open levels, and σ per √hour below when there is any.

    `levels` have `name` (a kind, never agent text) and `level`. With `moments` the picture is of one call: they become
    vertical lines, and the axis reaches every level.
    """
    times = [label(row["open_time"]) for row in candles]
    known = {label(row["at"]): round(100 * row["sigma"], 4) for row in volatility if row["sigma"] is not None}
    sigma = [known.get(time) for time in times]
    with_sigma = any(value is not None for value in sigma)
    distinct = dict.fromkeys((row["name"], row["level"]) for row in levels)
    grids: list[Row] = [FRAME | {"top": 16, "height": 250 if with_sigma else 324}]
    x_axes = [_axis(type="category", data=times, gridIndex=0, splitLine={"show": False})]
    y_axes = [_axis(type="value", scale=True, position="right", gridIndex=0)]
    if moments is not None:
        y_axes[0] |= _bounds(candles, [level for _, level in distinct])
    series: list[Row] = [
        {
            "name": "price",
            "type": "candlestick",
            "data": [[row["open"], row["close"], row["low"], row["high"]] for row in candles],
            "itemStyle": {"color": UP, "color0": DOWN, "borderColor": UP, "borderColor0": DOWN},
            "markLine": {
                "silent": True,
                "symbol": "none",
                "lineStyle": {"color": LEVEL, "type": "dashed", "width": 1},
                "label": {
                    "show": len(distinct) <= MOST_LABELS,
                    "position": "insideStartTop",
                    "color": LEVEL,
                    "fontSize": 11,
                    "formatter": "{b} {c}",
                },
                "data": [
                    *({"name": name, "yAxis": level} for name, level in distinct),
                    *_vertical(moments or {}, candles),
                ],
            },
        }
    ]
    if with_sigma:
        x_axes[0]["axisLabel"] = {"show": False}
        grids.append(FRAME | {"top": 292, "height": 56})
        x_axes.append(_axis(type="category", data=times, gridIndex=1, splitLine={"show": False}))
        y_axes.append(
            _axis(
                type="value", scale=True, position="right", gridIndex=1, splitNumber=2,
                axisLabel={"color": INK, "formatter": "{value} %"},
            )
        )  # fmt: skip
        series.append(
            {
                "name": "σ per √hour, %", "type": "line", "data": sigma, "xAxisIndex": 1, "yAxisIndex": 1,
                "connectNulls": True, "showSymbol": len(known) < 3, "lineStyle": {"color": LINE, "width": 1.5},
                "itemStyle": {"color": LINE},
            }
        )  # fmt: skip
    return {
        "animation": False,
        "grid": grids,
        "xAxis": x_axes,
        "yAxis": y_axes,
        "series": series,
        "tooltip": {"trigger": "axis", "axisPointer": {"type": "cross"}, "confine": True},
        "axisPointer": {"link": [{"xAxisIndex": "all"}]},
        "dataZoom": [{"type": "inside", "xAxisIndex": list(range(len(x_axes)))}],
    }


def line(name: str, times: list[str], values: list[float], unit: str = "") -> Row:
    """Return one line over time; what is not a finite number is left out of it."""
    return {
        "animation": False,
        "grid": FRAME | {"top": 16, "bottom": 44},
        "xAxis": _axis(type="category", data=times, boundaryGap=False, splitLine={"show": False}),
        "yAxis": _axis(
            type="value", scale=True, position="right", axisLabel={"color": INK, "formatter": "{value}" + unit}
        ),
        "series": [
            {
                "name": name, "type": "line", "showSymbol": len(values) < 40, "symbolSize": 4,
                "data": [value if isfinite(value) else None for value in values],
                "lineStyle": {"color": LINE, "width": 1.75}, "itemStyle": {"color": LINE},
                "markLine": {"silent": True, "symbol": "none", "label": {"show": False}, "data": [{"yAxis": 0}],
                             "lineStyle": {"color": INK, "type": "solid", "width": 1, "opacity": 0.5}},
            }
        ],
        "tooltip": {"trigger": "axis", "confine": True},
    }  # fmt: skip
