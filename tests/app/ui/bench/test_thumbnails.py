"""The small pictures beside the algorithms are those of their runs."""

import json
import re
from xml.etree import ElementTree

import pytest

from dpviz.algorithms import CARDS
from dpviz.app.ui.bench.catalogue import THUMBNAILS
from dpviz.words import choose_palette
from sample_data.thumbnails import make_entry

STORED = json.loads(THUMBNAILS.read_text(encoding="utf-8"))


def test_every_algorithm_has_a_picture_in_both_themes_and_nothing_else_has_one():
    assert [*STORED] == [*CARDS]
    for entry in STORED.values():
        assert entry["step"] in entry["shows"]
        for theme in ("light", "dark"):
            drawn = ElementTree.fromstring(entry[theme])
            assert len(drawn) >= 2 and not drawn.findall(".//*[@href]")
            numbers = [float(one) for one in re.findall(r"-?\d+\.?\d*", " ".join(part.get("d", "") for part in drawn))]
            assert len(entry[theme]) < 16_000 and len(numbers) < 5_000


def test_pictures_without_privacy_alone_are_in_the_colour_of_what_was_revealed():
    revealed = choose_palette("light").revealed
    assert [name for name, entry in STORED.items() if revealed in entry["light"]] == ["kmeans++"]


@pytest.mark.parametrize("name", ["dplloyd", "eugkm", "gkm"])
def test_a_picture_made_anew_is_the_stored_one(name):
    assert make_entry(CARDS[name]) == STORED[name]
