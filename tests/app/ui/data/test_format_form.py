"""What is said of single columns: the editor's table gives back what it was given."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.ui.data.format_form import ColumnStyles, make_frame, read_frame, read_names
from dpviz.tables.csv_writer import format_names
from dpviz.tables.file_format import NEGATIVES, NumberStyle

MARKS = st.sampled_from([(".", ""), (".", ","), (".", " "), (".", "'"), (",", ""), (",", "."), (",", " ")])
STYLES = st.builds(
    lambda marks, sign, negative: NumberStyle(*marks, sign, negative),
    MARKS,
    st.sampled_from(["", "%", "€"]),
    st.sampled_from(NEGATIVES),
)
NAMES = ("a", "b", "c")


@given(STYLES, st.dictionaries(st.sampled_from(NAMES), STYLES), st.sets(st.sampled_from(NAMES)))
def test_the_editor_gives_back_what_it_was_given(usual, styles, text):
    said = ColumnStyles(tuple(sorted(text)), styles)
    own = {name: style for name, style in styles.items() if name not in text and style != usual}
    assert read_frame(make_frame(NAMES, said), usual) == ColumnStyles(said.text, own)


def test_a_mark_that_is_left_open_is_that_of_the_file():
    frame = make_frame(["a", "b"], ColumnStyles((), {}))
    assert read_frame(frame, NumberStyle(",")) == ColumnStyles((), {})
    frame.loc[0, "sign"] = " % "
    assert read_frame(frame, NumberStyle(",", ".")).styles == {"a": NumberStyle(",", ".", "%")}
    frame.loc[1, "grouping"] = "none"
    assert read_frame(frame, NumberStyle(",", ".")).styles["b"] == NumberStyle(",", "")


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("C",)), min_size=1).map(str.strip)))
def test_names_that_are_written_down_are_read_back(names):
    names = tuple(name for name in names if name)
    assert read_names(format_names(names)) == names


def test_names_stand_on_lines_or_between_commas():
    assert read_names('age,"height, cm"\n\n weight ,') == ("age", "height, cm", "weight")
