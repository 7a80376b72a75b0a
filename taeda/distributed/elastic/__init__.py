"""Launching processes that work together, and again when one fails: agents, rendezvous, error files, timers."""
