"""The page *Lessons*: predict, then see."""
