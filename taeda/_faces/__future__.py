"""PyTorch's switches for what a conversion of a module does to its parameters."""

from __future__ import annotations

from taeda._main.module_conversion import (
    get_overwrite_module_params_on_conversion as get_overwrite_module_params_on_conversion,
)
from taeda._main.module_conversion import get_swap_module_params_on_conversion as get_swap_module_params_on_conversion
from taeda._main.module_conversion import (
    set_overwrite_module_params_on_conversion as set_overwrite_module_params_on_conversion,
)
from taeda._main.module_conversion import set_swap_module_params_on_conversion as set_swap_module_params_on_conversion
