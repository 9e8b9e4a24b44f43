"""The page *Playground*, and its board, which lessons show too."""
