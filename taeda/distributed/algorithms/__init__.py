"""What is built upon groups of processes."""

from __future__ import annotations

from taeda.distributed.algorithms.join import Join as Join
