"""Streamlit glue: session state, widgets, badges."""

from pathlib import Path

FAVICON = Path(__file__).parent / "assets" / "favicon.png"
