"""All pages, their order, and the rail beside some. The guard keeps a spawned process from drawing pages."""

# What their controls stand in; no other page has one.
_WITH_RAIL = ("data", "explore", "release")


def main() -> None:
    import streamlit as st  # here, so that importing this file stays light

    from dpviz.app.ui import FAVICON
    from dpviz.app.ui.addresses import BENCH, list_moved
    from dpviz.app.ui.controls import remember_link
    from dpviz.app.ui.data.table_link import claim_made, claim_prepared, draw_linked_table, follow_table_link
    from dpviz.app.ui.data.ways_in import begin_with_given
    from dpviz.app.ui.lessons.visit import is_presented
    from dpviz.app.ui.rail import WIDTH, draw_rail_foot, draw_rail_head
    from dpviz.app.ui.reader import follow_reader
    from dpviz.app.ui.runner import claim_finished

    # A picture of our own: a Material icon here would make the browser ask a font server.
    st.set_page_config(
        page_title="dpviz: what privacy costs", page_icon=str(FAVICON), layout="wide", initial_sidebar_state=WIDTH
    )
    menu = [
        st.Page(BENCH, title="Bench", default=True),
        st.Page("read.py", title="Read"),
        st.Page("learn.py", title="Learn"),
    ]
    # Learn leads to these; the rest are ways of the bench.
    behind = {
        **{"lessons.py": "Lessons", "playground.py": "Playground", "meaning.py": "What ε means"},
        **{"papers.py": "Papers", "compare.py": "Compare algorithms"},
        **{"data.py": "Data", "explore.py": "Explore", "release.py": "Release"},
    }
    hidden = [st.Page(page, title=title, visibility="hidden") for page, title in behind.items()]
    page = st.navigation([*menu, *hidden, *list_moved()], position="hidden" if is_presented() else "top")
    remember_link()
    claim_made()
    follow_table_link()
    if begin_with_given() and page.url_path == "":
        st.switch_page("data.py")
    claim_finished()
    claim_prepared()
    with_rail = page.url_path in _WITH_RAIL
    if with_rail:
        draw_rail_head()
    if with_rail or page.url_path in ("", "compare"):
        draw_linked_table()
    page.run()
    if with_rail:
        draw_rail_foot(with_truth=page.url_path != "release")  # what is published is chosen without it
    follow_reader()


if __name__ == "__main__":
    main()
