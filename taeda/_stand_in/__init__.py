"""Taeda under the name ``torch``."""

from taeda._stand_in.finder import install_as_torch as install_as_torch
