"""Averaging parameters now and then, in place of gradients always."""
