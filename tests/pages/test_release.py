"""Release: what stands against it is said, ε is typed, one press is one charge, and what left can be checked."""

from __future__ import annotations

import json
import threading
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import yaml
from streamlit.testing.v1 import AppTest

from dpviz.app.ui.escape import escape_markdown
from dpviz.releases import publishing
from dpviz.releases.account import Account, State
from dpviz.releases.package import CARD, CENTERS, DECLARATION, PAGE, make_zip
from dpviz.releases.release_reader import read_release
from dpviz.releases.verifying import verify
from dpviz.runs.advice.advice import Target
from dpviz.runs.advice.judgement import KnownRows
from dpviz.runs.meaning.windows import Risk
from dpviz.runs.open_table import OpenTable, declare
from dpviz.tables.declarations import FROM_ROWS, FileKind, apply_declaration, apply_declaration_file
from dpviz.tables.named import open_file
from tests import waiting
from tests.pages.site import everything_shown, fine, paste_bounds, press, turn_to, upload, visit
from tests.pages.tables import app_on, ask, sound, text_of
from tests.releases.charges import a_charge
from tests.releases.people import WORDS, open_people, write_people


def account_in(folder: Path, cap: float = 2.0) -> Path:
    return Account.new(folder / "people.sqlite", name="people", cap_epsilon=cap, cap_delta=1e-5).path


def on_page(table: OpenTable, account: Path | None = None) -> AppTest:
    """The page with ``table`` open, k = 3 and nothing for segments, and with an ``account`` open if one is given."""
    app = app_on("release.py", table, k="3")
    app.slider(key="release:share").set_value(0)
    if account is not None:
        app.text_input(key="release:account_path").set_value(str(account))
    return sound(app.run())


def button(app: AppTest) -> object:
    (found,) = (one for one in app.button if (one.key or "").startswith("release:press:"))
    return found


def barred(app: AppTest) -> bool:
    """Whether neither ε can be typed nor the button be pressed."""
    (box,) = (one for one in app.text_input if (one.key or "").startswith("release:confirm:"))
    return bool(box.disabled and button(app).disabled)


def confirmed(app: AppTest, typed: str = "1") -> AppTest:
    (box,) = (one for one in app.text_input if (one.key or "").startswith("release:confirm:"))
    return sound(box.set_value(typed).run())


def pressed_once(app: AppTest) -> AppTest:
    """The page after ε was typed, the button pressed, and what came of it is there."""
    sound(button(confirmed(app)).click().run())
    assert app.session_state["release:pressed"][-1].job.wait(waiting.SECONDS)
    return sound(app.run())


def accepting(app: AppTest, *, rows: int) -> AppTest:
    """The page after somebody said in the sentence which loss and which risk they accept, for so many rows."""
    hand, said = app.session_state["bench:hand"], {"target": Target(1.5), "risk": Risk(0.1, 0.9)}
    app.session_state["bench:hand"] = replace(hand, rows=KnownRows(rows, rows), **said)
    return sound(app.run())


def buys(at: AppTest, column: str) -> AppTest:
    """The release of a file of which ε is to buy the bounds of a column, and of which all else is said."""
    hand = at.session_state["bench:hand"]
    at.session_state["bench:hand"] = replace(hand, rows=KnownRows(90, 90), buys=(column,))
    return fine(turn_to(at, "release.py").run())


def standing(path: Path):
    return Account.open(path).standing()


def test_the_sentence_says_what_leaves_and_the_odds(tmp_path):
    app = on_page(open_people(tmp_path))
    assert app.subheader[0].value == "Three centres of two columns, at ε = 1"
    odds = next(one.value for one in app.markdown if one.value.startswith("The presence of one row changes the odds"))
    assert "at most 2.72×." in odds
    ask(app, epsilon=0.5)
    app.slider(key="release:share").set_value(20)
    sound(app.run())
    assert "and what their segments are, at ε = 0.5" in app.subheader[0].value and "1.65×" in text_of(app)


def test_without_account_and_words_the_button_is_dead_and_each_missing_thing_is_named(tmp_path):
    app = on_page(open_people(tmp_path, release={}))
    assert barred(app)
    said = text_of(app)
    for words in ("Next:", "Intended use is empty"):
        assert words in said
    assert "Words of the card: to do" in everything_shown(app) and "Account: to do" in everything_shown(app)
    folded = [
        one
        for one in app.expander
        if one.label in ("Where every bound comes from", "Looks at the rows in this process")
    ]
    assert len(folded) == 2 and not any(one.proto.expanded for one in folded), "what the sentence says is not repeated"


