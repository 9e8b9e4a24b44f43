"""A run as an animation on the page: all of its steps are sent at once, and stepping asks no server."""
