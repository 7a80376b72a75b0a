"""Checkpoints that many processes write and read, each its part."""

from __future__ import annotations

from taeda.distributed.checkpoint.api import CheckpointException as CheckpointException
from taeda.distributed.checkpoint.default_planner import DefaultLoadPlanner as DefaultLoadPlanner
from taeda.distributed.checkpoint.default_planner import DefaultSavePlanner as DefaultSavePlanner
from taeda.distributed.checkpoint.filesystem import FileSystemReader as FileSystemReader
from taeda.distributed.checkpoint.filesystem import FileSystemWriter as FileSystemWriter
from taeda.distributed.checkpoint.hf_storage import HuggingFaceStorageReader as HuggingFaceStorageReader
from taeda.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter as HuggingFaceStorageWriter
from taeda.distributed.checkpoint.metadata import BytesStorageMetadata as BytesStorageMetadata
from taeda.distributed.checkpoint.metadata import ChunkStorageMetadata as ChunkStorageMetadata
from taeda.distributed.checkpoint.metadata import Metadata as Metadata
from taeda.distributed.checkpoint.metadata import TensorStorageMetadata as TensorStorageMetadata
from taeda.distributed.checkpoint.optimizer import (
    load_sharded_optimizer_state_dict as load_sharded_optimizer_state_dict,
)
from taeda.distributed.checkpoint.planner import LoadPlan as LoadPlan
from taeda.distributed.checkpoint.planner import LoadPlanner as LoadPlanner
from taeda.distributed.checkpoint.planner import ReadItem as ReadItem
from taeda.distributed.checkpoint.planner import SavePlan as SavePlan
from taeda.distributed.checkpoint.planner import SavePlanner as SavePlanner
from taeda.distributed.checkpoint.planner import WriteItem as WriteItem
from taeda.distributed.checkpoint.state_dict_loader import load as load
from taeda.distributed.checkpoint.state_dict_loader import load_state_dict as load_state_dict
from taeda.distributed.checkpoint.state_dict_saver import async_save as async_save
from taeda.distributed.checkpoint.state_dict_saver import save as save
from taeda.distributed.checkpoint.state_dict_saver import save_state_dict as save_state_dict
from taeda.distributed.checkpoint.storage import StorageReader as StorageReader
from taeda.distributed.checkpoint.storage import StorageWriter as StorageWriter
