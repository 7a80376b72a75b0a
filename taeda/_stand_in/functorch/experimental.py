"""``functorch.experimental``: transforms that began there."""

from __future__ import annotations

from taeda._functorch.apis import chunk_vmap  # noqa: F401
from taeda.func import functionalize, hessian, jacfwd, jvp, replace_all_batch_norm_modules_  # noqa: F401
