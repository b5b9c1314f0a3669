"""What all tests share: browser tests are skipped where there is no Chromium, except in CI, which must have one."""

import os
from pathlib import Path

import pytest

CHROMIUM = Path("/usr/bin/chromium")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs Chromium where it is missing; with CI=true those tests run, and fail, instead."""
    if CHROMIUM.exists() or os.environ.get("CI") == "true":
        return
    missing = pytest.mark.skip(reason=f"needs Chromium at {CHROMIUM} (Debian's package chromium)")
    for item in items:
        if item.get_closest_marker("browser") is not None:
            item.add_marker(missing)
