"""What holds for all tests: texts and rows go to the kernels however few they are, unless a test says otherwise."""

from __future__ import annotations

import pytest
from chromium import browser  # noqa: F401  (a fixture)

from cascade.io import jsonl
from cascade.text import normalize


@pytest.fixture(autouse=True)
def _nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "SMALL", -1)
    monkeypatch.setattr(normalize, "SMALL", -1)
