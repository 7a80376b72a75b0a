"""Bodies of composites as C++: a function written in a part of Python is translated statement by statement."""
