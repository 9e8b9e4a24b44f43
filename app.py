"""Front door: ``streamlit run app.py``.

The script proper lives inside ``pages/``, because a ``pages/`` folder beside the main script would switch Streamlit
to its older multipage mode until the first ``st.navigation`` call.
"""

from functools import partial

from starlette.middleware import Middleware
from streamlit import App, get_option

from dpviz.ui.player.vendor import board_files, vendor
from dpviz.ui.same_origin import SameOrigin
from dpviz.ui.server_log import keep_texts_out, say_defect

keep_texts_out()
app = App(
    "pages/_router.py",
    routes=[vendor(), board_files()],
    middleware=[Middleware(SameOrigin, allowed=partial(get_option, "server.corsAllowedOrigins"))],
    on_script_error=say_defect,
)
