"""Loops, branches and scans as functions of functions, run as they stand: a step is a call of the given function."""

from taeda._higher_order_ops.associative_scan import associative_scan
from taeda._higher_order_ops.cond import cond
from taeda._higher_order_ops.map import map
from taeda._higher_order_ops.scan import scan
from taeda._higher_order_ops.while_loop import while_loop

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]
