"""Small pictures of the glossary: each is asked for, says what it shows, and shows what it says."""

from __future__ import annotations

from dpviz.app.charts.word_pictures import HEIGHT, PICTURES
from dpviz.words.glossary import read_glossary
from dpviz.words.theme import choose_palette


def test_every_picture_is_in_the_glossary_and_every_one_of_the_glossary_is_here():
    assert {term.picture for term in read_glossary().values() if term.picture} == PICTURES.keys()


def test_each_is_small_and_shows_nothing_revealed():
    for place, (name, picture) in enumerate(PICTURES.items()):
        colors = choose_palette(("light", "dark")[place % 2])
        figure = picture.draw(colors).figure()
        assert figure.layout.height == HEIGHT and figure.data, name
        assert len(picture.alt.split()) >= 5, name
        assert colors.revealed not in figure.to_json(), name
        assert {trace.meta for trace in figure.data} <= {"public", "released"}, name
