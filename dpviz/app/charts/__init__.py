"""Figures: pure functions from what was released (or revealed) to plotly figures."""
