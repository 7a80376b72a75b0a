"""Data for programs that are started again in the middle of an epoch."""

from __future__ import annotations

from taeda.distributed.elastic.utils.data.cycling_iterator import CyclingIterator as CyclingIterator
from taeda.distributed.elastic.utils.data.elastic_distributed_sampler import (
    ElasticDistributedSampler as ElasticDistributedSampler,
)
