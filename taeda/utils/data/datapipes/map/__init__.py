"""Pipes that are asked for samples by key."""

from __future__ import annotations

from taeda.utils.data.datapipes.map.callable import MapperMapDataPipe as Mapper
from taeda.utils.data.datapipes.map.combinatorics import ShufflerIterDataPipe as Shuffler
from taeda.utils.data.datapipes.map.combining import ConcaterMapDataPipe as Concater
from taeda.utils.data.datapipes.map.combining import ZipperMapDataPipe as Zipper
from taeda.utils.data.datapipes.map.grouping import BatcherMapDataPipe as Batcher
from taeda.utils.data.datapipes.map.utils import SequenceWrapperMapDataPipe as SequenceWrapper

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]
