"""What a backend can quantise: patterns, their dtypes, and where their results are observed."""

from taeda.ao.quantization.backend_config.backend_config import BackendConfig as BackendConfig
from taeda.ao.quantization.backend_config.backend_config import BackendPatternConfig as BackendPatternConfig
from taeda.ao.quantization.backend_config.backend_config import DTypeConfig as DTypeConfig
from taeda.ao.quantization.backend_config.backend_config import DTypeWithConstraints as DTypeWithConstraints
from taeda.ao.quantization.backend_config.backend_config import ObservationType as ObservationType
from taeda.ao.quantization.backend_config.native import get_executorch_backend_config as get_executorch_backend_config
from taeda.ao.quantization.backend_config.native import get_fbgemm_backend_config as get_fbgemm_backend_config
from taeda.ao.quantization.backend_config.native import get_native_backend_config as get_native_backend_config
from taeda.ao.quantization.backend_config.native import get_native_backend_config_dict as get_native_backend_config_dict
from taeda.ao.quantization.backend_config.native import get_onednn_backend_config as get_onednn_backend_config
from taeda.ao.quantization.backend_config.native import get_qnnpack_backend_config as get_qnnpack_backend_config
from taeda.ao.quantization.backend_config.native import get_x86_backend_config as get_x86_backend_config

__all__ = [
    "BackendConfig", "BackendPatternConfig", "DTypeConfig", "DTypeWithConstraints", "ObservationType",
    "get_executorch_backend_config", "get_fbgemm_backend_config", "get_native_backend_config",
    "get_native_backend_config_dict", "get_onednn_backend_config", "get_qnnpack_backend_config",
    "get_x86_backend_config",
]  # fmt: skip
