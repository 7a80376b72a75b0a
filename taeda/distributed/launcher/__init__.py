"""Launching functions and programs from Python."""

from __future__ import annotations

from taeda.distributed.launcher.api import LaunchConfig as LaunchConfig
from taeda.distributed.launcher.api import elastic_launch as elastic_launch
from taeda.distributed.launcher.api import launch_agent as launch_agent
