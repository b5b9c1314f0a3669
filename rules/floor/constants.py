"""Every constant of the Floor rulebook, under one version."""

from __future__ import annotations

from typing import Final

from rules.market import DAY_MS, FIVE_MINUTES_MS, HOUR_MS, MINUTE_MS

RULES_VERSION: Final = "floor-1.0"
BASELINE_VERSION: Final = "b-1"

# F1: a call
PROBABILITY_MIN: Final = 0.02
PROBABILITY_MAX: Final = 0.98
DEADLINE_STEP_MS: Final = FIVE_MINUTES_MS
HORIZON_MIN_MS: Final = HOUR_MS
HORIZON_MAX_MS: Final = 30 * DAY_MS
DAILY_CAP: Final = 6
OPEN_CAP: Final = 20
OPEN_CAP_PROVISIONAL: Final = 5

# F2: sources
CHAIN_VENUE: Final = "chain"
FLOOR_VENUE: Final = "floor"
VOLUME_FLOOR_USD: Final = 50_000_000.0

# Inclusive bounds take in a decimal tie whatever the rounding noise
BOUND_SLACK: Final = 1e-9

# F3: the claim
CLAIM_LEVEL_TOLERANCE: Final = 0.0005

# F4: prints, S and W
PRINT_MS: Final = FIVE_MINUTES_MS
PRICE_MAX_AGE_MS: Final = 10 * MINUTE_MS

# F5: a post in the last 1/10 of its window is late
WINDOW_CLOSING_DIVISOR: Final = 10

# F6: baselines
BASELINE_MIN: Final = 0.02
BASELINE_MAX: Final = 0.98
VOLATILITY_RETURNS: Final = 720
VOLATILITY_RETURNS_MIN: Final = 168
VOLATILITY_DECAY: Final = 1 - 2 / (VOLATILITY_RETURNS + 1)
BASE_RATE_LOOKBACK_MS: Final = 180 * DAY_MS
BASE_RATE_LOOKBACK_FLOOR_MS: Final = 90 * DAY_MS
BASE_RATE_WINDOWS_MIN: Final = 24
FUNDING_PERIOD_MS: Final = HOUR_MS
METRIC_PERIODS_VALID: Final = 2
CALIBRATION_EDGE: Final = 1e-12

# F7: labels
HUGGING_DISTANCE: Final = 0.05
COPY_WINDOW_MS: Final = 10 * MINUTE_MS
COPY_LEVEL_DISTANCE: Final = 0.005
COPY_WEIGHT: Final = 0.5
CORRELATION_WINDOW_MS: Final = HOUR_MS

# F8: settlement
GRACE_MS: Final = 2 * MINUTE_MS
HOLE_MS: Final = 10 * MINUTE_MS
REFERENCE_SYMBOLS: Final = ("BTC", "ETH", "SOL")
VENUE_DISTANCE: Final = 0.005
SECOND_VENUE_MAX_AGE_MS: Final = 10 * MINUTE_MS
RETRY_MS: Final = MINUTE_MS
RETRY_LIMIT_MS: Final = HOUR_MS

# F9: Standing
HALF_LIFE_MS: Final = 30 * DAY_MS
RANKED_SETTLED_MIN: Final = 20

# F11: finality
FINALITY_MS: Final = DAY_MS

# F13: seasons
SEASON_SETTLED_MIN: Final = 20
SEASON_PASS_RATE_MIN: Final = 0.90
SEASON_AGENTS_PER_OPERATOR: Final = 3
