"""The page *Read*: a zip dropped, checked, drawn; what is wrong first; two releases behind their gate."""

from __future__ import annotations

import pytest

from dpviz.app.ui.escape import escape_markdown
from dpviz.app.ui.release import read_page
from dpviz.releases import QUESTION_KINDS, publish, read_release, verifying
from dpviz.releases.package import CENTERS, TRANSCRIPT, make_zip
from dpviz.releases.verifying import Advisory
from dpviz.words import capitalize_first
from tests.pages.tables import UnderWayRegistry, app_on, sound, text_of
from tests.releases.forging import rehashed, released
from tests.releases.people import ready_in
from tests.releases.test_continuing import released as continuing


def _reading(data: bytes, key: str = "read:one", app=None):
    app = app_on("read.py", None) if app is None else app
    app.file_uploader(key=key).upload("release.zip", data)
    return sound(app.run())


@pytest.fixture(scope="module")
def good() -> bytes:
    return make_zip(released())


def test_a_good_release_is_told_drawn_and_taken_away(good: bytes) -> None:
    app = _reading(good)
    text = text_of(app)
    received = read_release(good).received
    assert app.title[0].value == received.finding.title
    assert (
        all(escape_markdown(one.sentence) in text for one in received.may)
        and escape_markdown(received.may_not[-1]) in text
    )
    assert "is what it says" in text and "event level" in text and not app.error
    assert {one.value for one in app.subheader} >= {"What may I conclude?", "What not?", "How good are the segments?"}
    shown, figures = ([figure.proto.id, figure.proto.alt] for figure in app.get("plotly_chart")), []
    figures = {name: alt for key, alt in shown for name in ("read:map", "read:profile") if name in key}
    assert figures["read:profile"].startswith("Three segments on a lane for each of two columns")
    assert figures["read:map"].startswith("Map of age and income: 1 at "), "two columns are a map, too"
    assert "k = 3 was chosen" in text


def test_whoever_has_no_zip_is_told_what_the_page_answers_and_shown_an_example(good: bytes, monkeypatch) -> None:
    monkeypatch.setattr(read_page, "example_work", lambda: iter([read_release(good)]))
    read_page.share_example().clear()
    waits = app_on("read.py", None, registry=UnderWayRegistry())
    assert waits.title[0].value == "Read a release" and not waits.get("plotly_chart")
    assert all(f"**{question}**" in text_of(waits) for question in read_page._ANSWERS)
    app_on("read.py", None)
    app = sound(waits.run())
    assert app.title[0].value == read_release(good).received.finding.title and app.get("plotly_chart")
    assert "An example: a public sample" in text_of(app)
    forged = rehashed({**released(), CENTERS: released()[CENTERS].replace(b"1", b"2")})
    assert _reading(make_zip(forged)).title[0].value == "This release is not what it says"


def test_an_advisory_stands_below_the_verdict(good: bytes, monkeypatch) -> None:
    known = Advisory("2099-1", "dpviz", "99", "sizes were drawn with half of their noise", "twice the ε of the card")
    monkeypatch.setattr(verifying, "read_advisories", lambda: (known,))
    app = _reading(good)
    assert "is what it says" in text_of(app)
    assert [escape_markdown(known.words)] == [one.value for one in app.warning]


def test_a_release_that_continues_another_says_what_has_changed_once_with_both_counts() -> None:
    release = continuing(True)
    app, continued = _reading(release.data), release.played.continued
    assert text_of(app).count(escape_markdown(continued.words)) == 1
    (table,) = (one.value for one in app.dataframe if "rows then" in one.value)
    then = [text.split(" ± ")[0].replace(",", "") for text in table["rows then"]]
    assert [float(text) for text in then] == pytest.approx([*continued.earlier.sizes], abs=6)
    assert [place != "none near it" and int(place) - 1 for place in table["segment here"]] == [*continued.places]
    assert [*(table["beyond the noise"] == "yes")] == [*continued.changed]
    assert "What has changed?" not in text_of(_reading(continuing(False).data))


def test_a_forged_release_says_so_first_is_marked_and_nothing_is_concluded(good: bytes) -> None:
    forged = rehashed({**released(), CENTERS: released()[CENTERS].replace(b"1", b"2")})
    app = _reading(make_zip(forged))
    assert app.title[0].value == "This release is not what it says"
    assert "**centers.csv**" in app.error[0].value and not [one for one in app.subheader if "conclude" in one.value]
    assert "not what it says" in app.get("plotly_chart")[0].proto.spec
    assert not [figure for figure in app.get("plotly_chart") if "read:map" in figure.proto.id]
    damaged = _reading(make_zip(rehashed({**released(), TRANSCRIPT: b""})))
    assert damaged.title[0].value == "This release cannot be read"
    assert "damaged" in damaged.error[0].value and not damaged.get("plotly_chart")


def test_what_is_no_release_is_refused_in_a_sentence() -> None:
    for rubbish in (b"text", make_zip({"a.txt": b"a"})):
        app = _reading(rubbish)
        assert "It is not the zip of a release" in text_of(app) or "cannot be read as a zip" in text_of(app)
        assert not app.get("plotly_chart")


@pytest.mark.parametrize("algorithm", ["auto", "sulq"])
def test_a_release_without_segments_has_a_picture_and_says_what_was_not_bought(tmp_path, algorithm: str) -> None:
    app = _reading(make_zip(publish(ready_in(tmp_path, algorithm=algorithm)).files))
    assert "No quality report was bought" in text_of(app)
    lanes, plane = app.get("plotly_chart")
    assert lanes.proto.alt.startswith("Three segments") and plane.proto.alt.startswith("Map of age and income: 1 at ")


def test_two_releases_are_compared_behind_a_gate(good: bytes, tmp_path) -> None:
    app = _reading(good)
    app.session_state["read:more"] = "Compare with another"
    app = sound(app.run())
    app = _reading(good, "read:two", app)
    assert "Nothing differs beyond the noise" in [one.value for one in app.subheader]
    other = make_zip(publish(ready_in(tmp_path, declared={"bounds": {"age": [0, 120], "income": [0, 90000]}})).files)
    app = _reading(other, "read:two", app)
    assert "cannot be laid side by side" in text_of(app)


def test_the_page_answers_a_question_as_the_release_does_and_says_what_draws_are_not(good: bytes) -> None:
    release = read_release(good)
    app = _reading(good)
    app.session_state["read:more"] = "Ask"
    sound(app.run())
    app.selectbox(key="read:ask").set_value(capitalize_first(QUESTION_KINDS["higher"].words)).run()
    app.selectbox(key="read:ask:higher:column").set_value("income").run()
    app.multiselect(key="read:ask:higher:segments").set_value([1, 2])
    text = text_of(sound(app.run()))
    assert escape_markdown(release.ask("higher", 1, 2, column="income").sentence) in text
    assert "Not in them: other people" in text
    forged = rehashed({**released(), CENTERS: released()[CENTERS].replace(b"1", b"2")})
    app = _reading(make_zip(forged))
    app.session_state["read:more"] = "Ask"
    assert "of a release that holds" in text_of(sound(app.run())) and not app.multiselect
