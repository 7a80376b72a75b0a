"""What PyTorch's module imports."""

from taeda.nn import functional as F

__all__ = ["F"]
