"""Settings of the loader."""

import importlib.util

__all__ = ["HAS_NUMPY", "MP_STATUS_CHECK_INTERVAL", "python_exit_status"]

HAS_NUMPY = importlib.util.find_spec("numpy") is not None
MP_STATUS_CHECK_INTERVAL = 5.0  # seconds
python_exit_status = False
