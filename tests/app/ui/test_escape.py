"""What a name becomes for a Markdown text; tests/browser/test_hostile_names.py looks at it in Chromium."""

import re

from hypothesis import given
from hypothesis import strategies as st

from dpviz.app.ui.escape import escape_markdown, strip_markdown

JOINER = "\N{WORD JOINER}"
# What Streamlit's Markdown makes of text after backslashes have been read: links, addresses, icons, arrows.
_MADE_LATER = re.compile(r"https?://|www\.|[\w.+-]@|:[a-z0-9_+/-]+:|<-|->|--|>=|<=|~=|\]\(", re.IGNORECASE)
_DRAWN = st.text(alphabet=st.sampled_from("aw/:.@[](){}<>-=~*_`$!#&|\\1 \n\t"), max_size=30) | st.text(max_size=30)


def read(markdown: str) -> str:
    """What is left for the eye: backslashes before punctuation go, joiners have no width."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown).replace(JOINER, "")


@given(_DRAWN)
def test_a_name_reads_as_it_is_on_one_line_and_nothing_is_left_that_becomes_a_link_or_a_sign(name: str) -> None:
    shown = escape_markdown(name)
    assert "\n" not in shown and "\r" not in shown
    want = " ".join(name.split())
    unseen = r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
    assert read(shown) == re.sub(unseen, "\N{REPLACEMENT CHARACTER}", want)
    assert not _MADE_LATER.search(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", shown)), shown
    # An underscore inside a word is none.
    bare = re.sub(r"(?<=[^\W_])_(?=[^\W_])", "", re.sub(r"\\[!-/:-@\[-`{-~]", "\N{WHITE SQUARE}", shown))
    for sign in "`*_[]|~$":
        assert sign not in bare, shown


@given(_DRAWN)
def test_a_name_that_is_heard_is_as_it_is_or_has_the_same_letters_and_no_signs(name: str) -> None:
    heard = strip_markdown(name)
    unseen = r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
    as_it_is = re.sub(unseen, "\N{REPLACEMENT CHARACTER}", " ".join(name.split()))
    assert heard == as_it_is or not re.search(r"(?<=\w)\\|[*_\[\]`$|~<:]", heard), heard
    assert not re.search(r"!\[|\]\(|[<>]|://|www\.", heard, re.IGNORECASE), heard
    assert [c for c in read(heard) if c.isalpha()] == [c for c in read(escape_markdown(name)) if c.isalpha()]