def test_a_bound_that_nobody_can_defend_is_red_in_a_word_and_blocks(tmp_path):
    account = account_in(tmp_path)
    for words, origins in {"blocked: the rows": {"age": FROM_ROWS}, "blocked: nobody says": {}}.items():
        app = on_page(open_people(tmp_path, origins=origins), account)
        assert f":red[:material/block: **{words}**]" in text_of(app)
        assert "Bounds: to do" in everything_shown(app)
        assert barred(app)


def test_open_bounds_say_what_buying_them_would_cost():
    at = upload(visit("data.py"), b"age,pay\n" + b"\n".join(b"%d,%d" % (row, row * 7) for row in range(90)))
    paste_bounds(at, json.dumps({"bounds": {"age": [0, 100], "pay": [None, None]}, "bounds_origin": "law"}))
    at = buys(at, "pay")
    said = text_of(at)
    assert "will be bought with ε = 0.03" in said and "| age | 0 to 100 |" in said


def test_only_the_number_itself_confirms_typed_as_one_likes(tmp_path):
    app = on_page(open_people(tmp_path), account_in(tmp_path))
    for typed in ("", "2", "0.99", "one", "nan", "1e"):
        assert button(confirmed(app, typed)).disabled, typed
    for typed in ("1", "1.0", " 1 ", "1,0"):
        assert not button(confirmed(app, typed)).disabled, typed


def test_a_press_charges_once_shows_no_truth_and_what_leaves_can_be_checked_at_home(tmp_path):
    table, account = open_people(tmp_path), account_in(tmp_path)
    app = on_page(table, account)
    assert "revealed" not in everything_shown(app)
    # What is accepted argues for ε, here and on the card.
    argument = "It keeps the accepted risk"
    assert argument in text_of(accepting(app, rows=900))
    app = pressed_once(app)
    assert "revealed" not in everything_shown(app)
    assert "Missing values" not in everything_shown(app), "they are bought where they are asked for"
    (entry,) = standing(account).entries
    assert entry.state is State.RELEASED and entry.charge.epsilon == 1.0
    (press,) = app.session_state["release:pressed"]
    files = press.job.release.files
    assert verify(make_zip(files)).holds and argument in files[PAGE].decode()
    kept = tmp_path / "people-release-1.zip"
    assert kept.read_bytes() == make_zip(files) and kept.stat().st_mode & 0o077 == 0
    assert "Visitors: released at ε = 1; ε = 1 of 2 left" in app.subheader[0].value
    finding = read_release(make_zip(files)).received.finding
    assert f"**{escape_markdown(finding.title)}.**" in text_of(app), "what its recipient reads first"
    assert [one for one in app.get("plotly_chart") if ":map" in one.proto.id], "two columns are a map here, too"
    for _ in range(3):
        sound(app.run())
    assert len(standing(account).entries) == 1, "a rerun is no press"
    assert not [one for one in app.button if (one.key or "").startswith("release:press:")], "it is locked"
    assert {one.proto.label for one in app.get("download_button")} == {"The release (zip)", "The card alone (HTML)"}
    sound(app.switch_page("home.py").run())
    reloaded = on_page(table, account)
    assert len(standing(account).entries) == 1, "nor is a reload"
    day = standing(account).entries[0].at[:10]
    assert f"{day}, released; its zip lies beside the account as people-release-1.zip" in text_of(reloaded)
    reader = app_on("read.py", None)
    reader.file_uploader(key="read:one").upload("release.zip", make_zip(files))
    sound(reader.run())
    assert "is what it says" in text_of(reader)
    changed = {**files, CENTERS: files[CENTERS].replace(b"1", b"2")}
    reader.file_uploader(key="read:one").upload("release.zip", make_zip(changed))
    sound(reader.run())
    assert reader.title[0].value == "This release is not what it says"
    assert "**centers.csv**" in text_of(reader)


def test_shares_of_missing_cells_and_segments_are_bought_where_they_are_asked_for(tmp_path):
    app = on_page(open_people(tmp_path), account_in(tmp_path))
    app.slider(key="release:share").set_value(20)
    app.slider(key="release:missing").set_value(5)
    assert "and how many values are missing" in sound(app.run()).subheader[0].value
    app.number_input(key="release:smallest").set_value(400)
    app = sound(app.run())
    app = pressed_once(app)
    files = app.session_state["release:pressed"][0].job.release.files
    assert "of age is missing" in everything_shown(app)
    assert "every group has at least 400 rows" in files[PAGE].decode()
    assert "Missing values, with noise: " in files[PAGE].decode() and verify(make_zip(files)).holds
    places, segments = app.get("plotly_chart")
    assert places.proto.alt.startswith("Map of age") and segments.proto.alt.startswith("Three segments")
    sound(app.text_input(key="release:1:name:0").set_value("Pensioners").run())
    assert "Pensioners" in app.get("plotly_chart")[1].proto.alt


