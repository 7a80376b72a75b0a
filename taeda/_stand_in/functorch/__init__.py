"""The package that PyTorch's wheel has beside ``torch``: the transforms by their first names.

It is found where no package of this name is installed.
"""

from __future__ import annotations

from typing import Any

from taeda import __version__ as __version__
from taeda._functorch.deprecated import (
    combine_state_for_ensemble as combine_state_for_ensemble,
)
from taeda._functorch.deprecated import (
    functionalize as functionalize,
)
from taeda._functorch.deprecated import (
    grad as grad,
)
from taeda._functorch.deprecated import (
    grad_and_value as grad_and_value,
)
from taeda._functorch.deprecated import (
    hessian as hessian,
)
from taeda._functorch.deprecated import (
    jacfwd as jacfwd,
)
from taeda._functorch.deprecated import (
    jacrev as jacrev,
)
from taeda._functorch.deprecated import (
    jvp as jvp,
)
from taeda._functorch.deprecated import (
    make_functional as make_functional,
)
from taeda._functorch.deprecated import (
    make_functional_with_buffers as make_functional_with_buffers,
)
from taeda._functorch.deprecated import (
    vjp as vjp,
)
from taeda._functorch.deprecated import (
    vmap as vmap,
)
from taeda._functorch.make_functional import (
    FunctionalModule as FunctionalModule,
)
from taeda._functorch.make_functional import (
    FunctionalModuleWithBuffers as FunctionalModuleWithBuffers,
)


def __getattr__(name: str) -> Any:
    if name == "make_fx":  # which recording alone needs
        from taeda.fx.experimental.proxy_tensor import make_fx

        return make_fx
    raise AttributeError(f"module 'functorch' has no attribute '{name}'", name=name)
