"""The functions of the main namespace that are written in Python, by subject."""
