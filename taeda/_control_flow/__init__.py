"""Loops, branches and scans as functions of functions, run as they stand: a step is a call of the given function."""

from taeda._control_flow.associative_scan import associative_scan
from taeda._control_flow.capture import capturing as capturing
from taeda._control_flow.capture import current_capture as current_capture
from taeda._control_flow.cond import cond
from taeda._control_flow.map import map
from taeda._control_flow.scan import scan
from taeda._control_flow.while_loop import while_loop

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]
