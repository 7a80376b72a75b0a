"""Pipes that are read in order."""

from __future__ import annotations

from taeda.utils.data.datapipes.iter.callable import CollatorIterDataPipe as Collator
from taeda.utils.data.datapipes.iter.callable import MapperIterDataPipe as Mapper
from taeda.utils.data.datapipes.iter.combinatorics import SamplerIterDataPipe as Sampler
from taeda.utils.data.datapipes.iter.combinatorics import ShufflerIterDataPipe as Shuffler
from taeda.utils.data.datapipes.iter.combining import ConcaterIterDataPipe as Concater
from taeda.utils.data.datapipes.iter.combining import DemultiplexerIterDataPipe as Demultiplexer
from taeda.utils.data.datapipes.iter.combining import ForkerIterDataPipe as Forker
from taeda.utils.data.datapipes.iter.combining import MultiplexerIterDataPipe as Multiplexer
from taeda.utils.data.datapipes.iter.combining import ZipperIterDataPipe as Zipper
from taeda.utils.data.datapipes.iter.filelister import FileListerIterDataPipe as FileLister
from taeda.utils.data.datapipes.iter.fileopener import FileOpenerIterDataPipe as FileOpener
from taeda.utils.data.datapipes.iter.grouping import BatcherIterDataPipe as Batcher
from taeda.utils.data.datapipes.iter.grouping import GrouperIterDataPipe as Grouper
from taeda.utils.data.datapipes.iter.grouping import UnBatcherIterDataPipe as UnBatcher
from taeda.utils.data.datapipes.iter.routeddecoder import RoutedDecoderIterDataPipe as RoutedDecoder
from taeda.utils.data.datapipes.iter.selecting import FilterIterDataPipe as Filter
from taeda.utils.data.datapipes.iter.sharding import ShardingFilterIterDataPipe as ShardingFilter
from taeda.utils.data.datapipes.iter.streamreader import StreamReaderIterDataPipe as StreamReader
from taeda.utils.data.datapipes.iter.utils import IterableWrapperIterDataPipe as IterableWrapper

__all__ = [
    "Batcher",
    "Collator",
    "Concater",
    "Demultiplexer",
    "FileLister",
    "FileOpener",
    "Filter",
    "Forker",
    "Grouper",
    "IterableWrapper",
    "Mapper",
    "Multiplexer",
    "RoutedDecoder",
    "Sampler",
    "ShardingFilter",
    "Shuffler",
    "StreamReader",
    "UnBatcher",
    "Zipper",
]
