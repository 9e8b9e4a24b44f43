"""Release: what stands against it is said, ε is typed, one press is one charge, and what left can be checked."""

import json
import threading
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from streamlit.testing.v1 import AppTest

from dpviz.app.ui.escape import escape_markdown
from dpviz.core import ACCESS_LOG, AccessKind
from dpviz.releases import Account, State, publishing, read_release, verify
from dpviz.releases.package import CENTERS, DECLARATION, PAGE, make_zip
from dpviz.runs import KnownRows, OpenTable, Target, declare
from dpviz.runs.meaning.windows import Risk
from dpviz.tables import open_file
from dpviz.tables.declarations import FROM_ROWS, FileKind, apply_declaration, apply_declaration_file
from tests import waiting
from tests.cases import about
from tests.pages.site import everything_shown, fine, paste_bounds, press, turn_to, upload, visit
from tests.pages.tables import app_on, ask, computed, run_again, sound, text_of, truth_switch
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


def one_of(elements, start: str):
    """The one of these whose key starts so, or whose label is that."""
    (found,) = (one for one in elements if (one.key or "").startswith(start) or one.label == start)
    return found


def button(app: AppTest):
    return one_of(app.button, "release:press:")


def barred(app: AppTest) -> bool:
    """Whether neither ε can be typed nor the button be pressed."""
    return one_of(app.text_input, "release:confirm:").disabled and button(app).disabled


def confirmed(app: AppTest, typed: str = "1") -> AppTest:
    return sound(one_of(app.text_input, "release:confirm:").set_value(typed).run())


def pressed_once(app: AppTest) -> AppTest:
    """The page after ε was typed, the button pressed, and what came of it is there."""
    sound(button(confirmed(app)).click().run())
    assert app.session_state["release:pressed"][-1].job.wait(waiting.SECONDS)
    return sound(app.run())


def files_of(app: AppTest) -> dict[str, bytes]:
    """What left last, which has to be what it says."""
    files = app.session_state["release:pressed"][-1].job.release.files
    assert verify(make_zip(files)).holds
    return files


def buys(at: AppTest, column: str) -> AppTest:
    """The release of a file of which ε is to buy the bounds of a column, and of which all else is said."""
    hand = at.session_state["bench:hand"]
    at.session_state["bench:hand"] = replace(hand, rows=KnownRows(90, 90), buys=(column,))
    return fine(turn_to(at, "release.py").run())


def standing(path: Path):
    return Account.open(path).standing()


def errors_of(app: AppTest) -> str:
    return "\n".join(f"{error.proto.title}: {error.value}" for error in app.error)


def test_what_stands_against_a_release_is_named_and_bars_it(tmp_path):
    account = account_in(tmp_path)
    for said, changed, to_do in (
        ("Intended use is empty", {"release": {}}, "Words of the card: to do"),
        (":red[:material/block: **blocked: the rows**]", {"origins": {"age": FROM_ROWS}}, "Bounds: to do"),
        (":red[:material/block: **blocked: nobody says**]", {"origins": {}}, "Bounds: to do"),
    ):
        with about(said):
            app = on_page(open_people(tmp_path, **changed), account)
            assert said in text_of(app) and to_do in everything_shown(app) and barred(app)
            opened = any(one.proto.expanded for one in app.expander if one.label.startswith(("Where", "Looks")))
            assert opened == to_do.startswith("Bounds"), "what the sentence says is not repeated"
    assert "cannot be released" in errors_of(ask(app, algorithm="gkm")) and barred(app)
    (tmp_path / "people.txt").write_text("name\n")
    named = app.text_input(key="release:account_path").set_value(str(tmp_path / "people.txt"))
    assert "is no account" in errors_of(sound(named.run()))
    assert "Account: to do" in everything_shown(app)


def test_only_the_number_itself_confirms_typed_as_one_likes(tmp_path):
    app = on_page(open_people(tmp_path), account_in(tmp_path))
    for typed in ("", "2", "0.99", "one", "nan", "1e"):
        assert button(confirmed(app, typed)).disabled, typed
    for typed in ("1", "1.0", " 1 ", "1,0"):
        assert not button(confirmed(app, typed)).disabled, typed


