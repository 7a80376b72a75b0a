"""What PyTorch keeps in the modules of ``torch._functorch``, from where the package ``functorch`` takes it."""

import sys
from types import ModuleType
from typing import Any

from taeda import func
from taeda.func import _functional_modules, _modules

__path__: list[str] = []  # a package, whose modules are these


def functionalize(*args: Any, **kwargs: Any) -> Any:
    """PyTorch rewrites a function without writes in place, which its tracers need and those here do not.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(
        "taeda.func.functionalize: there is none here; what records a function (fx, jit.trace, export) takes writes in "
        "place as they are"
    )


_TRANSFORMS = {
    name: getattr(func, name)
    for name in ("vmap", "grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian")
}
_MODULES = {
    name: getattr(_functional_modules, name)
    for name in (
        "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "make_functional",
        "make_functional_with_buffers",
    )
}  # fmt: skip
_CONTENTS = {
    "deprecated": {name: x if isinstance(x, type) else _functional_modules.moved(name, x)
                   for name, x in {**_TRANSFORMS, **_MODULES, "functionalize": functionalize}.items()},
    "apis": {**_TRANSFORMS, "chunk_vmap": _functional_modules.chunk_vmap},
    "vmap": {"vmap": func.vmap},
    "eager_transforms": {**_TRANSFORMS, "linearize": func.linearize},
    "make_functional": {
        **_MODULES,
        "functional_init": _functional_modules.functional_init,
        "functional_init_with_buffers": _functional_modules.functional_init_with_buffers,
    },
    "functional_call": {
        "functional_call": _modules.functional_call, "stack_module_state": _modules.stack_module_state,
    },
    "batch_norm_replacement": {"replace_all_batch_norm_modules_": _modules.replace_all_batch_norm_modules_},
}  # fmt: skip

for _name, _contents in _CONTENTS.items():
    _module = ModuleType(f"{__name__}.{_name}")
    vars(_module).update(_contents)
    globals()[_name] = sys.modules[_module.__name__] = _module
