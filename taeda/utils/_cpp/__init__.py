"""Building C++ against Taeda: where its headers and libraries lie, and a compiler's work done once."""
