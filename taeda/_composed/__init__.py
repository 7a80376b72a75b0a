"""Tensors that are made of others: what nested and masked ones have in common."""
