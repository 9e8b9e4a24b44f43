"""Pages and pictures of text as templates: markup stands here, and what it says is made elsewhere."""
