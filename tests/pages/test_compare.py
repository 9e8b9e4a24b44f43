"""Compare: some algorithms, one set of axes, and folds that each compute what they show.

On a private file nothing is read until its owner says so.
"""

from urllib.parse import parse_qsl

import pytest
import yaml
from streamlit.testing.v1 import AppTest

from dpviz.algorithms import Guarantee, list_private_cards
from dpviz.runs import Contender, StudyGrid
from dpviz.tables import FileKind
from tests.cases import for_each
from tests.pages import tables
from tests.pages.site import press
from tests.pages.tables import app_on, computed, open_blobs, sound, study_in, text_of


def asking(kind: FileKind = FileKind.PUBLIC, labels: tuple[str, ...] | None = None, repeats: int = 3) -> AppTest:
    """The page with some contenders chosen, as many runs each, and k = 3."""
    app = app_on("compare.py", open_blobs(kind))
    if labels is not None:
        app.multiselect(key="compare:contenders").set_value(list(labels))
    app.slider(key="compare:repeats").set_value(repeats)
    app.number_input(key="k").set_value(3)
    return sound(app.run())


def cannot_run(app: AppTest) -> bool:
    return app.button(key="compare:compute").disabled


def accesses(app: AppTest) -> list[str]:
    return app.session_state["visit:table"].private.accesses


def test_a_private_file_is_judged_on_a_stand_in_and_no_row_is_read() -> None:
    app = computed(asking(FileKind.PRIVATE, ("DPLloyd",), 3), "compare")
    source = study_in(app, "compare").source
    assert study_in(app, "compare").rows and source.kind is FileKind.SIMULATED
    assert source.domain.columns == app.session_state["visit:table"].domain.columns
    assert not accesses(app) and app.button(key="compare:compute")


def test_judging_a_private_file_on_its_own_rows_is_asked_for_counted_and_never_a_file() -> None:
    app = asking(FileKind.PRIVATE, ("DPLloyd",), repeats=2)
    app.segmented_control(key="compare:judged").set_value("the rows themselves")
    assert cannot_run(sound(app.run())) and not accesses(app)
    app.button(key="compare:allow").click()
    computed(sound(app.run()), "compare")
    assert any("study runs" in look for look in accesses(app)) and not app.get("download_button")


def test_without_truth_without_an_algorithm_or_with_k_above_n_it_cannot_run() -> None:
    app = app_on("home.py", open_blobs())
    tables.truth_switch(app).set_value(False)
    sound(app.run())
    assert cannot_run(sound(app.switch_page("compare.py").run()))
    assert "Choose at least one" in text_of(looking_at("sweep", labels=()))
    app = asking(labels=())
    assert cannot_run(app) and "cannot run" in text_of(app)
    app.multiselect(key="compare:contenders").set_value(["DPLloyd"])
    app.number_input(key="k").set_value(401)
    assert cannot_run(sound(app.run())) and "cannot run" in text_of(app)


@pytest.mark.slow
def test_who_cannot_run_is_named_and_left_out_at_one_press() -> None:
    app = asking(labels=("DPLloyd", "SuLQ k-means", "k-averages"))
    app.number_input(key="delta").set_value(0.0)
    said = text_of(sound(app.run()))
    assert cannot_run(app) and "SuLQ k-means needs delta > 0" in said and "One other cannot run either" in said
    press(app, "Leave out what cannot run")
    assert app.multiselect(key="compare:contenders").value == ["DPLloyd"] and not cannot_run(app)
    press(app, "Add all that can run")
    able = {card.title for card in list_private_cards() if Guarantee.PURE in card.guarantees}
    assert able == {*app.multiselect(key="compare:contenders").value}


def looking_at(fold: str, kind: FileKind = FileKind.PUBLIC, *, labels: tuple[str, ...] = ("DPLloyd",)) -> AppTest:
    """The page with one of its folds open, as a link asks for it."""
    app = app_on("compare.py", open_blobs(kind, n=300), drawer=fold)
    app.multiselect(key="compare:contenders").set_value(list(labels))
    app.slider(key="compare:repeats").set_value(2)
    app.number_input(key="k").set_value(3)
    if fold in ("sweep", "map"):
        app.select_slider(key=f"{fold}:range").set_value((0.3, 3.0))
    least = {"sweep": 2, "causes": 3, "payers": 5, "draws": 6}
    if fold in least:
        app.slider(key=f"{fold}:repeats").set_value(least[fold])
    return sound(app.run())


def unfold(app: AppTest, name: str) -> AppTest:
    app.session_state[f"compare:fold:{name}"] = True
    return sound(app.run())


@pytest.mark.slow
@for_each("fold", ["causes", "payers"])
def test_parts_of_a_private_file_come_from_a_stand_in_and_what_cannot_be_taken_apart_says_why(fold: str) -> None:
    app = looking_at(fold, FileKind.PRIVATE)
    app.button(key=f"{fold}:compute").click()
    sound(sound(app.run()).run())
    assert app.session_state[f"{fold}:job"].source.kind is FileKind.SIMULATED and not accesses(app)
    if fold == "causes":
        app.multiselect(key="compare:contenders").set_value([Contender("lsh-local").label])
        assert "random message" in text_of(sound(app.run())) and app.button(key="causes:compute").disabled


_WHO, _WHERE = (Contender("eugkm"), Contender("dplloyd", {"preset": "su"})), StudyGrid.list_epsilons(0.25, 4.0)
WANTED = StudyGrid(_WHO, (4,), _WHERE, (1e-7,), repeats=3)


def asks_for_what_was_wanted(app: AppTest) -> None:
    assert app.multiselect(key="compare:contenders").value == [each.label for each in WANTED.contenders]
    assert app.select_slider(key="sweep:range:1").value == (0.25, 4.0) and app.slider(key="sweep:repeats").value == 3
    assert (app.number_input(key="k").value, app.number_input(key="delta").value) == (4, 1e-7)


def test_a_link_sets_the_form_and_the_link_of_the_settings_keeps_every_epsilon() -> None:
    for link in (dict(parse_qsl(WANTED.to_query())), {"study": WANTED.to_yaml()}):
        asks_for_what_was_wanted(app_on("compare.py", open_blobs(), drawer="sweep", **link))
    app = app_on("compare.py", open_blobs(), drawer="sweep", epsilons="0.1,0.4,1", algorithms="eugkm")
    unfold(app, "settings")
    assert "algorithms=eugkm&epsilons=0.1,0.4,1&" in sound(app.run()).code[0].value
    app.select_slider(key="sweep:range:1").set_value((0.1, 0.3))
    assert "&epsilons=0.1,0.2,0.3&" in sound(app.run()).code[0].value


def test_a_file_of_settings_loads_back_outlives_a_change_of_page_and_another_file_is_refused() -> None:
    app = looking_at("settings")
    assert yaml.safe_load(app.code[1].value)["ks"] == [3]
    app.file_uploader(key="sweep:settings:upload").upload("s.yaml", b"k: 7")
    assert "not the settings of a trade-off study" in text_of(sound(app.run()))
    assert app.number_input(key="k").value == 3
    app.file_uploader(key="sweep:settings:upload").upload("s.yaml", WANTED.to_yaml().encode())
    asks_for_what_was_wanted(unfold(app, "sweep"))
    sound(app.switch_page("home.py").run())
    asks_for_what_was_wanted(unfold(sound(app.switch_page("compare.py").run()), "sweep"))
