"""The player of a run, as a page of the app and as a file of its own: markup, style and script that both share."""
