"""What algorithms of several families share."""
