"""Front door: ``streamlit run app.py``.

The script proper lives inside ``pages/``, because a ``pages/`` folder beside the main script would switch Streamlit
to its older multipage mode until the first ``st.navigation`` call.
"""

import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from streamlit import App, get_option

from dpviz.app.ui.same_origin import SameOrigin, mount_board, mount_vendor
from dpviz.app.ui.server_log import keep_texts_out, say_defect

keep_texts_out()
PAGES = Path(__file__).resolve().with_name("pages")
# Streamlit would add it as each run of a page begins, and take it away as it ends: whoever looks for a module just then
# in another thread passes over the folder behind it, and finds none.
sys.path.append(str(PAGES))
# While the server starts and the first browser loads; what fails here fails on the page, too.
Thread(target=partial(import_module, "dpviz.app.ui.ahead"), daemon=True).start()
app = App(
    PAGES / "_router.py",
    routes=[mount_vendor(), mount_board()],
    middleware=[
        Middleware(SameOrigin, allowed=partial(get_option, "server.corsAllowedOrigins")),
        # What a page loads first is text: a third of it travels.
        Middleware(GZipMiddleware, minimum_size=2_000, compresslevel=6),
    ],
    on_script_error=say_defect,
)
