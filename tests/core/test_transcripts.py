"""How likely all that a run released was, on either of two tables."""

from functools import partial

import pytest

from dpviz.core.mechanisms import NoDensity
from dpviz.core.transcripts import compute_log_ratio
from dpviz.runs.meaning.membership import make_neighbors
from dpviz.runs.one_run import run_request
from dpviz.runs.request import Contender, Request
from tests.pages.site import sample_table

RICH = 45


def test_reading_densities_is_a_look():
    pair = make_neighbors(sample_table("outlier"), RICH)
    before = len(pair.present.accesses)
    compute_log_ratio(partial(run_request, Request(Contender("eugkm"), k=3, seed=1)), pair.present, pair.absent)
    assert len(pair.present.accesses) == before + 1


def test_secret_blocks_have_no_density():
    pair = make_neighbors(sample_table("outlier"), RICH)
    asked = Request(Contender("sample-aggregate"), k=3, epsilon=1.0, delta=1e-6, seed=1)
    with pytest.raises(NoDensity):
        compute_log_ratio(partial(run_request, asked), pair.present, pair.absent)
