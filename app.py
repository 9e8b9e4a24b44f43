"""Front door: ``streamlit run app.py``.

The script proper lives inside ``pages/``, because a ``pages/`` folder beside the main script would switch Streamlit
to its older multipage mode until the first ``st.navigation`` call.
"""

from streamlit import App

app = App("pages/_router.py")