def test_what_an_evaluator_asks_is_answered_in_the_dossier(tmp_path):
    app = on_page(open_people(tmp_path), account_in(tmp_path))
    (box,) = (one for one in app.text_area if one.label == "Who can read the raw table?")
    assert "What an evaluator asks: nine questions open" in everything_shown(app)
    app = sound(box.set_value("Two clerks of the town").run())
    assert "eight questions open" in everything_shown(app)
    dossier = pressed_once(app).session_state["release:pressed"][0].job.release.files["dossier.html"].decode()
    assert '<dd class="owner">Two clerks of the town</dd>' in dossier and "The owner has not said." in dossier


def test_a_second_release_is_typed_anew_and_charged_again_up_to_the_cap(tmp_path):
    account = account_in(tmp_path)
    app = on_page(open_people(tmp_path), account)
    first = button(app).key
    app = pressed_once(app)
    sound(app.button(key="release:prepare_another").click().run())
    assert button(app).key != first, "the second of two clicks would press it"
    assert button(app).disabled, "what confirmed the first does not confirm the second"
    pressed_once(app)
    assert standing(account).spent_epsilon == 2.0
    sound(app.button(key="release:prepare_another").click().run())
    assert any("left in the account" in error.value for error in app.error)
    assert barred(app) and "Account: to do" in everything_shown(app)


def test_words_are_printed_verbatim_and_come_with_the_declaration_and_what_was_tried_here_stays_here(tmp_path):
    hostile, table = "k, after <b>one</b> look | :red[$x$] ![a](http://x.invalid)", open_people(tmp_path)
    app = on_page(table, account_in(tmp_path))
    assert not table.private.accesses
    (box,) = (one for one in app.text_area if one.label == "What did you choose after looking?")
    box.set_value(hostile)
    next(one for one in app.text_input if one.label == "Region that the data describe").set_value("Lower Saxony")
    app = pressed_once(sound(app.run()))
    files = app.session_state["release:pressed"][-1].job.release.files
    assert hostile in str(yaml.safe_load(files[CARD]))
    page = files[PAGE].decode()
    assert "&lt;b&gt;one&lt;/b&gt;" in page and "<b>one</b>" not in page
    assert "runs on made-up tables" not in page and "Expected before the release: " in page
    declared = apply_declaration(files[DECLARATION].decode())
    assert declared.words["region"] == "Lower Saxony" and declared.words["chosen_after_looking"] == hostile
    assert verify(make_zip(files)).holds


def test_hostile_names_stay_text(tmp_path):
    evil = "a<img src=x>|:red[a]**b**"
    data, declaration_file = write_people(tmp_path)
    data.write_text(data.read_text().replace("age,income", f"{evil},income", 1))
    said = json.loads(declaration_file.read_text())
    said |= {"bounds": {evil: [0, 100], "income": [0, 90000]}, "origins": {}, "bounds_origin": evil, "title": evil}
    declaration_file.write_text(json.dumps({**said, "release": WORDS}))
    declared = replace(apply_declaration_file(declaration_file).validate(), kind=FileKind.PRIVATE)
    app = on_page(declare(open_file(data), declared), account_in(tmp_path))
    shown = [one.value for one in (*app.markdown, *app.caption, *app.subheader)]
    assert not any(":red[a]" in text or "**b**" in text or "<img" in text.replace("\\<img", "") for text in shown)
    app = pressed_once(app)
    shown = [one.value for one in (*app.markdown, *app.caption, *app.subheader, *app.success)]
    assert not any(":red[a]" in text or "**b**" in text for text in shown)


def test_an_algorithm_without_release_grade_noise_says_why(tmp_path):
    app = on_page(open_people(tmp_path), account_in(tmp_path))
    ask(app, algorithm="gkm")
    assert any("cannot be released" in error.value for error in app.error)
    assert barred(app)


def makes(app: AppTest) -> object:
    (make,) = (one for one in app.button if one.label == "Make it")
    return make


def test_a_new_account_is_made_and_opened(tmp_path):
    app = on_page(open_people(tmp_path))
    sound(app.text_input(key="release:account_path").set_value(str(tmp_path / "none" / "new.sqlite")).run())
    assert barred(app) and not (tmp_path / "none").exists(), "a path alone makes nothing"
    sound(makes(app).click().run())
    assert app.error[0].proto.title == "No account was made"
    sound(app.text_input(key="release:account_path").set_value(str(tmp_path / "new.sqlite")).run())
    app.text_input(key="release:new:name").set_value("people")
    sound(makes(app).click().run())
    assert standing(tmp_path / "new.sqlite").cap_epsilon == 2.0
    assert not button(confirmed(app)).disabled
    assert not [one for one in app.button if one.label == "Make it"], "one that is there is opened"


