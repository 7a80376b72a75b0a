"""``trace``: a program that runs once, recorded at the dispatcher as a graph."""
