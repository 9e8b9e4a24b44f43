"""Front door: ``streamlit run app.py``.

The script proper lives inside ``pages/``, because a ``pages/`` folder beside the main script would switch Streamlit
to its older multipage mode until the first ``st.navigation`` call.
"""

from streamlit import App

from dpviz.ui.player.vendor import vendor
from dpviz.ui.server_log import keep_texts_out, say_defect

keep_texts_out()
app = App("pages/_router.py", routes=[vendor()], on_script_error=say_defect)