def test_a_press_charges_once_shows_no_truth_and_what_leaves_can_be_checked_at_home(tmp_path):
    table, account = open_people(tmp_path), account_in(tmp_path)
    app = on_page(table, account)
    # What is accepted argues for ε, here and on the card.
    hand, said = app.session_state["bench:hand"], {"target": Target(1.5), "risk": Risk(0.1, 0.9)}
    app.session_state["bench:hand"] = replace(hand, rows=KnownRows(900, 900), **said)
    assert "It keeps the accepted risk" in text_of(sound(app.run())) and "revealed" not in everything_shown(app)
    shown = everything_shown(pressed_once(app))
    assert "revealed" not in shown and "Missing values" not in shown, "these are bought where they are asked for"
    (entry,) = standing(account).entries
    assert entry.state is State.RELEASED and entry.charge.epsilon == 1.0
    files, kept = files_of(app), tmp_path / "people-release-1.zip"
    assert "It keeps the accepted risk" in files[PAGE].decode()
    assert "accepted risk" not in files[DECLARATION].decode(), "at another ε it would argue for this one"
    assert kept.read_bytes() == make_zip(files) and kept.stat().st_mode & 0o077 == 0
    assert "Visitors: released at ε = 1; ε = 1 of 2 left" in app.subheader[0].value
    finding = read_release(make_zip(files)).received.finding
    assert f"**{escape_markdown(finding.title)}.**" in text_of(app), "what its recipient reads first"
    assert [one for one in app.get("plotly_chart") if ":map" in one.proto.id], "two columns are a map here, too"
    sound(sound(app.run()).run())
    assert len(standing(account).entries) == 1, "a rerun is no press"
    assert not [one for one in app.button if (one.key or "").startswith("release:press:")], "it is locked"
    assert {one.proto.label for one in app.get("download_button")} == {"The release (zip)", "The card alone (HTML)"}
    reloaded = on_page(table, account)
    assert len(standing(account).entries) == 1, "nor is a reload"
    told = f"{entry.at[:10]}, released; its zip lies beside the account as people-release-1.zip"
    assert told in text_of(reloaded)


def test_a_second_release_is_typed_anew_and_charged_again_up_to_the_cap(tmp_path):
    account = account_in(tmp_path)
    app = on_page(open_people(tmp_path), account)
    first = button(app).key
    sound(pressed_once(app).button(key="release:prepare_another").click().run())
    assert button(app).key != first, "the second of two clicks would press it"
    assert button(app).disabled, "what confirmed the first does not confirm the second"
    sound(pressed_once(app).button(key="release:prepare_another").click().run())
    assert standing(account).spent_epsilon == 2.0 and "left in the account" in errors_of(app)
    assert barred(app) and "Account: to do" in everything_shown(app)


def test_hostile_names_stay_text(tmp_path):
    evil = "a<img src=x>|:red[a]**b**"
    data, declaration_file = write_people(tmp_path)
    data.write_text(data.read_text().replace("age,income", f"{evil},income", 1))
    said = json.loads(declaration_file.read_text())
    said |= {"bounds": {evil: [0, 100], "income": [0, 90000]}, "origins": {}, "bounds_origin": evil, "title": evil}
    declaration_file.write_text(json.dumps({**said, "release": WORDS}))
    declared = replace(apply_declaration_file(declaration_file).validate(), kind=FileKind.PRIVATE)
    app = on_page(declare(open_file(data), declared), account_in(tmp_path))
    for _ in range(2):
        shown = "\n".join(one.value for one in (*app.markdown, *app.caption, *app.subheader, *app.success))
        assert ":red[a]" not in shown and "**b**" not in shown and "<img" not in shown.replace("\\<img", "")
        if not app.session_state.get("release:pressed"):
            pressed_once(app)


