"""Passes for graphs of a certain kind of ops."""
