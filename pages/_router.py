"""All pages, their order, and the sidebar. The guard keeps a spawned process from drawing pages."""


def main() -> None:
    import streamlit as st  # here, so that importing this file stays light

    from dpviz.ui.sidebar import sidebar

    st.set_page_config(page_title="dpviz: what privacy costs", page_icon="🔒", layout="wide")
    page = st.navigation(
        {
            "": [st.Page("home.py", title="Home", icon="🏠", default=True)],
            "Prepare": [st.Page("data.py", title="Data", icon="🗂️")],
            "See": [
                st.Page("explore.py", title="Explore", icon="🔎"),
                st.Page("compare.py", title="Compare", icon="⚖️"),
                st.Page("tradeoff.py", title="Trade-off", icon="📈"),
            ],
            "Account": [st.Page("ledger.py", title="Ledger", icon="🧾")],
        }
    )
    with st.sidebar:
        sidebar()
    page.run()


if __name__ == "__main__":
    main()
