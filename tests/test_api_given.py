"""What may be handed to `dedupe` beside lists: tables, frames, series, readers; and what is refused with a reason."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cascade import InputError, dedupe

EXACT = {"stages": []}
TEXTS = ["один два", "Один  два", "три"]


@pytest.mark.parametrize(
    "data",
    [
        pd.Series(TEXTS),
        pl.Series(TEXTS),
        pa.array(TEXTS),
        pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        np.array(TEXTS),
        (text for text in TEXTS),
        dict.fromkeys(TEXTS).keys(),
    ],
    ids=lambda data: f"{type(data).__module__}.{type(data).__name__}",
)
def test_texts_of_every_kind(data):
    result = dedupe(data, EXACT)
    assert result.kept == [TEXTS[0], TEXTS[2]]
    assert [(d.id, d.kept_id) for d in result.removed] == [(1, 0)]


@pytest.mark.parametrize(
    "frame", [pa.table, pa.record_batch, pd.DataFrame, pl.DataFrame, lambda data: pa.table(data).to_reader()]
)
def test_tables_give_back_their_part(frame):
    kept = dedupe(frame({"text": TEXTS, "id": [7, 8, 9]}), EXACT).kept
    assert pa.table(kept).drop_columns([c for c in pa.table(kept).column_names if c.startswith("__")]).to_pydict() == {
        "text": [TEXTS[0], TEXTS[2]],
        "id": [7, 9],
    }


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "cannot read documents from NoneType"),
        (5, "cannot read documents from int"),
        ({"text": "a"}, "cannot read documents from dict"),
        (np.array("a"), "cannot read documents from ndarray"),
        (pl.LazyFrame({"text": ["a"]}), "cannot read documents from LazyFrame"),
        (b"ab", "none of the 2 rows holds a text; the first: the text is int"),
        (pa.table({"text": [1]}), "the text is int, not a string"),
        (pa.table({"body": ["a"]}), "columns are: body"),
        (pa.table([["a"], ["b"]], names=["text", "text"]), "more than one column 'text'"),
        (pd.DataFrame([["a", "b"]], columns=["text", "text"]), "cannot read the DataFrame as a table"),
        (pd.DataFrame({"text": ["a", 5]}), "cannot read the DataFrame as a table"),
    ],
    ids=lambda value: value.split()[-1] if isinstance(value, str) else "",
)
def test_what_is_no_corpus(data, reason):
    with pytest.raises(InputError, match=reason):
        dedupe(data, EXACT)
