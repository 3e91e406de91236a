"""A third party's module that fails while it is imported."""

STAGE = 1 / 0