def test_a_file_that_is_no_account_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "people.txt").write_text("name\n")
    app = on_page(open_people(tmp_path), tmp_path / "people.txt")
    assert any("is no account" in error.value for error in app.error)


def test_where_others_see_the_pages_the_command_line_releases(tmp_path, monkeypatch):
    monkeypatch.setattr("dpviz.app.ui.release.page.may_name_paths", lambda: False)
    app = app_on("release.py", open_people(tmp_path), k="3")
    (code,) = app.code
    assert "--k 3 --epsilon 1 --delta 1e-06 --segments 0.2 --account people.sqlite" in code.value
    assert not [one for one in app.text_input if one.key == "release:account_path"]
    assert barred(app)


def test_a_failure_after_the_charge_says_that_it_is_charged_and_not_why(tmp_path, monkeypatch):
    secret = "row 17 is 4711"

    def broken(*_: object, **__: object) -> None:
        raise ValueError(secret)

    monkeypatch.setattr("dpviz.releases.releasing.draw", broken)
    account = account_in(tmp_path)
    app = pressed_once(on_page(open_people(tmp_path), account))
    (entry,) = standing(account).entries
    assert entry.state is State.FAILED
    assert app.error[0].proto.title == "Charged (1), and nothing was released"
    assert secret not in everything_shown(app) and "ValueError" in app.error[0].value
    assert "stays in the account" in text_of(app)


def test_a_refusal_at_the_last_moment_charges_nothing(tmp_path):
    account = account_in(tmp_path)
    app = confirmed(on_page(open_people(tmp_path), account))
    Account.open(account).charge(replace(a_charge(1.5), unit="1 row"))  # another program was faster
    sound(button(app).click().run())
    assert len(standing(account).entries) == 1
    assert any("left in the account" in error.value for error in app.error)


def test_while_it_is_under_way_the_page_shows_that_alone(tmp_path, monkeypatch):
    go_on = threading.Event()
    real = publishing.publish

    def slow(*args: object, **kwargs: object) -> object:
        assert go_on.wait(waiting.SECONDS)
        return real(*args, **kwargs)

    monkeypatch.setattr(publishing, "publish", slow)
    account = account_in(tmp_path)
    app = confirmed(on_page(open_people(tmp_path), account))
    try:
        sound(button(app).click().run())
        assert "Releasing 3 centres of Visitors at ε = 1" in app.subheader[0].value
        assert not [one for one in app.text_input if (one.key or "").startswith("release:")]
        press(app, "Back to the picture")
        assert "is being released" in text_of(app)
    finally:
        go_on.set()
    assert app.session_state["release:pressed"][0].job.wait(waiting.SECONDS)
    sound(app.run())
    assert "Released in this visit: charge 1 of account people, ε = 1 left." in text_of(app)


def test_what_is_no_release_is_refused_in_a_sentence(tmp_path):
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("<b>.txt", "x")
    app = app_on("read.py", None)
    app.file_uploader(key="read:one").upload("other.zip", packed.getvalue())
    sound(app.run())
    assert any("not the zip of a release" in error.value for error in app.error)


def test_a_release_buys_the_bounds_that_its_owner_cannot_declare(tmp_path):
    data, _ = write_people(tmp_path)
    at = upload(visit("data.py"), data.read_bytes())
    at = paste_bounds(
        at,
        json.dumps({"bounds": {"age": [0, 100], "income": [None, None]}, "bounds_origin": "law", "release": WORDS}),
    )
    at.session_state["k"] = 3
    at = buys(at, "income")
    at.text_input(key="release:account_path").set_value(str(account_in(tmp_path)))
    at.slider(key="release:bounds").set_value(20)
    assert "will be bought with ε = 0.2" in text_of(fine(at.run()))
    at = pressed_once(at)
    release = at.session_state["release:pressed"][0].job.release
    assert verify(make_zip(release.files)).holds
    bought = apply_declaration(release.files[DECLARATION].decode()).bounds["income"]
    assert bought.lower is not None and bought.upper >= 60_000 and "bought" in bought.origin
    assert at.subheader[0].value.startswith("people: released at ε = 1")
    assert "**income**: " in text_of(at)


def test_a_zip_that_does_not_verify_is_not_offered(tmp_path, monkeypatch):
    def forge(data: bytes):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        return verify(make_zip({**files, CENTERS: files[CENTERS].replace(b"1", b"2")}))

    monkeypatch.setattr("dpviz.app.ui.release.released_panel.verify", forge)
    app = pressed_once(on_page(open_people(tmp_path), account_in(tmp_path)))
    assert not app.get("download_button") and "is not offered" in app.error[0].proto.title
    assert "centers.csv" in app.error[0].value.replace("\\", "")
