"""Streamlit glue: session state, widgets, badges."""
