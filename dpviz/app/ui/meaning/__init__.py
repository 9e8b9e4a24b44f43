"""The page *What ε means*: five parts, each one screen, on rows that anybody may look at."""
