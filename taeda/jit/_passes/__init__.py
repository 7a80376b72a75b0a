"""Passes under the names that PyTorch's tools ask for."""
