"""What programs ask about the compiler."""

from __future__ import annotations

from typing import Any


def is_compile_supported(device_type: Any) -> bool:
    """False: nothing is compiled, for no device."""
    return False
