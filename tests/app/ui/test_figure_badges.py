from typing import get_args

from streamlit.testing.v1 import AppTest

from dpviz.app.ui.figure import format_badge
from dpviz.words import Kind


def page() -> None:
    from dpviz.app.ui.figure import draw_badge

    draw_badge("released")


def test_a_badge_is_a_word_an_icon_and_a_colour_of_its_kind():
    texts = [format_badge(kind) for kind in get_args(Kind)]
    assert [text.split("-badge")[0] for text in texts] == [":gray", ":blue", ":orange"]
    assert all(f" {kind}]" in text and ":material/" in text for kind, text in zip(get_args(Kind), texts, strict=True))
    assert len({text.split(":material/")[1].split(":")[0] for text in texts}) == 3


def test_a_badge_explains_itself():
    app = AppTest.from_function(page).run()
    assert not app.exception
    (badge,) = app.markdown
    assert "noise" in badge.proto.help
