"""`loss_parallel`, under the name of the module that programs also take it from."""

from __future__ import annotations

from taeda.distributed.tensor._special import loss_parallel as loss_parallel

__all__ = ["loss_parallel"]
