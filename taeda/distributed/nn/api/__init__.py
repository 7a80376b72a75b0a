"""Modules that live on other workers."""
