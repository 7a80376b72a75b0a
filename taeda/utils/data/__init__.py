"""Data loading: datasets, samplers, collating, and the loader with its worker processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._utils.collate import default_collate, default_convert
from ._utils.info import get_worker_info
from .dataloader import DataLoader, _DatasetKind
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .distributed import DistributedSampler
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

if TYPE_CHECKING:
    from .datapipes._decorator import argument_validation as argument_validation
    from .datapipes._decorator import functional_datapipe as functional_datapipe
    from .datapipes._decorator import guaranteed_datapipes_determinism as guaranteed_datapipes_determinism
    from .datapipes._decorator import non_deterministic as non_deterministic
    from .datapipes._decorator import runtime_validation as runtime_validation
    from .datapipes._decorator import runtime_validation_disabled as runtime_validation_disabled
    from .datapipes.datapipe import DataChunk as DataChunk
    from .datapipes.datapipe import DFIterDataPipe as DFIterDataPipe
    from .datapipes.datapipe import IterDataPipe as IterDataPipe
    from .datapipes.datapipe import MapDataPipe as MapDataPipe

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DFIterDataPipe",
    "DataChunk",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterDataPipe",
    "IterableDataset",
    "MapDataPipe",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "_DatasetKind",
    "argument_validation",
    "default_collate",
    "default_convert",
    "functional_datapipe",
    "get_worker_info",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
    "random_split",
    "runtime_validation",
    "runtime_validation_disabled",
]

_MODULES = ("datapipes", "graph", "graph_settings")


def __getattr__(name: str) -> Any:
    """Pipes are loaded on first use."""
    import importlib

    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in __all__:
        importlib.import_module(f"{__name__}.datapipes")  # whose pipes become methods of all
        for home in ("datapipe", "_decorator"):
            module = importlib.import_module(f"{__name__}.datapipes.{home}")
            globals().update({one: value for one, value in vars(module).items() if one in __all__})
        return globals()[name]
    from taeda._main.absent import missing

    raise missing(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
