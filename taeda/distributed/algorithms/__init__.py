"""What is built upon groups of processes."""

from __future__ import annotations

from taeda.distributed.algorithms.join import Join as Join
from taeda.distributed.algorithms.join import Joinable as Joinable
from taeda.distributed.algorithms.join import JoinHook as JoinHook
