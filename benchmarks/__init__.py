"""Taeda beside PyTorch, timed in turn on one machine: ``python -m benchmarks [--quick] [--only group]``."""
