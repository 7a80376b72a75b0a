"""As `taeda.distributed.tensor.experimental`."""

from __future__ import annotations

from taeda.distributed.tensor.experimental import implicit_replication as implicit_replication
