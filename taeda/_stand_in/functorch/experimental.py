"""``functorch.experimental``: transforms that began there."""

from __future__ import annotations

from taeda._functorch.apis import chunk_vmap as chunk_vmap
from taeda.func import (
    functionalize as functionalize,
)
from taeda.func import (
    hessian as hessian,
)
from taeda.func import (
    jacfwd as jacfwd,
)
from taeda.func import (
    jvp as jvp,
)
from taeda.func import (
    replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_,
)
