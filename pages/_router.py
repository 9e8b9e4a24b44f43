"""All pages, their order, in a menu of three. The guard keeps a spawned process from drawing pages."""

# Where a table may be on its way that a link names.
_WITH_TABLE = ("", "compare")


def main() -> None:
    import streamlit as st  # here, so that importing this file stays light

    from dpviz.app.ui import FAVICON, ahead  # before all that it loads
    from dpviz.app.ui.addresses import BENCH, list_moved
    from dpviz.app.ui.controls import remember_link
    from dpviz.app.ui.data.table_link import begin_with_given, claim_tables, draw_linked_table, follow_table_link
    from dpviz.app.ui.lessons.visit import is_presented, name_shown
    from dpviz.app.ui.reader import follow_reader
    from dpviz.app.ui.runner import claim_finished

    # A picture of our own: a Material icon here would make the browser ask a font server.
    st.set_page_config(
        page_title="dpviz: what privacy costs", page_icon=str(FAVICON), layout="wide", initial_sidebar_state="collapsed"
    )
    menu = [
        st.Page(BENCH, title="Bench", default=True),
        st.Page("read.py", title="Read"),
        st.Page("learn.py", title="Learn"),
    ]
    # Learn leads to these.
    behind = {
        **{"lessons.py": "Lessons", "playground.py": "Playground", "meaning.py": "What ε means"},
        **{"papers.py": "Papers", "compare.py": "Compare algorithms"},
    }
    hidden = [st.Page(page, title=title, visibility="hidden") for page, title in behind.items()]
    page = st.navigation([*menu, *hidden, *list_moved()], position="hidden" if is_presented() else "top")
    remember_link()
    claim_tables()
    follow_table_link()
    begin_with_given()
    claim_finished()
    if page.url_path in _WITH_TABLE:
        draw_linked_table()
    page.run()
    follow_reader(name_shown(page.url_path))
    ahead.load_clustering()


if __name__ == "__main__":
    main()
