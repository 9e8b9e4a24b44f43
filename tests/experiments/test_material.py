"""Tables of the papers: synthetic ones of the right size, published files where they are or as OpenML sends them."""

from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest

from dpviz.core.check import RequestError
from experiments.fetching import ON_OPENML, PublicTable, fetch_missing
from experiments.material import PUBLISHED, SYNTHETIC
from experiments.registry import open_datasets
from tests.cases import for_each

SIZES = {"S1": (5000, 2), "TIGER": (16281, 2), "Image": (34112, 3), "Lifesci": (26733, 10), "Letter": (20000, 16)}


@for_each("name", SIZES)
def test_a_stand_in_has_the_size_of_the_papers_table_and_lies_in_its_bounds(name):
    made = open_datasets(None).table(name)
    assert made.values.shape == SIZES[name] and made.origin == SYNTHETIC
    unit = made.domain.to_unit(made.values)
    assert np.abs(unit - made.domain.region.clip(unit)).max() < 1e-9
    assert (made.values == open_datasets(None).table(name).values).all()


LETTER = ON_OPENML[0]


@pytest.fixture
def openml(monkeypatch):
    """OpenML as it answers: 16 columns of letters and their classes. ``asked`` is what it was asked for."""
    asked = []

    def fetch(*, name, version, **options):
        asked.append((name, version))
        if answer.error is not None:
            raise answer.error
        return SimpleNamespace(data=answer.data, target=pd.Series(["A", "B"] * 5, dtype="category"))

    columns = {f"c{j}": np.arange(10) % 7 for j in range(16)}
    answer = SimpleNamespace(asked=asked, error=None, data=pd.DataFrame(columns))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    return answer


def test_a_table_that_is_missing_is_brought_and_read_as_the_published_file(openml, tmp_path):
    assert fetch_missing(tmp_path, [LETTER]) == ["letter.csv.gz"] and openml.asked == [("letter", 1)]
    found = open_datasets(tmp_path).table("Letter")
    assert (found.origin, found.values.shape, found.domain.radius) == (PUBLISHED, (10, 16), 21.7)
    assert found.labels.tolist() == [0, 1] * 5
    assert [file.name for file in tmp_path.iterdir()] == ["letter.csv.gz"]


def test_what_lies_there_is_kept_and_nobody_is_asked(openml, tmp_path):
    (tmp_path / LETTER.file).write_bytes(b"mine")
    assert fetch_missing(tmp_path, [LETTER]) == []
    assert openml.asked == [] and (tmp_path / LETTER.file).read_bytes() == b"mine"


def test_without_a_network_or_with_another_table_there_is_a_sentence_and_no_file(openml, tmp_path):
    openml.error = URLError("no route")
    with pytest.raises(RequestError, match="OpenML did not send Letter"):
        fetch_missing(tmp_path, [LETTER])
    openml.error = None
    other = PublicTable("Adult", "adult_num.csv.gz", "adult", 2, ("age",), labelled=False)
    with pytest.raises(RequestError, match="What OpenML sent is not Adult, version 2"):
        fetch_missing(tmp_path, [other])
    openml.data = openml.data.assign(c0="a word")
    with pytest.raises(RequestError, match="put the published file into the folder as letter"):
        fetch_missing(tmp_path, [LETTER])
    assert list(tmp_path.iterdir()) == []
