"""Modules that are computed again in the backward pass."""
