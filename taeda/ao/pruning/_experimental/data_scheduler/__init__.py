"""How the configuration of data sparsifiers changes with time."""

from taeda.ao.pruning._experimental.data_scheduler.base_data_scheduler import BaseDataScheduler

__all__ = ["BaseDataScheduler"]
