"""Which loss and which risk are accepted, and the window between them."""
