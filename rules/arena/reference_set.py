"""The frozen coins that stand in for an unknown coin of an any-coin record (Rule A6)."""

from typing import Final

REFERENCE_SET_NAME: Final = "hyperliquid-top50-2026-10-07"
# fmt: off
REFERENCE_SET: Final[tuple[str, ...]] = (
    "BTC", "ETH", "HYPE", "ZEC", "SOL", "NEAR", "PUMP", "XRP", "ENA", "UNI", "ZRO", "LIT", "SUI",
    "TAO", "WLD", "ONDO", "AVAX", "DOGE", "PONS", "kPEPE", "XPL", "ADA", "ARB", "VVV", "MON",
    "AAVE", "XMR", "FARTCOIN", "LINK", "PENGU", "LTC", "BNB", "CASHCAT", "ETHFI", "JUP", "CRV",
    "GRAM", "INJ", "GRASS", "TRUMP", "CHIP", "GRIFFAIN", "SAND", "MINA", "FET", "kNEIRO", "ASTER",
    "RENDER", "BCH", "ICP",
)
# fmt: on
