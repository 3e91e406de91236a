"""Presets, packaged so that `cascade run NAME` finds them; each quotes its source in a comment."""
