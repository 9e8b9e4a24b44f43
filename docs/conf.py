"""Sphinx: pages are Markdown, nothing is fetched from elsewhere, and what is generated is written by docs/build.py."""

from __future__ import annotations

from dpviz import __version__

project = "dpviz"
author = "the dpviz contributors"
version = release = __version__
extensions = ["myst_parser"]
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["reproduced", "generators"]
html_theme = "furo"
html_title = f"dpviz {version}"
html_static_path = ["assets"]
html_css_files = ["site.css"]
html_extra_path = ["extra"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
highlight_language = "none"
