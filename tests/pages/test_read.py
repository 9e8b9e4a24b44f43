"""The page *Read*: a zip dropped, checked, drawn; what is wrong first; two releases behind their gate."""

import pytest

from dpviz.app.ui.escape import escape_markdown
from dpviz.releases import QUESTION_KINDS, publish, read_release, verifying
from dpviz.releases.package import CENTERS, TRANSCRIPT, make_zip
from dpviz.releases.verifying import Advisory
from dpviz.words import capitalize_first
from tests.app.ui.test_figure_python import execute, shown
from tests.cases import for_each
from tests.pages.tables import app_on, sound, text_of
from tests.releases.forging import rehashed, released
from tests.releases.people import ready_in
from tests.releases.test_continuing import released as continuing


def reading(data: bytes, key: str = "read:one", app=None):
    app = app_on("read.py", None) if app is None else app
    app.file_uploader(key=key).upload("release.zip", data)
    return sound(app.run())


def below(app, tab: str):
    app.session_state["read:more"] = tab
    return sound(app.run())


def figures(app, name: str) -> list[str]:
    return [figure.proto.alt for figure in app.get("plotly_chart") if name in figure.proto.id]


@pytest.fixture(scope="module")
def good() -> bytes:
    return make_zip(released())


@pytest.fixture(scope="module")
def forged() -> bytes:
    return make_zip(rehashed({**released(), CENTERS: released()[CENTERS].replace(b"1", b"2")}))


def test_a_good_release_is_told_and_drawn_and_an_advisory_stands_below_its_verdict(good, monkeypatch) -> None:
    known = Advisory("2099-1", "dpviz", "99", "sizes were drawn with half of their noise", "twice the ε of the card")
    monkeypatch.setattr(verifying, "read_advisories", lambda: (known,))
    app = reading(good)
    text, received = text_of(app), read_release(good).received
    assert app.title[0].value == received.finding.title
    said = [one.sentence for one in received.may] + [received.may_not[-1]]
    assert all(escape_markdown(one) in text for one in said)
    assert "is what it says" in text and "event level" in text and not app.error and "k = 3 was chosen" in text
    assert [one.value for one in app.warning] == [escape_markdown(known.words)]
    assert {one.value for one in app.subheader} >= {"What may I conclude?", "What not?", "How good are the segments?"}
    assert figures(app, "read:profile")[0].startswith("Three segments on a lane for each of two columns")
    assert figures(app, "read:map")[0].startswith("Map of age and income: 1 at "), "two columns are a map, too"


def test_a_release_that_continues_another_says_what_has_changed_once_with_both_counts() -> None:
    release = continuing(True)
    app, continued = reading(release.data), release.played.continued
    assert text_of(app).count(escape_markdown(continued.words)) == 1
    (table,) = (one.value for one in app.dataframe if "rows then" in one.value)
    then = [float(text.split(" ± ")[0].replace(",", "")) for text in table["rows then"]]
    assert then == pytest.approx([*continued.earlier.sizes], abs=6)
    assert [place != "none near it" and int(place) - 1 for place in table["segment here"]] == [*continued.places]
    assert [*(table["beyond the noise"] == "yes")] == [*continued.changed]
    assert "What has changed?" not in text_of(reading(continuing(False).data))


def test_a_forged_release_says_so_first_is_marked_and_nothing_is_concluded(forged) -> None:
    app = reading(forged)
    assert app.title[0].value == "This release is not what it says"
    assert "**centers.csv**" in app.error[0].value and not [one for one in app.subheader if "conclude" in one.value]
    assert "not what it says" in app.get("plotly_chart")[0].proto.spec and not figures(app, "read:map")
    assert "of a release that holds" in text_of(below(app, "Ask")) and not app.multiselect
    damaged = reading(make_zip(rehashed({**released(), TRANSCRIPT: b""})))
    assert damaged.title[0].value == "This release cannot be read"
    assert "damaged" in damaged.error[0].value and not damaged.get("plotly_chart")


@for_each("rubbish", [b"text", make_zip({"<b>a.txt": b"a"})])
def test_what_is_no_release_is_refused_in_a_sentence(rubbish: bytes) -> None:
    app = reading(rubbish)
    assert "It is not the zip of a release" in text_of(app) or "cannot be read as a zip" in text_of(app)
    assert not app.get("plotly_chart") and "<b>" not in text_of(app)


def test_two_releases_are_compared_behind_a_gate(good, tmp_path) -> None:
    app = reading(good, "read:two", below(reading(good), "Compare with another"))
    assert "Nothing differs beyond the noise" in [one.value for one in app.subheader]
    other = make_zip(publish(ready_in(tmp_path, declared={"bounds": {"age": [0, 120], "income": [0, 90000]}})).files)
    assert "cannot be laid side by side" in text_of(reading(other, "read:two", app))


def test_the_page_answers_a_question_as_the_release_does_and_says_what_draws_are_not(good) -> None:
    app = below(reading(good), "Ask")
    app.selectbox(key="read:ask").set_value(capitalize_first(QUESTION_KINDS["higher"].words)).run()
    app.selectbox(key="read:ask:higher:column").set_value("income").run()
    app.multiselect(key="read:ask:higher:segments").set_value([1, 2])
    text = text_of(sound(app.run()))
    assert escape_markdown(read_release(good).ask("higher", 1, 2, column="income").sentence) in text
    assert "Not in them: other people" in text


def test_the_program_that_the_page_shows_reads_the_same(good, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "release.zip").write_bytes(good)
    app = below(reading(good), "Take away")
    monkeypatch.chdir(tmp_path)
    names = execute(shown(app, "read"))
    assert names["release"].holds and len(names["numbers"]) == len(names["release"].numbers) > 9
    assert capsys.readouterr().out.startswith("True ()")
