"""What PyTorch keeps in the modules of ``torch._functorch``, from where the package ``functorch`` takes it."""

import sys
from types import ModuleType
from typing import Any

from taeda import func
from taeda._inert import settings as _settings
from taeda.func import _functional_modules, _modules, _rearrange, _steps

__path__: list[str] = []  # a package, whose modules are these


def _of_graphs(name: str) -> Any:
    """A member of ``python_key``, which recording alone needs."""
    from taeda.fx.experimental import proxy_tensor

    if name != "make_fx":
        raise AttributeError(f"module {__name__}.python_key has no attribute {name!r}")
    return proxy_tensor.make_fx


_TRANSFORMS = {
    name: getattr(func, name)
    for name in ("vmap", "grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "functionalize")
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
                   for name, x in {**_TRANSFORMS, **_MODULES}.items()},
    "apis": {**_TRANSFORMS, "chunk_vmap": _functional_modules.chunk_vmap},
    "eager_transforms": {**_TRANSFORMS, "linearize": func.linearize},
    "make_functional": {
        **_MODULES,
        "functional_init": _functional_modules.functional_init,
        "functional_init_with_buffers": _functional_modules.functional_init_with_buffers,
    },
    "functional_call": {
        "functional_call": _modules.functional_call, "stack_module_state": _modules.stack_module_state,
    },
    "config": {
        "functionalize_rng_ops": False, "fake_tensor_propagate_real_tensors": False, "unlift_effect_tokens": False,
        "fake_tensor_allow_meta": True, "debug_assert": False, "donated_buffer": True, "activation_memory_budget": 1.0,
        "treat_parameters_as_free_to_save": True, "patch": _settings.patch_of("taeda._functorch.config"),
    },
    "python_key": {"__getattr__": _of_graphs},
    "einops": {"rearrange": _rearrange.rearrange},
    "batch_norm_replacement": {"replace_all_batch_norm_modules_": _modules.replace_all_batch_norm_modules_},
}  # fmt: skip

for _name, _contents in _CONTENTS.items():
    _module = ModuleType(f"{__name__}.{_name}")
    vars(_module).update(_contents)
    globals()[_name] = sys.modules[_module.__name__] = _module

# The module itself: libraries put other steps into it.
vmap = sys.modules[f"{__name__}.vmap"] = _steps
