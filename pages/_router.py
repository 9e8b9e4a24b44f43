"""All pages, their order, and the sidebar. The guard keeps a spawned process from drawing pages."""


def main() -> None:
    import streamlit as st  # here, so that importing this file stays light

    from dpviz.ui import FAVICON
    from dpviz.ui.controls import remember_link
    from dpviz.ui.data.table_link import follow_table_link
    from dpviz.ui.data.ways_in import begin_with_given
    from dpviz.ui.runner import claim_finished
    from dpviz.ui.sidebar import sidebar

    # A picture of our own: a Material icon here would make the browser ask a font server.
    st.set_page_config(page_title="dpviz: what privacy costs", page_icon=str(FAVICON), layout="wide")
    page = st.navigation(
        {
            "": [st.Page("home.py", title="Home", icon=":material/home:", default=True)],
            "Prepare": [st.Page("data.py", title="Data", icon=":material/table_view:")],
            "See": [
                st.Page("explore.py", title="Explore", icon=":material/travel_explore:"),
                st.Page("compare.py", title="Compare", icon=":material/compare_arrows:"),
                st.Page("tradeoff.py", title="Trade-off", icon=":material/query_stats:"),
                st.Page("papers.py", title="Papers", icon=":material/science:"),
            ],
            "Account": [st.Page("ledger.py", title="Ledger", icon=":material/receipt_long:")],
        }
    )
    remember_link()
    follow_table_link()
    if begin_with_given() and page.url_path == "":
        st.switch_page("data.py")
    claim_finished()
    count_looks = sidebar()
    page.run()
    count_looks()


if __name__ == "__main__":
    main()
