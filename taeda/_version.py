"""The versions, said once: Taeda's own, and PyTorch's whose documented behaviour it follows."""

__version__ = "0.1.0"
TORCH_VERSION = "2.13.0"
