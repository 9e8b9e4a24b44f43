"""What pages with studies share."""
