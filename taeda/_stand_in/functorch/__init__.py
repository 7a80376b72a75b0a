"""The package that PyTorch's wheel has beside ``torch``: the transforms by their first names.

It is found where no package of this name is installed.
"""

from __future__ import annotations

from typing import Any

from taeda import __version__  # noqa: F401
from taeda._functorch.deprecated import (  # noqa: F401
    combine_state_for_ensemble,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    make_functional,
    make_functional_with_buffers,
    vjp,
    vmap,
)
from taeda._functorch.make_functional import FunctionalModule, FunctionalModuleWithBuffers  # noqa: F401


def __getattr__(name: str) -> Any:
    if name == "make_fx":  # which recording alone needs
        from taeda.fx.experimental.proxy_tensor import make_fx

        return make_fx
    raise AttributeError(f"module 'functorch' has no attribute '{name}'", name=name)
