"""Masks over the inputs of modules."""
