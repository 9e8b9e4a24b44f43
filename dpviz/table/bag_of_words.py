"""A made-up collection of texts: few words a row out of many, in a handful of topics."""

from __future__ import annotations

import numpy as np

from dpviz.table.declaration import Declaration, FileKind
from dpviz.table.loaded_table import LoadedTable, numeric_table

ROWS, WORDS, TOPICS = 20_000, 400, 5
_PER_ROW, _OWN, _COMMON_SHARE = 20, 40, 0.3
_TITLE = "Words of five topics"


def bag_of_words(seed: int = 5) -> LoadedTable:
    """20,000 texts of up to 20 different words out of 400, and a ``label`` column 0..4 with the topic.

    A topic has 40 words of its own, some of them much more frequent; three words in ten may come from anywhere.
    """
    rng = np.random.default_rng(seed)
    topic = rng.integers(TOPICS, size=ROWS)
    own = np.stack([rng.choice(WORDS, _OWN, replace=False) for _ in range(TOPICS)])
    rank = (_OWN * rng.random((ROWS, _PER_ROW)) ** 2).astype(np.int64)
    word = np.take_along_axis(own[topic], rank, axis=1)
    common = rng.random((ROWS, _PER_ROW)) < _COMMON_SHARE
    word = np.where(common, rng.integers(WORDS, size=word.shape), word)
    values = np.zeros((ROWS, WORDS + 1))
    np.put_along_axis(values[:, :WORDS], word, 1.0, axis=1)
    values[:, WORDS] = topic
    return numeric_table(values, [*_columns(), "label"], name=_TITLE)


def bag_of_words_sidecar() -> Declaration:
    """What is declared about ``bag_of_words``."""
    return Declaration(
        title=_TITLE,
        description="20,000 made-up texts of at most 20 out of 400 words: most entries are 0.",
        columns=_columns(),
        lower=(-1.0,) * WORDS,
        upper=(1.0,) * WORDS,
        bounds_origin="A word is in a text (1) or not (0); the bounds lie evenly around 0, so that a 0 stays a 0.",
        scaling="common",
        unit_of_privacy="one text (one row)",
        n_public=ROWS,
        kind=FileKind.PUBLIC,
        source="Generated on demand.",
        licence="CC0-1.0 (generated)",
        label_column="label",
    )


def _columns() -> tuple[str, ...]:
    return tuple(f"word_{place}" for place in range(1, WORDS + 1))
