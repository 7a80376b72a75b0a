"""Passes as objects, their order, and partitions of graphs."""
