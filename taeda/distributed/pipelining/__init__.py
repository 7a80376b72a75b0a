"""Pipelines: a model in stages on several processes, each of which works on another microbatch of a batch."""

from __future__ import annotations

from taeda.distributed.pipelining._pipe import Pipe as Pipe
from taeda.distributed.pipelining._pipe import SplitPoint as SplitPoint
from taeda.distributed.pipelining._pipe import pipe_split as pipe_split
from taeda.distributed.pipelining._pipe import pipeline as pipeline
from taeda.distributed.pipelining.schedules import Schedule1F1B as Schedule1F1B
from taeda.distributed.pipelining.schedules import ScheduleDualPipeV as ScheduleDualPipeV
from taeda.distributed.pipelining.schedules import ScheduleGPipe as ScheduleGPipe
from taeda.distributed.pipelining.schedules import ScheduleInterleaved1F1B as ScheduleInterleaved1F1B
from taeda.distributed.pipelining.schedules import ScheduleInterleavedZeroBubble as ScheduleInterleavedZeroBubble
from taeda.distributed.pipelining.schedules import ScheduleLoopedBFS as ScheduleLoopedBFS
from taeda.distributed.pipelining.schedules import ScheduleZBVZeroBubble as ScheduleZBVZeroBubble
from taeda.distributed.pipelining.stage import PipelineStage as PipelineStage
from taeda.distributed.pipelining.stage import build_stage as build_stage

__all__ = [
    "Pipe",
    "pipe_split",
    "SplitPoint",
    "pipeline",
    "PipelineStage",
    "build_stage",
    "Schedule1F1B",
    "ScheduleGPipe",
    "ScheduleInterleaved1F1B",
    "ScheduleLoopedBFS",
    "ScheduleInterleavedZeroBubble",
    "ScheduleZBVZeroBubble",
    "ScheduleDualPipeV",
]