def test_a_failure_after_the_charge_says_that_it_is_charged_and_not_why(tmp_path, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ValueError("row 17 is 4711")

    monkeypatch.setattr("dpviz.releases.releasing.draw", broken)
    account = account_in(tmp_path)
    app = pressed_once(on_page(open_people(tmp_path), account))
    assert [entry.state for entry in standing(account).entries] == [State.FAILED]
    assert app.error[0].proto.title == "Charged (1), and nothing was released"
    assert "row 17" not in everything_shown(app) and "ValueError" in app.error[0].value
    assert "stays in the account" in text_of(app)


def test_a_refusal_at_the_last_moment_charges_nothing(tmp_path):
    account = account_in(tmp_path)
    app = confirmed(on_page(open_people(tmp_path), account))
    Account.open(account).charge(replace(a_charge(1.5), unit="1 row"))  # another program was faster
    sound(button(app).click().run())
    assert len(standing(account).entries) == 1 and "left in the account" in errors_of(app)


def test_while_it_is_under_way_the_page_shows_that_alone(tmp_path, monkeypatch):
    go_on, real = threading.Event(), publishing.publish

    def slow(*args: object, **kwargs: object) -> object:
        assert go_on.wait(waiting.SECONDS)
        return real(*args, **kwargs)

    monkeypatch.setattr(publishing, "publish", slow)
    app = confirmed(on_page(open_people(tmp_path), account_in(tmp_path)))
    try:
        sound(button(app).click().run())
        assert "Releasing 3 centres of Visitors at ε = 1" in app.subheader[0].value
        assert not [one for one in app.text_input if (one.key or "").startswith("release:")]
        assert "is being released" in text_of(press(app, "Back to the picture"))
    finally:
        go_on.set()
    assert app.session_state["release:pressed"][0].job.wait(waiting.SECONDS)
    assert "Released in this visit: charge 1 of account people, ε = 1 left." in text_of(sound(app.run()))


def test_a_release_buys_the_bounds_that_its_owner_cannot_declare_and_says_what_they_cost(tmp_path):
    said = {"bounds": {"age": [0, 100], "income": [None, None]}, "bounds_origin": "law", "release": WORDS}
    at = paste_bounds(upload(visit("data.py"), write_people(tmp_path)[0].read_bytes()), json.dumps(said))
    at.session_state["k"] = 3
    told = text_of(buys(at, "income"))
    assert "will be bought with ε = 0.03" in told and "| age | 0 to 100 |" in told
    at.text_input(key="release:account_path").set_value(str(account_in(tmp_path)))
    at.slider(key="release:bounds").set_value(20)
    assert "will be bought with ε = 0.2" in text_of(fine(at.run()))
    bought = apply_declaration(files_of(pressed_once(at))[DECLARATION].decode()).bounds["income"]
    assert bought.lower is not None and bought.upper >= 60_000 and "bought" in bought.origin
    assert at.subheader[0].value.startswith("people: released at ε = 1") and "**income**: " in text_of(at)


def test_a_zip_that_does_not_verify_is_not_offered(tmp_path, monkeypatch):
    def forge(data: bytes):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        return verify(make_zip({**files, CENTERS: files[CENTERS].replace(b"1", b"2")}))

    monkeypatch.setattr("dpviz.app.ui.release.released_panel.verify", forge)
    app = pressed_once(on_page(open_people(tmp_path), account_in(tmp_path)))
    assert not app.get("download_button") and "is not offered" in app.error[0].proto.title
    assert "centers.csv" in app.error[0].value.replace("\\", "")


def test_each_visit_to_this_process_counts_its_looks_once_and_all_visits_are_told_of_them(tmp_path) -> None:
    def told() -> str:
        return text_of(app_on("release.py", open_people(tmp_path), k="3"))

    key = open_people(tmp_path).source_key
    assert "None that the releasing process counted" in told()
    for visits, number in ((1, "one"), (2, "two")):
        app = app_on("home.py", open_people(tmp_path), algorithm="dplloyd", k="3")
        run_again(app)
        sound(truth_switch(app).set_value(True).run())
        sound(app.run())
        shown = {AccessKind.ROWS: visits, AccessKind.LOSS: visits, AccessKind.REFERENCE: visits}
        assert ACCESS_LOG.count(key).looks == shown
        assert f"{number} look{'s' * (visits > 1)} at losses on the rows" in told()
    sound(app.switch_page("compare.py").run())
    app.segmented_control(key="compare:judged").set_value("the rows themselves")
    app.multiselect(key="compare:contenders").set_value(["DPLloyd"])
    app.slider(key="compare:repeats").set_value(1)
    computed(sound(app.run()), "compare")
    assert "three looks at losses on the rows" in told() and "one study on them" in told()


def test_shares_of_missing_cells_and_segments_are_bought_where_they_are_asked_for(tmp_path):
    app = on_page(open_people(tmp_path), account_in(tmp_path))
    app.slider(key="release:share").set_value(20)
    app.slider(key="release:missing").set_value(5)
    assert "and how many values are missing" in sound(app.run()).subheader[0].value
    app.number_input(key="release:smallest").set_value(400)
    sound(app.run())
    page = files_of(pressed_once(app))[PAGE].decode()
    assert "of age is missing" in everything_shown(app) and "Missing values, with noise: " in page
    assert "every group has at least 400 rows" in page
    places, segments = app.get("plotly_chart")
    assert places.proto.alt.startswith("Map of age") and segments.proto.alt.startswith("Three segments")
