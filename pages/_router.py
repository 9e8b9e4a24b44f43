"""All pages, their order, and the rail beside them. The guard keeps a spawned process from drawing pages."""

# They bring tables of their own: what the rail tells is not about those.
_OWN_TABLES = ("lessons", "playground", "read")


def main() -> None:
    import streamlit as st  # here, so that importing this file stays light

    from dpviz.app.ui import FAVICON
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
    # What is of second rank lies behind one word, and words need no icons: the menu stays on one line.
    work = [
        st.Page("home.py", title="Bench", default=True),
        st.Page("data.py", title="Data"),
        st.Page("explore.py", title="Explore"),
        st.Page("tradeoff.py", title="Trade-off"),
        st.Page("release.py", title="Release"),
        st.Page("read.py", title="Read"),
    ]
    learn = [
        st.Page("lessons.py", title="Lessons", icon=":material/school:"),
        st.Page("playground.py", title="Playground", icon=":material/brush:"),
        st.Page("meaning.py", title="What ε means", icon=":material/balance:"),
        st.Page("papers.py", title="Papers", icon=":material/science:"),
        st.Page("compare.py", title="Compare", icon=":material/compare_arrows:"),
        st.Page("ledger.py", title="Ledger", icon=":material/receipt_long:"),
        st.Page("glossary.py", title="Glossary", icon=":material/dictionary:"),
    ]
    page = st.navigation({"": work, "More": learn}, position="hidden" if is_presented() else "top")
    remember_link()
    claim_made()
    follow_table_link()
    if begin_with_given() and page.url_path == "":
        st.switch_page("data.py")
    claim_finished()
    claim_prepared()
    if page.url_path in _OWN_TABLES:
        page.run()
    elif page.url_path == "":  # the bench has its own controls
        draw_linked_table()
        page.run()
    else:
        draw_rail_head()
        draw_linked_table()
        page.run()
        draw_rail_foot(with_truth=page.url_path != "release")  # what is published is chosen without it
    follow_reader()


if __name__ == "__main__":
    main()
