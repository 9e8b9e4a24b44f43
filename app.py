"""Front door: ``streamlit run app.py``.

The script proper lives inside ``pages/``, because a ``pages/`` folder beside the main script would switch Streamlit
to its older multipage mode until the first ``st.navigation`` call.
"""

import gc
from functools import partial
from importlib import import_module
from threading import Thread

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from streamlit import App, get_option

from dpviz.app.ui.same_origin import SameOrigin, mount_board, mount_vendor
from dpviz.app.ui.server_log import keep_texts_out, say_defect


def load_ahead() -> None:
    """What pages import, while the server starts and the first browser loads: what fails here fails there, too."""
    for name in ("dpviz.app.ui.bench.bench_page", "sklearn.cluster"):
        import_module(name)
    gc.freeze()  # what stays for good is not gone through again after each run of a page


keep_texts_out()
Thread(target=load_ahead, daemon=True).start()
app = App(
    "pages/_router.py",
    routes=[mount_vendor(), mount_board()],
    middleware=[
        Middleware(SameOrigin, allowed=partial(get_option, "server.corsAllowedOrigins")),
        # What a page loads first is text: a third of it travels.
        Middleware(GZipMiddleware, minimum_size=2_000, compresslevel=6),
    ],
    on_script_error=say_defect,
)
