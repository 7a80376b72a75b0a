"""Timers that end a worker which does not get done in time.

A worker says what may take how long (``with expires(after=60):``), a server in the agent's process ends it if it does.
"""

from __future__ import annotations

from taeda.distributed.elastic.timer.api import TimerClient as TimerClient
from taeda.distributed.elastic.timer.api import TimerRequest as TimerRequest
from taeda.distributed.elastic.timer.api import TimerServer as TimerServer
from taeda.distributed.elastic.timer.api import configure as configure
from taeda.distributed.elastic.timer.api import expires as expires
from taeda.distributed.elastic.timer.file_based_local_timer import FileTimerClient as FileTimerClient
from taeda.distributed.elastic.timer.file_based_local_timer import FileTimerRequest as FileTimerRequest
from taeda.distributed.elastic.timer.file_based_local_timer import FileTimerServer as FileTimerServer
from taeda.distributed.elastic.timer.local_timer import LocalTimerClient as LocalTimerClient
from taeda.distributed.elastic.timer.local_timer import LocalTimerServer as LocalTimerServer
